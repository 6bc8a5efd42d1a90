/** The contents of each channel, and removed messages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aPlaylist, aQueued, aVideo, testApp } from 'archivolt/testing'

test('a channel shows the numbers of its videos, and their sums', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'mill' }),
    aVideo({ id: 'a', channelId: 'mill', media_size: 100, player: { duration: 60 } }),
    aVideo({ id: 'b', channelId: 'mill', media_size: 200, vid_type: 'shorts', player: { duration: 5 } }),
    aPlaylist({ id: 'PL1', playlist_channel_id: 'mill' }),
    aQueued({ id: 'q', channel_id: 'mill', status: 'ignore' }),
  )
  const user = app.as('user')

  assert.deepEqual((await user.get('/api/channel/mill/aggs/')).body, {
    total_items: { value: 2 },
    total_size: { value: 300 },
    total_duration: { value: 65, value_str: '1m 05s' },
  })
  assert.equal((await user.get('/api/channel/nope/aggs/')).body.total_duration.value_str, 'NA')
  assert.deepEqual((await user.get('/api/channel/mill/nav/')).body, {
    has_pending: false,
    has_ignored: true,
    has_playlists: true,
    has_videos: true,
    has_streams: false,
    has_shorts: true,
  })
})

test('the queue is counted by channel, and one request removes all messages', async (t) => {
  const app = await testApp(t)
  const failed = { message: 'gone', error_class: 'gone', ready: false } as const
  await app.given(
    aQueued({ id: 'a', channel_id: 'mill', channel_name: 'Old Mill', ...failed }),
    aQueued({ id: 'b', channel_id: 'mill', channel_name: 'Old Mill' }),
    aQueued({ id: 'c', channel_id: 'oven', channel_name: 'Oven', status: 'ignore', ...failed }),
  )
  const admin = app.as('admin')

  assert.deepEqual((await admin.get('/api/download/aggs/?filter=pending')).body, {
    doc_count_error_upper_bound: 0,
    sum_other_doc_count: 0,
    buckets: [{ key: ['Old Mill', 'mill'], key_as_string: 'Old Mill|mill', doc_count: 2 }],
  })
  assert.equal((await admin.get('/api/download/aggs/')).body.buckets.length, 2)

  const clear = { status: 'clear_error' }
  const headers = { 'content-type': 'application/json' }
  const patch = async (query: string, body: object) => {
    const authorization = `Token ${await app.app.accounts.token(1)}`
    const init = { method: 'PATCH', headers: { ...headers, authorization }, body: JSON.stringify(body) }
    return (await fetch(new URL(`api/download/${query}`, app.url), init)).status
  }
  assert.equal(await patch('?filter=pending&error=true', clear), 204)
  const [waiting, ignored] = [await app.doc('download', 'a'), await app.doc('download', 'c')]
  assert.deepEqual([waiting.message, waiting.error_class, waiting.status], [undefined, undefined, 'pending'])
  assert.equal(ignored.message, 'gone')
  assert.equal(await patch('?filter=ignore', clear), 204)
  const cleared = await app.doc('download', 'c')
  assert.deepEqual([cleared.message, cleared.status], [undefined, 'ignore'])
  assert.equal(await patch('?filter=pending&channel=mill', { status: 'ignore' }), 204)
  assert.equal((await app.doc('download', 'b')).status, 'ignore')
  for (const [query, body] of [
    ['', clear],
    ['?filter=pending', { status: 'gone' }],
    ['?filter=all', clear],
  ] as const)
    assert.equal(await patch(query, body), 400, query)
})
