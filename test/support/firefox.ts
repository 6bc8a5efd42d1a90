/**
 * Firefox for tests of the page, by WebDriver BiDi. Playwright drives only its own build of Firefox; Puppeteer drives
 * the one that people use.
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

/** For the option `skip` of tests: false if there is one. */
export const noFirefox: string | false = executablePath
  ? false
  : missingHere('firefox', 'Firefox is not installed (on Debian: apt-get install firefox-esr)')

/** Opens a page with its own profile; returns it with the errors of its console. */
export async function openFirefox(scope: Scope): Promise<{ page: Page; complaints: string[] }> {
  const browser: Browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: executablePath!,
    headless: true,
    extraPrefsFirefox: {
      'media.autoplay.default': 0,
      'media.volume_scale': '0.0',
      'intl.accept_languages': 'en-GB',
      // Emulates a mouse, a fine pointer that hovers. Without a window there would be no pointer, as on a television.
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
