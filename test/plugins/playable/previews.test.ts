/** Seek previews: drawn from a real film once nothing else runs, complete or not at all, removed with their video. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { defineTask, Type } from 'archivolt'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { definePlugin } from '../../../core/plugin/define.ts'
import { makePreviews } from '../../../plugins/playable/previews/make.ts'
import { shapeFor } from '../../../plugins/playable/previews/previews.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { smallDisk } from '../../support/small-disk.ts'

const cacheOf = (app: TestApp): string => join(app.app.settings['cacheDir'] as string, 'previews')
const LONG = ['-vf', 'tpad=stop_duration=59:stop_mode=clone', '-af', 'apad=pad_dur=59', '-c:v', 'libx264', '-g', '10']

async function withFilm(t: TestContext, options: Parameters<typeof testApp>[1] = {}): Promise<TestApp> {
  const app = await testApp(t, options)
  // Folders of tests count as existing installations.
  await app.as('admin').post('/api/config/', { playback: { seek_previews: true } })
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4'), LONG)
  return app
}

const ask = async (app: TestApp, id = 'v1') => (await app.as('user').post(`/api/video/${id}/preview/`)).body
async function made(app: TestApp, id = 'v1') {
  await ask(app, id)
  await app.settled()
  return (await app.as('user').get(`/api/video/${id}/preview/`)).body
}
/** Width and height in the JPEG. */
function sizeOf(jpeg: Buffer): [number, number] {
  const at = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
  return [jpeg.readUInt16BE(at + 7), jpeg.readUInt16BE(at + 5)]
}

test('a film that was played gets small pictures in full sheets, which browsers cache permanently', async (t) => {
  const app = await withFilm(t)
  const film = join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4')
  const before = await readFile(film)
  assert.deepEqual((await app.as('user').get('/api/video/v1/preview/')).body, { state: 'none' })
  assert.equal((await ask(app)).state, 'wanted')
  await app.settled()

  const { body } = await app.as('user').get('/api/video/v1/preview/')

  const { durationSeconds } = await app.app.media.probe(film)
  const count = Math.ceil(durationSeconds / 2)
  const { state, sheets, ...shape } = body
  assert.equal(state, 'there')
  assert.deepEqual(shape, { interval: 2, count, columns: 5, rows: 5, width: 160, height: 90 })
  assert.equal(sheets.length, Math.ceil(count / 25))
  for (const url of sheets) {
    const sheet = await app.as('user').get(url)
    assert.deepEqual([sheet.status, sheet.headers.get('content-type')], [200, 'image/jpeg'])
    assert.equal(sheet.headers.get('cache-control'), 'private, max-age=31536000, immutable')
    assert.deepEqual(sizeOf(sheet.bytes), [800, 450])
  }
  assert.deepEqual(await readFile(film), before)
  assert.equal((await fetch(new URL(sheets[0].slice(1), app.url))).status, 401)
})

test('a long film has at most the maximum number of pictures', () => {
  for (const hours of [1, 3, 12, 200]) {
    const { count, interval, sheets } = shapeFor(hours * 3600)
    assert.ok(count <= 300 && sheets <= 12, `${count} pictures for ${hours} h`)
    assert.ok(count * interval >= hours * 3600, 'they reach its end')
  }
  assert.deepEqual(shapeFor(3), { interval: 2, count: 2, columns: 5, rows: 1, sheets: 1, longest: 160 })
})

/** A task that runs until it is told to end. */
const busyTask = (name: string) =>
  defineTask({
    name,
    title: 'Busy',
    payload: Type.Object({}),
    lane: 'light',
    apiStop: true,
    run: ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  })
const withBusy = (t: TestContext) =>
  withFilm(t, { replace: [definePlugin({ name: 'busy', tasks: [busyTask('busy'), busyTask('busier')] })] })

test('once nothing else runs it begins at once', async (t) => {
  const app = await withBusy(t)
  const { jobs } = app.app
  const others = await Promise.all([jobs.start('busy'), jobs.start('busier')])
  await ask(app)

  for (const { id } of others) {
    assert.deepEqual(await readdir(cacheOf(app)), [])
    await jobs.command(id, 'KILL')
    await jobs.ended(id)
  }
  await app.settled()

  assert.equal((await app.as('user').get('/api/video/v1/preview/')).body.state, 'there')
})

test('other work comes first, for a quarter of an hour at most', async (t) => {
  const app = await withBusy(t)
  const job = await app.app.jobs.start('busy')
  await ask(app)

  await app.clock.advance(14 * 60_000)
  assert.equal((await app.as('user').get('/api/video/v1/preview/')).body.state, 'wanted')
  assert.deepEqual(await readdir(cacheOf(app)), [])
  await app.clock.advance(60_000)

  const own = app.app.jobs.active(makePreviews.name)
  if (own) await app.app.jobs.ended(own.id)
  assert.equal((await app.as('user').get('/api/video/v1/preview/')).body.state, 'there')
  assert.equal(app.app.jobs.get(job.id)?.state, 'STARTED')
})

