/**
 * A disk that fails while it is read: its location counts as away, which is reported once, and interrupted work
 * continues by itself. Also files that may not be read.
 */
import assert from 'node:assert/strict'
import { chmod, mkdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { ZipFile } from 'yazl'
import { faultyDisk } from '../../support/faulty-disk.ts'
import { PICTURE_FILE } from '../../support/film.ts'
import { lastFirst } from '../../support/last-first.ts'
import { VTT } from '../../support/library-app.ts'
import { handAt } from '../../support/other-work.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/long.ts'

const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
const IDS = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc', 'ddddddddddd'] as const
const MINUTE_MS = 60_000

const told = (app: PlacesApp) =>
  app.app.jobs.notifications().filter(({ title }) => title === 'A folder is offline').length
const stateOf = async (app: PlacesApp, place: number) =>
  (await app.as('admin').get('/api/place/')).body.places.find(({ id }: { id: number }) => id === place).state
const show = async (app: PlacesApp, id: number) => (await app.as('admin').get(`/api/adoption/${id}/`)).body

async function begin(app: PlacesApp, place: number, more = {}) {
  const { status, body } = await app.as('admin').post('/api/adoption/', { place, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  await app.app.jobs.ended(body.task_id)
  return show(app, body.id)
}

async function command(app: PlacesApp, id: number, what: string) {
  const { status, body } = await app.as('admin').post(`/api/adoption/${id}/`, { command: what })
  assert.equal(status, 200, JSON.stringify(body))
  await app.app.jobs.ended(body.task_id)
  return show(app, id)
}

/** The next check finds it, and waiting work continues. */
async function comeBack(app: PlacesApp, place: number): Promise<void> {
  await app.clock.advance(MINUTE_MS)
  assert.equal(await app.app.media.places.isThere(place), true)
  await app.settled()
}

for (const code of ['EIO', 'ESTALE', 'ETIMEDOUT'])
  test(`a share that dies with ${code} during a scan is away, and the scan continues when it is back`, async (t) => {
    const app = await placesApp(t)
    const place = await app.place('share', 'The share')
    for (const id of IDS) await layFilm(app, `share/${id}/A film [${id}].mp4`, infoOf(id))
    const disk = faultyDisk(t, join(app.root, 'share'), code)
    disk.fail(20)

    const cutOff = await begin(app, place)

    assert.ok(disk.hasFailed(), 'it failed on the way')
    assert.deepEqual(
      [cutOff.state, cutOff.reason],
      ['scanning', 'The import continues when “The share” is available again'],
    )
    assert.deepEqual([await stateOf(app, place), told(app)], ['away', 1])
    assert.equal((await app.as('admin').post('/api/adoption/', { place })).status, 503)
    await app.clock.advance(5 * MINUTE_MS)
    assert.equal(told(app), 1)
    assert.equal((await show(app, cutOff.id)).state, 'scanning')

    disk.mend()
    await comeBack(app, place)

    const { state, reason, outcomes, problems } = await show(app, cutOff.id)
    assert.deepEqual([state, reason, outcomes.new.count, problems], ['planned', '', 4, {}])
    assert.deepEqual([await stateOf(app, place), told(app)], ['there', 0])
  })

test('a share that dies during an import loses no video and no picture, also after a restart', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('share')
  for (const id of IDS) await layFilm(app, `share/A film [${id}].mp4`, infoOf(id))
  const plan = await begin(app, place)
  const disk = faultyDisk(t, join(app.root, 'share'), 'EIO')

  disk.fail()
  assert.equal((await app.as('admin').post(`/api/adoption/${plan.id}/`, { command: 'adopt' })).status, 503)
  disk.mend()
  assert.equal(await app.app.media.places.isThere(place), true)
  // The route checks the location, then the run opens its films.
  disk.fail(5)
  const cutOff = await command(app, plan.id, 'adopt')
  assert.ok(disk.hasFailed(), 'it failed on the way')
  assert.deepEqual([cutOff.state, cutOff.states.left], ['adopting', 0])

  await app.restart()
  assert.equal((await show(app, plan.id)).state, 'adopting')
  disk.mend()
  await comeBack(app, place)

  const { state, states } = await show(app, plan.id)
  assert.deepEqual([state, states.done], ['adopted', 4])
  assert.deepEqual(await app.ids('video'), [...IDS])
})

test('a disk that is removed during an import loses no video: its mount point is an empty folder', async (t) => {
  let takeOut: (() => Promise<void>) | undefined
  const hand = handAt('adoption.document', 'after', () => takeOut?.())
  const app = await placesApp(t, { outside: [hand], settings: { pageSize: 100 } })
  const place = await app.place('share')
  const ids = Array.from({ length: 60 }, (_, at) => `v${String(at).padStart(10, '0')}`)
  for (const id of ids) await layFilm(app, `share/A film [${id}].mp4`, infoOf(id))
  const plan = await begin(app, place)
  const [here, elsewhere] = [join(app.root, 'share'), join(app.root, 'elsewhere')]
  takeOut = async () => {
    takeOut = undefined
    await rename(here, elsewhere)
    await mkdir(here)
  }

  const cutOff = await command(app, plan.id, 'adopt')

  const { planned, in: taken, left } = cutOff.states
  assert.deepEqual([cutOff.state, planned, taken, left], ['adopting', 10, 50, 0])
  assert.equal(told(app), 1)
  await rm(here, { recursive: true })
  await rename(elsewhere, here)
  await comeBack(app, place)
  const { state, states } = await show(app, plan.id)
  assert.deepEqual([state, states.done], ['adopted', 60])
  assert.deepEqual(await app.ids('video'), ids)
})

test('pictures and subtitles of films wait for their disk, too', async (t) => {
  let takeOut: (() => Promise<void>) | undefined
  const hand = handAt('adoption.tell', 'before', () => takeOut?.())
  const app = await placesApp(t, { outside: [hand] })
  const place = await app.place('share')
  const webp = await readFile(PICTURE_FILE)
  for (const id of IDS) await layFilm(app, `share/A film [${id}].mp4`, infoOf(id), { webp, 'en.vtt': VTT })
  const plan = await begin(app, place)
  const [here, elsewhere] = [join(app.root, 'share'), join(app.root, 'elsewhere')]
  takeOut = async () => {
    takeOut = undefined
    await rename(here, elsewhere)
    await mkdir(here)
  }

  await command(app, plan.id, 'adopt')
  await app.settled()

  const cutOff = await show(app, plan.id)
  assert.deepEqual([cutOff.state, cutOff.states.in, cutOff.states.done, told(app)], ['adopted', 4, 0, 1])
  await rm(here, { recursive: true })
  await rename(elsewhere, here)
  await comeBack(app, place)
  const { reason, states } = await show(app, plan.id)
  assert.deepEqual([reason, states.done], ['', 4])
  for (const id of IDS) {
    const { data } = (await app.as('user').get(`/api/video/${id}/`)).body
    assert.deepEqual([id, data.subtitles.map(({ lang }: { lang: string }) => lang)], [id, ['en']])
    assert.equal(await app.app.media.hasArt('video', id), true)
  }
})

test('a film whose disk fails while it is played is 503, its location is away, and nothing of it counts as deleted', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('share', 'The share')
  for (const id of IDS) await app.placed({ id, placeId: place, path: `${id}.webm` })
  const disk = faultyDisk(t, join(app.root, 'share'), 'EIO')
  const play = async () => {
    const { status, body } = await app.as('user').get(`/media/UC1/${IDS[0]}.webm`)
    return [status, body?.message]
  }
  disk.fail()

  assert.deepEqual(await play(), [503, 'The file of this video is in “The share”, which is not available'])
  assert.deepEqual([await stateOf(app, place), told(app)], ['away', 1])
  await play()
  const rescan = await app.app.jobs.start('rescan_filesystem', { force: true })
  await app.app.jobs.ended(rescan.id)
  assert.deepEqual([await app.ids('video'), told(app)], [[...IDS], 1])

  disk.mend()
  await comeBack(app, place)
  assert.equal((await play())[0], 200)
  const { data } = (await app.as('user').get(`/api/video/${IDS[0]}/`)).body
  assert.deepEqual([data.place.state, data.active], ['there', true])
})

test('one film that cannot be read does not make its location away, and the refusal says why', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('share', 'The share')
  for (const id of IDS) await app.placed({ id, placeId: place, path: `${id}.webm` })
  faultyDisk(t, join(app.root, 'share', `${IDS[0]}.webm`), 'EIO').fail()

  const { status, body } = await app.as('user').get(`/media/UC1/${IDS[0]}.webm`)

  assert.equal(status, 503)
  assert.equal(body.message, 'The file of this video in “The share” cannot be read (EIO): check its disk')
  assert.deepEqual([await stateOf(app, place), told(app)], ['there', 0])
  assert.equal((await app.as('user').get(`/media/UC1/${IDS[1]}.webm`)).status, 200)
})

