/** Imports from a malicious folder, and from a disk that is read-only or disappears. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, open, rm, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { definePlugin } from 'archivolt'
import { testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import type { PlaceReader } from '../../../plugins/library/reader.ts'
import { scanned, succeeded } from '../../support/adopting.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { lay } from '../../support/lay.ts'
import { listing, type PlacesApp, type PlannedRow, placesApp, withPlaces } from '../../support/places.ts'
import { smallDisk } from '../../support/small-disk.ts'
import '../../support/ffmpeg.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import { CENTRAL_RECORD, patched, zipOf } from '../backup/zips.ts'
import '../../support/long.ts'

const run = promisify(execFile)
const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
/** More values than the reading child has memory for, in a file of three megabytes. */
const VERY_MANY = '{},'.repeat(800_000)

/** 32 KiB each, half of it incompressible, so that it does not count as a zip bomb. */
function* pieces(count: number): Generator<string> {
  for (; count > 0; count--) yield randomBytes(512).toString('hex').padEnd(32_768, 'x')
}

async function scan(app: PlacesApp, place: number) {
  const id = await scanned(app, place)
  const plan = (await app.as('admin').get(`/api/adoption/${id}/`)).body
  const rows: Array<PlannedRow & { title: string }> = (await app.as('admin').get(`/api/adoption/${id}/item/`)).body.data
  return {
    plan,
    rows,
    lines: rows.map(({ code, outcome, platform_id }) => [code || outcome, platform_id].join(' ')).sort(),
  }
}
async function moveIn(app: PlacesApp, id: number): Promise<void> {
  const { body } = await app.as('admin').post(`/api/adoption/${id}/`, { command: 'adopt' })
  await succeeded(app, body.task_id)
}

test('special files are not opened, excessive ones are reported, and forged ones wait for the platform', async (t) => {
  const app = await placesApp(t, { settings: { pageSize: 100 } })
  const place = await app.place('old')
  const at = (name: string) => join(app.root, 'old', name)
  await run('mkfifo', [at('A pipe [bbbbbbbbbbb].mp4')])
  await layFilm(app, 'old/Piped [ccccccccccc].mp4')
  await run('mkfifo', [at('Piped [ccccccccccc].info.json')])
  await layFilm(app, 'old/Huge [ddddddddddd].mp4')
  const huge = await open(at('Huge [ddddddddddd].info.json'), 'w')
  await huge.truncate((64 << 20) + 1)
  await huge.close()
  await layFilm(app, 'old/Nested [eeeeeeeeeee].mp4', undefined, { 'info.json': '['.repeat(200_000) })
  const many = `{"x":[${VERY_MANY}0],${JSON.stringify(infoOf('fffffffffff')).slice(1)}`
  await layFilm(app, 'old/Very many [fffffffffff].mp4', undefined, { 'info.json': many })
  await layFilm(app, 'old/Channel [ggggggggggg].mp4', infoOf('ggggggggggg', { channel_id: '../../etc' }))
  await layFilm(app, 'old/Id [..⧸..⧸..⧸etc].mp4', infoOf('../../../etc'))
  await layFilm(
    app,
    'old/Title [hhhhhhhhhhh].mp4',
    infoOf('hhhhhhhhhhh', { title: 'one\u0000\n\u202etwo', channel: '\u202ethree' }),
  )
  await mkdir(at('A folder [iiiiiiiiiii].mp4'))
  const bomb = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><movie><title>&a;</title></movie>'
  await layFilm(app, 'old/Others beside [jjjjjjjjjjj].mp4', infoOf('jjjjjjjjjjj'), {
    nfo: bomb,
    yaml: '!!python/object/apply:os.system ["true"]',
    pickle: "cos\nsystem\n(S'true'\ntR.",
  })
  const before = await listing(app.root)

  const { lines, rows } = await scan(app, place)

  assert.deepEqual(
    lines,
    [
      'ask ccccccccccc',
      'ask ddddddddddd',
      'ask eeeeeeeeeee',
      'ask fffffffffff',
      'ask ggggggggggg',
      'new hhhhhhhhhhh',
      'new jjjjjjjjjjj',
      'no_id ',
      'foreign_sidecar ',
      'unreadable_sidecar ddddddddddd',
      'unreadable_sidecar eeeeeeeeeee',
      'unreadable_sidecar fffffffffff',
    ].sort(),
  )
  const titleOf = (id: string) => rows.find((row) => row.platform_id === id && row.outcome === 'new')?.title
  assert.deepEqual([titleOf('hhhhhhhhhhh'), titleOf('jjjjjjjjjjj')], ['one two', 'Title of jjjjjjjjjjj'])
  assert.deepEqual(await listing(app.root), before)
})

