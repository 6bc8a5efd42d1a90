/** Finds libraries of other programs below the permitted folders, for people to choose from. */
import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { scanned } from '../../support/adopting.ts'
import { faultyDisk } from '../../support/faulty-disk.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lay } from '../../support/lay.ts'
import { expectedOf, makeLibraries } from '../../support/libraries.ts'
import { listing, type PlacesApp, placesApp, withPlaces } from '../../support/places.ts'
import { layFilm } from '../../support/ytdlp-folder.ts'

const LIBRARIES = [
  ...['tubearchivist-v05', 'tubearchivist-v04', 'pinchflat', 'tubesync', 'ytdl-sub'],
  ...['youtarr', 'metube', 'youtubedl-material', 'yt-dlp'],
]

const found = async (app: PlacesApp) => (await app.as('admin').get('/api/adoption/found/')).body
const linesOf = (app: PlacesApp, { found }: { found: Array<Record<string, string>> }): string[] =>
  found.map(({ path, source, films }) => [path!.slice(app.root.length), source, films].join(' ')).sort()

test('each library is found in the folder of its films, with its program and an estimated number of films; nothing is written', async (t) => {
  const root = await temporaryFolder(t)
  await makeLibraries(root, LIBRARIES)
  const before = await listing(root)
  const app = withPlaces(await testApp(t, { settings: { libraryRoots: [root] } }), root)

  const { found: libraries, complete, unread } = await found(app)

  assert.deepEqual([complete, unread], [true, []])
  const expected = await Promise.all(
    LIBRARIES.map(async (name) => {
      const { source, library, videos } = await expectedOf(root, name)
      return {
        path: join(root, name, library),
        source,
        atLeast: videos.length,
      }
    }),
  )
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
  assert.deepEqual(
    libraries.toSorted(byPath).map(({ path, source }: { path: string; source: string }) => [path, source]),
    expected.toSorted(byPath).map(({ path, source }) => [path, source]),
  )
  for (const { path, atLeast } of expected) {
    const { films } = libraries.find((one: { path: string }) => one.path === path)
    assert.ok(films >= atLeast && films <= atLeast * 2, `${films} films in ${path}, of ${atLeast}`)
  }
  assert.deepEqual(await listing(root), before)
})

test('folders that are no library, already a location, or part of the archive are not offered', async (t) => {
  const root = await temporaryFolder(t)
  const app = withPlaces(
    await testApp(t, {
      settings: {
        libraryRoots: [root, join(root, 'inner')],
        mediaDir: join(root, 'own/media'),
      },
    }),
    root,
  )
  const put = lay(root)
  for (const path of [
    'films/A film of 1999.mkv',
    'films/Another/Another film.mkv',
    'own/media/UCaaaaaaaaaaaaaaaaaaaaaa/aaaaaaaaaaa.mp4',
    'inner/Harbour/A film [aaaaaaaaaaa].mp4',
    'inner/Harbour/A film [aaaaaaaaaaa].info.json',
    'inner/Workshop/Another [bbbbbbbbbbb].webm',
    'inner/Workshop/.trash/Gone [ccccccccccc].webm',
    'inner/Workshop/@eaDir/Gone [ccccccccccc].webm',
    'series/A show/Season 1/First [ddddddddddd].mp4',
    'series/Other show/Season 1/Second [eeeeeeeeeee].mp4',
    'archive/UCaaaaaaaaaaaaaaaaaaaaaa/fffffffffff.mp4',
  ])
    await put(path, 'x')
  await mkdir(join(root, 'other program'))
  const other = new Database(join(root, 'other program/db.sqlite3'))
  other.exec('CREATE TABLE django_migrations (id INTEGER)').close()
  await symlink(join(root, 'films'), join(root, 'inner/loop [ggggggggggg]'))

  assert.deepEqual(linesOf(app, await found(app)), ['/archive tubearchivist 1', '/inner yt-dlp 2', '/series yt-dlp 2'])

  await app.place('series')
  assert.deepEqual(linesOf(app, await found(app)), ['/archive tubearchivist 1', '/inner yt-dlp 2'])
  const places = (await app.as('admin').get('/api/place/')).body.places
  await app.as('admin').delete(`/api/place/${places[0].id}/`)
  assert.equal((await found(app)).found.length, 3)
  assert.equal((await app.as('user').get('/api/adoption/found/')).status, 403)
})

