/** A real Kodi reads a face: 200 videos with hostile titles, and what happens to marks when names and texts change. */
import assert from 'node:assert/strict'
import { copyFile, mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PICTURE_FILE } from '../../support/film.ts'
import { mayTake } from '../../support/hanging.ts'
import { type Kodi, noKodi, openKodi } from '../../support/kodi.ts'
import { until } from '../../support/server.ts'
import { aChannel, type TestApp, testApp } from '../../support/testing.ts'
import { comeIn, lay } from './coming.ts'

const VIDEOS = 200
/** Two have the same name, and one looks like an episode. */
const CHANNELS = { UC1: 'Boats', UC2: 'Boats', UC3: 'S01E02 - The 2x3-4 show: trailer' }
const TITLES = [
  'My S2E5-E6 recap',
  '4x4-6 build',
  'Show S01E02-03 review',
  'The film - trailer',
  'sample',
  'A free sample',
  '1920x1080-2 test',
  'E5 is next',
  'a/b: c? "d" <e> f|g*h\\i & co',
  '...hidden...',
  '日本語'.repeat(60),
  '[x] {y} (2019)',
  '2019-05-06 my day',
  'Part 1-3',
  'extras',
  'Cafe\u0301 👨‍👩‍👧',
]
const IDS = ['aS01E02-03bc', '4x4-6abcdef', 'S2E5-E6', '-short', '_trailer']

/** Most are in the first channel: renaming it changes more paths than are reported to a server one by one. */
const channelOf = (at: number): string => ['UC1', 'UC1', 'UC1', 'UC2', 'UC3'][at % 5]!

interface Episode {
  episodeid: number
  season: number
  episode: number
  title: string
  plot: string
  file: string
  playcount: number
  resume: { position: number }
  uniqueid: Record<string, string>
  art: Record<string, string>
  showtitle: string
}

