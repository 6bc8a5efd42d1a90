/** Snapshots through the API: when they are taken, which are kept, and what they contain. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { openLog } from '../../../core/log.ts'
import { openSnapshotFolder } from '../../../plugins/sqlite/snapshot-folder.ts'
import { temporaryFolder } from '../../support/folder.ts'
import {
  aChannel,
  aFragment,
  aPlaylist,
  aQueued,
  aVideo,
  someComments,
  type TestApp,
  type TestOptions,
  testApp,
  testClock,
} from '../../support/testing.ts'
import '../../support/slow.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NAME = /^av_daily_[a-z0-9]{22}$/

/** A server that has taken the snapshot of its first start. */
async function given(t: TestContext, options: TestOptions = {}): Promise<TestApp> {
  const app = await testApp(t, options)
  await app.settled()
  return app
}

const admin = (app: TestApp) => app.as('admin')
const list = async (app: TestApp) => (await admin(app).get('/api/snapshot/')).body
const ids = async (app: TestApp): Promise<string[]> => (await list(app)).snapshots.map(({ id }: { id: string }) => id)
const folderOf = (app: TestApp) => join(app.dataDir, 'snapshots')

async function take(app: TestApp): Promise<string> {
  const { status, body } = await admin(app).post('/api/snapshot/')
  assert.equal(status, 200)
  await app.settled()
  return body.snapshot_name
}

async function restored(app: TestApp, id: string): Promise<{ status: string; result: string }> {
  const reply = await admin(app).post(`/api/snapshot/${id}/`)
  assert.deepEqual([reply.status, reply.body], [200, { accepted: true }])
  await app.settled()
  return (await admin(app).get('/api/task-name/restore_snapshot/')).body[0]
}

/** The next noon in this process's time zone. */
function noonAfter(now: number): number {
  const noon = new Date(now)
  noon.setHours(12, 0, 0, 0)
  if (noon.getTime() <= now) noon.setDate(noon.getDate() + 1)
  return noon.getTime()
}

