/** Which degraded video is next when one cannot be downloaded: without the platform. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PlatformFailure } from '../../../plugins/platform/ask-failure.ts'
import { aDegraded, aReceipt, aVideo, type TestApp, testApp } from '../../support/testing.ts'

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
