/** Backup files: created, listed, accepted, compared, sent, deleted, rotated. */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import files, { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { writeArchive } from '../../../plugins/backup/archive.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { aStoredChannel, aStoredVideo, documentsOf, fileOf, zipOf } from './zips.ts'
import '../../support/slow.ts'

/** Width and height are derived from the streams. */
const NO_STREAMS = { width: 0, height: 0 }
const DAY_MS = 86_400_000

test('a backup is a zip of all documents in the reference’s form', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', channelId: 'UC1' }),
    aVideo({ id: 'v2', channelId: 'UC1' }),
  )
  await admin.post('/api/watched/', { id: 'v1', is_watched: true })
  await app.as('user').post('/api/watched/', { id: 'v2', is_watched: true })

  const started = (await admin.post('/api/backup/')).body
  await app.settled()

  assert.equal(started.message, 'backup task started')
  assert.equal((await admin.get(`/api/task-id/${started.task_id}/`)).body.status, 'SUCCESS')
  const list = (await admin.get('/api/backup/')).body
  assert.deepEqual(list, [
    {
      filename: 'av_backup-20260115-auto.zip',
      file_path: 'backups/av_backup-20260115-auto.zip',
      file_size: list[0].file_size,
      timestamp: '20260115',
      reason: 'auto',
    },
  ])
  const sent = await admin.get('/api/backup/av_backup-20260115-auto.zip/download/')
  assert.equal(sent.headers.get('content-type'), 'application/zip')
  assert.equal(sent.bytes.length, list[0]?.file_size)
  const documents = await documentsOf(sent.bytes)
  const v1 = documents['video']!['v1']
  assert.deepEqual(
    [v1.youtube_id, v1.platform_id, v1.media_url, v1.channel.channel_id, v1.vid_last_refresh],
    ['v1', 'v1', 'UC1/v1.mp4', 'UC1', 1_768_046_400],
  )
  const watched_date = Math.floor(app.clock.now() / 1000)
  const player = { duration: 100, duration_str: '1m 40s' }
  assert.deepEqual(v1.player, { ...player, watched: true, watched_date })
  assert.deepEqual(
    documents['video']!['v2'].player,
    { ...player, watched: false },
    'marks are those of the first admin',
  )
  assert.ok(['watched_by', 'shared_mark', 'restored_mark'].every((key) => !(key in v1)))
  assert.equal(
    (await admin.get('/api/backup/av_backup-20260115-auto.zip/download/', { range: 'bytes=0-3' })).text,
    'PK\u0003\u0004',
  )
})

test('a second backup of a day replaces the first; only as many automatic ones stay as the schedule says', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await mkdir(join(app.dataDir, 'backups'))
  for (const name of [
    'av_backup-20251201-auto.zip',
    'av_backup-20251202-auto.zip',
    'av_backup-20251203-auto.zip',
    'av_backup-20251101-manual.zip',
    'av_backup-20251101.zip',
    'old_backup-20240101-update.zip',
    'notes.txt',
  ]) {
    await writeFile(join(app.dataDir, 'backups', name), 'x')
    const writtenAt = name === 'av_backup-20251101-manual.zip' ? 200 : 100
    await utimes(join(app.dataDir, 'backups', name), writtenAt, writtenAt)
  }
  assert.equal(
    (await admin.post('/api/schedule/', { task_name: 'run_backup', schedule: 'auto', config: { rotate: 2 } })).status,
    200,
  )

  for (let times = 0; times < 2; times++) {
    await admin.post('/api/task-name/run_backup/')
    await app.settled()
  }

  assert.deepEqual((await readdir(join(app.dataDir, 'backups'))).toSorted(), [
    'av_backup-20251101-manual.zip',
    'av_backup-20251101.zip',
    'av_backup-20251203-auto.zip',
    'av_backup-20260115-auto.zip',
    'notes.txt',
    'old_backup-20240101-update.zip',
  ])
  assert.deepEqual(
    (await admin.get('/api/backup/')).body.map(({ filename, reason }: { filename: string; reason: string }) => [
      filename,
      reason,
    ]),
    [
      ['av_backup-20260115-auto.zip', 'auto'],
      ['av_backup-20251203-auto.zip', 'auto'],
      ['av_backup-20251101-manual.zip', 'manual'],
      ['av_backup-20251101.zip', ''],
      ['old_backup-20240101-update.zip', 'update'],
    ],
  )
})

