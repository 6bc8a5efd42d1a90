/** Degraded videos are downloaded again, with the real yt-dlp: when, how often, and what happens to the old file. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aDegraded, aReceipt, aVideo, type TestApp, testApp, testClock } from 'archivolt/testing'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import '../../support/long.ts'

const DAY_MS = 86_400_000
const [fog, nets] = [VIDEO.fog, VIDEO.nets] as [string, string]
const WITHHELD = {
  name: 'formats_withheld',
  only: ['18'],
  warning: 'Some tv client https formats have been skipped as they are missing a URL',
}

async function openDegradedApp(t: Parameters<typeof testApp>[0]) {
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings: settings as never, clock: testClock(Date.now()) })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  // The test starts it itself.
  await app.as('admin').delete('/api/schedule/', { task_name: 'redownload_degraded' })
  const download = async (id: string) => {
    await app.as('admin').post('/api/download/?autostart=true', { data: [{ platform_id: id }] })
    await app.settled()
  }
  const again = async (): Promise<string | null> => {
    // The advanced clock has started scheduled tasks, to which it would yield.
    await app.settled()
    const { body } = await app.as('admin').post('/api/task-name/redownload_degraded/')
    await app.settled()
    return (await app.as('admin').get(`/api/task-id/${body.task_id}/`)).body.result
  }
  const media = () => platform.requests.filter(({ path }) => path.startsWith('/media/')).length
  return { app, platform, download, again, media }
}

const shownOf = async (app: TestApp, id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data

/** The films in the trash. */
async function oldFilms(app: TestApp): Promise<string[]> {
  const files = await readdir(join(app.dataDir, 'media/.trash'), { recursive: true }).catch(() => [])
  return files.filter((name) => name.endsWith('.mp4'))
}

test('a degraded video improves by itself a week later; the old file goes to the bin, the user’s data stays', async (t) => {
  const { app, platform, download, again } = await openDegradedApp(t)
  platform.faults.set(fog, WITHHELD)
  await download(fog)
  const before = await shownOf(app, fog)
  await app.as('user').post('/api/watched/', { id: fog, is_watched: true })
  platform.faults.clear(fog)

  assert.equal(await again(), null, 'its time has not come')
  await app.clock.advance(7 * DAY_MS + 1000)
  assert.equal(await again(), '1 video upgraded')

  const after = await shownOf(app, fog)
  assert.deepEqual([before.receipt.got.height, before.degraded.reasons], [360, ['protocol']])
  assert.deepEqual([after.receipt.quality, after.receipt.got.height, after.degraded], ['best', 720, undefined])
  assert.deepEqual(
    [after.streams[0].height, after.date_downloaded, after.player.watched],
    [720, before.date_downloaded, true],
  )
  const film = join(app.dataDir, 'media', CHANNEL.harbour, `${fog}.mp4`)
  assert.equal((await stat(film)).size, after.media_size)
  const [old, ...others] = await oldFilms(app)
  assert.deepEqual(others, [])
  assert.equal((await stat(join(app.dataDir, 'media/.trash', old!))).size, before.media_size)

  const [entry] = (await app.as('admin').get('/api/bin/')).body.data
  assert.deepEqual([entry.kind, entry.why], ['film', 'replaced'])
  await app.as('admin').post('/api/bin/restore/', { entries: [entry.id] })
  assert.equal((await stat(film)).size, before.media_size)
  await app.clock.advance(7 * DAY_MS + 1000)
  assert.equal(await again(), null, 'somebody prefers the old one')
})

test('a better film that somebody has put in the place of a degraded one stays', async (t) => {
  const { app, platform, download, again, media } = await openDegradedApp(t)
  const film = join(app.dataDir, 'media', CHANNEL.harbour, `${fog}.mp4`)
  await download(fog)
  const better = await readFile(film)
  await app.as('admin').delete(`/api/video/${fog}/`)
  platform.faults.set(fog, WITHHELD)
  await download(fog)
  platform.faults.clear(fog)
  await writeFile(film, better)
  await app.app.videos.measure(fog)
  const fetched = media()

  await app.clock.advance(7 * DAY_MS + 1000)

  assert.equal(await again(), null)
  assert.equal(media(), fetched)
  assert.deepEqual(await readFile(film), better)
})

test('a video without a better format is not downloaded; after three attempts it stays as it is', async (t) => {
  const { app, platform, download, again, media } = await openDegradedApp(t)
  platform.faults.set(fog, WITHHELD)
  await download(fog)
  const fetched = media()

  const tries: unknown[] = []
  for (let week = 0; week < 5; week++) {
    await app.clock.advance(7 * DAY_MS + 1000)
    await again()
    const { degraded } = await shownOf(app, fog)
    tries.push([degraded.tries, degraded.next_try !== undefined])
  }

  assert.deepEqual(tries, [
    [1, true],
    [2, true],
    [3, false],
    [3, false],
    [3, false],
  ])
  assert.equal(media(), fetched)
  assert.deepEqual(await oldFilms(app), [])
})

