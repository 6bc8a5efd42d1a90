/** From a pasted link to a video in the archive: the real server and yt-dlp, the loopback platform, a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { holdBack, holdUp, noBrowser, openPage, PATIENCE, type Page, type Watched } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { allQuiet, PASSWORD, type Server, startServer, USERNAME, until } from '../../support/server.ts'
import '../../support/long.ts'

/** Whether a preview is requested before the text changes again depends on the time that replies take. */
const NO_PREVIEW = /422 .*resolve\/look/
/** The search for channels, which checks whether a name exists, replies 404 if the channel is not archived. */
const NOT_ARCHIVED = [/404 .*channel\/search/, NO_PREVIEW]

describe('pasted links', { skip: noBrowser }, () => {
  let server: Server
  let loopback: TestPlatform
  const scope = lastFirst({ after })

  before(async () => {
    const folder = await temporaryFolder(scope)
    loopback = await startTestPlatform(scope)
    server = await startServer(scope, folder, loopback.env)
    await server.api('POST', '/api/config/', { downloads: { sleep_interval: 0 } })
  })

  const open = (t: Parameters<typeof openPage>[0], size: 'phone' | 'desktop'): Promise<Watched> =>
    openPage(t, server.baseUrl, {
      size,
      as: { username: USERNAME, password: PASSWORD },
      options: { permissions: ['clipboard-read', 'clipboard-write'] },
    })

  /** Pastes as Ctrl-V does while no field has the focus. */
  async function paste(page: Page, text: string): Promise<void> {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.keyboard.press('Control+v')
  }

  test('a link pasted anywhere is downloaded while the page is open, and appears on Home', async (t) => {
    const { page, go, check, shot } = await open(t, 'desktop')
    loopback.platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 60_000 })
    await go('/')
    await page.getByText('Your archive is empty').waitFor()
    await paste(page, `${loopback.platform.baseUrl}/watch?v=${VIDEO.breakwater}`)
    const sheet = page.getByRole('dialog', { name: 'Pasted link' })
    await sheet.getByText('Video', { exact: true }).waitFor()
    await sheet.getByText('Rebuilding the breakwater, stone by stone').waitFor(PATIENCE)
    await sheet.getByText('Harbour & Tide · 12 sec · about 3.8 MB').waitFor()
    assert.ok(await sheet.locator('img').evaluate((image) => (image as HTMLImageElement).decode().then(() => true)))
    await check()
    await shot('paste')
    await sheet.getByRole('button', { name: 'Download' }).click()
    await page.getByText('Looking up 1 link.').waitFor()

    await page.getByRole('link', { name: 'Downloads', exact: true }).click()
    const running = page.getByRole('region', { name: 'Now' })
    await running.getByText('Rebuilding the breakwater, stone by stone').waitFor(PATIENCE)
    await running.getByText(/^\d+%$/).waitFor(PATIENCE)
    await running.getByText(/B\/s$/).waitFor(PATIENCE)
    await page.getByRole('heading', { name: 'Downloading 1 of 1' }).waitFor()
    await check()
    await shot('downloads-running')
    loopback.platform.faults.clear('global')
    await page.getByRole('heading', { name: 'Nothing to do' }).waitFor(PATIENCE)
    await running.waitFor({ state: 'detached' })

    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await page.getByRole('link', { name: 'Rebuilding the breakwater, stone by stone' }).waitFor()
    await paste(page, `${loopback.platform.baseUrl}/watch?v=${VIDEO.breakwater}`)
    await sheet.getByText('In the archive').waitFor()
    await sheet.getByText('Rebuilding the breakwater, stone by stone').waitFor()
    await check()
    await sheet.getByRole('button', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'Rebuilding the breakwater, stone by stone' }).waitFor()
  })

  for (const size of ['phone', 'desktop'] as const)
    test(`links shared by other apps are offered, and the + button adds a link in any view (${size})`, async (t) => {
      const { page, go, check, shot } = await open(t, size)
      const link = `${loopback.platform.baseUrl}/watch?v=${VIDEO.lighthouse}`
      const manifest = await (await fetch(`${server.baseUrl}/manifest.webmanifest`)).json()
      const { action, method, params } = (manifest as { share_target: Record<string, any> }).share_target!
      assert.equal(method, 'GET')
      const shared = new URLSearchParams({ [params.title]: 'A film', [params.text]: `Look: ${link}` })
      await go(`/${action}?${shared}`)
      const sheet = page.getByRole('dialog', { name: 'Pasted link' })
      await sheet.getByText('Video', { exact: true }).waitFor()
      assert.equal(new URL(page.url()).pathname, '/')
      await sheet.getByRole('button', { name: 'Cancel' }).click()

      await page.getByRole('button', { name: 'Add by link' }).click()
      const add = page.getByRole('dialog', { name: 'Add by link' })
      await add.getByLabel('Links to download').fill(link)
      await add.getByText('Video', { exact: true }).waitFor()
      await check()
      await shot('add')
      await add.getByRole('button', { name: 'Download' }).click()

      await add.waitFor({ state: 'detached' })
      await until(
        'it is there',
        () => server.api('GET', `/api/video/${VIDEO.lighthouse}/`),
        ({ status }) => status === 200,
      )
      await server.api('DELETE', `/api/video/${VIDEO.lighthouse}/`)
    })

  test('subscribed channels and playlists appear without a reload', async (t) => {
    const { page, go, check, shot } = await open(t, 'phone')
    await go('/channels/')
    await paste(page, `@kleine-werkstatt ${PLAYLIST.coast}`)
    const sheet = page.getByRole('dialog', { name: 'Pasted links' })
    await sheet.getByText('Playlist', { exact: true }).waitFor()
    await sheet.getByText('The coast in five films').waitFor(PATIENCE)
    await sheet.getByText(/^Harbour & Tide · 5 videos · 39 sec · about 12 MB$/).waitFor()
    await check(NOT_ARCHIVED)
    await shot('paste-many')
    await sheet.getByRole('button', { name: 'Subscribe' }).click()
    const question = page.getByRole('dialog', { name: 'Subscribe', exact: true })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await sheet.getByRole('button', { name: 'Subscribe' }).click()
    await question.getByLabel('Nothing, only new videos from now on').check()
    await check(NOT_ARCHIVED)
    await shot('subscribe-take')
    await question.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByRole('link', { name: 'Kleine Werkstatt' }).waitFor(PATIENCE)
    await page.getByText('Subscribed to all 2. New videos will be added automatically').waitFor(PATIENCE)
    await allQuiet(server)
    // As at a first visit: with its cache, the browser would show cached pictures without a request.
    await (await page.context().newCDPSession(page)).send('Network.setCacheDisabled', { cacheDisabled: true })
    await go('/channels/')
    await page.locator('.portrait img:not(.coming)').first().waitFor()
    await check(NOT_ARCHIVED)
    await shot('channels-real')
    await until(
      'the playlist is there',
      () => server.api('GET', `/api/playlist/${PLAYLIST.coast}/`),
      ({ status }) => status === 200,
    )
    await go(`/playlist/${PLAYLIST.coast}/`)
    await page.getByRole('heading', { name: 'The coast in five films' }).waitFor()
    await page.getByText('1 of 5 videos').waitFor()
    await check(NOT_ARCHIVED)
    await shot('playlist-real')
    await paste(page, '@kleine-werkstatt')
    await page.getByRole('dialog').getByText('Kleine Werkstatt').waitFor()
    await page.getByRole('button', { name: 'Open', exact: true }).click()
    await page.waitForURL(`**/channel/${CHANNEL.workshop}/`)
    await page.getByRole('heading', { name: 'Kleine Werkstatt' }).waitFor()
    await shot('channel-real')
  })

  test('a channel name that does not exist gets no action, neither in a field nor when pasted', async (t) => {
    const { page, go, check, shot } = await open(t, 'phone')
    await go('/channels/')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Subscribe' })
    await dialog.getByLabel('Channels or playlists').fill('@nobody-has-this-name')
    await dialog.getByText('YouTube has no channel with this name: “@nobody-has-this-name”').waitFor(PATIENCE)
    assert.equal(await dialog.getByText('Channel', { exact: true }).count(), 0)
    await check(NOT_ARCHIVED)
    await shot('subscribe-nobody')
    assert.ok(await dialog.getByRole('button', { name: 'Subscribe' }).isDisabled())
    await page.keyboard.press('Escape')

    await paste(page, '@nobody-either')
    const sheet = page.getByRole('dialog', { name: 'Pasted link' })
    await sheet.getByText('YouTube has no channel with this name: “@nobody-either”').waitFor(PATIENCE)
    assert.deepEqual(await sheet.getByRole('button').allInnerTexts(), ['', 'Cancel'])
    await check(NOT_ARCHIVED)
    const { body } = await server.api('GET', '/api/task-name/subscribe_to/')
    assert.ok(!JSON.stringify(body).includes('nobody'))
  })

  test('a failed subscription is not reported as done', async (t) => {
    const { page, go } = await open(t, 'desktop')
    loopback.platform.faults.set(CHANNEL.orbit, 'channel_terminated')
    await go('/channels/')
    await paste(page, CHANNEL.orbit)
    await page.getByRole('dialog').getByRole('button', { name: 'Subscribe' }).click()
    await page
      .getByRole('dialog', { name: 'Subscribe', exact: true })
      .getByRole('button', { name: 'Subscribe' })
      .click()

    await page.getByText(new RegExp(`^Not subscribed: ${CHANNEL.orbit}: `)).waitFor(PATIENCE)

    assert.equal(
      await page
        .locator('.toast')
        .getByText(/^Subscribed/)
        .count(),
      0,
    )
    loopback.platform.faults.clear()
  })

  test('failed downloads have a reason; while the platform refuses us, the page shows this and the time of the next attempt', async (t) => {
    const { page, go, check, shot } = await open(t, 'desktop')
    loopback.platform.faults.set(VIDEO.ferry, 'private')
    await go('/downloads/')
    await page.getByLabel('Links to download').fill(VIDEO.ferry)
    await page.getByText('1 link', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Download now' }).click()
    await page.getByRole('button', { name: 'Failed 1' }).click(PATIENCE)
    await page.getByRole('heading', { name: /No longer on YouTube|Needs an account/ }).waitFor(PATIENCE)
    await check([NO_PREVIEW])

    loopback.platform.faults.set('global', 'bot_check')
    await page.getByLabel('Links to download').fill(`${VIDEO.nets} ${VIDEO.fog} ${VIDEO.pilots}`)
    await page.getByText('3 links').waitFor()
    await page.getByRole('button', { name: 'Download now' }).click()
    await page.getByRole('heading', { name: /^YouTube has been blocking us since .+; next try at / }).waitFor(PATIENCE)
    // The preview of a link may be requested after the platform has begun to refuse.
    await check([/503 .*\/api\/resolve\/look\//])
    await shot('downloads-blocked')
    loopback.platform.faults.clear('global')
    await page.getByRole('button', { name: 'Try now' }).click()
    await allQuiet(server)
    await go('/')
    await page.getByRole('link', { name: 'Fog signals explained' }).waitFor(PATIENCE)
  })

  test('a paste before the session is known waits for it', async (t) => {
    const { page, go } = await open(t, 'desktop')
    const { release } = await holdBack(page, /\/api\/ping\//)
    await go('/')
    await paste(page, VIDEO.comet)
    release()
    await page.getByRole('dialog', { name: 'Pasted link' }).getByText('Video', { exact: true }).waitFor()
  })

  test('of two pastes the newer one is shown, in whatever order they are read', async (t) => {
    const { page, go } = await open(t, 'desktop')
    await go('/')
    await page.getByRole('heading', { name: 'Home' }).waitFor({ state: 'attached' })
    const answerFirst = await holdUp(page, /\/api\/resolve\/\?/)
    await paste(page, VIDEO.comet)

    await paste(page, PLAYLIST.coast)
    const kind = page.getByRole('dialog', { name: 'Pasted link' }).getByText('Playlist', { exact: true })
    await kind.waitFor()
    await answerFirst()
    await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))')

    assert.equal(await kind.isVisible(), true)
  })

  test('text without links, and pastes into fields, open nothing', async (t) => {
    const { page, go, check } = await open(t, 'desktop')
    await go('/')
    await page.getByRole('heading', { name: 'Home' }).waitFor({ state: 'attached' })
    await paste(page, 'some words that somebody copied')
    await paste(page, 'https://example.org/elsewhere')
    await page.getByText('Archivolt can’t save this link.').waitFor()
    await page.getByLabel('Search the archive').focus()
    await paste(page, VIDEO.comet)
    await page.waitForURL('**/search/**')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await check()
  })
})