test('ids that differ in case are two videos, and truncated or replaced names are not used as titles', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const whole = `${'A title of very many words '.repeat(10)}end`
  await layFilm(app, 'old/Lower [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  await layFilm(app, 'old/Upper [AAAAAAAAAAA].mp4', infoOf('AAAAAAAAAAA'))
  await layFilm(
    app,
    'old/What： is？ this⧸that ＂now＂ [bbbbbbbbbbb].mp4',
    infoOf('bbbbbbbbbbb', { title: 'What: is? this/that "now"' }),
  )
  await layFilm(app, `old/${whole.slice(0, 150)} [ccccccccccc].mp4`, infoOf('ccccccccccc', { title: whole }))

  const { plan, lines } = await scan(app, place)
  assert.deepEqual(lines, ['new AAAAAAAAAAA', 'new aaaaaaaaaaa', 'new bbbbbbbbbbb', 'new ccccccccccc'])
  await moveIn(app, plan.id)

  const titles = ['AAAAAAAAAAA', 'aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc'].map(
    async (id) => (await app.as('user').get(`/api/video/${id}/`)).body.data.title,
  )
  assert.deepEqual(await Promise.all(titles), [
    'Title of AAAAAAAAAAA',
    'Title of aaaaaaaaaaa',
    'What: is? this/that "now"',
    whole,
  ])
})

test('a film that disappears between listing and reading is one line of the plan', async (t) => {
  let root = ''
  const reader: PlaceReader = {
    name: 'shelf',
    title: 'Shelf',
    recognise: () => 1,
    async read(files, tools) {
      await rm(join(root, 'old', 'bbbbbbbbbbb.mp4'))
      const looks = await tools.look(files)
      return files.map((file, at) => {
        const look = looks[at]!
        if (!look.isFilm) return { problems: [{ code: look.code, path: file.name, why: look.why }] }
        return { video: { file, id: file.base, isGuess: false, title: file.base }, problems: [] }
      })
    },
    factsOf: async (films) => films.map(() => undefined),
  }
  const shelf = definePlugin({ name: 'shelf', needs: ['library'], implements: { 'library.reader': () => reader } })
  const app = await placesApp(t, { outside: [shelf] })
  root = app.root
  const place = await app.place('old')
  for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) await layFilm(app, `old/${id}.mp4`)

  const { lines } = await scan(app, place)

  assert.deepEqual(lines, ['new aaaaaaaaaaa', 'unreadable_file '])
})

test('the number of unchanged films is written once, not for each part of the location', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const ids = Array.from({ length: 120 }, (_, at) => `v${String(at).padStart(10, '0')}`)
  for (const id of ids) await app.placed({ id, placeId: place, path: `${id}.mp4` })
  const ledger = new Database(join(app.dataDir, 'ledger.sqlite'))
  ledger.exec(`CREATE TABLE written (unchanged INTEGER);
    CREATE TRIGGER count_written AFTER UPDATE OF unchanged ON library_adoption WHEN new.unchanged > 0
    BEGIN INSERT INTO written VALUES (new.unchanged); END`)
  ledger.close()

  const { plan, rows } = await scan(app, place)

  assert.deepEqual([plan.unchanged, rows], [120, []])
  assert.deepEqual(app.app.ledger.sql<{ unchanged: number }>('SELECT unchanged FROM written').all(), [
    { unchanged: 120 },
  ])
})

