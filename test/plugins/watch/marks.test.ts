/**
 * Marks in the ledger and their copies in the index: they finally agree, whatever happens in between (contract 9.1).
 */
import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { errors } from 'archivolt'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import { temporaryFolder } from '../../support/folder.ts'
import { startMarking } from '../../support/marking.ts'
import '../../support/slow.ts'

const DAY_MS = 24 * 60 * 60 * 1000
type Who = 'admin' | 'user'

const mark = (app: TestApp, who: Who, id: string, is_watched = true) =>
  app.as(who).post('/api/watched/', { id, is_watched })
const idOf = (app: TestApp, who: Who): number =>
  app.app.accounts.list().find(({ is_staff }) => is_staff === (who === 'admin'))!.id
const isWatched = async (app: TestApp, who: Who, id: string): Promise<boolean> =>
  (await app.as(who).get(`/api/video/${id}/`)).body.data.player.watched

/** Account and video of each mark, in the ledger and in the index. */
async function bothSides(app: TestApp): Promise<{ ledger: string[]; index: string[] }> {
  const rows = app.app.ledger.sql<{ mark: string }>(`SELECT user_id || ' ' || video_id AS mark FROM watch_mark`).all()
  const index: string[] = []
  for await (const batch of app.app.videos.collection.scan())
    for (const { id, doc } of batch) index.push(...(doc.watched_by ?? []).map((account) => `${account} ${id}`))
  return { ledger: rows.map((row) => row.mark).sort(), index: index.sort() }
}

async function assertAgreed(app: TestApp, expected?: string[]): Promise<void> {
  const { ledger, index } = await bothSides(app)
  assert.deepEqual(index, ledger)
  if (expected) assert.deepEqual(ledger, expected)
  assert.deepEqual(app.app.ledger.sql('SELECT * FROM watch_unindexed').all(), [])
}

async function anApp(t: TestContext, ...ids: string[]): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(aChannel(), ...ids.map((id) => aVideo({ id })))
  return app
}

test('simultaneous marks of two people, and marks that are set and removed at once, end as in the ledger', async (t) => {
  const ids = Array.from({ length: 12 }, (_, number) => `v${number}`)
  const app = await anApp(t, ...ids)
  const asked: Array<Promise<{ status: number }>> = []
  for (let turn = 0; turn < 4; turn++) {
    for (const id of ids) for (const who of ['admin', 'user'] as const) asked.push(mark(app, who, id, turn % 2 === 0))
    asked.push(mark(app, turn % 2 ? 'admin' : 'user', 'UC1', turn < 2))
  }

  const replies = await Promise.all(asked)

  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
  await app.settled()
  await assertAgreed(app)
})

const MANY = 450
const manyIds = Array.from({ length: MANY }, (_, number) => `v${String(number).padStart(3, '0')}`)

/** Acts during the first batch of the next marking, before it is in the index. */
function atFirstBatch(t: TestContext, { app }: TestApp, act: () => Promise<unknown> | undefined): void {
  const { patchWhere } = app.videos.collection
  let isDone = false
  t.mock.method(app.videos.collection, 'patchWhere', async (...given: Parameters<typeof patchWhere>) => {
    if (!isDone) {
      isDone = true
      await act()
    }
    return patchWhere(...given)
  })
}

test('if all are marked and unmarked in quick succession, the last request counts', async (t) => {
  for (const last of [false, true]) {
    const app = await anApp(t, ...manyIds)
    if (!last) await mark(app, 'admin', 'UC1', false)
    else await mark(app, 'admin', 'UC1')
    let second: Promise<{ status: number }> | undefined
    atFirstBatch(t, app, async () => {
      second = mark(app, 'admin', 'UC1', last)
      await app.clock.advance(0)
    })

    const first = await mark(app, 'admin', 'UC1', !last)

    assert.deepEqual([first.status, (await second!).status], [200, 200])
    await app.settled()
    await assertAgreed(app, last ? manyIds.map((id) => `${idOf(app, 'admin')} ${id}`).sort() : [])
    await app.close()
  }
})