const localText = (ms: number): string => {
  const at = new Date(ms)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

test('a new server takes a snapshot, and lists it with the time of the next one', async (t) => {
  const app = await given(t)

  const { snapshots, ...rest } = await list(app)

  const next = noonAfter(app.clock.now())
  assert.deepEqual(rest, { next_exec: next / 1000, next_exec_str: localText(next), expire_after: '30d' })
  const [item] = snapshots
  const day = localText(app.clock.now())
  const { version } = app.app.index
  assert.equal(snapshots.length, 1)
  assert.match(item.id, NAME)
  assert.deepEqual(item, {
    id: item.id,
    state: 'SUCCESS',
    index_version: version,
    es_version: version,
    start_date: day,
    end_date: day,
    end_stamp: app.clock.now() / 1000,
    duration_s: 0,
  })
  assert.deepEqual((await admin(app).get(`/api/snapshot/${item.id}/`)).body, item)
  const [task] = (await admin(app).get('/api/task-name/create_snapshot/')).body
  assert.deepEqual([task.status, task.result], ['SUCCESS', item.id])
})

test('a start takes one only if the newest is older than a day', async (t) => {
  const app = await given(t)
  const [first] = await ids(app)

  await app.close()
  await app.clock.advance(DAY_MS)
  await app.restart()
  await app.settled()
  assert.deepEqual(await ids(app), [first])

  await app.close()
  await app.clock.advance(1)
  await app.restart()
  await app.settled()
  assert.equal((await ids(app)).length, 2)
})

test('one is taken each day at noon', async (t) => {
  const app = await given(t)
  const noon = noonAfter(app.clock.now())
  await app.clock.advance(noon - app.clock.now() - 1)
  await app.settled()
  assert.equal((await ids(app)).length, 1)

  await app.clock.advance(1)
  await app.settled()
  assert.equal((await ids(app)).length, 2)
  assert.equal((await list(app)).next_exec, noonAfter(noon) / 1000)

  for (let day = 0; day < 2; day++) {
    await app.clock.advance(DAY_MS)
    await app.settled()
  }
  assert.equal((await ids(app)).length, 4)
})

test('a machine that sleeps for most of each day takes one each day', async (t) => {
  const app = await given(t)
  const before = (await ids(app)).length
  const DAYS = 4

  for (let day = 0; day < DAYS; day++) {
    await app.clock.advance(8 * HOUR_MS)
    await app.settled()
    app.clock.set(app.clock.now() + 16 * HOUR_MS)
    await app.clock.advance(0)
    await app.settled()
  }

  assert.equal((await ids(app)).length, before + DAYS)
})

test('switched off, none is taken automatically, but one can be taken by hand', async (t) => {
  const app = await given(t)
  assert.equal((await admin(app).post('/api/config/', { application: { enable_snapshot: false } })).status, 200)

  await app.clock.advance(3 * DAY_MS)
  await app.restart()
  await app.clock.advance(3 * DAY_MS)
  await app.settled()

  const { next_exec, next_exec_str, snapshots } = await list(app)
  assert.deepEqual([next_exec, next_exec_str, snapshots.length], [0, '', 1])
  assert.match(await take(app), NAME)
  await admin(app).post('/api/config/', { application: { enable_snapshot: true } })
  assert.equal((await list(app)).next_exec, noonAfter(app.clock.now()) / 1000)
})

test('a second one is refused while one is taken, whose progress is shown', async (t) => {
  const app = await given(t)
  const [first, second] = await Promise.all([admin(app).post('/api/snapshot/'), admin(app).post('/api/snapshot/')])
  const [taken, refused] = first.status === 200 ? [first, second] : [second, first]
  assert.deepEqual([taken.status, refused.status, refused.body.code], [200, 409, 'conflict'])
  await app.settled()
  assert.deepEqual((await ids(app)).length, 2)

  // Much to copy, and all requests at once, so that none of them is late.
  await app.given(
    ...Array.from({ length: 60 }, (_, number) => aVideo({ id: `large${number}`, description: 'x'.repeat(1_000_000) })),
  )
  const taking = app.app.index.snapshots.take('av_daily_slow')
  const slow = '/api/snapshot/av_daily_slow/'
  const [shown, listed, deleted, restored] = await Promise.all([
    admin(app).get(slow),
    ids(app),
    admin(app).delete(slow),
    admin(app).post(slow),
  ])
  const item = shown.body
  assert.deepEqual([item.state, item.end_date, item.end_stamp, item.duration_s], ['IN_PROGRESS', '', 0, 0])
  assert.ok(listed.includes('av_daily_slow'))
  assert.deepEqual([deleted.status, restored.status], [409, 409])
  await taking
  assert.equal((await admin(app).get('/api/snapshot/av_daily_slow/')).body.state, 'SUCCESS')
})

test('requests of users, and for unknown snapshots, are refused', async (t) => {
  const app = await given(t)
  const [id] = await ids(app)
  for (const path of ['/api/snapshot/', `/api/snapshot/${id}/`]) {
    assert.equal((await app.as('user').get(path)).status, 403)
    assert.equal((await app.as('user').post(path)).status, 403)
    assert.equal((await app.as('nobody').get(path)).status, 401)
  }
  for (const name of ['av_daily_none', '-_a', 'a.b', '..%2Findex', 'x'.repeat(129), `${id}.json`]) {
    assert.equal((await admin(app).get(`/api/snapshot/${name}/`)).status, 404, name)
    assert.equal((await admin(app).post(`/api/snapshot/${name}/`)).status, 404, name)
    assert.equal((await admin(app).delete(`/api/snapshot/${name}/`)).status, 404, name)
  }
})

test('a deleted one is removed with its file', async (t) => {
  const app = await given(t)
  const [id] = await ids(app)
  const reply = await admin(app).delete(`/api/snapshot/${id}/`)
  assert.deepEqual([reply.status, reply.body], [200, { acknowledged: true }])
  assert.deepEqual(await readdir(folderOf(app)), [])
  assert.equal((await admin(app).delete(`/api/snapshot/${id}/`)).status, 404)
})

test('snapshots of thirty days are kept, at least five, at most fifty', async (t) => {
  const app = await given(t)
  // Copied in from elsewhere, they are listed by the times of their files.
  const copyIn = async (name: string, ageDays: number) => {
    const path = join(folderOf(app), `${name}.sqlite`)
    await copyFile(join(folderOf(app), `${source}.sqlite`), path)
    const at = (app.clock.now() - ageDays * DAY_MS) / 1000
    await utimes(path, at, at)
  }
  const [source] = await ids(app)
  for (let number = 0; number < 6; number++) await copyIn(`old_${number}`, 40 + number)
  await app.restart()
  await app.settled()
  assert.equal((await ids(app)).length, 7)

  const sixth = await take(app)
  assert.deepEqual((await ids(app)).toSorted(), [source, sixth, 'old_0', 'old_1', 'old_2'].toSorted())

  for (let number = 0; number < 60; number++) await copyIn(`new_${number}`, 1 + number / 10)
  await app.restart()
  await app.settled()
  const newest = await take(app)
  const kept = await ids(app)
  assert.equal(kept.length, 50)
  assert.equal(kept.at(-1), 'new_46')
  assert.ok(kept.includes(newest) && kept.includes(source!))
  assert.equal((await readdir(folderOf(app))).length, 100)
})

test('a failed one is listed as failed and leaves no file', async (t) => {
  const folder = await temporaryFolder(t)
  const clock = testClock()
  const snapshotTo = async (path: string) => {
    await writeFile(path, 'half')
    await clock.advance(2000)
    throw new Error('the disk is full')
  }
  const snapshots = await openSnapshotFolder({
    index: { version: '3', snapshotTo, restoreFrom: () => Promise.reject(new Error('not asked')) },
    folder,
    clock,
    log: openLog('silent'),
  })

  await assert.rejects(snapshots.take('av_daily_x'), /the disk is full/)

  const at = clock.now()
  assert.deepEqual(await snapshots.list(), [
    { id: 'av_daily_x', state: 'FAILED', version: '3', startedAt: at - 2000, endedAt: at },
  ])
  assert.deepEqual(await readdir(folder), ['av_daily_x.json'])
  await assert.rejects(snapshots.restore('av_daily_x'), /in state FAILED/)
  await snapshots.remove('av_daily_x')
  assert.deepEqual(await readdir(folder), [])
})

test('one of a damaged index is refused: it takes no name and causes no removal of an older one', async (t) => {
  const folder = await temporaryFolder(t)
  const snapshotTo = async (path: string) => {
    const db = new Database(path)
    db.exec(
      'CREATE TABLE a (b); INSERT INTO a WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n',
    )
    db.close()
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0xa5, bytes.length / 2))
  }
  const snapshots = await openSnapshotFolder({
    index: { version: '3', snapshotTo, restoreFrom: () => Promise.reject(new Error('not asked')) },
    folder,
    clock: testClock(),
    log: openLog('silent'),
  })

  await assert.rejects(snapshots.take('av_daily_x'), /The index is damaged, so the snapshot was discarded/)

  assert.deepEqual(
    (await snapshots.list()).map(({ state }) => state),
    ['FAILED'],
  )
  assert.deepEqual(await readdir(folder), ['av_daily_x.json'])
})

