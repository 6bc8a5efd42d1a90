/** Pictures: missing ones are fetched, unused ones removed; thumbnails are embedded in films. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo } from 'archivolt/testing'
import { openLog } from '../../../core/log.ts'
import type { NewFilm } from '../../../plugins/media/types.ts'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { makePicture } from '../../support/ffmpeg.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type LibraryApp, libraryApp, play, probe, thumbnailOf } from '../../support/library-app.ts'

const { harbour, orbit } = CHANNEL
const { ferry, nets, fog, comet } = VIDEO

/** Writes a picture whose age fits the test clock. */
async function anOldPicture(
  app: LibraryApp,
  kind: Parameters<typeof app.app.media.artPathOf>[0],
  id: string,
): Promise<string> {
  const path = app.app.media.artPathOf(kind, id)
  await mkdir(dirname(path), { recursive: true })
  await makePicture(path)
  const old = app.clock.now() / 1000 - 86_400
  await utimes(path, old, old)
  return path
}

test('missing pictures of videos, channels and playlists are fetched from the addresses in their documents', async (t) => {
  const app = await libraryApp(t)
  const art = thumbnailOf(app.platform, ferry)
  await app.given(
    aChannel({ id: harbour, art: JSON.stringify({ thumb: art, banner: art, tvart: 'http://169.254.169.254/' }) }),
    aChannel({ id: 'odd', art: 'no JSON' }),
    aVideo({ id: ferry, channelId: harbour, art }),
    aVideo({ id: nets, channelId: harbour, art: 'https://example.org/x.jpg' }),
    aVideo({ id: fog, channelId: harbour }),
    aPlaylist({ id: 'PL1', art }),
  )

  const { state, result } = await app.runTask('thumbnail_check')

  assert.deepEqual({ state, result }, { state: 'SUCCESS', result: null })
  const has = (kind: Parameters<typeof app.app.media.hasArt>[0], id: string) => app.app.media.hasArt(kind, id)
  assert.deepEqual(
    [
      await has('video', ferry),
      await has('channel_thumb', harbour),
      await has('channel_banner', harbour),
      await has('playlist', 'PL1'),
    ],
    [true, true, true, true],
  )
  assert.deepEqual(
    [await has('video', nets), await has('video', fog), await has('channel_tvart', harbour)],
    [false, false, false],
  )

  const asked = app.platform.requests.length
  await app.runTask('thumbnail_check')
  assert.equal(app.platform.requests.length, asked, 'what is there is not asked for again')
})

test('pictures of videos with films in locations are not fetched, because there may be very many', async (t) => {
  const app = await libraryApp(t)
  const folder = await temporaryFolder(t)
  await app.given(
    aChannel({ id: harbour }),
    aVideo({ id: ferry, channelId: harbour, art: thumbnailOf(app.platform, ferry) }),
  )
  const { ledger, media } = app.app
  const film = {
    videoId: ferry,
    channelId: harbour,
    path: 'ferry.mkv',
    ending: 'mkv',
    sizeBytes: 1,
    changedMs: 1,
  } as const
  const { lastInsertRowid } = await ledger.write(() =>
    ledger.sql("INSERT INTO media_place (path, label, added_at) VALUES (?, 'Old', 1)").run(folder),
  )
  await media.places.keep([{ ...film, placeId: Number(lastInsertRowid) }])
  const asked = app.platform.requests.length

  await app.runTask('thumbnail_check')

  assert.deepEqual([app.platform.requests.length, await media.hasArt('video', ferry)], [asked, false])
})

test('unused pictures are removed; those of documents, of the queue, and very new ones stay', async (t) => {
  const app = await libraryApp(t)
  await app.given(aChannel({ id: harbour }), aVideo({ id: ferry, channelId: harbour }), aPlaylist({ id: 'PL1' }))
  await app.film('media', harbour, `${ferry}.mp4`)
  await app.as('admin').post('/api/download/', { data: [{ youtube_id: comet }] })
  await app.settled()
  const kept = [
    await anOldPicture(app, 'video', ferry),
    await anOldPicture(app, 'video', comet),
    await anOldPicture(app, 'channel_thumb', harbour),
    await anOldPicture(app, 'playlist', 'PL1'),
  ]
  const orphans = [
    await anOldPicture(app, 'video', nets),
    await anOldPicture(app, 'channel_banner', 'gone'),
    await anOldPicture(app, 'playlist', 'gone'),
  ]
  const young = await anOldPicture(app, 'video', fog)
  await utimes(young, app.clock.now() / 1000, app.clock.now() / 1000)

  assert.equal((await app.runTask('thumbnail_check')).state, 'SUCCESS')

  assert.deepEqual(
    kept.filter((path) => !existsSync(path)),
    [],
  )
  assert.deepEqual(
    orphans.filter((path) => existsSync(path)),
    [],
  )
  assert.ok(existsSync(young))
})

