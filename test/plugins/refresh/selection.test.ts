/** Which run selects what is read again: without the platform. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo, testApp } from 'archivolt/testing'

test('a scheduled start that meets a run of more than a day is followed by a selection of its own', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'v1' }))
  const { jobs, refreshQueue, platform } = app.app
  let selections = 0
  const { noteSelected } = refreshQueue
  t.mock.method(refreshQueue, 'noteSelected', (id: string) => (selections++, noteSelected(id)))
  let answer = (): void => undefined
  let asked = (): void => undefined
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  t.mock.method(platform, 'video', async () => {
    asked()
    await new Promise<void>((resolve) => (answer = resolve))
    throw new Error('nothing comes')
  })
  const { id } = await jobs.start('check_reindex', { days: 1, scheduled: true })
  await isAsked

  const met = await jobs.start('check_reindex', { days: 1, scheduled: true })
  answer()
  await app.settled()

  assert.deepEqual([met.id, selections], [id, 2])
  assert.equal(jobs.get(id)?.state, 'SUCCESS')
})
