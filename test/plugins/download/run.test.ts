/** Runs of the queue with the real yt-dlp: which items are downloaded, which are left, and what follows a run. */
import assert from 'node:assert/strict'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { type TestApp, type TestOptions, testApp, testClock } from 'archivolt/testing'
import { CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { temporaryFolder } from '../../support/folder.ts'
import '../../support/long.ts'

const DAY_MS = 86_400_000
const [fog, nets, mussels, storm] = [VIDEO.fog, VIDEO.nets, VIDEO.mussels, VIDEO.storm] as [
  string,
  string,
  string,
  string,
]

async function openRunApp(
  t: Parameters<typeof testApp>[0],
  options: TestOptions = {},
): Promise<{ app: TestApp; platform: TestPlatform['platform'] }> {
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, {
    ...options,
    settings: { ...settings, ...options.settings } as never,
    clock: testClock(Date.now()),
  })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  return { app, platform }
}

const add = async (app: TestApp, ids: string[], query = '') => {
  const reply = await app.as('admin').post(`/api/download/${query}`, { data: ids.map((id) => ({ youtube_id: id })) })
  assert.equal(reply.status, 200, reply.text)
  await app.settled()
}

test('an urgent item is downloaded alone; the others wait for the next run', async (t) => {
  const { app } = await openRunApp(t)
  await add(app, [fog, nets])

  await app.as('admin').post(`/api/download/${nets}/`, { status: 'priority' })
  await app.settled()

  assert.deepEqual(await app.ids('video'), [nets])
  assert.deepEqual(await app.ids('download'), [fog])
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [fog, nets].toSorted())
  const [run] = (await app.as('admin').get('/api/task-name/download_pending/')).body
  assert.equal(run.result, '1 video downloaded')
})

test('an item with a message is skipped by later runs until its status is set again', async (t) => {
  const heard: unknown[] = []
  const tide = definePlugin({
    name: 'tide',
    needs: ['download'],
    on: { 'download.failed': () => (event) => void heard.push(event) },
  })
  const { app, platform } = await openRunApp(t, { outside: [tide] })
  platform.faults.set(fog, 'private')
  await add(app, [fog], '?autostart=true')
  const { error_class, message, title, channel_id: channelId } = await app.doc('download', fog)
  assert.equal(error_class, 'gone')
  assert.deepEqual(heard, [{ id: fog, title, channelId, errorClass: 'gone', message }])
  platform.faults.clear()

  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [])

  await app.as('admin').post(`/api/download/${fog}/`, { status: 'pending' })
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [fog])
})

test('a premiere is parked until its time and downloaded then', async (t) => {
  const { app, platform } = await openRunApp(t)
  const starts = Math.floor(app.clock.now() / 1000) + 7200
  platform.catalogue.put('videos', fog, { info: { live_status: 'is_upcoming', release_timestamp: starts } })
  await add(app, [fog], '?autostart=true')
  const parked = await app.doc('download', fog)
  assert.equal(parked.error_class, 'upcoming')
  assert.ok(parked.retry_at >= starts)

  platform.catalogue.put('videos', fog, { info: { live_status: 'not_live', release_timestamp: null } })
  await app.clock.advance(parked.retry_at * 1000 - app.clock.now() + 1000)
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [fog])
})

test('an ended stream is parked for a day, and then downloaded whatever its status says', async (t) => {
  const { app, platform } = await openRunApp(t)
  const began = Math.floor(app.clock.now() / 1000) - 23.5 * 3600
  platform.catalogue.put('videos', storm, { info: { live_status: 'post_live', release_timestamp: began } })
  await add(app, [storm], '?autostart=true')
  const parked = await app.doc('download', storm)
  assert.equal(parked.error_class, 'upcoming')

  await app.clock.advance(parked.retry_at * 1000 - app.clock.now() + 1000)
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()

  assert.deepEqual(await app.ids('video'), [storm])
})

test('a premiere at an impossible time is retried in an hour, and the others continue', async (t) => {
  const { app, platform } = await openRunApp(t)
  await add(app, [fog, nets])
  platform.catalogue.put('videos', fog, { info: { live_status: 'is_upcoming', release_timestamp: 1e16 } })

  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()

  assert.deepEqual(await app.ids('video'), [nets])
  const { error_class, retry_at } = await app.doc('download', fog)
  assert.deepEqual([error_class, retry_at], ['upcoming', Math.floor(app.clock.now() / 1000) + 3600])
})

