/**
 * Videos that cannot be played are reported, with a remedy: formats that the browser does not support, missing files.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type {} from '../../../plugins/platform/platform.ts'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { noBrowser, openPage, PATIENCE, type Page } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const as = { username: 'admin', password: PASSWORD }
const PICTURE = { index: 0, bitrate: 100_000, width: 320, height: 180, type: 'video' as const }
const SOUND = { index: 1, bitrate: 64_000, type: 'audio' as const }
const plays = (page: Page, from = 0.3) =>
  page.waitForFunction((seconds) => (document.querySelector('video')?.currentTime ?? 0) > seconds, from, PATIENCE)
const ffmpeg = (options: string[]): Promise<unknown> => promisify(execFile)('ffmpeg', ['-v', 'error', ...options])

describe('unplayable videos', { skip: noBrowser }, () => {
  let clips: string
  const scope = lastFirst({ after })

  before(async () => {
    clips = await temporaryFolder(scope)
    const make = (name: string, ...codecs: string[]) =>
      ffmpeg([
        '-f',
        'lavfi',
        '-i',
        'testsrc=size=320x180:rate=10:duration=12',
        '-f',
        'lavfi',
        '-i',
        'sine=duration=12',
        '-pix_fmt',
        'yuv420p',
        ...codecs,
        join(clips, name),
      ])
    await make('hevc.mp4', '-c:v', 'libx265', '-x265-params', 'log-level=none', '-tag:v', 'hvc1', '-c:a', 'aac')
    await make('hevc-mute.mp4', '-c:v', 'libx265', '-x265-params', 'log-level=none', '-tag:v', 'hvc1', '-an')
    await make('ac3.mp4', '-c:v', 'libx264', '-c:a', 'ac3')
    await ffmpeg(['-f', 'lavfi', '-i', 'sine=duration=12', '-c:a', 'aac', join(clips, 'sound.m4a')])
    await ffmpeg(['-f', 'lavfi', '-i', 'color=red:size=640x360', '-frames:v', '1', join(clips, 'red.jpg')])
  })

  async function withFile(t: Parameters<typeof testApp>[0], file: string, streams: object[]): Promise<TestApp> {
    const app = await testApp(t)
    const name = `UC1/v1${extname(file)}`
    const facts = { media_url: `/media/${name}`, player: { duration: 12 }, streams: streams as never }
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', ...facts }))
    const path = join(app.app.settings['mediaDir'] as string, name)
    await mkdir(dirname(path), { recursive: true })
    await copyFile(join(clips, file), path)
    return app
  }

  for (const size of ['phone', 'desktop'] as const) {
    test(`an unsupported picture is reported, and the audio can be played nevertheless (${size})`, async (t) => {
      const app = await withFile(t, 'hevc.mp4', [
        { ...PICTURE, codec: 'hevc' },
        { ...SOUND, codec: 'aac' },
      ])
      const { page, go, check, shot } = await openPage(t, app.url, { size, as })
      await go('/video/v1/')

      await page.getByRole('alert').getByText('Your browser cannot show the picture of this video (HEVC).').waitFor()
      assert.equal(await page.locator('video').evaluate((video: HTMLVideoElement) => video.paused), true)
      await page.getByRole('link', { name: 'Download the file' }).waitFor()
      await check()
      await shot('video-hevc')
      await page.getByRole('button', { name: 'Play audio only' }).click()
      await plays(page)
      assert.equal(await page.getByRole('alert').count(), 0)
    })
  }

  test('what the browser declares unplayable is reported before playback; browsers that play it are not stopped', async (t) => {
    // The file itself would play: only the check before playback reports its picture.
    const app = await withFile(t, 'ac3.mp4', [
      { ...PICTURE, codec: 'hevc' },
      { ...SOUND, codec: 'aac' },
    ])
    const { page, go } = await openPage(t, app.url, { as })
    await go('/video/v1/')
    const said = page.getByRole('alert')
    await said.getByText('Your browser cannot show the picture of this video (HEVC).').waitFor()
    await said.getByRole('button', { name: 'Convert for this browser' }).waitFor()
    assert.deepEqual(
      await page.locator('video').evaluate(({ paused, currentTime }: HTMLVideoElement) => [paused, currentTime < 0.3]),
      [true, true],
    )
    await said.getByRole('button', { name: 'Play audio only' }).click()
    await plays(page)
    assert.equal(await said.count(), 0)
  })

  test('a film with only an unsupported picture names its format', async (t) => {
    const app = await withFile(t, 'hevc-mute.mp4', [{ ...PICTURE, codec: 'hevc' }])
    const { page, go } = await openPage(t, app.url, { as })
    await go('/video/v1/')
    await page.getByRole('alert').getByText('Your browser may not support its format (HEVC).').waitFor()
  })

  test('a film without video frames counts as unsupported, too', async (t) => {
    const app = await withFile(t, 'ac3.mp4', [
      { ...PICTURE, codec: 'h264' },
      { ...SOUND, codec: 'ac3' },
    ])
    const { page, go } = await openPage(t, app.url, { as })
    await page.addInitScript(() => {
      HTMLVideoElement.prototype.getVideoPlaybackQuality = () => ({
        totalVideoFrames: 0,
        droppedVideoFrames: 0,
        corruptedVideoFrames: 0,
        creationTime: 0,
      })
    })
    await go('/video/v1/')
    await page.getByRole('alert').getByText('cannot show the picture of this video (H.264)').waitFor()
  })

  test('an unsupported audio codec is reported while the film plays', async (t) => {
    const app = await withFile(t, 'ac3.mp4', [
      { ...PICTURE, codec: 'h264' },
      { ...SOUND, codec: 'ac3' },
    ])
    const { page, go } = await openPage(t, app.url, { as })
    await go('/video/v1/')
    await page.getByText('Your browser does not support this video’s audio format (AC-3).').waitFor()
    await plays(page, 2.5)
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  test('a playable copy is made on request, and then used automatically', async (t) => {
    const app = await withFile(t, 'hevc.mp4', [
      { ...PICTURE, codec: 'hevc' },
      { ...SOUND, codec: 'aac' },
    ])
    const { page, go, check, shot } = await openPage(t, app.url, {
      as: { username: 'user', password: PASSWORD },
    })
    await go('/video/v1/')
    await shot('video-copy')
    await page.getByRole('alert').getByRole('button', { name: 'Convert for this browser' }).click()
    const shows = () =>
      page.waitForFunction(() => {
        const video = document.querySelector('video')
        return video && video.currentTime > 0.3 && video.videoWidth > 0 && video.src.includes('/cache/playable/v1.mp4')
      })
    await shows()
    assert.equal(await page.getByRole('alert').count(), 0)

    await go('/video/v1/')
    await shows()
    assert.equal(await page.getByRole('alert').count(), 0)
    await check()
  })

  test('an audio file lacks no picture: the thumbnail stays while an m4a plays', async (t) => {
    const app = await withFile(t, 'sound.m4a', [{ ...SOUND, codec: 'aac' }])
    await app.app.media.keepArt('video', 'v1', join(clips, 'red.jpg'))
    const { page, go } = await openPage(t, app.url, { as })
    await go('/video/v1/')
    await plays(page)
    assert.equal(await page.getByRole('alert').count(), 0)
    const shot = join(clips, 'shot.png')
    await page.locator('video').screenshot({ path: shot })
    await ffmpeg(['-i', shot, '-vf', 'scale=1:1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', join(clips, 'shot.rgb')])
    const [red = 0, green = 0] = await readFile(join(clips, 'shot.rgb'))
    assert.ok(red > 100 && red > 2 * green, `red ${red}, green ${green}`)
  })

  test('a missing file is downloaded again and plays; if that fails, the reason is shown', async (t) => {
    const loopback = await startTestPlatform(t)
    const app = await testApp(t, { settings: loopback.settings })
    await app.given(
      aChannel({ id: CHANNEL.harbour }),
      aVideo({ id: VIDEO.fog, channelId: CHANNEL.harbour, title: 'Fog signals explained', player: { duration: 3 } }),
    )
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as })
    loopback.platform.faults.set(VIDEO.fog, 'private')
    await go(`/video/${VIDEO.fog}/`)
    const player = page.getByRole('alert')
    await player.getByText('The file is no longer in the library.').waitFor()
    await check([/404/])
    await shot('video-missing')

    await player.getByRole('button', { name: 'Download again' }).click()
    await player.getByText(/private/i).waitFor(PATIENCE)
    loopback.platform.faults.clear()
    await player.getByRole('button', { name: 'Download again' }).click()

    await plays(page)
    assert.equal(await player.count(), 0)
  })

  test('while downloads are paused, the page shows this instead; only admins learn more than that the file is missing', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1' }))
    await app.app.platform.command('pause')
    const admin = await openPage(t, app.url, { as })
    await admin.go('/video/v1/')
    await admin.page
      .getByRole('alert')
      .getByText(/^Paused since/)
      .waitFor()
    assert.equal(await admin.page.getByRole('button', { name: 'Download again' }).count(), 0)

    const user = await openPage(t, app.url, { as: { username: 'user', password: PASSWORD } })
    await user.go('/video/v1/')
    await user.page.getByRole('alert').getByText('The file is no longer in the library.').waitFor()
    assert.deepEqual(await user.page.getByRole('alert').getByRole('button').allInnerTexts(), ['Try again'])
  })
})