test('automatic backups are deleted by their day, whatever their prefix, and never the one just created', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const folder = join(app.dataDir, 'backups')
  await mkdir(folder)
  await admin.post('/api/schedule/', { task_name: 'run_backup', schedule: 'auto', config: { rotate: 2 } })
  const cases: Array<[there: string[], left: string[]]> = [
    [['ta_backup-20240101-auto.zip', 'av_backup-20240102-auto.zip'], ['av_backup-20240102-auto.zip']],
    [
      ['ta_backup-20260115-auto.zip', 'ta_backup-20260114-auto.zip', 'av_backup-20260113-auto.zip'],
      ['ta_backup-20260115-auto.zip'],
    ],
    [['ta_backup-20990101-auto.zip', 'ta_backup-20990102-auto.zip'], ['ta_backup-20990102-auto.zip']],
    // Made under a wrong clock.
    [['av_backup-20990101-auto.zip', 'av_backup-20260110-auto.zip'], ['av_backup-20260110-auto.zip']],
  ]

  for (const [there, left] of cases) {
    for (const name of await readdir(folder)) await rm(join(folder, name))
    for (const name of there) await writeFile(join(folder, name), 'x')
    await admin.post('/api/backup/')
    await app.settled()

    assert.deepEqual((await readdir(folder)).toSorted(), ['av_backup-20260115-auto.zip', ...left].toSorted())
  }
})

const FOLDER = (app: TestApp) => join(app.dataDir, 'backups')
const GOOD = 'av_backup-20260115-auto.zip'
const LOST = 'av_backup-20260115-lost.zip'

async function backUp(app: TestApp, body?: object): Promise<void> {
  assert.equal((await app.as('admin').post('/api/backup/', body)).status, 200)
  await app.settled()
}
const told = async (app: TestApp): Promise<string[]> =>
  (await app.as('admin').get('/api/notification/')).body.flatMap(({ messages }: { messages: string[] }) => messages)

test('while the index counts as lost, no backup replaces another, and none is removed, across any number of starts', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await admin.post('/api/schedule/', { task_name: 'run_backup', schedule: 'auto', config: { rotate: 1 } })
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await backUp(app)
  const good = await readFile(join(FOLDER(app), GOOD))
  await writeFile(join(FOLDER(app), 'av_backup-20260110-auto.zip'), good)

  for (const lose of [
    () => rm(join(app.dataDir, 'index.sqlite')),
    () => writeFile(join(app.dataDir, 'index.sqlite'), ''),
  ]) {
    await app.close()
    for (const end of ['-wal', '-shm']) await rm(join(app.dataDir, `index.sqlite${end}`), { force: true })
    await lose()
    for (let start = 0; start < 2; start++) {
      await app.restart()
      await app.settled()
      assert.match(
        (await told(app)).join(),
        /^The index file index\.sqlite was (missing|empty): .*Restore the newest snapshot av_/,
      )

      await backUp(app)

      assert.deepEqual((await readdir(FOLDER(app))).toSorted(), ['av_backup-20260110-auto.zip', GOOD, LOST].toSorted())
      assert.deepEqual(await readFile(join(FOLDER(app), GOOD)), good)
      assert.match(
        (await told(app)).join(),
        /this backup is called av_backup-20260115-lost\.zip, and no other was replaced or removed/,
      )
    }

    assert.equal((await admin.post(`/api/backup/${GOOD}/`)).status, 200)
    await app.settled()
    assert.equal(app.app.index.lost, undefined)
    await app.restart()
    assert.equal(app.app.index.lost, undefined)
    await app.settled()
    await rm(join(FOLDER(app), LOST))
    await writeFile(join(FOLDER(app), 'av_backup-20260110-auto.zip'), good)
  }

  await backUp(app)
  assert.deepEqual(await readdir(FOLDER(app)), [GOOD], 'rotated again')
})