test('the next start removes an interrupted one, and other files in the folder stay', async (t) => {
  const app = await given(t)
  const [id] = await ids(app)
  await app.close()
  const put = (name: string) => writeFile(join(folderOf(app), name), 'half')
  for (const name of [
    'cut.sqlite.part',
    'cut.sqlite.part-journal',
    'cut.sqlite.part-wal',
    'cut.json.part',
    'notes.txt',
  ])
    await put(name)
  await mkdir(join(folderOf(app), 'moved away'))

  await app.restart()
  await app.settled()

  assert.deepEqual(
    (await readdir(folderOf(app))).toSorted(),
    [`${id}.json`, `${id}.sqlite`, 'moved away', 'notes.txt'].toSorted(),
  )
  assert.deepEqual(await ids(app), [id])
})

test('a description without its file is listed as failed and can only be deleted', async (t) => {
  const app = await given(t)
  const id = await take(app)
  await rm(join(folderOf(app), `${id}.sqlite`))

  assert.equal((await admin(app).get(`/api/snapshot/${id}/`)).body.state, 'FAILED')
  assert.equal((await admin(app).post(`/api/snapshot/${id}/`)).status, 409)
  assert.equal((await admin(app).delete(`/api/snapshot/${id}/`)).status, 200)
})

const comment = someComments('v1', [{ comment_id: 'c1', comment_text: 'Fine', comment_replies: [] }])
const entry = { platform_id: 'v1', youtube_id: 'v1' }
const DOCUMENTS = [aChannel(), aVideo({ id: 'v1' }), aPlaylist({ entries: [entry] }), aFragment(), comment]

