/** Videos of a playlist that a view hides: they are hidden from the moment at which they are archived. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aChannel, aPlaylist, aVideo, PASSWORD, testApp } from 'archivolt/testing'
import { NO_PLATFORM } from '../../platform/start.ts'
import { anIngest } from '../video/scripted-platform.ts'

/** A child sees everything except the videos of PL1, which lists v1; nothing of it is archived yet. */
async function household(t: TestContext) {
  const app = await testApp(t, { settings: NO_PLATFORM })
  await app.given(
    aChannel(),
    aPlaylist({ id: 'PL1', entries: [{ platform_id: 'v1' }] }),
    aPlaylist({ id: 'PL2', entries: [{ platform_id: 'v1' }, { platform_id: 'v2' }] }),
    aVideo({ id: 'old' }),
  )
  const view = { not_playlist: ['PL1'] }
  assert.equal((await app.as('admin').post('/api/user/', { username: 'child', password: PASSWORD, view })).status, 200)
  const seen = async (): Promise<string[]> =>
    (await app.as('child').get('/api/video/')).body.data.map((video: any) => video.platform_id).toSorted()
  return { app, seen }
}

test('a download from a hidden playlist never appears, not even before the playlist knows of it', async (t) => {
  const { app, seen } = await household(t)
  const during: string[][] = []

  for (const id of ['v1', 'v2'])
    await app.app.videos.ingest(await anIngest(app.app, id, 'UC1'), async (_step, work) => {
      const done = await work()
      during.push(await seen())
      return done
    })

  assert.ok(during.length > 0 && during.flat().every((id) => id !== 'v1'), JSON.stringify(during))
  assert.deepEqual(await seen(), ['old', 'v2'])
  assert.deepEqual((await app.doc('video', 'v1')).playlist, ['PL1', 'PL2'])
})

test('of films that are imported together, those of a hidden playlist never appear, even if the import stops', async (t) => {
  const { app, seen } = await household(t)
  const { metadata } = (await anIngest(app.app, 'v1', 'UC1')).downloaded
  const film = { metadata, sizeBytes: 5, streams: [], dateDownloaded: 1, isGone: false }

  await app.app.videos.adopt([film, { ...film, metadata: { ...metadata, id: 'v2' } }])

  assert.deepEqual(await seen(), ['old', 'v2'])
  await app.app.emit('video.adopted', { ids: ['v1', 'v2'] })
  assert.deepEqual(await seen(), ['old', 'v2'])
  assert.deepEqual((await app.doc('video', 'v2')).playlist, ['PL2'])
})