test('a very large folder is counted up to a limit, and the reply says so', async (t) => {
  const app = await placesApp(t)
  const deep = Array.from({ length: 8 }, (_, at) => String(at)).join('/')
  await app.lay(`films/${deep}/Deep [aaaaaaaaaaa].mp4`, 'x')
  await app.lay('films/A film [bbbbbbbbbbb].mp4', 'x')

  const { found: libraries, complete } = await found(app)

  assert.deepEqual([libraries.map(({ films }: { films: number }) => films), complete], [[1], false])
})

test('a failing disk hides no other, and is named', async (t) => {
  const [good, bad] = [await temporaryFolder(t), await temporaryFolder(t)]
  const app = withPlaces(await testApp(t, { settings: { libraryRoots: [bad, good] } }), good)
  await lay(bad)('A film [aaaaaaaaaaa].mp4', 'x')
  await lay(bad)('deeper/A film [aaaaaaaaaaa].mp4', 'x')
  await app.lay('A film [bbbbbbbbbbb].mp4', 'x')
  const disk = faultyDisk(t, join(bad, 'deeper'), 'EIO')
  disk.fail()

  const body = await found(app)

  assert.ok(disk.hasFailed())
  assert.deepEqual([linesOf(app, body), body.unread], [[' yt-dlp 1'], [bad]])
})

test('the database of another folder claims no other library, and home videos with a single id are none', async (t) => {
  const app = await placesApp(t)
  for (const path of [
    'docker/pinchflat/config/db/pinchflat.db',
    'docker/other/Harbour/A film [aaaaaaaaaaa].mp4',
    'docker/other/Harbour/A film [aaaaaaaaaaa].info.json',
    'docker/groups/data/__Kids/One/One - x - bbbbbbbbbbb/One - x [bbbbbbbbbbb].mp4',
    'docker/groups/data/__News/Two/Two - x - ccccccccccc/Two - x [ccccccccccc].mp4',
    'docker/groups/data/Three/Three - x - ddddddddddd/Three - x [ddddddddddd].mp4',
    ...['Birthday', 'Wedding', 'Holiday', 'Christmas', 'Garden', 'Snow'].map((name) => `home/${name}.mp4`),
    'home/A song [eeeeeeeeeee].mp4',
  ])
    await app.lay(path, 'x')

  assert.deepEqual(linesOf(app, await found(app)), ['/docker/groups/data youtarr 3', '/docker/other yt-dlp 1'])
})

test('names with an id outside of brackets make a library; a few such words among home videos do not', async (t) => {
  const app = await placesApp(t)
  for (const path of [
    'signs/Title (3yzWh6qQQ5w).mp4',
    'signs/20240115_H-VijuJZWtI_Title.mp4',
    'signs/Title_vOQRTLEwVtc.mp4',
    'signs/Some talk.mp4',
    'tubesync/video/a-channel/2024-01-15_a-channel_a-film_DEfyv_RksTE_1080p-vp9-opus.mkv',
    'tubesync/audio/a-channel/2024-01-17_a-channel_c-film_t0hm9AWDgdU_opus.ogg',
    'parts/Fog [sEIWVGBX6GW].f137.mp4',
    'home/Our trip - Mk2aTq_W9xY.mp4',
    ...['Birthday_2024-01-15k', 'Wedding-grandmother', 'Trip (Switzerland)'].map((name) => `home/${name}.mp4`),
  ])
    await app.lay(path, 'x')

  assert.deepEqual(linesOf(app, await found(app)), ['/signs yt-dlp 4', '/tubesync yt-dlp 2'])
})

test('a folder above a location is scanned without it; a root that is not a folder is reported at the start', async (t) => {
  const root = await temporaryFolder(t)
  const settings = { libraryRoots: [root, `${root}/one:${root}/two`, `${root}/none`] }
  const app = withPlaces(await testApp(t, { settings }), root)
  for (const path of ['all/inner/A film [aaaaaaaaaaa].mp4', 'all/Another [bbbbbbbbbbb].mp4']) await layFilm(app, path)
  await app.place('all/inner')
  const outer = await app.place('all')

  const plan = await scanned(app, outer)

  const rows = (await app.as('admin').get(`/api/adoption/${plan}/item/`)).body.data
  assert.deepEqual(
    rows.map(({ file }: { file: string }) => file),
    ['Another [bbbbbbbbbbb].mp4'],
  )
  assert.deepEqual((await app.as('admin').get('/api/place/')).body.missing, settings.libraryRoots.slice(1))
  const told = (await app.as('admin').get('/api/notification/')).body.flatMap(
    ({ messages }: { messages: string[] }) => messages,
  )
  assert.ok(told.some((text: string) => text.includes(`${root}/one:${root}/two`) && text.includes('commas')))
  assert.ok(told.some((text: string) => text.includes(`${root}/none`) && text.includes('container')))
})