test('a backup without any documents of a kind that the last one had replaces no other, until somebody confirms it', async (t) => {
  const app = await testApp(t)
  await app.as('admin').post('/api/schedule/', { task_name: 'run_backup', schedule: 'auto', config: { rotate: 1 } })
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }), aPlaylist({ entries: ['v1'] }))
  await app.app.queue.add(
    [
      {
        id: 'd1',
        title: 'D',
        channelId: 'UC1',
        channelName: 'C',
        durationSeconds: 1,
        published: '',
        vidType: 'videos',
      },
    ],
    'pending',
  )
  await backUp(app)
  await app.app.queue.remove('d1')
  await backUp(app)
  assert.deepEqual(await readdir(FOLDER(app)), [GOOD], 'a queue that is empty says nothing')
  const good = await readFile(join(FOLDER(app), GOOD))

  const collection = app.app.index.collection(app.app.index.definitions.find(({ name }) => name === 'playlist')!)
  await collection.remove(await app.ids('playlist'))
  for (let time = 0; time < 2; time++) await backUp(app)

  assert.deepEqual((await readdir(FOLDER(app))).toSorted(), [GOOD, LOST])
  assert.deepEqual(await readFile(join(FOLDER(app), GOOD)), good)
  assert.match(
    (await told(app)).join(),
    /The archive no longer has any playlist, but av_backup-20260115-auto\.zip does/,
  )

  await backUp(app, { is_right: true })
  await app.clock.advance(DAY_MS)
  await backUp(app)
  assert.deepEqual((await readdir(FOLDER(app))).toSorted(), [LOST, 'av_backup-20260116-auto.zip'])
})

test('an empty index can be confirmed, and is not asked about again', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'v1' }))
  await app.close()
  await writeFile(join(app.dataDir, 'index.sqlite'), '')
  await app.restart()
  await app.settled()

  await backUp(app, { is_right: true })
  await app.restart()
  await app.settled()

  assert.equal(app.app.index.lost, undefined)
  assert.deepEqual(await readdir(FOLDER(app)), [GOOD])
  assert.deepEqual(
    (await told(app)).filter((message) => message.includes('index')),
    [],
  )
})

test('a scheduled backup is made on its day', async (t) => {
  const app = await testApp(t)
  await app.as('admin').post('/api/schedule/', { task_name: 'run_backup', schedule: '0 11 *', config: { rotate: 1 } })

  // Exactly to the hour: its name has the day on which it runs.
  for (const ms of [DAY_MS / 24, DAY_MS]) {
    await app.clock.advance(ms)
    await app.settled()
  }

  assert.deepEqual(
    (await app.as('admin').get('/api/backup/')).body.map(({ filename }: { filename: string }) => filename),
    ['av_backup-20260116-auto.zip'],
  )
})

test('an existing file is not overwritten; a file can be deleted once', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const zip = await zipOf(fileOf('channel', { UC1: aStoredChannel('UC1') }))
  const put = (name: string, type = 'application/zip') =>
    admin.put(`/api/backup/${name}/`, zip, { 'content-type': type })

  assert.deepEqual((await put('ta_backup-20240101-auto.zip')).body, {
    filename: 'ta_backup-20240101-auto.zip',
    file_path: 'backups/ta_backup-20240101-auto.zip',
    file_size: zip.length,
    timestamp: '20240101',
    reason: 'auto',
  })
  assert.equal((await put('ta_backup-20240101-auto.zip')).status, 409)
  assert.equal((await put('ta_backup-20240102-auto.zip', 'application/octet-stream')).status, 415)
  for (const name of [
    'backup.zip',
    'ta_backup-2024-auto.zip',
    'ta_backup-20240101-auto.zip.sh',
    'TA_backup-20240101-auto.zip',
    '..%2Fta_backup-20240101-auto.zip',
    'ta_backup-20240101-a-b.zip',
  ]) {
    assert.equal((await put(name)).status, 404, name)
  }
  assert.deepEqual((await admin.delete('/api/backup/ta_backup-20240101-auto.zip/')).body, {
    message: 'file ta_backup-20240101-auto.zip deleted',
  })
  for (const method of ['get', 'post', 'delete'] as const)
    assert.equal((await admin[method]('/api/backup/ta_backup-20240101-auto.zip/')).status, 404, method)
  assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [])
})

const UPLOAD = 'av_backup-20240101-manual.zip'
const [OLDER, NEWER] = [
  await zipOf(fileOf('video', { v1: aStoredVideo('v1') })),
  await zipOf(fileOf('video', { v1: aStoredVideo('v1'), v2: aStoredVideo('v2') })),
]
const upload = (app: TestApp, zip: Buffer) =>
  app.as('admin').put(`/api/backup/${UPLOAD}/`, zip, { 'content-type': 'application/zip' })

