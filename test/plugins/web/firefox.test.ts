/** The main flow in a real Firefox: sign in, add a link, watch the download, play, resume later, find spoken words. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { noFirefox, openFirefox, type Page } from '../../support/firefox.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { WITH_TEXTS } from '../../support/preferences.ts'
import { allQuiet, PASSWORD, type Server, startServer, USERNAME } from '../../support/server.ts'

const TITLE = 'Rebuilding the breakwater, stone by stone'

const waitForText = (page: Page, text: string) => page.locator(`::-p-text(${text})`).wait()
const fill = (page: Page, name: string, text: string) =>
  page.locator(`::-p-aria([name="${name}"][role="textbox"])`).fill(text)
const press = (page: Page, role: string, name: string) =>
  page.locator(`::-p-aria([name="${name}"][role="${role}"])`).click()

const playsFrom = (page: Page, from: number) =>
  page.waitForFunction(
    (seconds: number) => (document.querySelector('video')?.currentTime ?? 0) > seconds,
    { polling: 200 },
    from,
  )

describe('in Firefox', { skip: noFirefox }, () => {
  let server: Server
  let loopback: TestPlatform
  const scope = lastFirst({ after })

  before(async () => {
    loopback = await startTestPlatform(scope)
    server = await startServer(scope, await temporaryFolder(scope), loopback.env)
    await server.api('POST', '/api/config/', { downloads: WITH_TEXTS })
  })

  test('a link is added, downloaded, played, resumed, and found by its spoken words', async (t) => {
    const { page, complaints } = await openFirefox(t)
    await page.goto(server.baseUrl)
    await fill(page, 'Username', USERNAME)
    await page.locator('input[type=password]').fill(PASSWORD)
    await press(page, 'button', 'Sign in')

    await press(page, 'button', 'Add by link')
    await fill(page, 'Links to download', `${loopback.platform.baseUrl}/watch?v=${VIDEO.breakwater}`)
    await press(page, 'button', 'Download')
    await page.waitForFunction(() => !document.querySelector('[role=dialog], dialog[open]'), { polling: 200 })
    await allQuiet(server)
    await press(page, 'link', 'Home')
    await waitForText(page, TITLE)

    await page.locator(`a[href$="/video/${VIDEO.breakwater}/"]`).click()
    await playsFrom(page, 1)
    await page.$eval('video', (video) => ((video as HTMLVideoElement).pause(), void (video.currentTime = 4)))
    await page.reload()
    await playsFrom(page, 3.9)

    await page.locator('input[type=search]').fill('tide')
    await waitForText(page, 'Said in videos')
    await page.locator(`a[href*="/video/${VIDEO.breakwater}/?t="]`).click()
    await playsFrom(page, 0.1)
    assert.match(page.url(), /[?&]t=\d/)
    assert.deepEqual(
      complaints.filter((line) => !line.includes('401')),
      [],
    )
  })
})