test('a video that occurs twice in a playlist is counted once', async (t) => {
  const { app, platform } = await openRunApp(t)
  platform.catalogue.put('playlists', PLAYLIST.coast, { videoIds: [fog, nets, fog, fog] })

  await add(app, [PLAYLIST.coast])

  const [task] = (await app.as('admin').get('/api/task-name/extract_download/')).body
  assert.equal(task.result, '2 videos added to the queue')
})

test('ignore-force ignores videos that are in no queue', async (t) => {
  const { app } = await openRunApp(t)
  await app.as('admin').post(`/api/download/${fog}/`, { status: 'ignore-force' })
  await app.settled()
  assert.equal((await app.doc('download', fog)).status, 'ignore')
  await add(app, [fog], '?autostart=true')
  assert.deepEqual(await app.ids('video'), [])
})

test('priority for an archived video that is in no queue downloads it again', async (t) => {
  const { app, platform } = await openRunApp(t)
  await add(app, [nets], '?autostart=true')
  assert.deepEqual([await app.ids('video'), await app.ids('download')], [[nets], []])
  platform.requests.length = 0

  const { status, body } = await app.as('admin').post(`/api/download/${nets}/`, { status: 'priority' })
  await app.settled()

  assert.deepEqual([status, body], [200, { status: 'priority' }])
  assert.deepEqual([await app.ids('video'), await app.ids('download')], [[nets], []])
  assert.ok(
    platform.requests.some(({ path }) => path.startsWith('/media/')),
    'the film came once more',
  )
  assert.equal((await app.as('admin').post(`/api/download/${fog}/`, { status: 'priority' })).status, 404)
})

test('deleting an item that is being downloaded cancels the download and leaves nothing behind', async (t) => {
  const { app, platform } = await openRunApp(t)
  platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 20_000 })
  await app.as('admin').post('/api/download/?autostart=true', { data: [{ youtube_id: fog }] })
  while ((await app.as('admin').get(`/api/download/${fog}/`)).body.data?.progress === undefined)
    await new Promise(setImmediate)

  assert.equal((await app.as('admin').delete(`/api/download/${fog}/`)).status, 200)
  await app.settled()

  assert.deepEqual(await app.ids('video'), [])
  assert.deepEqual(await app.ids('download'), [])
})

test('videos watched long ago are removed and ignored after a run, by the channel’s or the general setting', async (t) => {
  const { app } = await openRunApp(t)
  await add(app, [fog, nets], '?autostart=true')
  await app.as('admin').post('/api/config/', { downloads: { autodelete_days: 30 } })
  for (const id of [fog, nets]) await app.as('admin').post('/api/watched/', { id, is_watched: true })
  assert.equal((await app.as('admin').post(`/api/video/${nets}/`, { keep: true })).status, 200)
  await app.clock.advance(10 * DAY_MS)
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [fog, nets].toSorted(), 'not yet')

  await app.as('admin').post(`/api/channel/${CHANNEL.harbour}/`, { channel_overwrites: { autodelete_days: 5 } })
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()

  assert.deepEqual(await app.ids('video'), [nets], 'what is kept stays')
  assert.equal((await app.doc('download', fog)).status, 'ignore')
})

test('a watched video whose file cannot be removed stays, and the other follow-up work of a run is done nevertheless', async (t) => {
  const { app } = await openRunApp(t)
  // These would remove the video earlier.
  for (const task of ['download_pending', 'apply_rules']) await app.app.schedules.remove(task)
  await app.as('admin').post('/api/config/', { downloads: { autodelete_days: 1, comment_max: 'all' } })
  await add(app, [fog], '?autostart=true')
  await app.as('admin').post('/api/watched/', { id: fog, is_watched: true })
  await app.clock.advance(2 * DAY_MS)
  await rm(join(app.dataDir, 'media/.trash'), { recursive: true, force: true })
  await writeFile(join(app.dataDir, 'media/.trash'), 'a file stands where the trash would be')

  await add(app, [nets], '?autostart=true')

  assert.deepEqual(await app.ids('video'), [fog, nets].toSorted())
  assert.ok((await app.doc('video', nets)).comment_count > 0)
  assert.equal(app.app.jobs.list({ task: 'download_pending' })[0]!.state, 'SUCCESS')
})

