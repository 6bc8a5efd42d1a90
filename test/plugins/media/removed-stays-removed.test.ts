/**
 * Removed videos stay removed, however long their files cannot be deleted, because the disk disappears at the end of a
 * removal.
 */
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { aChannel, aVideo } from 'archivolt/testing'
import { type VideoApp, videoApp } from '../video/scripted-platform.ts'

const HOUR_MS = 3_600_000

async function withFilms(t: TestContext): Promise<VideoApp> {
  const app = await videoApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  await mkdir(app.inLibrary('UC1'), { recursive: true })
  for (const name of ['v1.mp4', 'v1.en.vtt', 'v2.mp4']) await writeFile(app.inLibrary('UC1', name), name)
  return app
}

const names = async (app: VideoApp, ...folder: string[]) =>
  (await readdir(app.inLibrary(...folder)).catch(() => [])).sort()
const disconnect = (app: VideoApp) => renameSync(app.inLibrary(), `${app.inLibrary()}-gone`)
const connect = (app: VideoApp) => renameSync(`${app.inLibrary()}-gone`, app.inLibrary())

/** The disk disappears after the last document was removed. */
function disconnectAtTheEnd(t: TestContext, app: VideoApp): void {
  const { videos } = app.app
  const drop = videos.dropAll
  t.mock.method(videos, 'dropAll', async (ids: readonly string[]) => {
    await drop.call(videos, ids)
    disconnect(app)
  })
}

for (const hours of [0, 49]) {
  test(`a video whose disk disappears at the end of its removal does not return with it ${hours} hours later`, async (t) => {
    const app = await withFilms(t)
    disconnectAtTheEnd(t, app)

    assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
    await app.settled()
    await app.clock.advance(hours * HOUR_MS)
    await app.settled()
    await app.close()
    connect(app)
    await app.restart()
    await app.app.media.absence()

    assert.deepEqual([await names(app, 'UC1'), await names(app, '.trash')], [['v2.mp4'], []])
    assert.deepEqual(await app.ids('video'), ['v2'])
  })
}

test('while the server runs, files that could not be deleted are retried every hour', async (t) => {
  const app = await withFilms(t)
  disconnectAtTheEnd(t, app)
  await app.as('admin').delete('/api/video/v1/')
  await app.settled()
  connect(app)
  assert.equal((await names(app, '.trash')).length, 1)

  await app.clock.advance(HOUR_MS)
  while ((await names(app, '.trash')).length > 0) await new Promise(setImmediate)

  assert.deepEqual(await names(app, 'UC1'), ['v2.mp4'])
})

test('a channel whose disk disappears at the end of its removal does not return days later', async (t) => {
  const app = await withFilms(t)
  const { channels } = app.app
  const drop = channels.drop
  t.mock.method(channels, 'drop', async (id: string) => {
    await drop.call(channels, id)
    disconnect(app)
  })

  assert.equal((await app.as('admin').delete('/api/channel/UC1/')).status, 200)
  await app.settled()
  await app.clock.advance(49 * HOUR_MS)
  await app.settled()
  await app.close()
  connect(app)
  await app.restart()
  await app.app.media.absence()

  assert.deepEqual([await names(app, 'UC1'), await names(app, '.trash')], [[], []])
})

test('subtitles of videos that were removed together do not return if the disk disappeared at the end', async (t) => {
  const app = await withFilms(t)
  await rm(app.inLibrary('UC1', 'v1.mp4'))
  t.mock.method(app.app.media, 'isOurs', (id: string) => id !== 'v1') // its film lies in a place
  const subtitles = [{ lang: 'en', name: 'English', source: 'file', media_url: '/media/UC1/v1.en.vtt' }]
  await app.app.videos.change('v1', { set: { subtitles: subtitles as never } })
  const { places } = app.app.media
  const forget = places.forget
  t.mock.method(places, 'forget', async (ids: readonly string[]) => {
    await forget.call(places, ids)
    disconnect(app)
  })

  await app.app.videos.leave(['v1'], { id: 'the-undoing', step: async (_name, work) => work() })
  await app.close()
  connect(app)
  await app.restart()
  await app.app.media.absence()

  assert.deepEqual([await names(app, 'UC1'), await names(app, '.trash')], [['v2.mp4'], []])
})

test('files of an unknown removal are kept for thirty days if their video is gone, else put back', async (t) => {
  const app = await withFilms(t)
  await writeFile(app.inLibrary('UC1', 'gone.mp4'), 'film')
  await app.app.media.trash('lost-job', { channelId: 'UC1', videoId: 'v1' })
  await app.app.media.trash('older-job', { channelId: 'UC1', videoId: 'gone' })

  await app.restart()
  await app.app.media.absence()

  assert.deepEqual(
    [await names(app, 'UC1'), await names(app, '.trash')],
    [['v1.en.vtt', 'v1.mp4', 'v2.mp4'], ['older-job']],
  )
  await app.clock.advance(30 * 24 * HOUR_MS)
  while ((await names(app, '.trash')).length > 0) await new Promise(setImmediate)
})
