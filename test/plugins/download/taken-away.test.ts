/** An item that is deleted or ignored while a run selects it is not downloaded, in whatever order both happen. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aNewItem, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { PlatformFailure } from '../../../plugins/platform/ask-failure.ts'

const WAYS: Record<string, (app: TestApp) => Promise<{ status: number }>> = {
  cleared: (app) => app.as('admin').delete('/api/download/?filter=pending'),
  ignored: (app) => app.as('admin').post('/api/download/bulk/', { filter: 'pending', status: 'ignore' }),
}

/** Downloads that have started, and those that are running. */
function downloadsOf(t: TestContext, app: TestApp) {
  const begun: string[] = []
  const open = new Set<string>()
  let heard = (): void => undefined
  const first = new Promise<void>((resolve) => (heard = resolve))
  t.mock.method(app.app.platform, 'download', (id: string, _wanted: unknown, { signal }: never) => {
    begun.push(id)
    open.add(id)
    heard()
    return new Promise((_, reject) =>
      (signal as AbortSignal).addEventListener('abort', () => {
        open.delete(id)
        reject((signal as AbortSignal).reason)
      }),
    )
  })
  return { begun, open, first }
}

for (const [name, change] of Object.entries(WAYS)) {
  test(`an item that is ${name} after it was selected is not started`, async (t) => {
    const app = await testApp(t)
    const { begun } = downloadsOf(t, app)
    await app.app.queue.add([aNewItem('q1')], 'pending')
    const { absence } = app.app.media
    // Called once an item is selected.
    t.mock.method(app.app.media, 'absence', async () => {
      if (app.app.queue.known(['q1']).size > 0 && app.app.jobs.active('download_pending'))
        assert.equal((await change(app)).status, 200)
      return absence()
    })

    const { id } = await app.app.jobs.start('download_pending')

    assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
    assert.deepEqual(begun, [])
  })

  test(`an item that starts while it is ${name} is ended`, async (t) => {
    const app = await testApp(t)
    const { begun, open, first } = downloadsOf(t, app)
    await app.app.queue.add([aNewItem('q1')], 'pending')
    const { writable } = app.app.index
    // Called before the change is written.
    t.mock.method(
      app.app.index,
      'writable',
      async () => {
        await app.app.jobs.start('download_pending')
        await first
        return writable()
      },
      { times: 1 },
    )

    assert.equal((await change(app)).status, 200)
    await app.settled()

    assert.deepEqual([begun, [...open]], [['q1'], []])
  })
}

const V1 = 'aaaaaaaaaaa'

const deleteForGood = async (app: TestApp) => {
  assert.equal((await app.as('admin').delete(`/api/video/${V1}/`)).status, 200)
  assert.equal((await app.as('admin').post(`/api/download/${V1}/`, { status: 'ignore-force' })).status, 200)
}

test('a video that is deleted and ignored is no longer queued to be downloaded again', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: V1 }))
  await app.app.queue.add([aNewItem(V1)], 'priority', { force: true })

  await deleteForGood(app)

  assert.equal(app.app.queue.get(V1)?.status, 'ignore')
})

test('a video that a scan queues before the platform has answered about ignoring it is ignored', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: V1 }))
  t.mock.method(app.app.platform, 'video', async () => {
    await app.app.queue.add([aNewItem(V1)], 'pending')
    throw new PlatformFailure({ failure: 'gone', message: 'gone' })
  })

  await deleteForGood(app)
  await app.settled()

  assert.equal(app.app.queue.get(V1)?.status, 'ignore')
})