test('comments are fetched after the run; a failure to fetch them is no failure of the run', async (t) => {
  const { app, platform } = await openRunApp(t)
  await app.as('admin').post('/api/config/', { downloads: { comment_max: 'all' } })
  await add(app, [nets, mussels], '?autostart=true')

  assert.equal(
    (await app.doc('video', nets)).comment_count,
    platform.catalogue.video(nets).comments.flatMap(({ replies = [] }: { replies?: unknown[] }) => [1, ...replies])
      .length,
  )
  const threads = (await app.as('user').get(`/api/video/${nets}/comment/`)).body.data
  assert.equal(threads.length, 4)
})

test('comments do not wait for an item that will be retried', async (t) => {
  const { app, platform } = await openRunApp(t)
  await app.as('admin').post('/api/config/', { downloads: { comment_max: 'all' } })
  platform.faults.set(fog, { name: 'media_cut', afterBytes: 0 })
  await app.as('admin').post('/api/download/', { data: [{ youtube_id: fog }, { youtube_id: nets }] })
  await app.settled()
  const { body } = await app.as('admin').post('/api/task-name/download_pending/')

  while (((await app.doc('video', nets))?.comment_count ?? 0) === 0) {
    assert.equal(app.app.jobs.active('download_pending')?.id, body.task_id, 'the run waits for the other')
    await new Promise(setImmediate)
  }

  assert.deepEqual(await app.ids('download'), [fog])
  await app.as('admin').post(`/api/task-id/${body.task_id}/`, { command: 'kill' })
  await app.settled()
})

test('a video that is deleted while comments are fetched does not affect the others', async (t) => {
  const { app } = await openRunApp(t)
  await app.as('admin').post('/api/config/', { downloads: { comment_max: 'all' } })
  const service = app.app.platform
  const ask = service.comments
  service.comments = async (id, ...how) => {
    const found = await ask(id, ...how)
    if (id === mussels) assert.equal((await app.as('admin').delete(`/api/video/${mussels}/`)).status, 200)
    return found
  }

  await add(app, [mussels, nets], '?autostart=true')

  assert.deepEqual(await app.ids('video'), [nets])
  assert.ok((await app.doc('video', nets)).comment_count > 0)
  const [run] = app.app.jobs.list({ task: 'download_pending' })
  assert.deepEqual([run!.state, run!.result], ['SUCCESS', '2 videos downloaded'])
})

test('while a run waits for a retry, an urgent item is downloaded, and a stop ends the wait', async (t) => {
  const { app } = await openRunApp(t)
  await add(app, [fog, nets])
  await app.as('admin').post(`/api/download/${nets}/`, { status: 'ignore' })
  const service = app.app.platform
  const ask = service.download
  service.download = async (id, ...how) => {
    if (id === fog) throw new Error('it may go better next time')
    return ask(id, ...how)
  }
  const { task_id: id } = (await app.as('admin').post('/api/task-name/download_pending/')).body
  while (!app.app.jobs.logOf(id).some(({ message }) => message.includes('not downloaded')))
    await new Promise(setImmediate)
  await app.clock.advance(1000)

  await app.as('admin').post(`/api/download/${nets}/`, { status: 'priority' })
  while (!(await app.ids('video')).includes(nets)) await new Promise(setImmediate)
  await app.app.jobs.command(id, 'STOP')
  await app.settled()

  assert.deepEqual(await app.ids('download'), [fog])
  assert.equal(app.app.jobs.get(id)!.state, 'SUCCESS')
})

test('partial files are deleted with a killed run, and kept for the next one after a stop', async (t) => {
  for (const [command, state, left] of [
    ['KILL', 'REVOKED', []],
    ['STOP', 'SUCCESS', [fog]],
  ] as const) {
    const { app } = await openRunApp(t)
    await add(app, [fog])
    const begun = new Promise<void>((resolve) => {
      app.app.platform.download = async (_id, { folder }, { signal }) => {
        await writeFile(join(folder, 'part'), 'the first half')
        resolve()
        return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
      }
    })
    const { task_id: id } = (await app.as('admin').post('/api/task-name/download_pending/')).body
    await begun

    await app.app.jobs.command(id, command)
    await app.settled()

    assert.equal(app.app.jobs.get(id)!.state, state)
    assert.deepEqual(await readdir(join(app.dataDir, 'media/.staging')), left)
  }
})