/** Mocks a method of Node, also for modules that import it by name. */
function swapped(t: TestContext, mock: () => void): void {
  mock()
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

test('a backup that the disk has damaged while it was written replaces no good one', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }))
  const { id } = await app.app.jobs.start('run_backup', { reason: 'manual' })
  await app.app.jobs.ended(id)
  const [name] = await readdir(join(app.dataDir, 'backups'))
  const good = await readFile(join(app.dataDir, 'backups', name!))
  const { createWriteStream } = fs
  swapped(t, () =>
    t.mock.method(fs, 'createWriteStream', (path: string, options: object) => {
      const file = createWriteStream(path, options)
      const write = file._write.bind(file)
      file._write = (chunk: Buffer, encoding, done) => {
        if (chunk.length > 20) chunk[chunk.length - 8]! ^= 1
        write(chunk, encoding, done)
      }
      return file
    }),
  )

  const again = await app.app.jobs.start('run_backup', { reason: 'manual' })
  const { state, result } = await app.app.jobs.ended(again.id)

  assert.equal(state, 'FAILURE')
  assert.match(String(result), /cannot be read back/)
  assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [name])
  assert.deepEqual(await readFile(join(app.dataDir, 'backups', name!)), good)
})

test('of two uploads with one name the one that completes first stays, the other is refused', async (t) => {
  const app = await testApp(t)

  const replies = await Promise.all([upload(app, OLDER), upload(app, NEWER)])

  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
  assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [UPLOAD])
  await app.as('admin').delete(`/api/backup/${UPLOAD}/`)

  let begun = () => {}
  let goOn = () => {}
  const [isBegun, isFaster] = [
    new Promise<void>((resolve) => (begun = resolve)),
    new Promise<void>((resolve) => (goOn = resolve)),
  ]
  async function* slowly() {
    begun()
    yield OLDER.subarray(0, 20)
    await isFaster
    yield OLDER.subarray(20)
  }
  const slow = app.app.backups.takeIn(UPLOAD, Readable.from(slowly()))
  await isBegun
  await app.clock.advance(1000)
  const fast = await upload(app, NEWER)
  goOn()

  await assert.rejects(slow, { code: 'conflict' })
  assert.equal(fast.status, 200)
  assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [UPLOAD])
  assert.deepEqual(await readFile(join(app.dataDir, 'backups', UPLOAD)), NEWER)
})

for (const code of ['EPERM', 'ENOTSUP', 'ENOSYS']) {
  test(`an upload needs no hard links: ${code}`, async (t) => {
    const app = await testApp(t)
    swapped(t, () =>
      t.mock.method(files, 'link', () => Promise.reject(Object.assign(new Error('no links here'), { code }))),
    )

    const replies = [await upload(app, NEWER), await upload(app, OLDER)]

    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 409],
    )
    assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [UPLOAD])
    assert.deepEqual(await readFile(join(app.dataDir, 'backups', UPLOAD)), NEWER)
  })
}

for (const code of ['ENOSPC', 'EDQUOT']) {
  test(`an upload without enough space says so: ${code}`, async (t) => {
    const app = await testApp(t)
    const full = () =>
      new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('write'), { code })) })
    swapped(t, () => t.mock.method(fs, 'createWriteStream', full as never))

    const { status, body } = await upload(app, NEWER)

    assert.deepEqual([status, body.code], [503, 'unavailable'])
    assert.match(body.detail, /disk with the backups is full/)
    assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [])
  })
}

test('an entry with the name of a backup that is not a file is not listed', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await mkdir(join(app.dataDir, 'backups', 'av_backup-20240101-auto.zip'), { recursive: true })
  // A broken link stands for a file that is deleted between listing and reading.
  await symlink('nowhere', join(app.dataDir, 'backups', 'av_backup-20240102-auto.zip'))
  await writeFile(join(app.dataDir, 'backups', 'av_backup-20240103-auto.zip'), 'x')

  const { status, body } = await admin.get('/api/backup/')

  assert.equal(status, 200)
  assert.deepEqual(
    body.map(({ filename }: { filename: string }) => filename),
    ['av_backup-20240103-auto.zip'],
  )
})