test('a single mark that is set while its channel is marked is kept', async (t) => {
  const app = await anApp(t, ...manyIds)
  const last = manyIds.at(-1)!
  const isNoted = () => app.app.ledger.sql('SELECT 1 FROM watch_marked_since').get() !== undefined
  let own: Promise<unknown> | undefined
  atFirstBatch(t, app, async () => {
    own = mark(app, 'admin', last, false)
    while (!isNoted()) await app.clock.advance(0)
  })

  await mark(app, 'admin', 'UC1')

  await own
  await app.settled()
  assert.equal(await isWatched(app, 'admin', last), false)
  await assertAgreed(
    app,
    manyIds.slice(0, -1).map((id) => `${idOf(app, 'admin')} ${id}`),
  )
  await mark(app, 'admin', 'UC1')
  assert.equal(await isWatched(app, 'admin', last), true, 'a later one means it too')
})

test('pending markings are carried out after a restart in the order of their requests', async (t) => {
  const app = await anApp(t, ...manyIds)
  for (let number = 0; number < 9; number++) await startMarking(app, { isWatched: number % 2 === 0 })
  await app.close()

  await app.restart()
  const last = await mark(app, 'admin', 'UC1', false)
  await app.settled()

  assert.equal(last.status, 200)
  await assertAgreed(app, [])
  assert.deepEqual(app.app.ledger.sql('SELECT * FROM watch_marking').all(), [])
})

test('a failed marking is reported, and not carried out later', async (t) => {
  const app = await anApp(t, 'v1')
  t.mock.method(
    app.app.videos.collection,
    'scan',
    () => {
      throw errors.unprocessable('it cannot be read')
    },
    { times: 1 },
  )

  const failed = await mark(app, 'admin', 'UC1')
  await mark(app, 'user', 'UC1')
  await app.restart()
  await app.settled()

  assert.equal(failed.status, 422)
  await assertAgreed(app, [`${idOf(app, 'user')} v1`])
})

test('a mark that the index cannot store now is kept, and stored as soon as possible', async (t) => {
  const app = await anApp(t, 'v1')
  const { videos } = app.app
  t.mock.method(videos, 'change', () => Promise.reject(errors.unavailable('The index is away')), { times: 1 })

  const reply = await mark(app, 'user', 'v1')
  await app.settled()

  assert.equal(reply.status, 503)
  assert.equal(await isWatched(app, 'user', 'v1'), true)
  await assertAgreed(app, [`${idOf(app, 'user')} v1`])
})

test('the next start finishes what a crash has left between ledger and index', async (t) => {
  const app = await anApp(t, 'v1', 'v2')
  await mark(app, 'user', 'v2')
  const [admin, user] = [idOf(app, 'admin'), idOf(app, 'user')]
  const { ledger } = app.app
  await ledger.write(() => {
    ledger.sql('INSERT INTO watch_mark (user_id, video_id, watched_at) VALUES (?, ?, 5)').run(admin, 'v1')
    ledger.sql('DELETE FROM watch_mark WHERE user_id = ?').run(user)
    for (const [id, video] of [
      [admin, 'v1'],
      [user, 'v2'],
    ])
      ledger.sql('INSERT INTO watch_unindexed (user_id, video_id) VALUES (?, ?)').run(id, video)
  })

  await app.restart()
  await app.settled()

  await assertAgreed(app, [`${admin} v1`])
})

