/** Whole backups: written, previewed, restored elsewhere and on the other index, and refused if they are bad. */
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { fill, stateOf } from '../../support/household.ts'
import { INDEXES, type IndexPlace, indexSettings } from '../../support/indexes.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'
import { aChannel, aVideo, someComments, type TestApp, testApp } from '../../support/plugin-testing.ts'
import '../../support/long.ts'

const PASSPHRASE = 'correct horse battery staple'
const COOKIE = '# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t0\tname\tvalue\n'

async function folder(scope: Scope): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'av-whole-'))
  scope.after(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Rows of all tables that people fill, and of none that a start changes. */
function tablesOf({ app }: TestApp): Record<string, unknown[]> {
  const names = app.ledger
    .sql<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map(({ name }) => name)
    .filter(
      (name) =>
        !/^(sqlite_|meta$|generation$|migrations$|job|notification|media_library|sidecar_due|sessions|checksum_|schedules|history_loss)/.test(
          name,
        ),
    )
  return Object.fromEntries(
    names.map((name) => [
      name,
      app.ledger
        .sql(`SELECT * FROM "${name}"`)
        .all()
        .map((row) => JSON.stringify(row))
        .sort(),
    ]),
  )
}

/** Adds pictures of two kinds, one of them no longer shown, and a cookie. */
async function addFiles({ app, dataDir }: TestApp): Promise<void> {
  for (const [path, text] of [
    [app.media.artPathOf('video', 'v1'), 'a picture'],
    [app.media.artPathOf('channel_thumb', 'UC1'), 'a face'],
    [join(dataDir, 'history', 'v', 'v1.0123456789abcdef.jpg'), 'an old picture'],
  ] as const) {
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, text)
  }
  await writeFile(join(dataDir, 'cookie.txt'), COOKIE)
}

