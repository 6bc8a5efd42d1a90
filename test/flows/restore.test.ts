/** A restore on a server that is in use: which requests wait and which are refused. */
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AppOf, definePlugin, defineTask } from '../../core/plugin/define.ts'
import { Type } from '../../plugins/plugin-kit/public.ts'
// Missing pictures are extracted from the films.
import '../support/ffmpeg.ts'
import { startMarking } from '../support/marking.ts'
import {
  aChannel,
  aPlaylist,
  aQueued,
  aVideo,
  type TestApp,
  type TestOptions,
  type TestReply,
  testApp,
} from '../support/testing.ts'

const CUSTOM = 'av_playlist_mine'

async function given(t: TestContext, options: TestOptions = {}): Promise<TestApp> {
  const app = await testApp(t, options)
  await app.settled()
  await app.given(
    aChannel({ channel_subscribed: true }),
    aVideo({ id: 'v1' }),
    aVideo({ id: 'v2', active: false }),
    aPlaylist({ entries: ['v1'] }),
    aPlaylist({ id: CUSTOM, playlist_type: 'custom', entries: ['v2'] }),
    aQueued(),
  )
  const path = join(app.dataDir, 'media/UC1/v1.mp4')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'a film')
  return app
}

/** Everything that a request could have changed. */
async function everything(app: TestApp): Promise<unknown> {
  const docs: Record<string, unknown> = {}
  for (const { name } of app.app.index.definitions)
    for (const id of await app.ids(name)) docs[`${name} ${id}`] = await app.doc(name, id)
  const positions = app.app.ledger.sql('SELECT * FROM watch_position ORDER BY video_id').all()
  const files = (await readdir(join(app.dataDir, 'media'), { recursive: true })).toSorted()
  return { docs, positions, files }
}

/** A restore that pauses halfway until it is released or aborted. */
async function standingRestore(app: TestApp) {
  let go!: () => void
  let breakOff!: (error: Error) => void
  const wait = new Promise<void>((resolve, reject) => {
    go = resolve
    breakOff = reject
  })
  let begun!: () => void
  const hasBegun = new Promise<void>((resolve) => (begun = resolve))
  const ended = app.app.index.replaceAll(async (write) => {
    await write('channel', [aChannel()])
    await write('video', [aVideo({ id: 'v1' }), aVideo({ id: 'restored' })])
    begun()
    await wait
  })
  await hasBegun
  return { ended, go, breakOff }
}

test('during a restore reads work, and requests that would change documents are refused with nothing half done', async (t) => {
  const app = await given(t)
  const admin = app.as('admin')
  await admin.post('/api/video/v1/progress/', { position: 20 })
  await admin.post('/api/config/user/', {})
  const before = await everything(app)
  const restore = await standingRestore(app)

  const refused: Array<[string, () => Promise<TestReply>]> = [
    ['a video', () => admin.delete('/api/video/v1/')],
    ['a channel', () => admin.delete('/api/channel/UC1/')],
    ['a playlist with its videos', () => admin.delete('/api/playlist/PL1/?delete-videos=true')],
    ['a mark', () => admin.post('/api/watched/', { id: 'v1', is_watched: true })],
    ['marks of a channel', () => admin.post('/api/watched/', { id: 'UC1', is_watched: true })],
    ['unsubscribing', () => admin.post('/api/channel/UC1/', { channel_subscribed: false })],
    ['overwrites', () => admin.post('/api/channel/UC1/', { channel_overwrites: { autodelete_days: 3 } })],
    ['a custom playlist', () => admin.post('/api/playlist/custom/', { playlist_name: 'New' })],
    ['an entry', () => admin.post(`/api/playlist/custom/${CUSTOM}/`, { action: 'create', video_id: 'v1' })],
    ['an entry less', () => admin.post(`/api/playlist/${CUSTOM}/`, { action: 'remove', video_id: 'v2' })],
    ['a queued item', () => admin.delete('/api/download/q1/')],
    ['the queue', () => admin.delete('/api/download/?filter=pending')],
    ['ignoring', () => admin.post('/api/download/q1/', { status: 'ignore' })],
    ['ignoring many', () => admin.post('/api/download/bulk/', { filter: 'pending', status: 'ignore' })],
    ['activating', () => admin.post('/api/activate/', { video: ['v2'] })],
  ]
  for (const [what, ask] of refused) {
    const { status, body, headers } = await ask()
    assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '10'], what)
  }
  for (const path of [
    '/api/video/',
    '/api/video/v1/',
    '/api/channel/',
    '/api/playlist/',
    '/api/download/',
    '/api/search/?query=video',
    '/api/stats/video/',
    '/api/ping/',
    '/health',
  ]) {
    assert.equal((await admin.get(path)).status, 200, path)
  }
  assert.equal((await admin.get('/api/video/')).body.paginate.total_hits, 2)
  assert.equal(
    (await admin.post('/api/video/v1/progress/', { position: 20 })).status,
    200,
    'a position is in no document',
  )
  assert.deepEqual(await everything(app), before)

  restore.breakOff(new Error('broken off'))
  await assert.rejects(restore.ended, /broken off/)
  assert.deepEqual(await everything(app), before)
  assert.equal((await admin.delete('/api/video/v1/')).status, 200)
  assert.deepEqual(await app.ids('video'), ['v2'])
})