async function given(t: TestContext): Promise<{ archive: TestApp; root: string; face: number }> {
  const archive = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
  for (const [id, name] of Object.entries(CHANNELS)) {
    await archive.given(aChannel({ id, channel_name: name }))
    await picture(archive.app.media.artPathOf('channel_thumb', id))
  }
  for (let at = 0; at < VIDEOS; at++) {
    const id = IDS[at] ?? `video-${at}`
    const channelId = channelOf(at)
    // Kodi would merge two shows with the same name and the same first day.
    const day = 1 + (at % 27) + Number(channelId === 'UC2')
    const published = `${2023 + (at % 4)}-${twoDigits(1 + (at % 12))}-${twoDigits(day)}`
    await lay(archive, { id, channelId, title: TITLES[at % TITLES.length]!, published, description: `About ${id}` })
    await picture(archive.app.media.artPathOf('video', id))
  }
  const root = join(archive.dataDir, 'faces', 'tv')
  const body = { name: 'TV', root, form: 'shows', selection: {} }
  const reply = await archive.as('admin').post('/api/face/', body)
  assert.equal(reply.status, 200, reply.text)
  await archive.settled()
  return { archive, root, face: reply.body.id }
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

async function picture(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await copyFile(PICTURE_FILE, path)
}

const PROPERTIES = ['season', 'episode', 'title', 'plot', 'file', 'playcount', 'resume', 'uniqueid', 'art', 'showtitle']

async function episodesOf(kodi: Kodi): Promise<Map<string, Episode>> {
  const { episodes } = await kodi.ask('VideoLibrary.GetEpisodes', { properties: PROPERTIES })
  const found = new Map<string, Episode>()
  for (const one of (episodes ?? []) as Episode[]) {
    const id = one.uniqueid.archivolt!
    assert.ok(!found.has(id), `${id} is there twice: ${one.file}`)
    found.set(id, one)
  }
  return found
}

test('a real Kodi reads a face as intended, and keeps its marks when a channel or a text changes', {
  skip: noKodi,
}, async (t) => {
  mayTake(900)
  const { archive, root } = await given(t)
  const admin = archive.as('admin')
  const kodi = await openKodi(t, root)
  await kodi.ask('VideoLibrary.Scan', { showdialogs: false })
  await kodi.scanned()

  const read = await episodesOf(kodi)
  assert.equal(read.size, VIDEOS)
  const { tvshows } = await kodi.ask('VideoLibrary.GetTVShows', { properties: ['title', 'uniqueid', 'art', 'episode'] })
  assert.deepEqual(tvshows.map((show: any) => [show.uniqueid.archivolt, show.title]).sort(), Object.entries(CHANNELS))
  for (const show of tvshows) assert.match(decodeURIComponent(show.art.poster), /poster\.jpg/)
  for await (const batch of archive.app.videos.collection.scan())
    for (const { id, doc } of batch) {
      const { season, title, plot, file, art, episode } = read.get(id)!
      assert.deepEqual([season, title, plot], [Number(doc.published.slice(0, 4)), doc.title, doc.description])
      assert.ok(basename(file).startsWith(`S${season}E${episode} - `), file)
      assert.match(decodeURIComponent(art.thumb!), /-thumb\.jpg/)
    }
  for (const channelId of Object.keys(CHANNELS)) {
    const docs = await archive.app.videos.collection.find({ filter: { eq: ['channel_id', channelId] }, size: VIDEOS })
    const published = new Map(docs.hits.map(({ id, text }) => [id, JSON.parse(text).published as string]))
    const inOrder = [...read]
      .filter(([id]) => published.has(id))
      .sort(([, one], [, other]) => one.season - other.season || one.episode - other.episode)
      .map(([id]) => published.get(id)!)
    assert.deepEqual(inOrder, inOrder.toSorted())
  }

  const added = await admin.post('/api/face/server/', { name: 'Kodi', kind: 'kodi', url: kodi.url, key: '' })
  assert.equal(added.body.error, '', added.text)
  const marks: Record<string, { playcount: number; resume: { position: number; total: number } }> = {
    'video-30': { playcount: 2, resume: { position: 0, total: 0 } },
    'video-33': { playcount: 1, resume: { position: 30, total: 60 } },
    'video-35': { playcount: 0, resume: { position: 20, total: 60 } },
    'aS01E02-03bc': { playcount: 3, resume: { position: 0, total: 0 } },
  }
  for (const [id, mark] of Object.entries(marks))
    await kodi.ask('VideoLibrary.SetEpisodeDetails', { episodeid: read.get(id)!.episodeid, ...mark })
  const marksIn = (episodes: ReadonlyMap<string, Episode>) =>
    Object.fromEntries(
      [...episodes]
        .filter(([, { playcount, resume }]) => playcount > 0 || resume.position > 0)
        .map(([id, { playcount, resume }]) => [id, { playcount, resume }]),
    )
  const areKept = (episodes: ReadonlyMap<string, Episode>) => assert.deepEqual(marksIn(episodes), marks)

  const edited = ['video-30', 'video-35', 'aS01E02-03bc', 'video-10', 'video-40']
  for (const id of edited) {
    await archive.app.videos.change(id, { set: { description: 'Another text' } })
    await archive.app.emit('video.changed', { id, what: 'metadata' })
  }
  await archive.settled()
  // Kodi removes an episode while it reads it again.
  const areEdited = (episodes: Map<string, Episode>) =>
    edited.every((id) => episodes.get(id)?.plot === 'Another text') && episodes.size === VIDEOS
  areKept(await until('the edits have arrived', () => episodesOf(kodi), areEdited))

  const rename = async (id: string, name: string) => {
    await archive.app.channels.collection.patch(id, { set: { channel_name: name } })
    await archive.app.emit('channel.renewed', { id })
    await archive.settled()
    const areRenamed = (episodes: Map<string, Episode>) =>
      [...episodes.values()].every(({ file, showtitle }) => !file.includes(`[${id}]`) || showtitle === name)
    const episodes = await until(`the name ${name} has arrived`, () => episodesOf(kodi), areRenamed)
    assert.equal(episodes.size, VIDEOS)
    for (const { file } of episodes.values())
      assert.ok(!file.includes(`[${id}]`) || file.startsWith(`${root}/${name} [${id}]/`), file)
    areKept(episodes)
  }
  await rename('UC2', 'Ships')
  await rename('UC1', 'Yachts')

  await admin.delete('/api/video/video-50/')
  await comeIn(archive, { id: 'late', title: 'Late', published: '2026-12-01' })
  const last = await episodesOf(kodi)
  assert.deepEqual([last.size, last.has('video-50'), last.has('late')], [VIDEOS, false, true])
  areKept(last)
})
