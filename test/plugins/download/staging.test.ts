/** Partial files of a download stay while its item is in the queue, and are deleted with it. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { aQueued, type TestApp, testApp } from '../../support/testing.ts'

const FILTERED = '/api/download/?filter=pending'

async function given(t: Parameters<typeof testApp>[0], ...ids: string[]) {
  const app = await testApp(t)
  await app.given(...ids.map((id) => aQueued({ id })))
  const folders = await Promise.all(ids.map((id) => app.app.media.staging(id)))
  return { app, left: () => folders.filter((folder) => existsSync(folder)).length }
}

for (const [what, act] of [
  ['is removed', (app: TestApp) => app.as('admin').delete('/api/download/v1/')],
  ['is ignored', (app: TestApp) => app.as('admin').post('/api/download/v1/', { status: 'ignore' })],
  ['leaves with many', (app: TestApp) => app.as('admin').delete(FILTERED)],
  [
    'is ignored with many',
    (app: TestApp) => app.as('admin').post('/api/download/bulk/', { filter: 'pending', status: 'ignore' }),
  ],
] as const)
  test(`partial files of an item that ${what} are deleted`, async (t) => {
    const { app, left } = await given(t, 'v1')
    assert.equal(left(), 1)

    const { status } = await act(app)

    assert.deepEqual([status, left()], [200, 0])
  })

test('partial files of other items stay, and those of a running download until it has ended', async (t) => {
  const { app, left } = await given(t, 'v1', 'v2')
  const turn = app.app.queue.begin('v1')

  await app.as('admin').delete('/api/download/v1/')

  assert.deepEqual([turn.signal.aborted, left()], [true, 2])
})

for (const event of ['index.replaced', 'ledger.replaced'] as const)
  test(`partial files of another queue are deleted with it: ${event}`, async (t) => {
    const { app, left } = await given(t, 'v1')
    const { commit } = await app.app.queue.documents.replacement()
    await commit()

    await app.app.emit(event, {})

    assert.equal(left(), 0)
  })

test('a scratch folder exists as long as its work runs, whatever leaves the queue', async (t) => {
  const { app } = await given(t, 'v1')
  let seen: string[] = []

  await app.app.media.scratch(async (folder) => {
    await app.as('admin').delete('/api/download/v1/')
    seen = await readdir(dirname(folder))
    assert.ok(existsSync(folder))
  })

  assert.equal(seen.length, 1)
  assert.deepEqual(await readdir(join(app.app.settings.mediaDir, '.staging')), [])
})
