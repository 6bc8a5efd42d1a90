/** The previous and next videos in a video's playlists, and the newest end of a list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo, testApp } from 'archivolt/testing'

const archived = (...ids: string[]) => ids.map((id) => ({ platform_id: id, downloaded: true }))

test('a video has neighbors in each playlist with at least two archived videos', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    ...['a', 'b', 'c'].map((id) => aVideo({ id, playlist: ['PL1', 'PL2', 'gone'] })),
    aPlaylist({ id: 'PL1', playlist_name: 'One', entries: archived('a', 'b', 'c') }),
    aPlaylist({ id: 'PL2', playlist_name: 'Two', entries: archived('b') }),
  )
  const nav = async (id: string) => (await app.as('user').get(`/api/video/${id}/nav/`)).body

  const [one, ...others] = await nav('b')
  assert.deepEqual(others, [])
  assert.deepEqual([one.playlist_meta.playlist_id, one.playlist_meta.current_idx], ['PL1', 1])
  assert.deepEqual(
    [one.playlist_previous.youtube_id, one.playlist_next.platform_id, one.playlist_next.vid_thumb],
    ['a', 'c', '/cache/videos/c/c.jpg'],
  )
  assert.deepEqual([(await nav('a'))[0].playlist_previous, (await nav('c'))[0].playlist_next], [null, null])
  assert.equal((await app.as('user').get('/api/video/nope/nav/')).status, 404)
})

test('an admin changes subscription and order of a list in one request; a custom one has neither', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'a' }), aPlaylist({ id: 'PL1', entries: ['a'] }))
  const [admin, user] = [app.as('admin'), app.as('user')]

  const { status, body } = await admin.post('/api/playlist/PL1/', {
    playlist_subscribed: true,
    playlist_sort_order: 'bottom',
  })
  assert.deepEqual(
    [status, body.playlist_id, body.playlist_subscribed, body.playlist_sort_order],
    [200, 'PL1', true, 'bottom'],
  )
  const { playlist_id } = (await admin.post('/api/playlist/custom/', { playlist_name: 'Mine' })).body
  for (const [who, id, change, expected] of [
    [user, 'PL1', { playlist_subscribed: false }, 403],
    [admin, playlist_id, { playlist_subscribed: true }, 400],
    [admin, 'nope', { playlist_subscribed: true }, 404],
    [admin, 'PL1', { playlist_sort_order: 'left' }, 400],
    [admin, 'PL1', {}, 400],
    [admin, playlist_id, { action: 'create', video_id: 'a' }, 201],
  ] as const)
    assert.equal((await who.post(`/api/playlist/${id}/`, change)).status, expected, JSON.stringify(change))
  const { data } = (await admin.get('/api/playlist/PL1/')).body
  assert.deepEqual([data.playlist_subscribed, data.playlist_sort_order], [true, 'bottom'])
})
