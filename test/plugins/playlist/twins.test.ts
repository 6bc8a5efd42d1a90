/** Entries of playlists are stored with both id keys, so that nothing has to be added when a page is sent. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'

const storedEntry = async (app: TestApp, id = 'PL1') => (await app.doc('playlist', id)).playlist_entries[0]
const sentEntry = async (app: TestApp, id = 'PL1') =>
  (await app.as('user').get(`/api/playlist/${id}/`)).body.data.playlist_entries[0]

const PLAIN = { platform_id: 'v1', title: 'says "platform_id":"no"', uploader: null, idx: 0, downloaded: true }
const { platform_id, ...rest } = PLAIN
const TWINNED = { platform_id, youtube_id: 'v1', ...rest }

async function given(t: TestContext): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(aPlaylist({ id: 'PL1', entries: [PLAIN] }), aPlaylist({ id: 'none', entries: [] }))
  return app
}

test('entries are stored with both id keys, in the order in which they are sent', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'v1' }))
  const metadata = { id: 'PL1', name: 'First', description: '', channelId: null, channelName: null }
  const entries = [{ id: 'v1', title: PLAIN.title, uploader: null, isThere: true }]

  await app.app.playlists.index({ ...metadata, entries })

  assert.equal(JSON.stringify(await storedEntry(app)), JSON.stringify(TWINNED))
  assert.equal(JSON.stringify(await sentEntry(app)), JSON.stringify(TWINNED))
})

test('documents of an earlier version are sent with both id keys, and converted by a silent job', async (t) => {
  const app = await given(t)
  assert.deepEqual(await storedEntry(app), PLAIN)
  assert.deepEqual(await sentEntry(app), TWINNED)
  const { sql, write } = app.app.ledger
  await write(() => void sql(`UPDATE playlist_twin SET id_key = '?'`).run())

  await app.restart()
  await app.settled()

  assert.equal(JSON.stringify(await storedEntry(app)), JSON.stringify(TWINNED))
  assert.deepEqual((await app.doc('playlist', 'none')).playlist_entries, [])
  assert.equal(app.app.ledger.sql<{ id_key: string }>('SELECT id_key FROM playlist_twin').get()?.id_key, 'youtube_id')
})

test('documents with another second key are sent with the right one, and converted after a restore', async (t) => {
  const app = await given(t)
  const plain = app.app.index.collection(app.app.playlists.collection.definition)
  const foreign = { platform_id, other_id: 'v1', ...rest }
  await plain.patch('PL1', { set: { playlist_entries: [foreign] } })
  assert.deepEqual(await sentEntry(app), TWINNED)

  await app.app.emit('index.replaced', {})
  await app.settled()

  assert.equal(JSON.stringify(await storedEntry(app)), JSON.stringify(TWINNED))
})
