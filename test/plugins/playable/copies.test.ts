/** Playable copies: made of films that a browser cannot play, limited in size, removed with their video. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { aChannel, aVideo } from 'archivolt/testing'
import { makeFilm } from '../../support/ffmpeg.ts'
import { listing, type PlacesApp, placesApp } from '../../support/places.ts'

const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '100k', '-c:a', 'libopus']
const copyPath = (app: PlacesApp, id: string): string =>
  join(app.app.settings['cacheDir'] as string, 'playable', `${id}.mp4`)

/** A film in a location, and its video. */
async function withFilm(t: TestContext, file: string, codecs?: string[]): Promise<PlacesApp> {
  const app = await placesApp(t)
  const place = await app.place('old')
  await makeFilm(join(app.root, 'old', file), codecs)
  const content = await readFile(join(app.root, 'old', file))
  await app.placed({ id: 'v1', placeId: place, path: file, content: content as never })
  return app
}

/**
 * Requests it and waits.
 * @returns its status then
 */
async function made(app: PlacesApp, id = 'v1', body = {}) {
  const { status, body: first } = await app.as('user').post(`/api/video/${id}/copy/`, body)
  assert.equal(status, 200, JSON.stringify(first))
  const job = app.app.jobs.active('make_copy')
  if (job) await app.app.jobs.ended(job.id)
  return (await app.as('user').get(`/api/video/${id}/copy/`)).body
}
const codecsOf = async (app: PlacesApp, id = 'v1'): Promise<string[]> =>
  (await app.app.media.probe(copyPath(app, id))).streams.map(({ codec }) => codec)

test('for a film in a container that browsers cannot read the streams are copied, and nothing is written next to it', async (t) => {
  const app = await withFilm(t, 'A film.mkv', VP9)
  const before = await listing(app.root)
  assert.equal((await app.as('user').get('/api/video/v1/copy/')).body.state, 'none')

  const { state, copy_url: url } = await made(app)

  assert.deepEqual([state, url], ['there', '/cache/playable/v1.mp4'])
  assert.deepEqual(await codecsOf(app), ['vp9', 'opus'])
  const { data } = (await app.as('user').get('/api/video/v1/')).body
  assert.deepEqual([data.copy_url, data.media_url], [url, '/media/UC1/v1.mkv'])
  const part = await app.as('user').get(url, { range: 'bytes=4-7' })
  assert.deepEqual([part.status, part.headers.get('content-type'), part.text], [206, 'video/mp4', 'ftyp'])
  assert.deepEqual(await listing(app.root), before)

  assert.equal((await made(app)).state, 'there')
  await made(app, 'v1', { encode: true })
  assert.deepEqual(await codecsOf(app), ['h264', 'aac'], 'that did not play either')
})

test('in a readable container, streams that only some browsers play are encoded', async (t) => {
  const app = await withFilm(t, 'A film.webm', VP9)
  await made(app)
  assert.deepEqual(await codecsOf(app), ['h264', 'aac'])
})

test('a film that every browser plays is answered at once, however often it is requested', async (t) => {
  const app = await withFilm(t, 'A film.mp4', ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac'])
  for (const body of [{}, { encode: true }]) {
    const { status, body: refusal } = await app.as('user').post('/api/video/v1/copy/', body)
    assert.deepEqual([status, app.app.jobs.open('make_copy')], [422, []])
    assert.match(refusal.error, /a copy is not needed/)
  }
  const other = await withFilm(t, 'A film.webm', VP9)
  await made(other)

  const again = await other.as('user').post('/api/video/v1/copy/', { encode: true })

  assert.deepEqual([again.status, again.body.state, other.app.jobs.open('make_copy')], [200, 'there', []])
})

test('one copy is made at a time, and an account has at most three pending ones, however many it requests', async (t) => {
  const app = await placesApp(t)
  await app.given(aChannel({ id: 'UC1' }))
  const ids = Array.from({ length: 8 }, (_, at) => `film${at}`)
  for (const id of ids) await app.given(aVideo({ id, channelId: 'UC1' }))
  let giveUp: (reason: Error) => void = () => undefined
  const held = new Promise<never>((_, reject) => (giveUp = reject))
  let begun = 0
  app.app.media.probe = () => (begun++, held)
  app.app.media.filmPath = async () => '/nowhere/film.mkv'

  const replies = await Promise.all(ids.map((id) => app.as('user').post(`/api/video/${id}/copy/`, { encode: true })))
  const others = await app.as('admin').post('/api/video/film7/copy/', {})

  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 200, 200, 429, 429, 429, 429, 429])
  assert.deepEqual([others.status, app.app.jobs.open('make_copy').length, begun], [200, 4, 1])
  const refused = replies.find(({ status }) => status === 429)!
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const { id } = app.app.jobs.open('make_copy')[0]!
  assert.equal(
    (await app.as('user').post(`/api/video/${replies[0]!.status === 200 ? ids[0] : id}/copy/`, {})).status,
    200,
  )
  giveUp(new Error('enough'))
})

test('a picture with more color depth than browsers play is encoded, its sound is copied', async (t) => {
  const app = await withFilm(t, 'A film.mkv', ['-c:v', 'libx264', '-pix_fmt', 'yuv422p', '-c:a', 'flac'])
  await made(app)
  const [picture, sound] = await app.app.media.streamsIn(copyPath(app, 'v1'), new AbortController().signal)
  assert.deepEqual([picture?.codec, picture?.pixels, sound?.codec], ['h264', 'yuv420p', 'flac'])
})