test('after a restore of an older snapshot the pictures of newer films stay, with those of their channels', async (t) => {
  const app = await libraryApp(t)
  await app.given(aChannel({ id: harbour }), aVideo({ id: ferry, channelId: harbour }))
  await app.film('media', harbour, `${ferry}.mp4`)
  await app.settled()
  const { snapshot_name: name } = (await app.as('admin').post('/api/snapshot/')).body
  await app.settled()
  await app.given(aChannel({ id: orbit }), aVideo({ id: comet, channelId: orbit }))
  await app.film('media', orbit, `${comet}.mp4`)
  const kept = [
    await anOldPicture(app, 'video', comet),
    await anOldPicture(app, 'channel_thumb', orbit),
    await anOldPicture(app, 'channel_tvart', orbit),
  ]
  const orphans = [await anOldPicture(app, 'video', nets), await anOldPicture(app, 'channel_thumb', 'gone')]

  assert.equal((await app.as('admin').post(`/api/snapshot/${name}/`)).status, 200)
  await app.settled()

  assert.deepEqual(await app.ids('video'), [ferry])
  assert.deepEqual(
    kept.filter((path) => !existsSync(path)),
    [],
  )
  assert.deepEqual(
    orphans.filter((path) => existsSync(path)),
    [],
  )
})

test('no picture is removed if the index is empty, at that start or the next, or the library is missing', async (t) => {
  let lines: Array<{ msg: string; kept?: number }> = []
  const app = await libraryApp(t, { log: openLog('warn', { write: (line) => void lines.push(JSON.parse(line)) }) })
  await app.film('media', harbour, `${ferry}.mp4`)
  const kept = [
    await anOldPicture(app, 'video', ferry),
    await anOldPicture(app, 'video', nets),
    await anOldPicture(app, 'channel_banner', 'UC1'),
    await anOldPicture(app, 'playlist', 'PL1'),
  ]
  const isKept = async (why: RegExp) => {
    lines = []
    assert.equal((await app.runTask('thumbnail_check')).state, 'SUCCESS')
    const [said] = lines.filter(({ msg }) => msg.includes('are not removed'))
    assert.match(said?.msg ?? '', why)
    assert.equal(said?.kept, 4)
    assert.deepEqual(
      kept.filter((path) => !existsSync(path)),
      [],
    )
  }

  await app.close()
  for (const ending of ['', '-wal', '-shm']) await rm(app.at(`index.sqlite${ending}`), { force: true })
  await app.restart()
  await app.given(aVideo({ id: fog, channelId: harbour }))
  await isKept(/the archive was empty/)

  await app.restart()
  await isKept(/the archive was empty/)

  await app.app.index.settle()
  await app.app.videos.collection.remove(fog)
  await app.app.index.refresh()
  await isKept(/the archive has no videos/)

  await app.given(aVideo({ id: fog, channelId: harbour }))
  await rm(app.at('media', harbour), { recursive: true })
  await isKept(/the library has no films/)
})

test('after a restore missing pictures are fetched', async (t) => {
  const app = await libraryApp(t)
  await app.given(aVideo({ id: ferry, channelId: harbour, art: thumbnailOf(app.platform, ferry) }))

  await app.app.emit('index.replaced', {})
  await app.settled()

  assert.ok(await app.app.media.hasArt('video', ferry))
})

test('the check is scheduled by default, at a random time of the day', async (t) => {
  const app = await libraryApp(t)

  const schedules = (await app.as('admin').get('/api/schedule/')).body as Array<{ name: string; schedule: string }>

  for (const name of ['thumbnail_check', 'version_check', 'update_downloader'])
    assert.match(schedules.find((one) => one.name === name)?.schedule ?? '', /^\d+ \d+ \*$/)
})