test('a preview says what a restore would do, and does nothing', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'same', ...NO_STREAMS }),
    aVideo({ id: 'gone', ...NO_STREAMS }),
    aVideo({ id: 'other', ...NO_STREAMS }),
  )
  await admin.post('/api/backup/')
  await app.settled()
  const before = await documentsOf((await admin.get('/api/backup/av_backup-20260115-auto.zip/download/')).bytes)
  await admin.delete('/api/backup/av_backup-20260115-auto.zip/')
  const video = {
    same: before['video']!['same'],
    other: { ...before['video']!['other'], title: 'Other words' },
    new: aStoredVideo('new'),
    bad: {},
  }
  await admin.put(
    '/api/backup/av_backup-20260115-auto.zip/',
    await zipOf(fileOf('video', video), fileOf('channel', before['channel']!)),
    { 'content-type': 'application/zip' },
  )

  const { status, body } = await admin.get('/api/backup/av_backup-20260115-auto.zip/preview/')

  assert.equal(status, 200)
  assert.deepEqual(body.video, { backup: 3, now: 3, added: 1, removed: 1, changed: 1 })
  assert.deepEqual(body.channel, { backup: 1, now: 1, added: 0, removed: 0, changed: 0 })
  assert.deepEqual(body.comment, { backup: 0, now: 0, added: 0, removed: 0, changed: 0 })
  assert.deepEqual(await app.ids('video'), ['gone', 'other', 'same'])
})

test('a preview of the current state says that nothing would change', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const chapters = [{ start: 1.5, title: 'One' }]
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', chapters, ...NO_STREAMS }),
    aPlaylist({ entries: ['v1', 'v2'] }),
  )
  await admin.post('/api/backup/')
  await app.settled()

  const { body } = await admin.get('/api/backup/av_backup-20260115-auto.zip/preview/')

  for (const name of ['channel', 'video', 'playlist'])
    assert.deepEqual(body[name], { backup: 1, now: 1, added: 0, removed: 0, changed: 0 }, name)
})

test('a command restores a file from another disk, repeatedly, and says what its name must be', async (t) => {
  const [app, disk] = [await testApp(t), await temporaryFolder(t)]
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', ...NO_STREAMS }))
  await app.command('backup')
  const name = 'av_backup-20260115-manual.zip'
  const [copy, renamed, other] = [name, 'av_backup-20260115-manual (1).zip', `other/${name}`].map((one) =>
    join(disk, one),
  )
  const content = await readFile(join(app.dataDir, 'backups', name))
  await mkdir(join(disk, 'other'))
  for (const path of [copy!, renamed!]) await writeFile(path, content)
  await writeFile(other!, await zipOf(fileOf('video', { v2: aStoredVideo('v2') })))

  const restored = [await app.command(['restore', copy!]), await app.command(['restore', copy!, '--yes'])]
  const [wrongName, isTaken] = [await app.command(['restore', renamed!]), await app.command(['restore', other!])]

  assert.deepEqual(
    restored.map(({ code, error }) => [code, error]),
    [
      [0, undefined],
      [0, undefined],
    ],
  )
  assert.equal(wrongName.error, `Backups have names such as av_backup-20260101-manual.zip: rename ${renamed}`)
  assert.match(isTaken.error!, /already exists/)
})

test('an incomplete file of an interruption is gone after the next start', async (t) => {
  const app = await testApp(t)
  await mkdir(join(app.dataDir, 'backups'))
  await writeFile(join(app.dataDir, 'backups', '.upload-1-ta_backup-20240101-auto.zip'), 'half')

  await app.restart()

  assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [])
})

test('an archive of any size is written with memory for a few of its files', async (t) => {
  const folder = await temporaryFolder(t)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heldBytes: number[] = []
  async function* files() {
    for (let file = 0; file <= 20; file++) {
      if (file % 5 === 0) {
        collect()
        heldBytes.push(process.memoryUsage().heapUsed)
      }
      const documents = Array.from({ length: 1000 }, (_, document) => `${file}/${document} `.repeat(200))
      yield {
        fileName: `es_video-20260110-${file}.json`,
        lines: (function* () {
          yield* documents.map((text) => `${text}\n`)
        })(),
      }
    }
  }

  await writeArchive(join(folder, 'archive.zip'), files(), new Date(0))

  const grownBytes = heldBytes.at(-1)! - heldBytes[1]!
  assert.ok(grownBytes < 3e6, `15 files later ${grownBytes} bytes more are held`)
})