test('lists of downloads are read in chunks: each video is reported once, none that is present, up to a limit', async (t) => {
  const app = await placesApp(t, { settings: { pageSize: 100 } })
  const place = await app.place('old')
  await layFilm(app, 'old/A film [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  const long = 'youtube ccccccccccc'.repeat(200_000)
  await app.lay(
    'old/archive.txt',
    `youtube aaaaaaaaaaa\r\nyoutube bbbbbbbbbbb\r\nother ddddddddddd\n${long}\nyoutube eeeeeeeeeee\n`,
  )
  // More than one chunk, and the last line has no end.
  await app.lay('old/more/archive.txt', `${'youtube bbbbbbbbbbb\n'.repeat(12_000)}youtube fffffffffff`)
  const only = ['bbbbbbbbbbb', 'eeeeeeeeeee', 'fffffffffff'].map((id) => `in_archive_only ${id}`)
  assert.deepEqual((await scan(app, place)).lines, [...only, 'new aaaaaaaaaaa'].sort())

  const many = Array.from({ length: 11_000 }, (_, at) => `youtube v${String(at).padStart(10, '0')}\n`).join('')
  await app.lay('old/more/archive.txt', many)
  assert.deepEqual((await scan(app, place)).plan.problems, { in_archive_only: 1000 })
})

test('a malicious catalog does not end the scan, and damaged positions do not affect its films', async (t) => {
  const app = await placesApp(t)
  const document = {
    media_url: `${CHANNEL}/A film.mp4`,
    title: 'As the backup says',
    channel: { channel_id: CHANNEL, channel_name: 'Harbour' },
  }
  const lines = [{ index: { _id: 'aaaaaaaaaaa' } }, document].map((line) => `${JSON.stringify(line)}\n`).join('')
  const backup = (content: string | Buffer | Readable) => zipOf({ name: 'es_video-20240601-1.json', content })
  const hostile: Record<string, string | Buffer> = {
    // Two megabytes that compress to two thousand bytes.
    'bomb/ta_backup-20240601.zip': await backup(Buffer.alloc(2 << 20, 0x0a)),
    // An entry that claims to have a thousand bytes, and a line that is longer than any string can be.
    'lies/ta_backup-20240601.zip': patched(await backup(Buffer.alloc(30 << 20, 0x0a)), CENTRAL_RECORD, 24, 1000),
    'line/ta_backup-20240601.zip': await backup(Readable.from(pieces(20_000))),
    'row/youtarr.sql': `CREATE TABLE \`Videos\` (\n  \`id\` int\n);\nINSERT INTO \`Videos\` VALUES ('${'x'.repeat(5 << 20)}');`,
    'many/local_db.json': `{"files":[${VERY_MANY}{"id":"aaaaaaaaaaa","path":"A film [aaaaaaaaaaa].mp4"}]}`,
    'nested/.metube/completed.json': '['.repeat(1 << 20),
  }
  for (const [path, content] of Object.entries(hostile)) {
    await app.lay(path, content)
    const [folder] = path.split('/')
    await layFilm(app, `${folder}/films/A film [aaaaaaaaaaa].mp4`, infoOf('aaaaaaaaaaa'))
    const { plan, lines: planned } = await scan(app, await app.place(`${folder}/films`))
    assert.deepEqual([path, plan.source, planned], [path, 'yt-dlp', ['new aaaaaaaaaaa', 'unreadable_catalog ']])
  }

  // A compressed text whose length leads back to its beginning, so that it never ends.
  const header = Buffer.from('REDIS0011', 'latin1')
  for (const body of [
    [0, 0xc3, 0xc1, 0],
    [0, 0xc3, 0, 0xc1],
    [0, 0xff],
    [0, 0x81, ...Array(8).fill(0xff)],
  ]) {
    const folder = `redis-${Buffer.from(body).toString('hex')}/own`
    await app.lay(`${folder}/ta_backup-20240601.zip`, await backup(lines))
    await app.lay(`${folder}/redis/dump.rdb`, Buffer.concat([header, Buffer.from(body)]))
    await layFilm(app, `${folder}/${CHANNEL}/A film.mp4`)
    const { plan, rows } = await scan(app, await app.place(folder))
    assert.deepEqual(
      [folder, plan.source, rows.map(({ outcome, code, title }) => [code || outcome, title])],
      [
        folder,
        'tubearchivist',
        [
          ['unreadable_catalog', ''],
          ['new', 'As the backup says'],
        ],
      ],
    )
  }
})

test('a read-only disk can be imported; times in steps of two seconds are no change; without the disk nothing runs', async (t) => {
  const disk = await smallDisk(t, 4 << 20)
  if (!disk) return
  const app = await placesApp(t, { settings: { libraryRoots: [dirname(disk.path)] } })
  const onDisk = { lay: lay(disk.path) }
  await layFilm(onDisk, 'old/A film [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  await run('mount', ['-o', 'remount,ro', disk.path])
  const { body } = await app.as('admin').post('/api/place/', { path: disk.path })

  const first = await scan(app, body.id)
  await moveIn(app, first.plan.id)
  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
  assert.equal((await app.as('user').get(`/media/${CHANNEL}/aaaaaaaaaaa.mp4`)).status, 200)

  await run('mount', ['-o', 'remount,rw', disk.path])
  const film = join(disk.path, 'old', 'A film [aaaaaaaaaaa].mp4')
  const { changedMs } = app.app.media.places.filmOf('aaaaaaaaaaa')!
  for (const [steps, unchanged] of [
    [1.9, 1],
    [2.1, 0],
  ] as const) {
    await utimes(film, changedMs / 1000 - steps, changedMs / 1000 - steps)
    assert.equal((await scan(app, body.id)).plan.unchanged, unchanged, `${steps} s`)
  }

  await layFilm(onDisk, 'old/Another [bbbbbbbbbbb].mp4', infoOf('bbbbbbbbbbb'))
  const next = await scan(app, body.id)
  // The mount point is an empty folder.
  await run('mount', ['-t', 'tmpfs', 'tmpfs', disk.path])
  lastFirst(t).after(async () => void (await run('umount', ['-l', disk.path])))
  const refused = await app.as('admin').post(`/api/adoption/${next.plan.id}/`, { command: 'adopt' })
  assert.equal(refused.status, 503)
  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
})

test('a link is followed into other permitted folders; of several files the database’s, the playable container, then the larger one is chosen', async (t) => {
  const [root, other] = [await temporaryFolder(t), await temporaryFolder(t)]
  const app = withPlaces(await testApp(t, { settings: { libraryRoots: [root, other], pageSize: 100 } }), root)
  const place = await app.place('old')
  await layFilm({ lay: lay(other) }, 'films/Elsewhere [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  await symlink(join(other, 'films'), join(root, 'old/linked'))
  await layFilm(app, 'old/Named [bbbbbbbbbbb].webm')
  await layFilm(app, 'old/Better [bbbbbbbbbbb].mp4', infoOf('bbbbbbbbbbb'))
  await layFilm(app, 'old/Good [ccccccccccc].mkv', infoOf('ccccccccccc'))
  await layFilm(app, 'old/Plays [ccccccccccc].mp4', infoOf('ccccccccccc'))
  await layFilm(app, 'old/Small [ddddddddddd].mp4', infoOf('ddddddddddd'))
  await layFilm(app, 'old/Large [ddddddddddd].mp4', infoOf('ddddddddddd'))
  await appendFile(join(root, 'old/Large [ddddddddddd].mp4'), Buffer.alloc(1000))
  const files = [{ path: 'Named [bbbbbbbbbbb].webm', url: 'https://youtu.be/bbbbbbbbbbb' }]
  await app.lay('old/local_db.json', JSON.stringify({ files, subscriptions: [] }))

  const { plan, rows } = await scan(app, place)

  const name = (file: string) => file.replace(/ \[.*/, '')
  assert.deepEqual(rows.map(({ code, outcome, file }) => [code || outcome, name(file)].join(' ')).sort(), [
    'ask Named',
    'duplicate Better',
    'duplicate Good',
    'duplicate Small',
    'new Large',
    'new Plays',
    'new linked/Elsewhere',
  ])
  await moveIn(app, plan.id)
  assert.equal((await app.as('user').get(`/media/${CHANNEL}/aaaaaaaaaaa.mp4`)).status, 200)
})
