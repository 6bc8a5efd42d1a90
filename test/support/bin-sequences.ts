/**
 * Runs random sequences of removals and restores on the bin: a household, the possible acts, and the checks that
 * nothing was lost.
 */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { aChannel, aFragment, aPlaylist, aVideo, someComments, type TestApp } from './testing.ts'

const TABLES = [
  'watch_mark',
  'watch_position',
  'watch_unindexed',
  'playlist_custom',
  'playlist_custom_entry',
  'playlist_unsettled',
  'media_film',
  'media_aside',
  'bin_entry',
]
const KINDS = ['video', 'comment', 'subtitle', 'channel', 'playlist']
const CHANNELS = ['UC1', 'UC2', 'UC3']
const VIDEOS_EACH = 4
const VIDEOS = CHANNELS.flatMap((channelId, at) =>
  Array.from({ length: VIDEOS_EACH }, (_, index) => ({ id: `v${at}${index}`, channelId })),
)

/** Returns the same numbers for the same seed, all less than `below`. */
export function randomOf(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/**
 * Creates channels, videos with comments and subtitles, playlists of the platform and of accounts, and marks of all
 * accounts.
 */
export async function aHouseholdOf(app: TestApp): Promise<void> {
  const { media } = app.app
  await app.given(
    ...CHANNELS.map((id, at) => aChannel({ id, channel_subscribed: at > 0 })),
    ...VIDEOS.map(({ id, channelId }) => aVideo({ id, channelId, title: `Herring ${id}` })),
    ...VIDEOS.map(({ id }) => aFragment({ platform_id: id, subtitle_line: `herring at dawn ${id}` })),
    ...VIDEOS.map(({ id }) => someComments(id, [{ comment_id: `c${id}` }])),
    aPlaylist({ id: 'PL1', playlist_channel_id: 'UC1', entries: ['v00', 'v10', 'v02'] }),
    aPlaylist({ id: 'PL2', playlist_subscribed: true, entries: ['v20', 'v00', 'v11'] }),
  )
  for (const { id, channelId } of VIDEOS) {
    await put(media.pathOf(channelId, id), `the film ${id}`)
    await put(media.subtitlePathOf(channelId, id, 'en'), `WEBVTT ${id}`)
    await put(media.artPathOf('video', id), `the picture ${id}`)
  }
  await app.app.playlists.takeInAll()
  for (const [at, { id }] of VIDEOS.entries()) {
    const client = app.as(at % 2 ? 'user' : 'admin')
    await client.post('/api/watched/', { id, is_watched: at % 3 === 0 })
    await client.post(`/api/video/${id}/progress/`, { position: 3 })
    if (at % 2) await client.post('/api/playlist/watchlater/', { action: 'create', video_id: id })
  }
  for (const [playlist_name, playlist_visibility] of [
    ['Ours', 'shared'],
    ['Mine', 'private'],
  ]) {
    const made = await app.as('admin').post('/api/playlist/custom/', { playlist_name, playlist_visibility })
    for (const id of ['v20', 'v00', 'v12', 'v01'])
      await app.as('admin').post(`/api/playlist/${made.body.playlist_id}/`, { action: 'create', video_id: id })
  }
  await app.settled()
}

export async function filesBelow(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.archivolt-'))
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  const texts = await Promise.all(paths.map(async (path) => (await readFile(path)).toString('base64')))
  return Object.fromEntries(paths.map((path, at) => [path.slice(folder.length), texts[at]!]))
}

/** The playlists of a video are a set: restored ones are appended. */
const sortedLists = (doc: { playlist?: string[] }): object =>
  doc.playlist ? { ...doc, playlist: doc.playlist.toSorted() } : doc

/** All documents, ledger rows and files. */
export async function everythingOf(app: TestApp): Promise<object> {
  const docs: Record<string, unknown> = {}
  for (const kind of KINDS)
    for (const id of await app.ids(kind)) docs[`${kind} ${id}`] = sortedLists(await app.doc(kind, id))
  const { ledger, settings } = app.app
  const rows = Object.fromEntries(TABLES.map((table) => [table, ledger.sql(`SELECT * FROM ${table}`).all()]))
  return { docs, rows, library: await filesBelow(settings.mediaDir), pictures: await filesBelow(settings.cacheDir) }
}

type Random = ReturnType<typeof randomOf>
interface Entry {
  id: number
  removal: string
  kind: string
  platform_id: string
}

const oneOf = <Item>(all: readonly Item[], random: Random): Item => all[random(all.length)]!

/** All entries, although a page contains fewer. */
function entriesOf(app: TestApp): Entry[] {
  return app.app.ledger.sql<Entry>('SELECT id, removal, kind, video_id AS platform_id FROM bin_entry ORDER BY id').all()
}

async function mustBe(asked: Promise<{ status: number; text: string }>, ...allowed: number[]): Promise<void> {
  const { status, text } = await asked
  assert.ok(allowed.includes(status), `${status} ${text}`)
}

/** Acts of people and rules; each promise resolves when the act has ended. */
export const ACTS: Record<string, (app: TestApp, random: Random) => Promise<void>> = {
  async 'delete one'(app, random) {
    const ids = await app.ids('video')
    if (ids.length > 0) await mustBe(app.as('admin').delete(`/api/video/${oneOf(ids, random)}/`), 200)
  },
  async 'delete some'(app, random) {
    const ids = (await app.ids('video')).filter(() => random(3) === 0)
    if (ids.length > 0) await mustBe(app.as('admin').post('/api/video/bulk/', { action: 'delete', ids }), 200)
  },
  async 'delete a channel'(app, random) {
    const ids = await app.ids('channel')
    if (ids.length > 0) await mustBe(app.as('admin').delete(`/api/channel/${oneOf(ids, random)}/`), 200)
  },
  async 'delete a playlist'(app, random) {
    const { data } = (await app.as('admin').get('/api/playlist/?page_size=100')).body
    const ids = data
      .map((list: { playlist_id: string }) => list.playlist_id)
      .filter((id: string) => id !== 'watchlater')
    if (ids.length === 0) return
    const withVideos = random(2) === 0
    await mustBe(app.as('admin').delete(`/api/playlist/${oneOf(ids, random)}/?delete-videos=${withVideos}`), 200)
  },
  async 'run a rule'(app, random) {
    const ids = (await app.ids('video')).filter(() => random(4) === 0)
    await app.app.bin.put(ids, { why: 'rule', note: 'older than a week' })
  },
  async 'restore an entry'(app, random) {
    const entries = entriesOf(app)
    if (entries.length === 0) return
    const { id } = oneOf(entries, random)
    await mustBe(app.as('admin').post('/api/bin/restore/', { entries: [id] }), 200)
  },
  async 'restore a removal'(app, random) {
    const entries = entriesOf(app)
    if (entries.length === 0) return
    await mustBe(app.as('admin').post('/api/bin/restore/', { removal: oneOf(entries, random).removal }), 200)
  },
  async restart(app) {
    await app.restart()
  },
}

/** Each video is either in the archive or in the bin, exactly once, and its film is in the right folder. */
export async function assertNothingLost(app: TestApp): Promise<void> {
  const there = await app.ids('video')
  const binned = entriesOf(app).flatMap(({ kind, platform_id: id }) => (kind === 'video' ? [id] : []))
  assert.deepEqual([...there, ...binned].sort(), VIDEOS.map(({ id }) => id).sort())
  const files = Object.keys(await filesBelow(app.app.settings.mediaDir))
  for (const { id, channelId } of VIDEOS) {
    const found = files.filter((path) => path.endsWith(`/${id}.mp4`))
    assert.equal(found.length, 1, `one film of ${id}: ${found}`)
    assert.equal(found[0] === `/${channelId}/${id}.mp4`, there.includes(id), `${found[0]}, in the archive: ${there}`)
  }
}

/** Restores everything: one by one in random order, by removals, or all at once. */
export async function restoreAll(app: TestApp, random: Random): Promise<void> {
  const way = random(3)
  if (way === 0) await mustBe(app.as('admin').post('/api/bin/restore/', { all: true }), 200)
  for (let entries = entriesOf(app); entries.length > 0; entries = entriesOf(app)) {
    const { id, removal } = oneOf(entries, random)
    const body = way === 1 ? { entries: [id] } : { removal }
    const { status, text, body: told } = await app.as('admin').post('/api/bin/restore/', body)
    assert.deepEqual([status, told.refused], [200, []], text)
  }
  await app.settled()
}

/**
 * Runs the acts of one seed, then restores everything.
 * @throws if something was lost, with the acts that led there
 */
export async function liveThrough(app: TestApp, before: object, seed: number, acts = 5): Promise<void> {
  const random = randomOf(seed)
  const names = Object.keys(ACTS)
  const done: string[] = []
  try {
    for (let act = 0; act < acts; act++) {
      const name = oneOf(names, random)
      done.push(name)
      await ACTS[name]!(app, random)
      await assertNothingLost(app)
    }
    await restoreAll(app, random)
    assert.deepEqual(await everythingOf(app), before)
  } catch (cause) {
    throw new Error(`seed ${seed}: ${done.join(', ')}: ${cause}`, { cause })
  }
}
