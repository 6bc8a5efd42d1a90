/** The sound files of podcasts: made from films, newest first, within their size limit; and square pictures. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { makeSounds } from '../../../plugins/podcast/make-sounds-task.ts'
import { makeFilm, makePicture } from '../../support/ffmpeg.ts'
import type { Scope } from '../../support/last-first.ts'
import { all, one, readXml } from '../../support/xml.ts'

const SOUND = { type: 'audio', index: 1, codec: 'aac', bitrate: 64_000 } as const
const AAC = ['-c:v', 'libx264', '-c:a', 'aac']
const OPUS = ['-c:v', 'libx264', '-c:a', 'libopus']
const SILENT = ['-an', '-c:v', 'libx264']

interface Film {
  id: string
  codecs?: string[]
  published?: string
  since?: number
}

/** A channel with these films, and its feed. */
async function withFilms(t: Scope, films: Film[]): Promise<{ app: TestApp; url: string; address: string }> {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1', channel_name: 'Old Mill' }))
  for (const { id, codecs = AAC, published = '2026-01-01', since = 1_700_000_000 } of films) {
    const path = app.app.media.pathOf('UC1', id)
    await makeFilm(path, codecs)
    const { size } = await stat(path)
    await app.given(aVideo({ id, published, date_downloaded: since, media_size: size, streams: [SOUND] }))
  }
  const { body } = await app.as('user').post('/api/podcast/', { kind: 'channel', target: 'UC1' })
  return { app, url: body.url, address: body.url.replace('/feed.xml', '') }
}

async function itemsOf(url: string) {
  const channel = one(readXml(await (await fetch(url)).text()), 'channel')
  return all(channel, 'item').map((item) => ({
    id: one(item, 'guid').text,
    enclosure: one(item, 'enclosure').attributes,
    others: all(item, 'podcast:alternateEnclosure').map((other) => ({
      ...other.attributes,
      url: one(other, 'podcast:source').attributes['uri'],
    })),
  }))
}

/** Sets the preference, which is in whole gigabytes, to bytes. */
function setRoom({ app }: TestApp, bytes: number): void {
  const { section } = app.preferences
  app.preferences.section = ((name: string) =>
    name === 'podcasts' ? { sound_room: bytes / 1e9 } : section(name as never)) as typeof section
}

const soundsIn = async (app: TestApp): Promise<string[]> =>
  (await readdir(join(app.app.settings['cacheDir'] as string, 'sound'))).sort()

test('sound is copied or encoded once, and offered with the film and its exact size', async (t) => {
  const { app, url, address } = await withFilms(t, [
    { id: 'v1', published: '2026-01-03' },
    { id: 'v2', published: '2026-01-02', codecs: OPUS },
    { id: 'v3', published: '2026-01-01', codecs: SILENT },
  ])
  await app.settled()

  const [first, second, third] = await itemsOf(url)

  assert.deepEqual(await soundsIn(app), ['v1.m4a', 'v2.m4a'])
  for (const id of ['v1', 'v2']) {
    const { streams } = await app.app.media.probe(app.app.sounds.pathOf(id))
    assert.deepEqual(
      streams.map(({ codec }) => codec),
      ['aac'],
    )
  }
  assert.deepEqual([first?.id, second?.id, third?.id], ['v1', 'v2', 'v3'])
  assert.equal(first?.enclosure['url'], `${address}/sound/v1.m4a`)
  assert.equal(third?.enclosure['url'], `${address}/film/v3.mp4`)
  for (const { url: at, length, type } of [first!.enclosure, ...first!.others, ...second!.others] as Array<
    Record<string, string>
  >) {
    const head = await fetch(at!, { method: 'HEAD' })
    const bytes = Buffer.from(await (await fetch(at!)).arrayBuffer())
    const part = await fetch(at!, { headers: { range: 'bytes=4-7' } })
    assert.deepEqual([head.status, head.headers.get('content-length'), String(bytes.length)], [200, length, length])
    assert.deepEqual([part.status, await part.text()], [206, 'ftyp'])
    assert.equal(head.headers.get('content-type'), type)
    assert.equal(head.headers.get('accept-ranges'), 'bytes')
  }
  assert.deepEqual(
    first?.others.map((other: Record<string, string | undefined>) => [other['title'], other['default']]),
    [
      ['Audio', 'true'],
      ['Video', 'false'],
    ],
  )
})

test('a new video waits a day for its sound, so that no app downloads the film first', async (t) => {
  const { app, url } = await withFilms(t, [{ id: 'v1' }])
  await app.settled()
  const now = Math.floor(app.clock.now() / 1000)
  await makeFilm(app.app.media.pathOf('UC1', 'new'))
  await app.given(aVideo({ id: 'new', published: '2026-02-01', date_downloaded: now, streams: [SOUND] }))

  assert.deepEqual(
    (await itemsOf(url)).map(({ id }) => id),
    ['v1'],
  )
  await app.app.emit('video.added', { id: 'new', channelId: 'UC1', why: 'new' })
  await app.settled()

  const [item] = await itemsOf(url)
  assert.equal(item?.id, 'new')
  assert.match(item!.enclosure['url']!, /\/sound\/new\.m4a$/)
})

