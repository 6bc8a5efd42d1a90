/** A video of the real platform in the page: plays, seeks, resumes, skips, is marked, talked about, and deleted. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { holdUp, noBrowser, openPage, PATIENCE, type Page } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { WITH_TEXTS } from '../../support/preferences.ts'
import { allQuiet, PASSWORD, type Server, startServer, USERNAME, until } from '../../support/server.ts'

const as = { username: USERNAME, password: PASSWORD }
const SIZES = ['phone', 'desktop'] as const

const now = async (page: Page): Promise<number> =>
  page.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime)
const playsFrom = (page: Page, from: number) =>
  page.waitForFunction((seconds) => (document.querySelector('video')?.currentTime ?? 0) > seconds, from)

describe('a video', { skip: noBrowser }, () => {
  let server: Server
  const scope = lastFirst({ after })
  const { breakwater, lighthouse, gull } = VIDEO
  const position = async (id: string): Promise<number> =>
    (await server.api('GET', `/api/video/${id}/progress/`)).body.position

  before(async () => {
    const { platform, env, segmentsUrl } = await startTestPlatform(scope)
    platform.skipSegments.add(breakwater, [{ segment: [4, 7], category: 'sponsor' }])
    server = await startServer(scope, await temporaryFolder(scope), { ...env, AV_SEGMENTS_URL: segmentsUrl })
    await server.api('POST', '/api/config/', {
      downloads: {
        ...WITH_TEXTS,
        integrate_sponsorblock: true,
      },
    })
    const wanted = [breakwater, lighthouse, gull, `${platform.baseUrl}/playlist?list=${PLAYLIST.joinery}`].join(' ')
    await server.api('POST', '/api/download/?autostart=true', { data: [{ platform_id: wanted, status: 'pending' }] })
    await allQuiet(server, 240_000)
  })

  for (const size of SIZES) {
    test(`plays, skips what is marked with a way back, and shows what it is (${size})`, async (t) => {
      const { page, go, check, shot } = await openPage(t, server.baseUrl, { size, as })
      await server.api('DELETE', `/api/video/${breakwater}/progress/`)

      await go(`/video/${breakwater}/?t=2.5`)
      await page.getByRole('heading', { level: 1, name: 'Rebuilding the breakwater' }).waitFor()
      await playsFrom(page, 2.6)
      await page.getByText('Skipped 3 sec').waitFor()
      await shot('video')
      assert.ok((await now(page)) >= 7)
      await page.getByRole('button', { name: 'Undo' }).click()
      await playsFrom(page, 4.1)
      assert.ok((await now(page)) < 7, 'it is not skipped again')

      await check()
      await page.getByRole('heading', { name: 'Comments' }).scrollIntoViewIfNeeded()
      await page.getByText('Comment 1: lovely work.', { exact: false }).first().waitFor()
      await page.getByRole('button', { name: '1 reply' }).first().click()
      await page.getByText('Thank you for watching!').first().waitFor()
      await page.getByText('File and streams').click()
      await page.getByText('Video', { exact: true }).waitFor()
      await shot('video-comments')
      await check()
    })
  }

  test('hostile words of a comment are words', async (t) => {
    const { page, go } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${breakwater}/`)

    await page.getByRole('heading', { name: 'Comments' }).scrollIntoViewIfNeeded()

    await page.getByText('with <b>markup</b> & emoji', { exact: false }).first().waitFor()
    assert.equal(await page.locator('.comments b').count(), 0)
  })

  test('the place is kept when one leaves, offered when one comes back, and forgotten when one starts over', async (t) => {
    const { page, go } = await openPage(t, server.baseUrl, { as })
    // Before, it may have been played to its end.
    await server.api('POST', '/api/watched/', { id: breakwater, is_watched: false })
    await server.api('DELETE', `/api/video/${breakwater}/progress/`)
    await go(`/video/${breakwater}/?t=2.2`)
    await playsFrom(page, 2.4)
    const release = await holdUp(page, /\/progress\/$/)
    await page.keyboard.press('k')
    await page.keyboard.press('6')

    await page.getByRole('link', { name: 'Archivolt, Home' }).click()
    await page.getByRole('list', { name: 'All videos' }).getByRole('link').first().waitFor()
    await release()
    await until(
      'the place is saved',
      () => position(breakwater),
      (seconds) => seconds > 7,
    )
    await page.getByRole('heading', { name: 'Continue watching' }).waitFor()
    await page
      .getByRole('list', { name: 'Continue watching' })
      .getByRole('link', { name: 'Rebuilding the breakwater', exact: false })
      .click()
    await page.getByText(/^From 0:0[7-9]/).waitFor()
    await page.getByRole('button', { name: 'Start over' }).click()

    await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 9) < 3)
    await playsFrom(page, 0.5)
  })

  test('the keys that everyone knows', async (t) => {
    const { page, go } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${lighthouse}/`)
    const video = page.locator('video')
    const is = (property: string) =>
      video.evaluate((element, name) => (element as HTMLVideoElement)[name as 'currentTime'], property)
    await playsFrom(page, 0.1)

    await page.keyboard.press('k')
    assert.equal(await is('paused'), true)
    await page.keyboard.press('5')
    assert.ok(Math.abs((await now(page)) - (await is('duration')) / 2) < 0.3)
    await page.keyboard.press('ArrowLeft')
    assert.ok((await now(page)) < 1)
    await page.keyboard.press('.')
    await page.keyboard.press('m')
    assert.equal(await is('muted'), true)
    await page.keyboard.press('>')
    assert.equal(await is('playbackRate'), 1.25)
    await page.keyboard.press('c')
    assert.deepEqual(
      await video.evaluate((element: HTMLVideoElement) => [...element.textTracks].map(({ mode }) => mode).toSorted()),
      ['disabled', 'showing'],
    )
    await page.keyboard.press('t')
    assert.equal(await page.locator('.watch.theatre').count(), 1)
    await page.keyboard.press('t')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Picture in picture').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL(`${server.baseUrl}/`)
  })

  test('from a playlist the next one follows by itself, and one seen to its end counts as watched', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    const { body } = await server.api('GET', `/api/playlist/${PLAYLIST.joinery}/`)
    const there = body.data.playlist_entries.filter(({ downloaded }: { downloaded: boolean }) => downloaded)
    await go(`/video/${there[0].platform_id}/?list=${PLAYLIST.joinery}`)
    await page.getByText('From the playlist').waitFor()
    await playsFrom(page, 0.1)
    await shot('video-playlist')
    await check()

    await page.locator('video').evaluate((video: HTMLVideoElement) => void (video.currentTime = video.duration - 0.3))
    await page.getByText(/^Next in \d/).waitFor()
    await page.getByRole('status').getByText('Marked as watched').waitFor()
    await page.getByRole('button', { name: 'Play now' }).click()

    await page.getByRole('heading', { level: 1, name: there[1].title }).waitFor()
    assert.equal((await server.api('GET', `/api/video/${there[0].platform_id}/`)).body.data.player.watched, true)
    assert.match(page.url(), new RegExp(`/video/${there[1].platform_id}/\\?list=`))
  })

  test('its channel is subscribed to, and it is put into a playlist of one’s own', async (t) => {
    const { page, go, check } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${lighthouse}/`)

    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const question = page.getByRole('dialog', { name: 'Subscribe to Harbour & Tide' })
    await question.getByLabel('Nothing, only new videos from now on').check()
    await question.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('Subscribed to Harbour & Tide').waitFor(PATIENCE)
    assert.equal((await server.api('GET', `/api/channel/${CHANNEL.harbour}/`)).body.data.channel_subscribed, true)
    await page.keyboard.press('q')
    await page.getByLabel('Name of the new playlist').fill('For winter')
    await check()
    await page.getByRole('button', { name: 'Create and add' }).click()

    await page.getByText('Added to For winter').waitFor()
    const { body } = await server.api('GET', '/api/playlist/?playlist_type=custom')
    assert.deepEqual(
      body.data[0].playlist_entries.map(({ platform_id }: { platform_id: string }) => platform_id),
      [lighthouse],
    )
  })

  test('it is deleted and ignored only after a full sentence', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${gull}/`)
    await page.getByRole('button', { name: 'More for Gull steals breakfast #shorts' }).click()
    await page.getByRole('menuitem', { name: 'Delete and ignore' }).click()
    await page.getByText('The video goes on the ignore list, so subscriptions will not bring it back').waitFor()
    await shot('video-delete')
    await check()
    await page.getByRole('button', { name: 'Delete and ignore' }).click()

    await page.getByText('Deleted').waitFor()
    await page.waitForURL(`${server.baseUrl}/`)
    assert.equal((await server.api('GET', `/api/video/${gull}/`)).status, 404)
    await until(
      'it is ignored',
      () => server.api('GET', `/api/download/${gull}/`),
      ({ status, body }) => status === 200 && body.data.status === 'ignore',
    )
    await go(`/video/${gull}/`)
    await page.getByText('This video is not in the archive').waitFor()
    await check([/404/])
  })
})
