/** Which run selects items to read again, without the platform. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aVideo, type TestApp, testApp } from 'archivolt/testing'

interface RunApp {
  app: TestApp
  id: string
  /** From now on the platform answers. */
  answer(): void
  selections(): number
}

/** A run that waits for the platform's first answer. */
async function aRun(t: TestContext, payload: object = { days: 1, scheduled: true }): Promise<RunApp> {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'v1' }))
  const { jobs, refreshQueue, platform } = app.app
  const { noteSelected } = refreshQueue
  const noted = t.mock.method(refreshQueue, 'noteSelected', (...given: Parameters<typeof noteSelected>) =>
    noteSelected(...given),
  )
  let answer = (): void => undefined
  let asked = (): void => undefined
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const isAnswered = new Promise<void>((resolve) => (answer = resolve))
  t.mock.method(platform, 'video', async () => {
    asked()
    await isAnswered
    throw new Error('nothing comes')
  })
  await refreshQueue.add('video', ['v1'])
  const { id } = await jobs.start('check_reindex', { ...payload })
  await isAsked
  return { app, id, answer, selections: () => noted.mock.callCount() }
}

test('a scheduled start during a run of more than a day is followed by its own selection', async (t) => {
  const { app, id, answer, selections } = await aRun(t)
  const { jobs } = app.app

  const met = await jobs.start('check_reindex', { days: 1, scheduled: true })
  answer()
  await app.settled()

  assert.deepEqual([met.id, selections()], [id, 2])
  assert.equal(jobs.get(id)?.state, 'SUCCESS')
})

test('a manual start during a scheduled run is followed by no selection', async (t) => {
  const { app, id, answer, selections } = await aRun(t)

  const { body } = await app.as('admin').post('/api/refresh/', { video: ['v1'] })
  answer()
  await app.settled()

  assert.deepEqual([body.task_id, selections()], [id, 1])
  assert.equal(app.app.jobs.get(id)?.state, 'SUCCESS')
})

test('a scheduled start during a manual run has its selection', async (t) => {
  const { app, id, answer, selections } = await aRun(t, {})

  const met = await app.app.jobs.start('check_reindex', { days: 1, scheduled: true })
  await app.app.jobs.start('check_reindex', {})
  answer()
  await app.settled()

  assert.deepEqual([met.id, selections()], [id, 1])
})

test('a failed run is retried without another selection', async (t) => {
  const { app, id, answer, selections } = await aRun(t)
  t.mock.method(app.app.refreshQueue, 'done', () => Promise.reject(new Error('the ledger is busy')), { times: 1 })

  answer()
  await app.settled()
  assert.equal(app.app.jobs.get(id)?.state, 'RETRY')
  await app.clock.advance(600_000)
  await app.settled()

  assert.deepEqual([app.app.jobs.get(id)?.state, selections()], ['SUCCESS', 1])
})