test('jobs wait for the restore at their next write, also before a removal, and continue with the restored data', async (t) => {
  const removing = defineTask({
    name: 'errand.remove',
    title: 'Remove',
    payload: Type.Object({ id: Type.String() }),
    lane: 'light',
    run: async ({ payload: { id } }, app: AppOf<'video'>) => app.videos.remove(id),
  })
  const app = await given(t, { replace: [definePlugin({ name: 'errand', needs: ['video'], tasks: [removing] })] })
  const restore = await standingRestore(app)
  const jobs = [await startMarking(app, {}), await app.app.jobs.start('errand.remove', { id: 'v1' })]
  const accepted = await app.as('admin').post('/api/download/', { data: [{ youtube_id: 'UC1' }] })
  assert.equal(accepted.status, 200)
  await app.clock.advance(60_000)
  for (const { id } of jobs) assert.equal(app.app.jobs.get(id)?.state, 'STARTED')

  restore.go()
  await restore.ended
  for (const { id } of jobs) assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')

  assert.deepEqual(await app.ids('video'), ['restored'])
  assert.deepEqual((await app.doc('video', 'restored')).watched_by, ['1'])
  assert.deepEqual(await readdir(join(app.dataDir, 'media/UC1')).catch(() => []), [])
})

test('a second restore is refused while one is pending or running, of either kind', async (t) => {
  let held: Promise<void> = Promise.resolve()
  const holding = defineTask({
    name: 'errand.hold',
    title: 'Hold',
    payload: Type.Object({}),
    lane: 'index',
    run: () => held,
  })
  const app = await given(t, { replace: [definePlugin({ name: 'errand', tasks: [holding] })] })
  const admin = app.as('admin')
  const name = (await admin.post('/api/snapshot/')).body.snapshot_name
  await app.settled()
  await app.app.jobs.run('run_backup', {})
  const [{ filename }] = (await admin.get('/api/backup/')).body

  const replies = await Promise.all([admin.post(`/api/snapshot/${name}/`), admin.post(`/api/snapshot/${name}/`)])
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
  await app.settled()

  // A running job occupies the lane: the restore waits in it as long as the test needs.
  let release!: () => void
  held = new Promise<void>((resolve) => (release = resolve))
  await app.app.jobs.start('errand.hold')
  const statuses = []
  for (const path of [`/api/snapshot/${name}/`, `/api/snapshot/${name}/`, `/api/backup/${filename}/`])
    statuses.push((await admin.post(path)).status)
  assert.deepEqual(statuses, [200, 409, 409])
  release()
  await app.settled()
  const tasks = (await admin.get('/api/task-name/restore_snapshot/')).body
  assert.ok(tasks.every(({ status }: { status: string }) => status === 'SUCCESS'))
})

test('a server that is closed during a restore keeps the former data, and ends the waiting jobs', async (t) => {
  const app = await given(t)
  const restore = await standingRestore(app)
  const { id } = await startMarking(app, {})
  const failed = assert.rejects(restore.ended)
  const closing = app.close()
  restore.breakOff(new Error('closed'))
  await Promise.all([closing, failed])

  await app.restart()
  assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
  assert.deepEqual((await app.doc('video', 'v2')).watched_by, ['1'])
})
