/**
 * A video of the real platform on the page: played, sought in, resumed, skipped in, marked, commented on, and deleted.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { holdUp, noBrowser, openPage, PATIENCE, type Page } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { WITH_TEXTS } from '../../support/preferences.ts'
import { allQuiet, PASSWORD, type Server, startServer, USERNAME, until } from '../../support/server.ts'
import '../../support/long.ts'

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
    test(`plays, skips segments with Undo, and shows its details (${size})`, async (t) => {
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

  test('the account chooses by category what happens in segments, and the seek bar names them', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    const isMuted = () => page.locator('video').evaluate((video: HTMLVideoElement) => video.muted)
    await go('/settings/appearance/')
    await page.getByRole('combobox', { name: 'Sponsor' }).selectOption({ label: 'Mute' })
    await page.getByText('Saved', { exact: true }).waitFor()
    await check()
    await shot('settings-segments')
    await server.api('DELETE', `/api/video/${breakwater}/progress/`)

    await go(`/video/${breakwater}/?t=3`)
    await page.getByText('Muted · Sponsor').waitFor()
    assert.ok((await now(page)) < 7 && (await isMuted()))
    await shot('segment-muted')
    await check()
    await page.waitForFunction(() => document.querySelector('video')!.currentTime > 7.3)
    assert.equal(await isMuted(), false, 'the sound comes back')
    await page.getByText('Muted · Sponsor').waitFor({ state: 'detached' })
    await page.evaluate(() => document.querySelector('video')!.pause())
    await page.getByRole('slider', { name: 'Position' }).fill('5')
    const words = await page.getByRole('slider', { name: 'Position' }).getAttribute('aria-valuetext')
    assert.match(words!, /Sponsor/)
    await page.locator('.seek').hover({ position: { x: (await page.locator('.seek').boundingBox())!.width / 2, y: 8 } })
    await page
      .locator('.seek-hint')
      .getByText(/Sponsor/)
      .waitFor()
    await shot('segment-named')

    await server.api('POST', '/api/config/user/', { segments: { sponsor: 'mute' } })
    await go(`/video/${breakwater}/?t=3`)
    await page.getByText('Muted · Sponsor').waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Unmute' }).click()
    assert.equal(await isMuted(), false)
    await playsFrom(page, 5.5)
    assert.equal(await isMuted(), false, 'it is not muted again')
    await server.api('POST', '/api/config/user/', { segments: { sponsor: 'show' } })
    await go(`/video/${breakwater}/?t=3`)
    await playsFrom(page, 5)
    assert.equal(await isMuted(), false)
    assert.equal(await page.getByText(/Muted|Skipped/).count(), 0)
    await server.api('POST', '/api/config/user/', { segments: {} })
  })

  test('chapters are marked on the seek bar, named during playback, and sought', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    const { data } = (await server.api('GET', `/api/video/${breakwater}/`)).body
    assert.deepEqual(data.chapters, [
      { start: 0, title: 'Low water' },
      { start: 4, title: 'First stones' },
      { start: 8, title: 'The crane' },
    ])
    await go(`/video/${breakwater}/?t=1`)
    await playsFrom(page, 1.1)
    const chapters = page.getByRole('button', { name: 'Chapters' })
    await chapters.getByText('Low water').waitFor()
    assert.equal(await page.locator('.seek-chapter').count(), 2)

    await chapters.click()
    await shot('video-chapters')
    await check()
    await page.getByRole('menuitemradio', { name: '0:08 · The crane' }).click()
    await playsFrom(page, 8.1)
    await chapters.getByText('The crane').waitFor()
    await page.locator('.seek').hover({ position: { x: 5, y: 10 } })

    await page
      .locator('.seek-hint')
      .getByText(/^0:00 · Low water$/)
      .waitFor()
  })

  test('hostile text in a comment stays text', async (t) => {
    const { page, go } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${breakwater}/`)

    await page.getByRole('heading', { name: 'Comments' }).scrollIntoViewIfNeeded()

    await page.getByText('with <b>markup</b> & emoji', { exact: false }).first().waitFor()
    assert.equal(await page.locator('.comments b').count(), 0)
  })

  test('the position is saved when the view is left, offered on return, and deleted by starting over', async (t) => {
    const { page, go } = await openPage(t, server.baseUrl, { as })
    // Resets the mark, because earlier tests may have played the video to its end.
    await server.api('POST', '/api/watched/', { id: breakwater, is_watched: false })
    await server.api('DELETE', `/api/video/${breakwater}/progress/`)
    await go(`/video/${breakwater}/?t=2.2`)
    await playsFrom(page, 2.4)
    const release = await holdUp(page, /\/progress\/$/)
    await page.keyboard.press('k')
    // Before its middle, because from there on a short film counts as watched, and has no position.
    await page.keyboard.press('4')

    await page.getByRole('link', { name: 'Archivolt, Home' }).click()
    await page.getByRole('list', { name: 'All videos' }).getByRole('link').first().waitFor()
    await release()
    await until(
      'the position is saved',
      () => position(breakwater),
      (seconds) => seconds > 4,
    )
    await page.getByRole('heading', { name: 'Continue watching' }).waitFor()
    await page
      .getByRole('list', { name: 'Continue watching' })
      .getByRole('link', { name: 'Rebuilding the breakwater', exact: false })
      .click()
    await page.getByText(/^From 0:0[45]/).waitFor()
    await page.getByRole('button', { name: 'Start over' }).click()

    await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 9) < 3)
    await playsFrom(page, 0.5)
  })

  test('supports the common keys', async (t) => {
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

  test('in a playlist the next video follows by itself, and one played to its end is marked as watched', async (t) => {
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

  test('the transcript beside the film follows the playback, can be searched, and seeks', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${lighthouse}/`)
    await playsFrom(page, 0.1)
    await page.getByRole('button', { name: 'Transcript', exact: true }).click()
    const transcript = page.getByRole('region', { name: 'Transcript' })
    const lines = transcript.getByRole('listitem')
    await lines.first().waitFor()
    await transcript.locator('[aria-current=true]').first().waitFor()
    await shot('video-transcript')
    await check()
    const [first, last] = [await lines.first().innerText(), await lines.last().innerText()]
    assert.notEqual(first, last)

    const word = last.split(/\s+/).at(-1)!
    await transcript.getByLabel('Search in the transcript').fill(word.toUpperCase())
    await transcript.locator('mark').first().waitFor()
    assert.equal(await lines.last().innerText(), last)
    await lines.last().getByRole('button').click()
    await transcript.getByLabel('Search in the transcript').fill('no such word')
    await transcript.getByText('No matches in this transcript.').waitFor()
    await transcript.getByLabel('Search in the transcript').fill('')

    const [minutes, seconds] = last.split(/\s+/)[0]!.split(':').map(Number)
    assert.ok((await now(page)) >= minutes! * 60 + seconds!)
    await page.waitForFunction(() => document.querySelector('.transcript li:last-child [aria-current]'))
    await transcript.getByRole('button', { name: 'Close the transcript' }).click()
    await transcript.waitFor({ state: 'detached' })
  })

  test('subtitles have a size and a background, which are stored', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${lighthouse}/?t=0.3`)
    await playsFrom(page, 0.3)
    await page.keyboard.press('k')
    const choose = async (role: 'menuitem' | 'menuitemradio' | 'menuitemcheckbox', name: string) => {
      await page.getByRole('button', { name: 'Subtitles' }).click()
      await page.getByRole(role, { name }).click()
    }
    await choose('menuitemradio', 'English')
    await choose('menuitem', 'Larger')
    await choose('menuitem', 'Larger')
    await choose('menuitemcheckbox', 'Background')
    await check()
    await shot('video-subtitles')
    const look = () =>
      page
        .locator('video')
        .evaluate((video) => [video.classList.contains('backed'), video.style.getPropertyValue('--subtitle-size')])
    assert.deepEqual(await look(), [false, '1.5'])

    await page.reload()
    await playsFrom(page, 0.3)

    assert.deepEqual(await look(), [false, '1.5'])
  })

  test('is shared with its time, as its page on the platform, and as a file with its title as name', async (t) => {
    const { page, go, check } = await openPage(t, server.baseUrl, { as })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await go(`/video/${lighthouse}/?t=3`)
    await playsFrom(page, 3.1)
    await page.keyboard.press('k')
    const share = (name: string | RegExp) =>
      page
        .getByRole('button', { name: 'Share' })
        .click()
        .then(() => page.getByRole('menuitem', { name }).click())
    const copied = () => page.evaluate(() => navigator.clipboard.readText())

    await share('Copy the link at')
    await page.getByText('Link copied').waitFor()
    assert.equal(await copied(), `${server.baseUrl}/video/${lighthouse}/?t=${Math.floor(await now(page))}`)
    await share(/^Copy the link$/)
    await page.getByText('Link copied').nth(1).waitFor()
    assert.equal(await copied(), `${server.baseUrl}/video/${lighthouse}/`)
    const file = page.waitForEvent('download')
    await share('Download the file')

    assert.equal((await file).suggestedFilename(), 'A night in the lighthouse.mp4')
    const { platform_url: address } = (await server.api('GET', `/api/video/${lighthouse}/`)).body.data
    await page.context().route(address, (route) => route.fulfill({ body: 'the original' }))
    const original = page.context().waitForEvent('page')
    await share('Open on YouTube')
    assert.equal((await original).url(), address)
    await check()
  })

  test('without a playlist the next video of the channel follows, by itself only if the account wants that', async (t) => {
    const { page, go, check } = await openPage(t, server.baseUrl, { as })
    for (const id of [breakwater, lighthouse, gull])
      await server.api('POST', '/api/watched/', { id, is_watched: false })
    const { data } = (await server.api('GET', `/api/video/?channel=${CHANNEL.harbour}&order=asc`)).body
    await go(`/video/${data[0].platform_id}/`)
    await playsFrom(page, 0.1)
    await page.getByRole('switch', { name: 'Autoplay' }).uncheck()
    await page.locator('.up-next-title').getByText(`Next: ${data[1].title}`).waitFor()
    const end = () =>
      page.locator('video').evaluate((video: HTMLVideoElement) => void (video.currentTime = video.duration - 0.3))

    await end()
    await page.getByRole('status').getByText(`Next: ${data[1].title}`).waitFor()
    await check()
    await page.getByRole('button', { name: 'Play now' }).click()
    await page.getByRole('heading', { level: 1, name: data[1].title }).waitFor()
    await playsFrom(page, 0.1)
    await page.getByRole('switch', { name: 'Autoplay', checked: false }).check()
    await end()

    await page.getByText(/^Next in \d/).waitFor()
    await page.getByRole('heading', { level: 1, name: data[1].title }).waitFor({ state: 'detached', timeout: 20_000 })
  })

  test('a shuffled playlist plays each of its videos once, and a repeated one begins again', async (t) => {
    const { page, go } = await openPage(t, server.baseUrl, { as })
    const { body } = await server.api('GET', `/api/playlist/${PLAYLIST.joinery}/`)
    const ids = body.data.playlist_entries
      .filter(({ downloaded }: { downloaded: boolean }) => downloaded)
      .map(({ platform_id }: { platform_id: string }) => platform_id)
    await go(`/video/${ids[0]}/?list=${PLAYLIST.joinery}`)
    await page.getByRole('button', { name: 'Shuffle' }).click()
    await page.waitForURL(/shuffle=1/)
    const here = () => new URL(page.url()).pathname.split('/')[2]!
    const next = page.getByRole('button', { name: /^Next: / })

    const seen = [here()]
    for (const _ of ids.slice(1)) {
      const before = page.url()
      await next.click()
      await page.waitForURL((url) => url.href !== before)
      seen.push(here())
      await page.getByText(/^\d+ \/ \d+$/).waitFor()
    }
    assert.deepEqual(seen.toSorted(), ids.toSorted())
    // After the playlist, the channel continues.
    await page.getByRole('button', { name: 'Repeat the playlist' }).click()
    await page.waitForURL(/repeat=1/)
    await page.locator('.player').hover() // the controls hide while the pointer is elsewhere
    await next.click()
    await page.waitForURL((url) => !url.pathname.includes(seen.at(-1)!) && url.searchParams.has('repeat'))
    assert.match(page.url(), /shuffle=1/)
  })

  test('its channel is subscribed to, and the video is added to an own playlist', async (t) => {
    const { page, go, check } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${lighthouse}/`)

    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const question = page.getByRole('dialog', { name: 'Subscribe to Harbour & Tide' })
    await question.getByText(/^12 videos · .* · about /).waitFor(PATIENCE)
    await question.locator('.pasted img').waitFor()
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

  test('is deleted and ignored only after a full sentence', async (t) => {
    const { page, go, check, shot } = await openPage(t, server.baseUrl, { as })
    await go(`/video/${gull}/`)
    await page.getByRole('button', { name: 'More for Gull steals breakfast #shorts' }).click()
    await page.getByRole('menuitem', { name: 'Delete and ignore' }).click()
    await page.getByText('The video will go on the ignore list, so subscriptions will not bring it back').waitFor()
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