test('sound is made for videos that enter a feed without an event, as in a private playlist, once somebody reads it', async (t) => {
  const { app } = await withFilms(t, [{ id: 'v1' }, { id: 'v2' }])
  await app.settled()
  await app.as('user').delete(`/api/podcast/${(await app.as('user').get('/api/podcast/')).body[0].id}/`)
  await app.app.sounds.forget(['v1', 'v2'])
  const { url } = (await app.as('user').post('/api/podcast/', { kind: 'playlist', target: 'watchlater' })).body
  await app.settled()
  const read = async (headers = {}) => {
    const { status } = await fetch(url, { headers })
    await app.settled()
    return status
  }
  for (const id of ['v1', 'v2']) {
    await app.as('user').post('/api/playlist/watchlater/', { action: 'create', video_id: id })
    await read()
    assert.ok(app.app.sounds.has(id))
  }
})

test('a feed whose sound cannot be made starts one run an hour, not one at each request', async (t) => {
  const { app, url } = await withFilms(t, [{ id: 'v1' }])
  await app.settled()
  await app.app.sounds.forget(['v1'])
  const [film, elsewhere] = [app.app.media.pathOf('UC1', 'v1'), join(app.app.settings['dataDir'] as string, 'v1')]
  await rename(film, elsewhere)
  const runs = new Set<string>()
  t.after(app.app.jobs.watch(({ job }) => void (job?.task === makeSounds.name && runs.add(job.id))))
  let etag = ''
  const read = async (isKnown: boolean) => {
    const reply = await fetch(url, isKnown ? { headers: { 'if-none-match': etag } } : {})
    etag = reply.headers.get('etag')!
    await app.settled()
    return [reply.status, runs.size]
  }
  for (const isKnown of [false, true, false]) assert.deepEqual(await read(isKnown), [isKnown ? 304 : 200, 0])

  await app.clock.advance(3_600_000)
  assert.deepEqual(await read(true), [304, 1])
  assert.deepEqual(await read(false), [200, 1])
  await rename(elsewhere, film)
  await app.clock.advance(3_600_000)
  assert.deepEqual(await read(true), [304, 2])
  assert.deepEqual(await soundsIn(app), ['v1.m4a'])
  await app.clock.advance(3_600_000)
  assert.deepEqual(await read(false), [200, 2], 'there is nothing more to make')
})

test('a film that was offline gets its sound once its disk is back', async (t) => {
  const { app } = await withFilms(t, [{ id: 'v1' }])
  await app.settled()
  await app.app.sounds.forget(['v1'])
  const [film, elsewhere] = [app.app.media.pathOf('UC1', 'v1'), join(app.app.settings['dataDir'] as string, 'v1')]
  await rename(film, elsewhere)
  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'again' })
  await app.settled()
  assert.deepEqual(await soundsIn(app), [])

  await rename(elsewhere, film)
  await app.app.jobs.start(makeSounds)
  await app.settled()
  assert.deepEqual(await soundsIn(app), ['v1.m4a'])
})

test('the newest sound files use the space, and those of removed videos are deleted', async (t) => {
  const { app } = await withFilms(t, [
    { id: 'old', published: '2026-01-01' },
    { id: 'late', published: '2026-01-02' },
  ])
  await app.settled()
  assert.deepEqual(await soundsIn(app), ['late.m4a', 'old.m4a'])
  const files = app.app.sounds
  await files.forget(['old', 'late'])
  files.room = () => 1

  await app.app.emit('video.added', { id: 'late', channelId: 'UC1', why: 'again' })
  await app.settled()
  assert.deepEqual(await soundsIn(app), ['late.m4a'])

  await app.as('admin').delete('/api/video/late/')
  assert.deepEqual(await soundsIn(app), [])
})

test('another film in the same file has another sound', async (t) => {
  const { app } = await withFilms(t, [{ id: 'v1' }])
  await app.settled()
  const before = await readFile(app.app.sounds.pathOf('v1'))

  await makeFilm(app.app.media.pathOf('UC1', 'v1'), ['-vf', 'scale=160:90', '-af', 'volume=0.1', ...AAC])
  await app.app.videos.measure('v1')
  await app.settled()

  assert.notDeepEqual(await readFile(app.app.sounds.pathOf('v1')), before)
})

test('a sound file that does not fit next to newer ones is not made again and again', async (t) => {
  const { app } = await withFilms(t, [
    { id: 'v1', published: '2026-01-01' },
    { id: 'v2', published: '2026-01-02' },
    { id: 'v3', published: '2026-01-03' },
  ])
  const { sounds } = app.app
  await app.settled()
  setRoom(app, 2.5 * sounds.get('v3')!.bytes)
  await sounds.forget(['v1', 'v2', 'v3'])

  await app.app.jobs.start(makeSounds)
  await app.settled()
  const changes = sounds.changes()
  for (let run = 0; run < 3; run++) {
    await app.app.jobs.start(makeSounds)
    await app.settled()
  }

  assert.deepEqual(await soundsIn(app), ['v2.m4a', 'v3.m4a'])
  assert.equal(sounds.changes(), changes)
})