test('a restore replaces documents of every kind, and keeps the queue, accounts, settings and positions', async (t) => {
  const app = await given(t)
  await app.given(...DOCUMENTS)
  const name = await take(app)
  await app.given(aQueued({ id: 'queued' }))
  await admin(app).post('/api/video/v1/progress/', { position: 30 })
  await admin(app).post('/api/config/', { downloads: { limit_speed: 77 } })
  await admin(app).post('/api/user/', { name: 'later', password: 'a password for tests', is_superuser: false })
  const accounts = (await admin(app).get('/api/user/')).body
  for (const { index, id } of DOCUMENTS)
    await app.app.index.collection(app.app.index.definitions.find((one) => one.name === index)!).remove(id)
  await app.given(aVideo({ id: 'newer' }), aChannel({ id: 'UC9' }))

  const { status, result } = await restored(app, name)

  assert.deepEqual([status, result], ['SUCCESS', name])
  for (const { index, id, doc } of DOCUMENTS) assert.deepEqual(await app.doc(index, id), doc, index)
  assert.deepEqual([await app.ids('video'), await app.ids('channel')], [['v1'], ['UC1']])
  assert.deepEqual(await app.ids('download'), ['queued'])
  assert.deepEqual(
    (await admin(app).get('/api/search/?query=full:harbour')).body.results.fulltext_results.map(
      (hit: { platform_id: string }) => hit.platform_id,
    ),
    ['v1'],
  )
  assert.deepEqual((await admin(app).get('/api/user/')).body, accounts)
  assert.equal((await admin(app).get('/api/config/')).body.downloads.limit_speed, 77)
  assert.equal((await admin(app).get('/api/video/v1/progress/')).body.position, 30)
})

test('once a restore is accepted no second one is, of a snapshot or a backup', async (t) => {
  const app = await given(t)
  await app.given(aVideo())
  const snapshot = `/api/snapshot/${await take(app)}/`
  await admin(app).post('/api/backup/')
  await app.settled()
  const backup = `/api/backup/${(await admin(app).get('/api/backup/')).body[0].filename}/`
  const { start } = app.app.jobs

  for (const [first, second] of [
    [backup, snapshot],
    [snapshot, backup],
  ] as const) {
    const held = t.mock.method(app.app.jobs, 'start')
    let write = () => {}
    const isAccepted = new Promise<void>((resolve) => {
      held.mock.mockImplementationOnce(async (...asked: Parameters<typeof start>) => {
        resolve()
        await new Promise<void>((go) => (write = go))
        return start(...asked)
      })
    })
    const accepted = admin(app).post(first)
    await isAccepted

    const refused = [await admin(app).post(second), await admin(app).post(first)]

    write()
    assert.equal((await accepted).status, 200)
    assert.deepEqual(
      refused.map(({ status, body }) => [status, body.code]),
      [
        [409, 'conflict'],
        [409, 'conflict'],
      ],
    )
    await app.settled()
    held.mock.restore()
  }
})

