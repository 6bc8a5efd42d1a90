/**
 * A real Firefox for tests of the page, by WebDriver BiDi. Playwright drives only a Firefox of its own making; the one
 * that people have is driven by Puppeteer.
 */
import { execFileSync } from 'node:child_process'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { PATIENCE } from './browser.ts'
import { lastFirst, type Scope } from './last-first.ts'
import { missingHere } from './required.ts'

export type { Page } from 'puppeteer-core'

const executablePath = ['firefox-esr', 'firefox'].map(pathOf).find(Boolean)

function pathOf(name: string): string | undefined {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** For the option `skip` of tests: false where there is one. */
export const noFirefox: string | false = executablePath
  ? false
  : missingHere('firefox', 'Firefox is not installed (on Debian: apt-get install firefox-esr)')

/** A page of a profile of its own, and what its console says is wrong. */
export async function openFirefox(scope: Scope): Promise<{ page: Page; complaints: string[] }> {
  const browser: Browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: executablePath!,
    headless: true,
    extraPrefsFirefox: {
      'media.autoplay.default': 0,
      'media.volume_scale': '0.0',
      'intl.accept_languages': 'en-GB',
      // A mouse: fine, and hovers. Without a window it would have none, as a television.
      'ui.primaryPointerCapabilities': 6,
    },
  })
  lastFirst(scope).after(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(PATIENCE.timeout)
  await page.setViewport({ width: 1280, height: 800 })
  const complaints: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
  page.on('pageerror', (error) => void complaints.push(String(error)))
  return { page, complaints }
}