async function picturesOf({ app: { settings }, dataDir }: TestApp): Promise<number> {
  const folders = ['videos', 'channels', 'playlists'].map((name) => join(settings.cacheDir, name))
  const names = await Promise.all(
    [...folders, join(dataDir, 'history')].map((path) =>
      readdir(path, { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  )
  return names.flat().filter((entry) => entry.isFile()).length
}

async function backUp(app: TestApp, passphrase?: string): Promise<string> {
  const made = await app.command(passphrase ? 'backup --all --passphrase' : 'backup --all', {
    secrets: passphrase ? [passphrase] : [],
  })
  assert.deepEqual([made.code, made.error], [0, undefined], made.said.join('\n'))
  return made.said[0]!.replace(/^Everything except the video files is in /, '')
}

const restore = (app: TestApp, file: string, more = '', passphrase?: string) =>
  app.command(['restore', file, ...more.split(' ').filter(Boolean)], {
    secrets: passphrase === undefined ? [] : [passphrase],
  })

const [EMBEDDED, SERVER] = INDEXES.map(({ index }) => index) as [IndexPlace, IndexPlace]
const WAYS = [
  [EMBEDDED, EMBEDDED, undefined],
  [EMBEDDED, EMBEDDED, PASSPHRASE],
  [EMBEDDED, SERVER, undefined],
  [SERVER, EMBEDDED, PASSPHRASE],
  [SERVER, SERVER, undefined],
] as const

for (const [from, to, passphrase] of WAYS)
  test(`from ${from} to ${to}, ${passphrase ? '' : 'not '}encrypted: everything is restored elsewhere`, {
    skip: INDEXES.find(({ index, skip }) => skip && [from, to].includes(index))?.skip ?? false,
  }, async (t) => {
    const scope = lastFirst(t)
    const [here, there, elsewhere] = [await folder(scope), await folder(scope), await folder(scope)]
    const settingsOf = (index: IndexPlace, name: string) => indexSettings(scope, index, `whole${name}`)
    const before = await testApp(scope, { dataDir: here, settings: await settingsOf(from, 'from') })
    await fill(before)
    await addFiles(before)
    const [state, tables] = [await stateOf(before), tablesOf(before)]
    const key = await readFile(join(here, 'secret.key'))
    const file = await backUp(before, passphrase)
    const pictures = await picturesOf(before)
    await before.close()
    const moved = join(elsewhere, file.split('/').at(-1)!)
    await rename(file, moved)
    await cp(join(here, 'media'), join(elsewhere, 'films'), { recursive: true })
    await rm(here, { recursive: true })

    const settings = {
      ...(await settingsOf(to, 'to')),
      ...{ mediaDir: join(elsewhere, 'films'), cacheDir: join(elsewhere, 'cache') },
    }
    const after = await testApp(scope, { dataDir: there, settings })
    await after.close()
    const preview = await restore(after, moved, '', passphrase)
    assert.deepEqual([preview.code, preview.error], [0, undefined], preview.said.join('\n'))
    const said = preview.said.join('\n')
    assert.match(said, /video: 0 now; 3 would be added, 0 changed, 0 removed/)
    assert.match(said, /accounts that will be added: anna, ben, cleo/)
    assert.ok(said.includes(`pictures: ${pictures}\n`), said)
    const done = await restore(after, moved, '--yes', passphrase)
    assert.deepEqual([done.code, done.error], [0, undefined], done.said.join('\n'))
    await after.restart()
    await after.settled()

    assert.deepEqual(await stateOf(after), state)
    assert.deepEqual(tablesOf(after), tables)
    assert.equal(await readFile(after.app.media.artPathOf('video', 'v1'), 'utf8'), 'a picture')
    assert.equal(await readFile(join(there, 'history', 'v', 'v1.0123456789abcdef.jpg'), 'utf8'), 'an old picture')
    assert.equal((await readFile(join(there, 'secret.key'))).equals(key), passphrase !== undefined)
    assert.equal((await readdir(there)).includes('cookie.txt'), passphrase !== undefined)
    assert.deepEqual((await readdir(there)).filter((name) => /^(restor|before-restore)/.test(name)).length, 1)
    assert.equal((await after.as('anna').get('/api/video/v1/')).status, 200)
  })

/** A small archive that is closed, and a backup of it. */
async function closed(scope: Scope, passphrase?: string) {
  const app = await testApp(scope)
  await app.given(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
  await addFiles(app)
  const file = await backUp(app, passphrase)
  await app.close()
  return { app, file }
}

test('a comparison finds exactly what has changed since the backup', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
  await app.given(someComments('v1', [{ comment_id: 'c1', comment_text: 'Fine weather', comment_author: 'Ada' }]))
  await app.restart()
  await app.settled()
  const file = await backUp(app)
  const compare = async () => app.command(['compare', file])

  const unchanged = await compare()
  await app.app.videos.change('v1', { set: { title: 'Cod' } })
  const changed = await compare()

  assert.equal(unchanged.error, undefined)
  assert.equal(unchanged.said[0], 'video: 1 in the backup; 1 of them here')
  assert.match(unchanged.said.join('\n'), /^All \d+ tables have as many rows as in the backup$/m)
  assert.equal(changed.error, 'It differs from the backup: video v1')
})

test('documents that a restore replaces meanwhile are all in a backup, or none of them', async (t) => {
  const app = await testApp(t)
  const { backups, index, wholeBackups } = app.app
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const { filename } = await backups.create('manual', false, work(app))
  await app.given(aChannel({ id: 'UC2' }), aVideo({ id: 'v2', channelId: 'UC2' }))
  const { collection } = index
  let restored: Promise<unknown> | undefined
  t.mock.method(index, 'collection', (definition: Parameters<typeof collection>[0]) => {
    const one = collection(definition)
    if (definition.name !== 'video' || !restored) return one
    async function* scan(...options: Parameters<typeof one.scan>) {
      // A restore takes less time than these.
      for (let time = 0; time < 5; time++) await backups.preview(filename, work(app).signal)
      yield* one.scan(...options)
    }
    return { ...one, scan }
  })
  const progress = () => void (restored ??= backups.restore(filename, work(app)))

  await wholeBackups.make({ ...work(app), progress })
  await restored

  const { channel, video } = wholeBackups.runs.last('backup').documents
  assert.deepEqual([channel, video], [2, 2])
  assert.deepEqual(await app.ids('video'), ['v1'])
})

const stays = async ({ dataDir }: TestApp) =>
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => /^(restor|before-restore)/.test(name)),
    [],
  )

for (const passphrase of [undefined, PASSPHRASE])
  test(`a backup that is ${passphrase ? 'encrypted' : 'not encrypted'} and bad is refused, and nothing is lost`, async (t) => {
    const { app, file } = await closed(lastFirst(t), passphrase)
    const whole = await readFile(file)
    const refused = async (content: Buffer, why: RegExp, word = passphrase) => {
      await writeFile(file, content)
      const { code, error } = await restore(app, file, '--yes', word)
      assert.equal(code, 1, `${why}`)
      assert.match(error!, why)
      await stays(app)
    }
    /** Flips the next byte that is not 0, because the padding of the tar does not matter. */
    const flipped = (share: number) => {
      const copy = Buffer.from(whole)
      let at = Math.floor(whole.length * share)
      while (copy[at] === 0) at++
      copy[at]! ^= 1
      return copy
    }

    for (const share of [0.1, 0.5, 0.8]) await refused(flipped(share), /is damaged or incomplete/)
    if (!passphrase) {
      const zip = Buffer.from(whole)
      zip[zip.indexOf('PK\x03\x04')]! ^= 1
      await refused(zip, /is damaged or incomplete/)
    }
    for (const share of [0.1, 0.5, 0.95])
      await refused(whole.subarray(0, Math.floor(whole.length * share)), /is damaged or incomplete/)
    await refused(Buffer.from('PK\x03\x04 a zip'), /is not a backup of a whole archive/)
    await refused(Buffer.alloc(0), /is not a backup of a whole archive/)
    if (passphrase) {
      await refused(whole, /The passphrase is wrong, or the beginning/, 'another')
      await refused(whole, /The passphrase is wrong, or the beginning/, '')
    }
    await writeFile(file, whole)
    const { code, error } = await restore(app, file, '--yes', passphrase)
    assert.deepEqual([code, error], [0, undefined])
    await app.restart()
    assert.equal((await app.doc('video', 'v1')).title, 'Herring')
  })

test('a backup of a later version is refused, by its form and by its ledger', async (t) => {
  const scope = lastFirst(t)
  const app = await testApp(scope)
  await app.given(aVideo({ id: 'v1' }))
  await app.app.ledger.write(
    () => void app.app.ledger.sql("INSERT INTO migrations (owner, number, applied_at) VALUES ('backup', 99, 0)").run(),
  )
  const { filename } = await app.app.wholeBackups.make(work(app))
  const path = join(app.dataDir, 'backups', filename)
  const older = await testApp(scope)
  await older.close()

  assert.match((await restore(older, path, '--yes')).error!, /was made by the later version .*: update Archivolt first/)
  const text = await readFile(path, 'latin1')
  await writeFile(path, text.replace('"form": 1', '"form": 9').replace('"version": "', '"version": "8'), 'latin1')
  assert.match((await restore(older, path)).error!, /was made by the later version 8/)
  await stays(older)
})

const work = ({ app }: TestApp) => ({
  ...{ id: 'test', signal: new AbortController().signal, log: app.log, progress: () => undefined },
})

test('a malicious backup writes nothing outside of its folder', async (t) => {
  const scope = lastFirst(t)
  const { app, file } = await closed(scope)
  const text = await readFile(file, 'latin1')
  const name = 'pictures/videos/v/v1.jpg'
  const evil = 'pictures/videos/../../v1'
  const at = text.indexOf(name)
  const header = Buffer.from(text.slice(at, at + 512), 'latin1')
  header.write(evil, 'latin1')
  header.write('        ', 148, 'latin1')
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  await writeFile(file, text.slice(0, at) + header.toString('latin1') + text.slice(at + 512), 'latin1')

  assert.match((await restore(app, file, '--yes')).error!, /is not a backup of a whole archive/)
  await stays(app)
})

test('the data of another installation is replaced, and kept separately', async (t) => {
  const scope = lastFirst(t)
  const { file } = await closed(scope)
  const other = await testApp(scope)
  await other.given(aVideo({ id: 'v9' }))
  const admin = other.as('admin')
  assert.equal((await admin.post('/api/user/', { username: 'dora', password: 'a password of dora' })).status, 200)
  const ledger = () => other.app.ledger.sql('SELECT username, password FROM users ORDER BY id').all()
  const users = ledger()
  await other.close()
  // Folders of test apps are copies of the same one.
  await rm(join(other.dataDir, 'secret.key'))

  const { said } = await restore(other, file)
  assert.match(said.join('\n'), /with a different secret key: on another installation/)
  assert.match(said.join('\n'), /accounts that will be replaced by those with the same name: admin, user/)
  assert.match(said.join('\n'), /accounts that will be removed: dora/)
  assert.match(said.join('\n'), /video: 1 now; 1 would be added, 0 changed, 1 removed/)
  assert.equal((await restore(other, file, '--yes')).error, undefined)
  await other.restart()

  assert.notDeepEqual(ledger(), users)
  assert.deepEqual(await other.ids('video'), ['v1'])
  const [aside] = (await readdir(other.dataDir)).filter((name) => name.startsWith('before-restore-'))
  const db = new Database(join(other.dataDir, aside!, 'ledger.sqlite'), { readonly: true })
  t.after(() => db.close())
  assert.deepEqual(db.prepare('SELECT username, password FROM users ORDER BY id').all(), users)
})