test('thumbnails are embedded in the films, which stay intact; a second run has nothing to do, a new picture replaces the old', async (t) => {
  const app = await libraryApp(t)
  await app.given(
    aChannel({ id: harbour }),
    aVideo({ id: ferry, channelId: harbour }),
    aVideo({ id: nets, channelId: harbour }),
    aVideo({ id: fog, channelId: harbour }),
    aVideo({ id: comet, channelId: harbour }),
  )
  const path = await app.film('media', harbour, `${ferry}.mp4`)
  const without = await app.film('media', harbour, `${nets}.mp4`) // no picture is there
  await app.film('media', harbour, `${comet}.mp4`)
  await rm(app.at('media', harbour, `${comet}.mp4`))
  await anOldPicture(app, 'video', ferry)
  await anOldPicture(app, 'video', fog) // its film is gone
  const sizes = async () => [(await stat(path)).size, (await stat(without)).size]
  const [plain, untouched] = await sizes()

  const { state, result } = await app.runTask('resync_thumbs')

  assert.deepEqual({ state, result }, { state: 'SUCCESS', result: null })
  await play(path)
  const { streams, format } = await probe(path)
  assert.deepEqual(
    streams.map(({ codec_name, disposition }) => `${codec_name} ${disposition.attached_pic}`),
    ['h264 0', 'aac 0', 'mjpeg 1'],
  )
  assert.ok((await stat(path)).size > plain!)
  assert.equal((await stat(without)).size, untouched)
  const doc = await app.doc('video', ferry)
  assert.equal(doc.media_size, Number(format.size))
  assert.deepEqual(
    doc.streams.map(({ type }: { type: string }) => type),
    ['video', 'audio'],
  )

  const before = (await stat(path)).ino
  await app.runTask('resync_thumbs')
  assert.equal((await stat(path)).ino, before, 'the file is the same')

  await makePicture(app.app.media.artPathOf('video', ferry), '320x180')
  await app.runTask('resync_thumbs')
  const again = await probe(path)
  assert.deepEqual(
    again.streams.map(({ codec_name }) => codec_name),
    ['h264', 'aac', 'mjpeg'],
  )
  assert.equal((await app.doc('video', ferry)).media_size, Number(again.format.size))
  assert.notEqual(again.format.size, format.size)
  await play(path)
  assert.deepEqual(await app.files('media'), [`${harbour}/${ferry}.mp4`, `${harbour}/${nets}.mp4`].sort())
})

test('if the cache is lost, pictures of imported videos are read from their sidecar files, without requests', async (t) => {
  const root = await temporaryFolder(t)
  const app = await libraryApp(t, { settings: { libraryRoots: [root] } })
  const place = (await app.as('admin').post('/api/place/', { path: root, label: 'Old' })).body.id as number
  const films: NewFilm[] = []
  for (const [id, name, picture] of [
    [ferry, 'one/The ferry', 'one/The ferry.jpg'],
    [nets, 'two/Nets', 'two/Nets-poster.png'],
    [fog, 'two/Fog', undefined],
  ] as const) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, `${name}.webm`), 'film')
    if (picture) await makePicture(join(root, picture))
    const own = { videoId: id, channelId: harbour, placeId: place, path: `${name}.webm` }
    films.push({ ...own, ending: 'webm', sizeBytes: 4, changedMs: 1 })
  }
  await app.given(
    aChannel({ id: harbour }),
    ...[ferry, nets, fog].map((id) => aVideo({ id, channelId: harbour, art: thumbnailOf(app.platform, id) })),
  )
  await app.app.media.places.keep(films)
  const asked = app.platform.requests.length

  assert.equal((await app.runTask('thumbnail_check')).state, 'SUCCESS')

  const has = await Promise.all([ferry, nets, fog].map((id) => app.app.media.hasArt('video', id)))
  assert.deepEqual([has, app.platform.requests.length], [[true, true, false], asked])
})

test('a video that the platform no longer has gets its picture from its film', async (t) => {
  const app = await libraryApp(t)
  const art = `${app.platform.baseUrl}/vi/nothing/hqdefault.jpg`
  await app.given(
    aChannel({ id: harbour }),
    aVideo({ id: ferry, channelId: harbour, active: false, art }),
    aVideo({ id: nets, channelId: harbour, art }),
    aVideo({ id: fog, channelId: harbour, active: false }),
  )
  for (const id of [ferry, nets]) await app.film('media', harbour, `${id}.mp4`)
  await mkdir(app.at('media', harbour), { recursive: true })
  await writeFile(app.at('media', harbour, `${fog}.mp4`), 'no film')

  assert.equal((await app.runTask('thumbnail_check')).state, 'SUCCESS')

  const has = await Promise.all([ferry, nets, fog].map((id) => app.app.media.hasArt('video', id)))
  assert.deepEqual(has, [true, false, false], 'a refresh may bring another address of what the platform has')
  assert.deepEqual(await readdir(app.at('media', '.staging')), [])
})