test('a copy that cannot be made says why, and leaves nothing behind', async (t) => {
  const app = await withFilm(t, 'A film.mkv', VP9)
  await app.lay('old/A film.mkv', '#EXTM3U\nfile:///etc/passwd\n')

  const { state, reason } = await made(app)

  assert.deepEqual([state, reason], ['failed', 'the file cannot be read as media'])
  assert.equal((await app.as('user').get('/cache/playable/v1.mp4')).status, 404)
  assert.ok(!existsSync(copyPath(app, 'v1').replace('.mp4', '.part')))
  assert.equal((await app.as('user').post('/api/video/nobody/copy/', {})).status, 404)
  assert.equal((await app.as('user').post('/api/video/v1/copy/', { encode: 'yes' })).status, 400)
  assert.equal((await app.as('user').get('/cache/playable/..%2fx.mp4')).status, 404)
})

test('copies stay within their limit, also when it is reduced: the oldest is deleted, and a film larger than the limit is refused', async (t) => {
  const app = await placesApp(t)
  const cache = join(app.app.settings['cacheDir'] as string, 'playable')
  await app.as('admin').post('/api/config/', { playback: { copy_room: 2 } })
  const day = 86_400
  const keep = async (id: string, at: number) => {
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id, channelId: 'UC1' }))
    await writeFile(app.app.copies.beginDraft(id), '')
    await truncate(app.app.copies.draftOf(id), 400_000_000)
    await utimes(app.app.copies.draftOf(id), at * day, at * day)
    await app.app.copies.keep(id)
  }
  for (const [at, id] of ['old1', 'old2', 'new1'].entries()) await keep(id, at)

  const there = () => ['old1', 'old2', 'new1', 'last'].map((id) => existsSync(join(cache, `${id}.mp4`)))
  const urlOf = async (id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data.copy_url
  assert.ok(await urlOf('old1'))
  await app.as('admin').post('/api/config/', { playback: { copy_room: 1 } })
  while (existsSync(join(cache, 'old1.mp4'))) await setImmediate()
  assert.deepEqual(there(), [false, true, true, false])
  assert.equal(await urlOf('old1'), undefined)
  await keep('last', 3)
  assert.deepEqual(there(), [false, false, true, true])
  await app.given(aVideo({ id: 'huge', channelId: 'UC1', media_size: 2e9 }))
  assert.match((await made(app, 'huge')).reason, /larger than the space/)
})

test('a copy is removed with its video, with a new file of it, and on an admin’s request', async (t) => {
  const app = await placesApp(t)
  const admin = app.as('admin')
  for (const id of ['v1', 'v2', 'v3', 'v4']) {
    await app.given(aChannel({ id: 'UC1' }), aVideo({ id, channelId: 'UC1' }))
    await writeFile(app.app.copies.beginDraft(id), 'a copy')
    await app.app.copies.keep(id)
  }

  assert.equal((await admin.delete('/api/video/v1/')).status, 200)
  await app.app.emit('video.added', { id: 'v2', channelId: 'UC1', why: 'again' })
  assert.equal((await app.as('user').delete('/api/video/v3/copy/')).status, 403)
  assert.equal((await admin.delete('/api/video/v3/copy/')).status, 200)
  assert.equal((await admin.delete('/api/video/v3/copy/')).status, 404)

  assert.deepEqual(
    ['v1', 'v2', 'v3', 'v4'].map((id) => existsSync(copyPath(app, id))),
    [false, false, false, true],
  )
})

test('a film that another program has replaced loses its copy as soon as a rescan has read it', async (t) => {
  const app = await withFilm(t, 'A film.mkv', VP9)
  assert.equal((await made(app)).state, 'there')
  await makeFilm(join(app.root, 'old', 'A film.mkv'), ['-vf', 'scale=160:90', ...VP9])

  await app.app.jobs.ended((await app.app.jobs.start('rescan_filesystem')).id)
  await app.settled()

  assert.deepEqual(
    [(await app.as('user').get('/api/video/v1/copy/')).body.state, existsSync(copyPath(app, 'v1'))],
    ['none', false],
  )
})

test('no copy remains of a film that is replaced while it is converted', async (t) => {
  const app = await withFilm(t, 'A film.mkv', VP9)
  const { media } = app.app
  const { toMp4 } = media
  const { mock } = t.mock.method(media, 'toMp4', async (...args: Parameters<typeof toMp4>) => {
    await toMp4(...args)
    await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'again' })
  })

  const { state } = await made(app)

  assert.deepEqual([state, existsSync(copyPath(app, 'v1'))], ['none', false])
  mock.restore()
  assert.equal((await made(app)).state, 'there', 'of the new film')
})

test('a start finds existing copies, and deletes incomplete ones', async (t) => {
  const app = await placesApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const cache = join(app.app.settings['cacheDir'] as string, 'playable')
  await mkdir(cache, { recursive: true })
  for (const name of ['v1.mp4', 'v2.part']) await writeFile(join(cache, name), 'a copy')

  await app.restart()

  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.copy_url, '/cache/playable/v1.mp4')
  assert.ok((await stat(join(cache, 'v1.mp4'))).isFile())
  assert.ok(!existsSync(join(cache, 'v2.part')))
})
