/**
 * Ledger and index from different times, on either index: one of them was replaced by an older one, or a backup or
 * snapshot was restored. After that and a rescan, nothing that exists is missing.
 */
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { aQueued, type Client, testApp } from 'archivolt/testing'
import { commanded, scanned } from '../../support/adopting.ts'
import '../../support/ffmpeg.ts'
import { FILM_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { INDEXES, type IndexPlace, indexSettings } from '../../support/indexes.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'
import { lay } from '../../support/lay.ts'
import { type PlacesApp, withPlaces } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/long.ts'

const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
const own = (nth: number) => `own${nth}-film-`.padEnd(11, '0')
const placed = (nth: number) => `placed${nth}-`.padEnd(11, '0')
const [OWN, OWN_LATER] = [own(1), own(2)]
const [STAYS, RENAMED, REMOVED, LATER, UNDONE] = [placed(1), placed(2), placed(3), placed(4), placed(5)]

type Side = 'ledger' | 'index'
type Documents = Map<string, Array<{ id: string; doc: object }>>

/** Copies of an earlier time, to be put in place later. */
interface Kept {
  ledger: string
  documents: Documents
  generation: number
  snapshot: string
  zip: string
}

async function given(scope: Scope, index: IndexPlace) {
  const root = await mkdtemp(join(tmpdir(), 'av-root-'))
  scope.after(() => rm(root, { recursive: true, force: true }))
  const settings = { ...(await indexSettings(scope, index)), libraryRoots: [root], pageSize: 100 }
  return withPlaces(await testApp(scope, { settings }), root)
}

async function done(app: PlacesApp, task: string, payload = {}): Promise<void> {
  const job = await app.app.jobs.start(task, payload)
  const { state, result } = await app.app.jobs.ended(job.id)
  assert.equal(state, 'SUCCESS', `${task}: ${result}`)
  await app.settled()
}

/** Adds a film with its information file to the library. */
async function layOwn(app: PlacesApp, id: string): Promise<void> {
  const put = lay(app.app.settings.mediaDir)
  await put(`${CHANNEL}/${id}.mp4`, await readFile(FILM_FILE))
  await put(`${CHANNEL}/${id}.info.json`, JSON.stringify(infoOf(id)))
  await done(app, 'rescan_filesystem', { preferLocal: true })
}

async function moveIn(app: PlacesApp, place: number, ...ids: string[]): Promise<number> {
  for (const id of ids) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  const plan = await scanned(app, place)
  await commanded(app, plan, { command: 'adopt' })
  await app.settled()
  return plan
}

async function keep(app: PlacesApp, folder: string): Promise<Kept> {
  const admin = app.as('admin')
  const { snapshot_name: snapshot } = (await admin.post('/api/snapshot/')).body
  await admin.post('/api/backup/')
  await app.settled()
  const [{ filename }] = (await admin.get('/api/backup/')).body
  const documents: Documents = new Map()
  for (const { name } of app.app.index.definitions) {
    const ids = await app.ids(name)
    documents.set(name, await Promise.all(ids.map(async (id) => ({ id, doc: await app.doc(name, id) }))))
  }
  await app.close()
  const ledger = join(folder, 'ledger.sqlite')
  await cp(join(app.dataDir, 'ledger.sqlite'), ledger)
  await app.restart()
  const generation = (await app.app.index.generation?.read()) ?? 0
  return { ledger, documents, generation: generation - 1, snapshot, zip: filename }
}

/** Puts copies in place as an operator would, while no server runs. */
async function putBack(app: PlacesApp, sides: readonly Side[], { ledger, documents, generation }: Kept): Promise<void> {
  await app.settled()
  if (sides.includes('index')) {
    await app.app.index.replaceAll(async (write) => {
      for (const [name, docs] of documents) await write(name, docs)
    })
    await app.app.index.generation?.keep(generation)
  }
  await app.close()
  if (sides.includes('ledger')) await cp(ledger, join(app.dataDir, 'ledger.sqlite'))
  await app.restart()
}

const RESTORES = {
  'the ledger is older': (app: PlacesApp, kept: Kept) => putBack(app, ['ledger'], kept),
  'the index is older': (app: PlacesApp, kept: Kept) => putBack(app, ['index'], kept),
  'both are older, and not of one time': (app: PlacesApp, kept: Kept) =>
    putBack(app, ['ledger', 'index'], { ...kept, generation: kept.generation - 1 }),
  'a snapshot was restored': async (app: PlacesApp, { snapshot }: Kept) =>
    assert.equal((await app.as('admin').post(`/api/snapshot/${snapshot}/`)).status, 200),
  'a backup was restored': async (app: PlacesApp, { zip }: Kept) =>
    assert.equal((await app.as('admin').post(`/api/backup/${zip}/`)).status, 200),
}
type Restore = keyof typeof RESTORES

/** What each account sees, and whether ledger and index agree. */
async function seen(app: PlacesApp) {
  const [user, admin] = [app.as('user'), app.as('admin')]
  const idsOf = async (who: Client, query = '') =>
    (await who.get(`/api/video/?${query}`)).body.data.map((one: { platform_id: string }) => one.platform_id).sort()
  const films: Record<string, number> = {}
  for (const id of await app.ids('video')) {
    const { media_url: url } = (await user.get(`/api/video/${id}/`)).body.data
    films[id] = (await user.get(url)).status
  }
  const lists: Record<string, string> = {}
  for (const list of (await user.get('/api/playlist/')).body.data)
    lists[list.playlist_name] =
      `${list.playlist_visibility} ${list.playlist_entries.map((one: { platform_id: string }) => one.platform_id).join()}`
  return {
    films,
    lists,
    watched: { user: await idsOf(user, 'watch=watched'), admin: await idsOf(admin, 'watch=watched') },
    queue: await app.ids('download'),
    kept: (await admin.get(`/api/video/${OWN}/`)).body.data.keep ?? false,
    places: (await admin.get('/api/place/')).body.places.map(({ label, videos }: { label: string; videos: number }) => [
      label,
      videos,
    ]),
  }
}

async function assertAgreed(app: PlacesApp): Promise<void> {
  const { sql } = app.app.ledger
  const rows = sql<{ mark: string }>(`SELECT user_id || ' ' || video_id AS mark FROM watch_mark`).all()
  const indexed: string[] = []
  for await (const batch of app.app.videos.collection.scan())
    for (const { id, doc } of batch) indexed.push(...(doc.watched_by ?? []).map((account) => `${account} ${id}`))
  const known = new Set(await app.ids('video'))
  assert.deepEqual(
    indexed.sort(),
    rows
      .map(({ mark }) => mark)
      .filter((mark) => known.has(mark.split(' ')[1]!))
      .sort(),
  )
  const lost = sql("SELECT video_id FROM media_film WHERE state = 'there'").all() as Array<{ video_id: string }>
  assert.deepEqual(
    lost.map(({ video_id: id }) => id).filter((id) => !known.has(id)),
    [],
    'no place knows a film without a document',
  )
}

const all = (...ids: string[]) => Object.fromEntries(ids.sort().map((id) => [id, 200]))
const ofLater = {
  films: all(OWN, OWN_LATER, STAYS, RENAMED, LATER),
  watched: { user: [STAYS], admin: [OWN] },
  queue: ['queued1', 'queued2'],
  kept: true,
  places: [['Old', 3]],
}
const ofThen = {
  // Files in the library or in the location come back, and a video that was removed from a location still has its file.
  films: all(OWN, OWN_LATER, STAYS, RENAMED, REMOVED, LATER, UNDONE),
  watched: { user: [STAYS], admin: [OWN] },
  queue: ['queued1'],
  kept: false,
  places: [['Old', 5]],
}
const LISTS = {
  Mine: `private ${OWN},${STAYS}`,
  Ours: `shared ${OWN},${STAYS}`,
  Theirs: `shared ${OWN}`,
}
const EXPECTED: Record<Restore, object> = {
  'the ledger is older': { ...ofLater, queue: ofThen.queue, lists: LISTS },
  'the index is older': { ...ofThen, queue: ofLater.queue, lists: LISTS },
  'a snapshot was restored': { ...ofThen, queue: ofLater.queue, lists: LISTS },
  // A backup contains marks of the first admin only.
  'a backup was restored': { ...ofThen, watched: { user: [STAYS], admin: [] }, lists: LISTS },
  'both are older, and not of one time': {
    ...ofThen,
    // Nothing knows any more what was imported since; a scan finds it.
    films: all(OWN, OWN_LATER, STAYS, RENAMED, REMOVED, UNDONE),
    places: [['Old', 4]],
    watched: { user: [OWN], admin: [] },
    lists: { ...LISTS, Ours: `private ${OWN},${STAYS}` },
  },
}

for (const { index, skip } of INDEXES)
  describe(`on ${index}`, { skip }, () => {
    for (const restore of Object.keys(RESTORES) as Restore[])
      test(`${restore}: films, locations, marks, lists and the queue are complete afterwards`, async (t) => {
        const scope = lastFirst(t)
        const app = await given(scope, index)
        const [user, admin] = [app.as('user'), app.as('admin')]
        const mark = (who: Client, id: string, is_watched: boolean) => who.post('/api/watched/', { id, is_watched })
        const list = async (playlist_name: string, visibility: string, ...ids: string[]): Promise<string> => {
          const { body } = await user.post('/api/playlist/custom/', { playlist_name, playlist_visibility: visibility })
          for (const video_id of ids)
            await user.post(`/api/playlist/${body.playlist_id}/`, { action: 'create', video_id })
          return body.playlist_id
        }
        await layOwn(app, OWN)
        const place = await app.place('old', 'Old')
        await moveIn(app, place, STAYS, RENAMED, REMOVED)
        const plan = await moveIn(app, place, UNDONE)
        await mark(user, OWN, true)
        await list('Mine', 'private', OWN, STAYS)
        await list('Theirs', 'shared', OWN)
        const ours = await list('Ours', 'private', OWN, STAYS)
        await app.given(aQueued({ id: 'queued1' }))
        const kept = await keep(app, await temporaryFolder(scope))

        await layOwn(app, OWN_LATER)
        await commanded(app, plan, { command: 'undo' })
        await rm(join(app.root, 'old', `${UNDONE}.info.json`))
        await rm(join(app.root, 'old', `${RENAMED}.info.json`))
        await cp(join(app.root, 'old', `${RENAMED}.mp4`), join(app.root, 'old', `Another [${RENAMED}].mp4`))
        await rm(join(app.root, 'old', `${RENAMED}.mp4`))
        await admin.delete(`/api/video/${REMOVED}/`)
        await app.app.media.places.keep([])
        await moveIn(app, place, LATER)
        await mark(user, OWN, false)
        await mark(user, STAYS, true)
        await mark(admin, OWN, true)
        await user.post(`/api/playlist/${ours}/`, { playlist_visibility: 'shared' })
        await app.given(aQueued({ id: 'queued2' }))
        await admin.post(`/api/video/${OWN}/`, { keep: true })

        await RESTORES[restore](app, kept)
        await app.settled()
        await done(app, 'rescan_filesystem', { preferLocal: true, force: true })

        await assertAgreed(app)
        assert.deepEqual(await seen(app), EXPECTED[restore])
      })
  })
