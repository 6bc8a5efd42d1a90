/** Which degraded video is next when one cannot be downloaded, and what happens to a film meanwhile: without the platform. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { PlatformFailure } from '../../../plugins/platform/ask-failure.ts'
import '../../support/ffmpeg.ts'
import { aDegraded, aReceipt, aVideo, type TestApp, testApp } from '../../support/testing.ts'
import { anIngest } from '../video/scripted-platform.ts'

const DAY_MS = 86_400_000

async function given(t: TestContext, ids: readonly string[]): Promise<TestApp> {
  const app = await testApp(t)
  await app.as('admin').delete('/api/schedule/', { task_name: 'redownload_degraded' })
  const past = Math.floor(app.clock.now() / 1000) - 100
  await app.given(
    ...ids.map((id, at) => aVideo({ id, receipt: aReceipt(), degraded: aDegraded({ next_try: past + at }) })),
  )
  t.mock.method(app.app.platform, 'downloaderVersion', async () => '2026.11.01')
  return app
}

/** @returns the ids that a run requests */
async function runOf(t: TestContext, { app, settled }: TestApp, failureOf: (id: string) => Error): Promise<string[]> {
  const asked: string[] = []
  t.mock.method(app.platform, 'downloadBetter', async (id: string) => {
    asked.push(id)
    throw failureOf(id)
  })
  await settled()
  await app.jobs.start('redownload_degraded')
  await settled()
  return asked
}

const isTooLarge = () => new PlatformFailure({ failure: 'disk_full', message: 'too large' }, { needBytes: 1e15 })
const isOdd = () => new PlatformFailure({ failure: 'unknown', message: 'odd' })
const isBlocked = () => new PlatformFailure({ failure: 'blocked', message: '429' }, { isDeferred: true })

test('a video that is too large for the free space does not block smaller ones, and uses up no attempt', async (t) => {
  const app = await given(t, ['huge', 'small'])

  assert.deepEqual(await runOf(t, app, (id) => (id === 'huge' ? isTooLarge() : isOdd())), ['huge', 'small'])

  const { degraded } = await app.doc('video', 'huge')
  assert.deepEqual([degraded.tries, degraded.next_try], [0, Math.floor(app.clock.now() / 1000) + DAY_MS / 1000])
  assert.equal((await app.doc('video', 'small')).degraded.tries, 1)
})

test('many videos that are too large come after those that have not been tried yet', async (t) => {
  const large = ['l1', 'l2', 'l3', 'l4', 'l5', 'l6']
  const app = await given(t, [...large, 'small'])

  assert.deepEqual(await runOf(t, app, isTooLarge), large.slice(0, 5))
  await app.clock.advance(DAY_MS)
  assert.deepEqual((await runOf(t, app, isTooLarge)).slice(0, 2), ['l6', 'small'])
})

test('after a refusal at one video the next run begins with another', async (t) => {
  const app = await given(t, ['first', 'second'])

  assert.deepEqual(await runOf(t, app, isBlocked), ['first'])
  await app.clock.advance(DAY_MS)
  assert.deepEqual(await runOf(t, app, isBlocked), ['second'])
  assert.equal((await app.doc('video', 'first')).degraded.tries, 0)
})

/** A video whose better film is in the bin, and whose degraded film is to be replaced; `restore` exchanges them. */
async function givenBinnedFilm(t: TestContext) {
  const app = await given(t, [])
  const { app: own } = app
  const aFilm = async (sizeBytes: number) => {
    const { downloaded, probe } = await anIngest(own, 'v1', 'UC1')
    await writeFile(downloaded.mediaPath, `${sizeBytes}`)
    return { downloaded, probe: { ...probe, sizeBytes } }
  }
  await own.videos.ingest(await aFilm(30))
  await own.videos.ingest({ ...(await aFilm(10)), degraded: aDegraded({ next_try: 1 }) })
  const [{ id }] = (await app.as('admin').get('/api/bin/')).body.data
  const restore = async () => {
    const { body } = await app.as('admin').post('/api/bin/restore/', { entries: [id] })
    assert.equal(body.restored, 1)
  }
  return { app, aFilm, restore }
}

test('a film that is restored while a better one is fetched stays, and nothing is recorded about it', async (t) => {
  for (const end of ['fetched', 'left', 'failed'] as const) {
    const { app, aFilm, restore } = await givenBinnedFilm(t)
    const { downloaded, probe } = await aFilm(20)
    t.mock.method(app.app.media, 'probe', async () => probe)
    t.mock.method(app.app.platform, 'downloadBetter', async () => {
      await restore()
      if (end === 'failed') throw isOdd()
      return end === 'left' ? { ...downloaded, isLeft: true } : downloaded
    })
    const before = await app.doc('video', 'v1')

    const { id } = await app.app.jobs.start('redownload_degraded')

    assert.deepEqual([end, (await app.app.jobs.ended(id)).result], [end, null])
    const after = await app.doc('video', 'v1')
    assert.deepEqual([before.media_size, after.media_size, after.degraded], [10, 30, undefined])
    assert.equal(await readFile(app.app.media.pathOf('UC1', 'v1'), 'utf8'), '30')
    assert.equal((await app.as('admin').get('/api/bin/')).body.data.length, 1)
  }
})