test('an account that requested a video is notified of its arrival, or of the reason why it is unavailable', async (t) => {
  const { app, platform } = await openRunApp(t)
  await app.app.accounts.change(2, { may_download: true })
  platform.faults.set(nets, 'private')

  const reply = await app
    .as('user')
    .post('/api/download/?autostart=true', { data: [fog, nets].map((id) => ({ youtube_id: id })) })
  assert.equal(reply.status, 200, reply.text)
  await app.settled()

  const told = async (who: 'user' | 'admin') =>
    (await app.as(who).get('/api/notification/')).body
      .filter(({ group }: { group: string }) => group === 'download:request')
      .map(({ level, messages }: { level: string; messages: string[] }) => [level, messages.join()])
      .toSorted()
  const [failed, come] = await told('user')
  const { title } = await app.doc('video', fog)
  assert.deepEqual(come, ['info', `“${title}” is ready to watch`])
  assert.deepEqual([failed[0], failed[1].includes('could not be downloaded')], ['error', true])
  assert.deepEqual(await told('admin'), [])
})

const start = (app: TestApp) => app.as('admin').post('/api/task-name/download_pending/')
const until = async (isIt: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isIt())) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('up to three are downloaded at once if configured, and one by default', async (t) => {
  const { app, platform } = await openRunApp(t)
  platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 20_000 })
  await add(app, [fog, nets, mussels])
  const progressing = async () => {
    const { body } = await app.as('admin').get('/api/download/?filter=pending')
    return body.data.filter(({ progress }: { progress?: number }) => progress !== undefined).length
  }
  await start(app)
  await until(async () => (await progressing()) === 1)

  await app.as('admin').post('/api/config/', { platform: { downloads_at_once: 2 } })
  await app.as('admin').post(`/api/download/${mussels}/`, { status: 'priority' })
  await until(async () => (await progressing()) === 2)

  platform.faults.clear()
  await app.settled()
  assert.deepEqual(await app.ids('video'), [fog, nets, mussels].toSorted())
})

test('while one is merged on this machine, the next is downloaded', async (t) => {
  const folder = await temporaryFolder(t)
  const [ffmpeg, go] = [join(folder, 'ffmpeg'), join(folder, 'go')]
  // It pauses exactly where the streams of the first are merged.
  const isMerging = `case "$*" in *${fog}.temp.mp4*) while [ ! -e ${go} ]; do sleep 0.05; done;; esac`
  await writeFile(ffmpeg, `#!/bin/sh\n${isMerging}\nexec ffmpeg "$@"\n`, { mode: 0o755 })
  await writeFile(join(folder, 'ffprobe'), '#!/bin/sh\nexec ffprobe "$@"\n', { mode: 0o755 })
  const { app } = await openRunApp(t, { settings: { ffmpeg } })
  await add(app, [fog, nets, mussels])

  await start(app)
  await until(async () => (await app.ids('video')).length === 2)

  assert.deepEqual(await app.ids('video'), [nets, mussels].toSorted())
  await writeFile(go, '')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [fog, nets, mussels].toSorted())
  assert.deepEqual(await app.ids('download'), [])
})

test('subtitles that the platform refuses postpone only subtitles, and are fetched later by themselves', async (t) => {
  const { app, platform } = await openRunApp(t)
  await app.as('admin').post('/api/config/', { downloads: { subtitle: 'en,de', subtitle_source: 'user' } })
  platform.faults.set(`${VIDEO.breakwater}/de`, { name: 'captions_status', status: 429 })
  const captions = () => platform.requests.filter(({ path }) => path.startsWith('/captions/')).length
  const languages = async (id: string) =>
    (await app.doc('video', id)).subtitles.map(({ lang }: { lang: string }) => lang)
  await app
    .as('admin')
    .post('/api/download/', { data: [VIDEO.breakwater, VIDEO.lighthouse].map((id) => ({ youtube_id: id })) })
  await until(async () => (await app.ids('download')).length === 2)

  await start(app)
  await until(async () => (await app.ids('video')).length === 2 && (await app.ids('download')).length === 0)

  assert.deepEqual([await languages(VIDEO.breakwater!), await languages(VIDEO.lighthouse!)], [['en'], []])
  assert.equal(captions(), 2, 'the second video does not ask for any')
  assert.equal((await app.as('admin').get('/api/platform/')).body.state, 'open')

  await app.clock.advance(14 * 60_000)
  assert.equal(captions(), 2)
  platform.faults.clear()
  await app.clock.advance(60_000)
  await app.settled()
  assert.deepEqual((await languages(VIDEO.breakwater!)).toSorted(), ['de', 'en'])
  assert.ok((await languages(VIDEO.lighthouse!)).length > 0)
  assert.equal(
    platform.requests.filter(({ path }) => path.includes(`${VIDEO.breakwater}/en`)).length,
    1,
    'not again what is there',
  )
})
