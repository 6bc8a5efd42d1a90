/** Replaced films: a day in the trash, across restarts, removals and an offline disk. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo } from 'archivolt/testing'
import { type VideoApp, videoApp } from '../video/scripted-platform.ts'

const DAY_MS = 86_400_000

async function withFilm(t: Parameters<typeof videoApp>[0]): Promise<VideoApp> {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  await writeFile(app.inLibrary('UC1', 'v1.mp4'), 'old')
  return app
}

async function replace(app: VideoApp, text = 'new'): Promise<void> {
  const mediaPath = join(await app.app.media.staging('v1'), 'v1.mp4')
  await writeFile(mediaPath, text)
  await app.app.media.setAside('UC1', 'v1', mediaPath)
  await app.app.media.adopt('UC1', 'v1', { mediaPath, subtitles: [] })
}

/** The content of the trash, the oldest names first. */
async function inTrash(app: VideoApp): Promise<string[]> {
  const names = await readdir(app.inLibrary('.trash'), { recursive: true }).catch(() => [])
  const films = names.filter((name) => name.endsWith('.mp4')).sort()
  // One may be deleted while it is read.
  const read = films.map((name) => readFile(app.inLibrary('.trash', name), 'utf8').catch(() => []))
  return (await Promise.all(read)).flat()
}

const film = (app: VideoApp) => readFile(app.inLibrary('UC1', 'v1.mp4'), 'utf8')

test('an old film survives a restart, and is deleted after a day', async (t) => {
  const app = await withFilm(t)

  await replace(app)
  assert.deepEqual([await film(app), await inTrash(app)], ['new', ['old']])
  await app.restart()
  assert.deepEqual([await film(app), await inTrash(app)], ['new', ['old']])

  await app.clock.advance(DAY_MS)
  while ((await inTrash(app)).length > 0) await new Promise(setImmediate)
  assert.equal(await film(app), 'new')
})

test('films that were due while the server was down are deleted by the next start', async (t) => {
  const app = await withFilm(t)
  await replace(app)
  await app.close()
  await app.clock.advance(DAY_MS)

  await app.restart()
  await app.app.media.absence()

  assert.deepEqual([await film(app), await inTrash(app)], ['new', []])
})

test('a second new film within the day leaves both old ones there', async (t) => {
  const app = await withFilm(t)

  await replace(app, 'newer')
  await replace(app, 'newest')

  assert.deepEqual([await film(app), (await inTrash(app)).toSorted()], ['newest', ['newer', 'old']])
})

test('a removed video is not restored with its old film', async (t) => {
  const app = await withFilm(t)
  await replace(app)

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
  await app.restart()

  assert.deepEqual(await readdir(app.inLibrary('UC1')), [])
})

test('if the library is offline at that time, the film is deleted once it is back', async (t) => {
  const app = await withFilm(t)
  await replace(app)
  await rename(app.inLibrary(), `${app.inLibrary()}-away`)

  await app.clock.advance(DAY_MS)
  await app.settled()
  await rm(app.inLibrary(), { recursive: true, force: true })
  await rename(`${app.inLibrary()}-away`, app.inLibrary())
  assert.deepEqual(await inTrash(app), ['old'])

  await app.clock.advance(3_600_000)
  while ((await inTrash(app)).length > 0) await new Promise(setImmediate)
  assert.equal(await film(app), 'new')
})

test('nothing is set aside if there is no film', async (t) => {
  const app = await withFilm(t)
  await rm(app.inLibrary('UC1', 'v1.mp4'))

  await replace(app)

  assert.deepEqual([await film(app), await inTrash(app)], ['new', []])
})