test('after a restore positions and pending refreshes of missing documents are deleted', async (t) => {
  const app = await given(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const name = await take(app)
  await app.given(aVideo({ id: 'newer' }), aChannel({ id: 'UC9' }), aPlaylist({ id: 'PL9' }))
  for (const id of ['v1', 'newer']) await app.as('user').post(`/api/video/${id}/progress/`, { position: 30 })
  for (const [kind, id] of [
    ['video', 'v1'],
    ['video', 'newer'],
    ['channel', 'UC9'],
    ['playlist', 'PL9'],
  ] as const)
    await app.app.refreshQueue.add(kind, [id])

  await restored(app, name)

  const { sql } = app.app.ledger
  assert.deepEqual(sql('SELECT video_id FROM watch_position').pluck().all(), ['v1'])
  assert.deepEqual(sql('SELECT id FROM refresh_queue').pluck().all(), ['v1'])
})

test('the next start cleans up after a restore that was interrupted after it had replaced everything', async (t) => {
  const app = await given(t)
  await app.given(aVideo({ id: 'v1' }))
  await app.as('user').post('/api/video/v1/progress/', { position: 30 })
  await app.app.index.replaceAll(async () => undefined)
  await app.app.ledger.write(() =>
    app.app.ledger
      .sql(
        `INSERT INTO jobs (id, task, lane, state, payload, created_at, started_at) VALUES ('j', 'restore_snapshot', 'index', 'STARTED', '{"name":"x"}', 1, 1)`,
      )
      .run(),
  )

  await app.restart()
  await app.settled()

  assert.deepEqual(app.app.ledger.sql('SELECT video_id FROM watch_position').pluck().all(), [])
  assert.equal((await admin(app).get('/api/task-id/j/')).body.status, 'FAILED')
})

test('a damaged snapshot fails the restore, and the index is unchanged, now and after the next start', async (t) => {
  const app = await given(t)
  await app.given(
    aChannel(),
    ...Array.from({ length: 400 }, (_, number) => aVideo({ id: `v${number}`, description: 'long '.repeat(100) })),
  )
  const name = await take(app)
  const path = join(folderOf(app), `${name}.sqlite`)
  const whole = await readFile(path)
  const leaves = new Database(path, { readonly: true })
    .prepare<unknown[], number>(
      `SELECT pageno FROM dbstat WHERE name LIKE 'video_v%_doc' AND pagetype = 'leaf' ORDER BY pageno`,
    )
    .pluck()
    .all()
  await app.given(aVideo({ id: 'newer' }))

  const damages: Record<string, () => Promise<void>> = {
    'no database at all': () => writeFile(path, 'not a database, but long enough to look at'.repeat(1000)),
    'cut short': () => truncate(path, Math.floor(whole.length / 2 / 8192) * 8192),
    'bad pages in the middle': () =>
      writeFile(
        path,
        whole.map((byte, at) => (leaves.slice(10, 20).includes(Math.floor(at / 8192) + 1) ? 0xff : byte)),
      ),
    'nothing in it': () => writeFile(path, ''),
  }
  for (const [what, damage] of Object.entries(damages)) {
    await writeFile(path, whole)
    await damage()
    const { status, result } = await restored(app, name)
    assert.equal(status, 'FAILURE', what)
    assert.match(result, /damaged/, what)
    const notice = (await admin(app).get('/api/notification/')).body.find(
      ({ group }: { group: string }) => group === 'setting:restore',
    )
    assert.deepEqual([notice?.level, notice?.messages], ['error', [result]])
    assert.equal((await app.ids('video')).length, 401, what)
    assert.equal((await admin(app).post('/api/watched/', { id: 'v1', is_watched: true })).status, 200, 'writes go on')
    await app.clock.advance(30_000)
  }

  await app.restart()
  assert.equal(app.app.index.lost, undefined)
  assert.equal((await app.ids('video')).length, 401)
  await writeFile(path, whole)
  assert.equal((await restored(app, name)).status, 'SUCCESS')
  assert.equal((await app.ids('video')).length, 400)
})

test('changes that somebody made in a snapshot are not trusted', async (t) => {
  const app = await given(t)
  await app.given(
    ...DOCUMENTS,
    aVideo({ id: 'v2' }),
    aVideo({ id: 'v3', subtitles: [] }),
    aVideo({ id: 'v4' }),
    aChannel({ id: 'UC2' }),
  )
  const name = await take(app)
  const db = new Database(join(folderOf(app), `${name}.sqlite`))
  db.exec(`
    UPDATE video_v1_doc SET text = json_set(text, '$.media_url', '/etc/passwd', '$.vid_thumb_url', 'https://elsewhere.example/x.jpg', '$.platform_id', 'other') WHERE rid = (SELECT rid FROM video_v1 WHERE id = 'v1');
    UPDATE video_v1_doc SET internal = json_set(internal, '$.channel_id', '../../etc') WHERE rid = (SELECT rid FROM video_v1 WHERE id = 'v2');
    UPDATE video_v1_doc SET text = json_set(json_remove(text, '$.player'), '$.player', json('{"duration":1,"duration_str":"1s"}'), '$.after', 'x', '$.subtitles', json('[{"ext":"vtt","lang":"../en","name":"","source":"user","url":"","media_url":"x"}]')) WHERE rid = (SELECT rid FROM video_v1 WHERE id = 'v3');
    UPDATE video_v1 SET id = '../v4' WHERE id = 'v4';
    UPDATE channel_v1_doc SET text = json_set(text, '$.channel_tags', 'none') WHERE rid = (SELECT rid FROM channel_v1 WHERE id = 'UC2');
  `)
  db.close()

  const { status, result } = await restored(app, name)

  assert.deepEqual([status, result], ['SUCCESS', `${name}, 3 documents skipped`])
  assert.deepEqual(await app.ids('video'), ['v1', 'v3'])
  assert.deepEqual(
    (await app.doc('video', 'v3')).subtitles,
    [],
    'of a subtitle without a language only the subtitle is left out',
  )
  assert.deepEqual(await app.ids('channel'), ['UC1'])
  assert.deepEqual(await app.doc('video', 'v1'), aVideo({ id: 'v1' }).doc)
})

test('a lost index is reported with the newest snapshot to restore, and an empty one is not snapshotted at the start', async (t) => {
  const lines: Array<{ level: string; msg: string }> = []
  const app = await given(t, { log: openLog('error', { write: (line) => void lines.push(JSON.parse(line)) }) })
  await app.given(aChannel(), aVideo())
  await app.clock.advance(1000)
  const newest = await take(app)
  const file = join(app.dataDir, 'index.sqlite')

  const warnings = async () =>
    (await admin(app).get('/api/notification/')).body.filter(
      ({ group }: { group: string }) => group === 'setting:application',
    )
  const losses: Record<string, () => Promise<void>> = {
    'The index file was damaged and has been moved to index\\.sqlite\\.damaged-': () =>
      writeFile(file, 'no index any more'.repeat(1000)),
    'The index file index\\.sqlite was missing': async () =>
      void (await Promise.all(['', '-wal', '-shm'].map((end) => rm(file + end, { force: true })))),
  }
  for (const [says, lose] of Object.entries(losses)) {
    await app.close()
    await app.clock.advance(2 * DAY_MS)
    await lose()
    lines.length = 0

    await app.restart()
    await app.settled()

    assert.deepEqual(await app.ids('video'), [])
    const [{ messages, level }] = await warnings()
    assert.deepEqual([level, messages.length], ['error', 1])
    assert.match(
      messages[0],
      new RegExp(
        `^${says}.*the archive has lost its videos, channels and playlists\\. Restore the newest snapshot ${newest}, with POST /api/snapshot/${newest}/ or on the settings page; a rescan`,
      ),
    )
    assert.ok(
      lines.some(({ msg }) => msg === messages[0]),
      'the log says the same',
    )
    assert.equal((await ids(app))[0], newest)

    assert.equal((await restored(app, newest)).status, 'SUCCESS')
    assert.deepEqual(await app.ids('video'), ['v1'])
    assert.deepEqual(await warnings(), [], 'what was restored is offered no more')
  }
  await app.restart()
  await app.settled()
  assert.deepEqual(await warnings(), [])
  assert.ok((await readdir(app.dataDir)).some((name) => name.startsWith('index.sqlite.damaged-')))
})

test('snapshots of a lost index displace no earlier ones, and are not offered', async (t) => {
  const app = await given(t)
  await app.given(aVideo())
  await app.clock.advance(1000)
  const before = [...(await ids(app)), await take(app)]
  await app.close()
  await rm(join(app.dataDir, 'index.sqlite'))
  await app.clock.advance(1000)
  await app.restart()

  for (const days of [1, 40]) {
    app.clock.set(app.clock.now() + days * DAY_MS)
    for (let time = 0; time < 6; time++) await take(app)
  }

  const kept = await ids(app)
  assert.deepEqual(kept.slice(-2).toSorted(), before.toSorted())
  assert.equal(kept.length, 6 + 2, 'those of the blank index make room for each other')
  await app.restart()
  await app.settled()
  assert.match(
    (await admin(app).get('/api/notification/')).body[0].messages[0],
    new RegExp(`Restore the newest snapshot ${before[1]},`),
  )
})

test('an empty snapshot is not restored', async (t) => {
  const app = await given(t)
  const [blank] = await ids(app)
  await app.given(aVideo({ id: 'v1' }))

  const { status, result } = await restored(app, blank!)

  assert.equal(status, 'FAILURE')
  assert.match(result, /has no document that belongs/)
  assert.deepEqual(await app.ids('video'), ['v1'])
})

test('a snapshot with a future date, taken while the clock was wrong, prevents none from being taken', async (t) => {
  const app = await given(t, { clock: testClock('2038-01-19T00:00:00Z') })
  app.clock.set('2026-01-15T10:00:00Z')

  await app.restart()
  await app.settled()

  assert.equal((await ids(app)).length, 2)
})

test('a lost index without a snapshot says so', async (t) => {
  const app = await given(t)
  await admin(app).post('/api/config/', { application: { enable_snapshot: false } })
  for (const id of await ids(app)) await admin(app).delete(`/api/snapshot/${id}/`)
  await app.close()
  await writeFile(join(app.dataDir, 'index.sqlite'), 'no index any more'.repeat(1000))
  await app.restart()
  await app.settled()
  assert.match(
    (await admin(app).get('/api/notification/')).body[0].messages[0],
    /There is no snapshot to restore; a rescan/,
  )
})

test('a damaged ledger is reported with the copy that replaced it', async (t) => {
  const app = await given(t, { hasCopies: true })
  await admin(app).post('/api/config/', { downloads: { limit_speed: 77 } })
  await app.app.ledger.write(() => undefined)
  await app.clock.advance(DAY_MS)
  await app.settled()
  const copies = join(app.dataDir, 'ledger-copies')
  await app.close()
  assert.ok((await readdir(copies)).length > 0)
  await writeFile(join(app.dataDir, 'ledger.sqlite'), 'no ledger any more'.repeat(1000))

  await app.restart()

  const messages = (await admin(app).get('/api/notification/')).body.flatMap(
    (notice: { messages: string[] }) => notice.messages,
  )
  assert.ok(
    messages.some((said: string) =>
      /The ledger ledger\.sqlite was damaged and was moved to ledger\.sqlite\.damaged-.* It was replaced by the copy ledger-copies\//.test(
        said,
      ),
    ),
    messages.join('\n'),
  )
  assert.equal((await admin(app).get('/api/config/')).body.downloads.limit_speed, 77)
})

test('only the owner of the data can read snapshots', async (t) => {
  const app = await given(t)
  assert.equal((await stat(folderOf(app))).mode & 0o077, 0)
})