test('the marks of a removed account are removed, even if the event was lost', async (t) => {
  const app = await anApp(t, 'v1', 'v2')
  await mark(app, 'admin', 'v1')
  await mark(app, 'user', 'UC1')
  const third = (await app.as('admin').post('/api/user/', { username: 'third', password: 'a third password' })).body.id
  await app.app.watch.mark(third, 'v2', true)

  assert.equal((await app.as('admin').delete(`/api/user/${idOf(app, 'user')}/`)).status, 200)
  await app.settled()
  await assertAgreed(app, [`${idOf(app, 'admin')} v1`, `${third} v2`].sort())

  await app.app.accounts.remove(third) // the process ends before the event
  await app.restart()
  await app.settled()
  await assertAgreed(app, [`${idOf(app, 'admin')} v1`])
})

test('an account that is removed while a channel is marked for it leaves nothing', async (t) => {
  const app = await anApp(t, ...Array.from({ length: 450 }, (_, number) => `v${number}`))
  await mark(app, 'admin', 'v3')
  const { videos } = app.app
  const patchWhere = videos.collection.patchWhere
  const user = idOf(app, 'user')
  let removal: Promise<{ status: number }> | undefined
  t.mock.method(videos.collection, 'patchWhere', async (...given: Parameters<typeof patchWhere>) => {
    removal ??= app.as('admin').delete(`/api/user/${user}/`)
    await removal
    return patchWhere(...given)
  })

  const job = await startMarking(app, { userId: user })

  assert.equal((await app.app.jobs.ended(job.id)).state, 'SUCCESS')
  assert.equal((await removal!).status, 200)
  await app.settled()
  await assertAgreed(app, [`${idOf(app, 'admin')} v3`])
})

test('a video that is removed while it is being marked is 404, and is not marked after it returns', async (t) => {
  const app = await anApp(t, 'v1')
  const { media } = app.app
  const { trash } = media
  let marking: Promise<{ status: number }> | undefined
  t.mock.method(media, 'trash', async (...given: Parameters<typeof trash>) => {
    marking ??= mark(app, 'user', 'v1')
    await app.clock.advance(0)
    return trash(...given)
  })

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)

  assert.equal((await marking!).status, 404)
  await app.given(aVideo({ id: 'v1' }))
  assert.equal(await isWatched(app, 'user', 'v1'), false)
  await assertAgreed(app, [])
})

test('a removed video loses the marks of all accounts', async (t) => {
  const app = await anApp(t, 'v1', 'v2')
  for (const who of ['admin', 'user'] as const) await mark(app, who, 'UC1')

  await app.as('admin').delete('/api/video/v1/')

  await assertAgreed(app, [`${idOf(app, 'admin')} v2`, `${idOf(app, 'user')} v2`].sort())
})

test('a private playlist is marked by its own account, and does not exist for others', async (t) => {
  const app = await anApp(t, 'v1', 'v2', 'v3')
  const user = app.as('user')
  const { playlist_id } = (await user.post('/api/playlist/custom/', { playlist_name: 'Mine' })).body
  for (const id of [playlist_id, 'watchlater'])
    await user.post(`/api/playlist/custom/${id}/`, { action: 'create', video_id: id === playlist_id ? 'v1' : 'v2' })

  assert.equal((await mark(app, 'admin', playlist_id)).status, 404)
  assert.equal((await mark(app, 'user', playlist_id)).status, 200)
  assert.equal((await mark(app, 'user', 'watchlater')).status, 200)

  await assertAgreed(app, [`${idOf(app, 'user')} v1`, `${idOf(app, 'user')} v2`])
})

test('restoring a snapshot keeps marks: the index is updated from the ledger', async (t) => {
  const app = await anApp(t, 'v1', 'v2')
  await mark(app, 'user', 'v1')
  await app.settled() // that of the first start has been taken
  const { snapshot_name } = (await app.as('admin').post('/api/snapshot/')).body
  await app.settled()
  await app.given(aVideo({ id: 'newer' }))
  await mark(app, 'user', 'v1', false)
  await mark(app, 'user', 'v2')
  await mark(app, 'user', 'newer')

  await app.as('admin').post(`/api/snapshot/${snapshot_name}/`)
  await app.settled()

  assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
  assert.deepEqual((await app.doc('video', 'v2')).watched_by, [String(idOf(app, 'user'))])
  assert.deepEqual((await app.doc('video', 'v1')).watched_by, [])
  await app.given(aVideo({ id: 'newer' })) // as a rescan brings it back
  await app.app.emit('video.added', { id: 'newer', channelId: 'UC1', why: 'new' })
  assert.equal(await isWatched(app, 'user', 'newer'), true)
  await assertAgreed(app)
})