test('if nothing better is offered without a warning, the file had the best quality', async (t) => {
  const { app, platform, download, again, media } = await openDegradedApp(t)
  platform.faults.set(fog, { ...WITHHELD, only: ['18', '134', '140'] })
  await download(fog)
  const fetched = media()
  platform.faults.set(fog, { name: 'formats_withheld', only: ['18', '134', '140'] })
  await app.clock.advance(7 * DAY_MS + 1000)

  await again()

  const { degraded, receipt } = await shownOf(app, fog)
  assert.deepEqual([degraded, receipt.quality, receipt.warnings, media()], [undefined, 'best', [], fetched])
})

test('another yt-dlp, or another cookie, is a reason not to wait', async (t) => {
  const { app, again } = await openDegradedApp(t)
  const degraded = {
    channelId: CHANNEL.harbour,
    receipt: aReceipt('degraded', { offered: 360 }),
    ...{ width: 640, height: 360 },
    player: { duration: 3 },
  }
  const next_try = Math.floor(app.clock.now() / 1000) + 86_400
  const tried_with = (await app.app.platform.downloaderVersion())!
  await app.given(
    aVideo({ ...degraded, id: fog, degraded: aDegraded({ next_try, tried_with: '2020.01.01' }) }),
    aVideo({ ...degraded, id: nets, degraded: aDegraded({ next_try, tried_with }) }),
  )

  assert.equal(await again(), '1 video upgraded')
  const isBetter = async (id: string) => (await shownOf(app, id)).receipt.quality === 'best'
  assert.deepEqual([await isBetter(fog), await isBetter(nets)], [true, false])

  await app.app.emit('cookie.changed', { isEnabled: true })
  await app.settled()
  assert.equal(await isBetter(nets), true)
})

test('a film of another length is another film: the old one stays', async (t) => {
  const { app, platform, download, again, media } = await openDegradedApp(t)
  platform.faults.set(fog, WITHHELD)
  await download(fog)
  const before = await shownOf(app, fog)
  const fetched = media()
  platform.faults.clear(fog)
  platform.catalogue.put('videos', fog, { clip: 'wide-9s' })
  await app.clock.advance(7 * DAY_MS + 1000)

  assert.equal(await again(), null)

  const after = await shownOf(app, fog)
  assert.deepEqual([after.media_size, after.degraded.tries, media()], [before.media_size, 1, fetched])
})

test('a few are downloaded a day, and none while the queue is processed', async (t) => {
  const { app, platform, again, media } = await openDegradedApp(t)
  const ids = ['fog', 'nets', 'mussels', 'ferry', 'pilots', 'charts', 'lighthouse'].map((key) => VIDEO[key] as string)
  const seconds = [3, 3, 3, 6, 6, 9, 9]
  const past = Math.floor(app.clock.now() / 1000) - 10
  await app.given(
    ...ids.map((id, at) =>
      aVideo({
        ...{ id, channelId: CHANNEL.harbour, player: { duration: seconds[at]! } },
        ...{ width: 640, height: 360 },
        ...{ receipt: aReceipt('degraded', { offered: 360 }), degraded: aDegraded({ next_try: past + at }) },
      }),
    ),
  )
  platform.faults.set(VIDEO.comet, { name: 'media_slow', bytesPerSecond: 20_000 })
  await app.as('admin').post('/api/download/?autostart=true', { data: [{ platform_id: VIDEO.comet }] })
  while (media() === 0) await new Promise(setImmediate)

  const started = await app.as('admin').post('/api/task-name/redownload_degraded/')
  while ((await app.as('admin').get(`/api/task-id/${started.body.task_id}/`)).body.status !== 'SUCCESS')
    await new Promise(setImmediate)
  const isQueueFirst = platform.requests.every(({ path }) => !ids.some((id) => path.startsWith(`/media/${id}`)))
  await app.as('admin').delete(`/api/download/${VIDEO.comet}/`)
  await app.settled()

  assert.ok(isQueueFirst)
  assert.equal(await again(), '5 videos upgraded')
  assert.equal(await again(), null, 'no more today')
  await app.clock.advance(DAY_MS)
  assert.equal(await again(), '2 videos upgraded')
})

test('a user’s request for a video takes precedence: the second download is cancelled, and uses up no attempt', async (t) => {
  const { app, platform, download, again, media } = await openDegradedApp(t)
  platform.faults.set(fog, WITHHELD)
  await download(fog)
  platform.faults.set(fog, { name: 'media_slow', bytesPerSecond: 20_000 })
  await app.clock.advance(7 * DAY_MS + 1000)
  const fetched = media()
  await app.as('admin').post('/api/task-name/redownload_degraded/')
  while (media() === fetched) await new Promise(setImmediate)

  await download(nets)

  assert.deepEqual(await app.ids('video'), [fog, nets].toSorted())
  assert.equal((await shownOf(app, fog)).degraded.tries, 0)
  platform.faults.clear(fog)
  assert.equal(await again(), '1 video upgraded')
})

test('if nothing is degraded, no program is started to check', async (t) => {
  const { app, again } = await openDegradedApp(t)
  await app.given(aVideo({ id: fog }))
  const { platform } = app.app
  const version = t.mock.method(platform, 'downloaderVersion')

  assert.equal(await again(), null)

  assert.equal(version.mock.callCount(), 0)
})
