/** Thumbnails at the times that viewers propose: cut from the film without any request, removed with the video. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cutPictures } from '../../../plugins/dearrow/pictures.ts'
import { refreshTitles } from '../../../plugins/dearrow/refresh-task.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aChannel, aVideo, type TestApp, testApp } from '../../support/testing.ts'
import { startTitlesService } from '../../support/titles-service.ts'

/** One minute; red from the thirtieth second on. */
const FILM = [
  ...['-vf', "tpad=stop_duration=59:stop_mode=clone,drawbox=color=red:t=fill:enable='gte(t,30)'"],
  ...['-af', 'apad=pad_dur=59', '-c:v', 'libx264', '-g', '10'],
]

async function given(t: TestContext) {
  const service = await startTitlesService(t)
  const app = await testApp(t, { settings: { dearrowUrl: service.url } })
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'soundless' }))
  await app.as('admin').post('/api/config/', { dearrow: { enabled: true } })
  await rested(app)
  await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4'), FILM)
  return { app, service }
}

/** What a round does for one video. */
async function proposed(app: TestApp, service: Awaited<ReturnType<typeof startTitlesService>>, seconds?: number) {
  const thumbnails = seconds === undefined ? [] : [{ timestamp: seconds, votes: 1 }]
  for (const id of ['v1', 'soundless']) {
    service.proposals.set(id, { thumbnails })
    await app.app.dearrow.read(id)
  }
  await app.app.jobs.start(cutPictures)
  await rested(app)
}

/** Waits until both are idle: rounds wait for the clock between requests, ffmpeg works in real time. */
async function rested(app: TestApp): Promise<void> {
  const isAtWork = ({ name }: { name: string }) => app.app.jobs.open(name).some(({ state }) => state !== 'RETRY')
  do {
    await delay(5)
    if (isAtWork(refreshTitles) || !isAtWork(cutPictures)) await app.clock.advance(1000)
  } while (isAtWork(cutPictures) || isAtWork(refreshTitles))
}

const urlOf = async (app: TestApp, id = 'v1'): Promise<string | undefined> =>
  (await app.as('user').get(`/api/video/${id}/`)).body.data.dearrow_thumb_url

test('a picture is cut at the proposed time, shown with the video, and cut again at another time', async (t) => {
  const { app, service } = await given(t)
  await proposed(app, service, 10)
  const url = await urlOf(app)
  assert.equal(url, '/cache/dearrow/v1.jpg')
  const early = await app.as('user').get(url!)
  assert.deepEqual([early.status, early.headers.get('content-type')], [200, 'image/jpeg'])
  assert.equal((await app.as('user').get(`${url}?size=medium`)).status, 200)
  assert.equal((await app.as('nobody').get(url!)).status, 401)
  for (const name of ['none.jpg', '..%2fv1.jpg', 'v1.part'])
    assert.equal((await app.as('user').get(`/cache/dearrow/${name}`)).status, 404, name)
  assert.equal(await urlOf(app, 'soundless'), undefined, 'without a film there is no picture')
  assert.ok(!service.asked.some((path) => !path.startsWith('/api/branding/')), 'no picture is asked for')

  await proposed(app, service, 40)
  const late = await app.as('user').get((await urlOf(app))!)
  assert.ok(late.bytes.length < early.bytes.length / 2, 'plain red takes less')

  await app.restart()
  assert.equal(await urlOf(app), url, 'it is there after a restart')
  await proposed(app, service)
  assert.equal(await urlOf(app), undefined, 'nobody proposes one any more')
})

test('a picture is removed with its video, with its film, and when the feature is switched off', async (t) => {
  const { app, service } = await given(t)
  const path = join(app.app.settings['cacheDir'] as string, 'dearrow', 'v1.jpg')
  await proposed(app, service, 10)
  const before = (await stat(path)).mtimeMs
  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'again' })
  await rested(app)
  assert.notEqual((await stat(path)).mtimeMs, before, 'it is cut from the new film')

  assert.ok(existsSync(path))
  await app.app.dearrow.forget(new AbortController().signal)
  assert.deepEqual([existsSync(path), await urlOf(app)], [false, undefined])

  await proposed(app, service, 10)
  assert.ok(existsSync(path))
  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
  await rested(app)
  assert.equal(existsSync(path), false)
})

test('a damaged film that was downloaded again gets its picture without a restart', async (t) => {
  const { app, service } = await given(t)
  const film = join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4')
  await writeFile(film, 'damaged')
  await proposed(app, service, 10)
  assert.equal(await urlOf(app), undefined)

  await makeFilm(film, FILM)
  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'again' })
  await rested(app)

  assert.equal(await urlOf(app), '/cache/dearrow/v1.jpg')
})

test('another film in the same file has another picture', async (t) => {
  const { app, service } = await given(t)
  await proposed(app, service, 10)
  const path = join(app.app.settings['cacheDir'] as string, 'dearrow', 'v1.jpg')
  const before = (await stat(path)).size

  const [look, filter, ...others] = FILM
  await makeFilm(join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4'), [look!, `${filter},negate`, ...others])
  await app.app.videos.measure('v1')
  await rested(app)

  assert.notEqual((await stat(path)).size, before)
})

test('a film that was offline gets its picture once its disk is back', async (t) => {
  const { app, service } = await given(t)
  const film = join(app.app.settings['mediaDir'] as string, 'UC1', 'v1.mp4')
  const elsewhere = join(app.app.settings['dataDir'] as string, 'v1.mp4')
  await rename(film, elsewhere)
  await proposed(app, service, 10)
  assert.equal(await urlOf(app), undefined)

  await rename(elsewhere, film)
  await app.app.jobs.start(cutPictures)
  await rested(app)
  assert.equal(await urlOf(app), '/cache/dearrow/v1.jpg')
})