test('marks in documents from elsewhere are not trusted', async (t) => {
  const app = await anApp(t, 'v1')
  await mark(app, 'user', 'v1')
  await app.given(aVideo({ id: 'v1', watched_by: ['99', 'x', String(idOf(app, 'admin'))], shared_mark: 7 }))
  await app.app.ledger.write(() => app.app.ledger.sql('DELETE FROM watch_pending').run())

  await app.app.emit('index.replaced', {})
  await app.settled()

  assert.equal((await app.doc('video', 'v1')).shared_mark, undefined)
  await assertAgreed(app, [`${idOf(app, 'user')} v1`])
})

test('a backup contains the marks of the first admin; its restore sets them, and keeps those of others', async (t) => {
  const app = await anApp(t, 'v1', 'v2', 'v3')
  const admin = app.as('admin')
  await mark(app, 'admin', 'v1')
  await app.clock.advance(DAY_MS)
  await admin.post('/api/backup/')
  await app.settled()
  const [{ filename }] = (await admin.get('/api/backup/')).body
  await mark(app, 'admin', 'v1', false)
  await mark(app, 'admin', 'v2')
  await mark(app, 'user', 'v3')
  const changes = (await admin.get(`/api/backup/${filename}/preview/`)).body.video

  assert.equal((await admin.post(`/api/backup/${filename}/`)).status, 200)
  await app.settled()

  assert.deepEqual([changes.backup, changes.changed], [3, 2], 'the preview tells of marks')
  await assertAgreed(app, [`${idOf(app, 'admin')} v1`, `${idOf(app, 'user')} v3`].sort())
  const { watched_date } = (await admin.get('/api/video/v1/')).body.data.player
  assert.equal(watched_date, Math.floor((app.clock.now() - DAY_MS) / 1000), 'with its date')
  assert.equal((await app.doc('video', 'v1')).restored_mark, undefined)
})

test('a mark in a document is imported once, even if the document was read before', async (t) => {
  const app = await anApp(t)
  const { videos, watch } = app.app
  await app.given(aVideo({ id: 'v1', restored_mark: 5 }))
  const readBefore = await videos.get('v1')
  await watch.settleVideo('v1')
  assert.equal(await isWatched(app, 'admin', 'v1'), true)
  await mark(app, 'admin', 'v1', false)
  t.mock.method(videos, 'get', async () => readBefore)

  await watch.settleVideo('v1')

  await assertAgreed(app, [])
})

test('an old document without a date counts as watched by all accounts at an unknown time; a later one adds no marks', async (t) => {
  const app = await anApp(t, 'v1', 'v2')
  await app.app.ledger.write(() => app.app.ledger.sql(`INSERT INTO watch_pending VALUES ('shared marks')`).run())
  await app.given(aVideo({ id: 'v1', shared_mark: 0 }))

  await app.app.emit('index.replaced', {})
  await app.settled()

  const { player } = (await app.as('user').get('/api/video/v1/')).body.data
  assert.deepEqual([player.watched, 'watched_date' in player], [true, false])
  await app.given(aVideo({ id: 'v2', shared_mark: 5 }))
  await app.app.emit('index.replaced', {})
  await app.settled()
  await assertAgreed(app, [`${idOf(app, 'admin')} v1`, `${idOf(app, 'user')} v1`].sort())
})