test('an interruption leaves nothing incomplete, and the next start completes it', async (t) => {
  const app = await withFilm(t)
  await mkdir(join(cacheOf(app), 'v1.part'), { recursive: true })
  await writeFile(join(cacheOf(app), 'v1.part', '1.jpg'), 'half a sheet')
  await mkdir(join(cacheOf(app), 'v2'), { recursive: true })
  await app.app.ledger.write(() =>
    app.app.ledger.sql(`INSERT INTO library_preview (video_id, state, at) VALUES ('v1', 'wanted', 1)`).run(),
  )
  await app.app.jobs.start(makePreviews)
  const sheet = join(cacheOf(app), 'v1', '1.jpg')
  await app.close()
  assert.equal(existsSync(sheet), false)

  await app.restart()
  await app.settled()

  assert.deepEqual(await readdir(cacheOf(app)), ['v1'])
  assert.equal((await app.as('user').get('/api/video/v1/preview/')).body.state, 'there')
})

test('they are removed with their video and with its file; former sheets are gone', async (t) => {
  const app = await withFilm(t)
  const { sheets } = await made(app)

  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'again' })
  assert.equal((await app.as('user').get(sheets[0])).status, 404)
  assert.deepEqual(await readdir(cacheOf(app)), [])
  await app.clock.advance(1000)
  const again = await made(app)
  assert.notEqual(again.sheets[0], sheets[0])
  assert.equal((await app.as('user').get(sheets[0])).status, 404)

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
  assert.deepEqual(await readdir(cacheOf(app)), [])
  assert.equal((await app.as('user').get('/api/video/v1/preview/')).status, 404)
})

test('a film that cannot be drawn is tried once, and deleted sheets are drawn again', async (t) => {
  const app = await withFilm(t)
  const media = app.app.settings['mediaDir'] as string
  await app.given(aVideo({ id: 'v2', channelId: 'UC1' }), aVideo({ id: 'v3', channelId: 'UC1' }))
  await writeFile(join(media, 'UC1', 'v2.mp4'), '#EXTM3U\nfile:///etc/passwd\n')
  await makeFilm(join(media, 'UC1', 'v3.mp4'), ['-vn', '-c:a', 'aac'])

  assert.equal((await made(app, 'v2')).state, 'impossible')
  assert.equal((await made(app, 'v3')).state, 'impossible')
  assert.equal((await ask(app, 'v3')).state, 'impossible')
  assert.equal((await app.as('user').post('/api/video/nobody/preview/')).status, 404)
  const { sheets } = await made(app)
  for (const name of ['1-1.jpg', '..%2f1.jpg', 'v1.jpg'])
    assert.equal((await app.as('user').get(`/cache/previews/v1/${name}`)).status, 404, name)

  await rm(cacheOf(app), { recursive: true })
  assert.equal((await app.as('user').get(sheets[0])).status, 404)
  assert.equal((await made(app)).state, 'there')
})

test('switched off, nothing is made; an existing library has it off, and a new one on', async (t) => {
  const app = await withFilm(t)
  assert.equal((await app.as('admin').get('/api/config/')).body.playback.seek_previews, true)
  await app.as('admin').post('/api/config/', { playback: { seek_previews: false } })
  assert.equal((await made(app)).state, 'none')

  const config = async (one: TestApp) => (await one.as('admin').get('/api/config/')).body.playback.seek_previews
  assert.equal(await config(await testApp(t)), false, 'its accounts were there before this task')
  const fresh = await testApp(t, { dataDir: await temporaryFolder(t) })
  assert.equal(await config(fresh), true)
})

test('films that were played last stay in the queue', async (t) => {
  const app = await withFilm(t)
  for (let number = 0; number < 110; number++) {
    await app.app.previews.want(`w${number}`, 1)
    await app.clock.advance(1)
  }
  assert.equal(app.app.previews.stateOf('w9'), undefined)
  assert.equal(app.app.previews.stateOf('w10'), 'wanted')
  assert.equal(app.app.previews.next()?.id, 'w109')
})

test('previews are tried again if the disk of the cache became full while they were made', async (t) => {
  const disk = await smallDisk(t, 256 << 20)
  if (!disk) return
  const app = await withFilm(t, { settings: { cacheDir: join(disk.path, 'cache') } })
  const { probe } = app.app.media
  app.app.media.probe = async (path) => {
    await disk.resize(8 << 10)
    return probe(path)
  }

  assert.equal((await made(app)).state, 'none')

  app.app.media.probe = probe
  await disk.resize(256 << 20)
  assert.equal((await made(app)).state, 'there')
})