test('the sound files of an ended podcast are deleted first', async (t) => {
  const { app } = await withFilms(t, [
    { id: 'v1', published: '2026-01-01' },
    { id: 'v2', published: '2026-01-02' },
  ])
  const { sounds } = app.app
  await app.given(aChannel({ id: 'UC2' }))
  await makeFilm(app.app.media.pathOf('UC2', 'late'), AAC)
  await app.given(aVideo({ id: 'late', channelId: 'UC2', published: '2026-02-01', streams: [SOUND] }))
  const { body: other } = await app.as('user').post('/api/podcast/', { kind: 'channel', target: 'UC2' })
  await app.settled()
  assert.deepEqual(await soundsIn(app), ['late.m4a', 'v1.m4a', 'v2.m4a'])

  await app.as('user').delete(`/api/podcast/${other.id}/`)
  await sounds.forget(['v1'])
  setRoom(app, 2.5 * sounds.get('v2')!.bytes)
  await app.app.jobs.start(makeSounds)
  await app.settled()

  assert.deepEqual(await soundsIn(app), ['v1.m4a', 'v2.m4a'])
})

test('remains of a killed run are deleted, and complete files are found again', async (t) => {
  const { app, url } = await withFilms(t, [{ id: 'v1' }])
  await app.settled()
  await cp(app.app.sounds.pathOf('v1'), app.app.sounds.beginDraft('v2'))

  await app.restart()
  await app.settled()

  assert.deepEqual(await soundsIn(app), ['v1.m4a'])
  const at = new URL(url)
  const [item] = await itemsOf(`${app.url}${at.pathname.slice(1)}`)
  assert.match(item!.enclosure['url']!, /\/sound\/v1\.m4a$/)
})

test('pictures are square, made on request, and removed with their video', async (t) => {
  const { app, address } = await withFilms(t, [{ id: 'v1' }])
  const art = app.app.media.artPathOf('video', 'v1')
  assert.equal((await fetch(`${address}/cover.jpg`)).status, 404)
  await mkdir(dirname(art), { recursive: true })
  await makePicture(art)

  for (const name of ['cover.jpg', 'picture/v1.jpg']) {
    const reply = await fetch(`${address}/${name}`)
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'image/jpeg'])
  }

  const square = join(app.app.settings['cacheDir'] as string, 'squares', 'video-v1.jpg')
  assert.deepEqual(await app.app.media.jpegSize(square), { width: 1400, height: 1400 })
  await app.as('admin').delete('/api/video/v1/')
  assert.ok(!existsSync(square))
})

test('a square picture is drawn again when another original takes its place, even an older one or while it is drawn', async (t) => {
  const { app, address } = await withFilms(t, [{ id: 'v1' }])
  const { media } = app.app
  const art = media.artPathOf('video', 'v1')
  await mkdir(dirname(art), { recursive: true })
  await makePicture(art)
  const { ffmpeg } = media
  let whileDrawn: (() => Promise<void>) | undefined = () => utimes(art, 2000, 2000)
  const drawing = t.mock.method(media, 'ffmpeg', async (...given: Parameters<typeof ffmpeg>) => {
    const drawn = await ffmpeg(...given)
    await whileDrawn?.()
    whileDrawn = undefined
    return drawn
  })
  const draws = async () => {
    assert.equal((await fetch(`${address}/picture/v1.jpg`)).status, 200)
    return drawing.mock.callCount()
  }

  assert.deepEqual([await draws(), await draws(), await draws()], [1, 2, 2])
  await utimes(art, 1000, 1000)
  assert.deepEqual([await draws(), await draws()], [3, 3])
})

test('the feed of a playlist has no picture that may be of a video which is hidden from its account', async (t) => {
  const app = await testApp(t)
  await app.given(
    ...['UC1', 'UC2'].flatMap((id, at) => [aChannel({ id }), aVideo({ id: `v${at}`, channelId: id })]),
    aPlaylist({ id: 'PL1', playlist_channel_id: 'UC1', entries: ['v1', 'v0'] }),
  )
  const { url } = (await app.as('user').post('/api/podcast/', { kind: 'playlist', target: 'PL1' })).body
  const statusOfCover = async () => (await fetch(url.replace('/feed.xml', '/cover.jpg'))).status
  const art = app.app.media.artPathOf('playlist', 'PL1')
  await mkdir(dirname(art), { recursive: true })
  await makePicture(art)
  assert.equal(await statusOfCover(), 200)

  await app.as('admin').post('/api/user/2/', { view: { not_channel: ['UC2'] } })

  assert.equal(await statusOfCover(), 404)
})