test('marks of an account that an older ledger lacks are nobody else’s, and return with the newer ledger', async (t) => {
  const app = await anApp(t, 'v1')
  const file = join(app.dataDir, 'ledger.sqlite')
  const folder = await temporaryFolder(t)
  await app.close()
  await cp(file, join(folder, 'older'))
  await app.restart()
  const { body: lost } = await app.as('admin').post('/api/user/', { username: 'lost', password: PASSWORD })
  await app.as('lost').post('/api/watched/', { id: 'v1', is_watched: true })
  await app.close()
  await cp(file, join(folder, 'newer'))

  await cp(join(folder, 'older'), file)
  await app.restart()
  await app.as('admin').post('/api/user/', { username: 'new', password: PASSWORD })
  await app.app.emit('ledger.replaced', {})
  await app.settled()

  assert.deepEqual((await app.as('new').get('/api/video/?watch=watched')).body.data, [])
  await app.close()
  await cp(join(folder, 'newer'), file)
  await app.restart()
  await app.settled()
  await assertAgreed(app, [`${lost.id} v1`])
})

const DAYS = 30
const counts: Array<[whose: string, watchers: Who[], isGone: boolean]> = [
  ['anyone', ['user'], true],
  ['everyone', ['user'], false],
  ['everyone', ['user', 'admin'], true],
  ['admins', ['user'], false],
  ['admins', ['admin'], true],
]

test('a preference says whose marks count for deletion: by default, those of everyone who watches here', async (t) => {
  const app = await anApp(t, 'v1', 'other')
  assert.equal((await app.as('admin').get('/api/config/')).body.progress.watchedBy, 'everyone')
  await app.as('admin').post('/api/user/', { username: 'idle', password: 'a third password' })
  for (const who of ['admin', 'user'] as const) await app.as(who).post('/api/video/other/progress/', { position: 5 })
  const long = Math.floor(app.clock.now() / 1000) + DAYS * 86_400
  for (const [whose, watchers, isGone] of counts) {
    await app.as('admin').post('/api/config/', { progress: { watchedBy: whose } })
    for (const who of ['admin', 'user'] as const) await mark(app, who, 'v1', watchers.includes(who))
    const found: string[] = []
    for await (const batch of app.app.watch.watchedBefore(long)) found.push(...batch.map(({ id }) => id))
    assert.deepEqual(found, isGone ? ['v1'] : [], `${whose}, watched by ${watchers.join(' and ')}`)
    assert.equal(app.app.watch.isWatchedBefore('v1', long), isGone)
  }
  await mark(app, 'admin', 'v1')
  await app.clock.advance(DAY_MS)
  await mark(app, 'user', 'v1')
  await app.as('admin').post('/api/config/', { progress: { watchedBy: 'everyone' } })
  const between = Math.floor(app.clock.now() / 1000)
  assert.equal(app.app.watch.isWatchedBefore('v1', between), false, 'the last of them counts')
  assert.equal(app.app.watch.isWatchedBefore('v1', between + 1), true)
  assert.equal((await app.as('admin').post('/api/config/', { progress: { watchedBy: 'me' } })).status, 400)
})

test('a playlist of another account is not marked, and nobody can request another’s mark or position', async (t) => {
  const app = await anApp(t, 'v1')
  await app.given(aPlaylist({ id: 'PL1', entries: ['v1'] }))
  const user = app.as('user')
  const tried = await Promise.all([
    user.post('/api/watched/', { id: 'v1', is_watched: true, user_id: idOf(app, 'admin') }),
    user.post('/api/video/v1/progress/', { position: 5, user_id: idOf(app, 'admin') }),
    user.get(`/api/video/v1/progress/?user_id=${idOf(app, 'admin')}`),
  ])

  assert.equal(tried[2].body.user_id, idOf(app, 'user'))
  assert.equal(await isWatched(app, 'admin', 'v1'), false)
  assert.equal((await app.as('admin').get('/api/video/v1/progress/')).body.position, 0)
})