for (const what of ['the -wal of a database', 'a folder beside the films', 'a backup'] as const)
  test(`if the disk cannot read ${what}, the scan ends: nothing is planned without it`, async (t) => {
    const app = await placesApp(t)
    const place = await app.place('tool/films')
    await layFilm(app, 'tool/films/A film [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
    const path = join(app.root, 'tool/config/pinchflat.db')
    await app.lay('tool/config/ta_backup-20240601.zip', await backupOf('A title', 1))
    const db = new Database(path)
    lastFirst(t).after(() => void db.close())
    db.pragma('journal_mode = WAL')
    db.exec('CREATE TABLE media_items (id INTEGER PRIMARY KEY); INSERT INTO media_items VALUES (1)')
    const config = join(app.root, 'tool/config')
    const fault = { 'the -wal of a database': `${path}-wal`, 'a folder beside the films': config }
    const at = what === 'a backup' ? join(config, 'ta_backup-20240601.zip') : fault[what]
    faultyDisk(t, at, 'EIO').fail()

    const { state, reason } = await begin(app, place)

    assert.deepEqual([state, reason], ['failed', 'The folder cannot be read (EIO): check the disk'])
    assert.deepEqual([await stateOf(app, place), told(app)], ['there', 0])
  })

for (const [what, forbidden] of [
  ['film', `${IDS[1]}/${IDS[1]}.mp4`],
  ['folder', IDS[1]],
] as const)
  test(`a ${what} that the server may not read is one line of the plan, and the rest is imported`, async (t) => {
    const app = await placesApp(lastFirst(t), { settings: { pageSize: 100 } })
    const place = await app.place('share', 'The share')
    for (const id of IDS) await layFilm(app, `share/${id}/${id}.mp4`, infoOf(id))
    await forbid(t, join(app.root, 'share', forbidden))

    const { id, state } = await begin(app, place)

    const { data } = (await app.as('admin').get(`/api/adoption/${id}/item/`)).body
    const lines = data.map((row: Record<string, string>) => [row['code'] || row['outcome'], row['file'], row['reason']])
    const fresh = [IDS[0], IDS[2], IDS[3]].map((one) => ['new', `${one}/${one}.mp4`, ''])
    const why = what === 'film' ? 'it cannot be read (EACCES)' : 'the folder cannot be read (EACCES)'
    assert.deepEqual([state, lines.sort()], ['planned', [...fresh, ['unreadable_file', forbidden, why]].sort()])
    await command(app, id, 'adopt')
    await app.settled()
    assert.deepEqual(await app.ids('video'), [IDS[0], IDS[2], IDS[3]])
    assert.deepEqual([await stateOf(app, place), told(app)], ['there', 0])
  })

test('a film that the server may no longer read is refused with the reason, and its location is available', async (t) => {
  const app = await placesApp(lastFirst(t))
  const place = await app.place('share', 'The share')
  for (const id of IDS) await app.placed({ id, placeId: place, path: `${id}/${id}.webm` })
  await forbid(t, join(app.root, 'share', IDS[0]))

  const { status, body } = await app.as('user').get(`/media/UC1/${IDS[0]}.webm`)

  assert.equal(status, 503)
  assert.equal(body.message, 'The server has no permission to read the file of this video in “The share”')
  assert.deepEqual([await stateOf(app, place), told(app)], ['there', 0])
})

/** By its permissions. Root may read everything, so for root the calls are made to fail as they do for others. */
async function forbid(t: TestContext, path: string): Promise<void> {
  if (process.getuid?.() === 0) return faultyDisk(t, path, 'EACCES').fail()
  const { mode } = await stat(path)
  await chmod(path, 0)
  lastFirst(t).after(() => chmod(path, mode))
}

/** A backup with documents of that time. */
async function backupOf(title: string, second: number): Promise<Buffer> {
  const zip = new ZipFile()
  const doc = { media_url: `${CHANNEL}/A film.mp4`, title, channel: { channel_id: CHANNEL, channel_name: 'Harbour' } }
  const lines = [{ index: { _id: 'aaaaaaaaaaa' } }, doc].map((line) => `${JSON.stringify(line)}\n`).join('')
  zip.addBuffer(Buffer.from(lines), 'es_video-20240601-1.json', { mtime: new Date(2024, 5, 1, 12, 0, second * 10) })
  zip.end()
  return buffer(zip.outputStream)
}

for (const [one, other] of [
  ['auto', 'manual'],
  ['manual', 'auto'],
] as const)
  test(`of two backups of one day the newer one is read, here ${one} before ${other}`, async (t) => {
    const app = await placesApp(t)
    const place = await app.place(`own/films`)
    await layFilm(app, `own/films/${CHANNEL}/A film.mp4`)
    const lay = async (name: string, title: string, second: number, changed: number) => {
      const path = await app.lay(`own/cache/ta_backup-20240601-${name}.zip`, await backupOf(title, second))
      await utimes(path, changed, changed)
      return path
    }
    const titleIn = async (id: number) =>
      (await app.as('admin').get(`/api/adoption/${id}/item/`)).body.data.map(({ title }: { title: string }) => title)

    // The older one was copied later.
    await lay(one, 'Older', 1, 2000)
    const newer = await lay(other, 'Newer', 2, 1000)
    const byContent = await begin(app, place)
    assert.deepEqual([byContent.catalog, await titleIn(byContent.id)], [newer, ['Newer']])

    const changed = await lay(one, 'Changed later', 2, 3000)
    const byDisk = await begin(app, place)
    assert.deepEqual([byDisk.catalog, await titleIn(byDisk.id)], [changed, ['Changed later']])

    await app.lay(`own/cache/ta_backup-20240601-${one}.zip`, 'PK\u0003\u0004 cut off')
    const byWhole = await begin(app, place)
    assert.deepEqual([byWhole.catalog, await titleIn(byWhole.id)], [newer, ['Newer']])
  })
