/** The picture of a custom playlist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo, testApp } from 'archivolt/testing'
import { makePicture } from '../../support/ffmpeg.ts'

const ID = 'av_playlist_mine'

test('it is that of the first video with a picture', async (t) => {
  const app = await testApp(t)
  const { media } = app.app
  await app.given(
    aChannel(),
    ...['a', 'b', 'c'].map((id) => aVideo({ id, playlist: [ID] })),
    aPlaylist({
      id: ID,
      playlist_type: 'custom',
      playlist_channel: null,
      playlist_channel_id: null,
      entries: ['a', 'b', 'c'].map((platform_id) => ({ platform_id, downloaded: true })),
    }),
  )
  const act = (body: object) => app.as('admin').post(`/api/playlist/${ID}/`, body)
  await makePicture(media.artPathOf('video', 'c'))

  await act({ action: 'top', video_id: 'b' })
  assert.equal(await media.hasArt('playlist', ID), true)

  await act({ action: 'remove', video_id: 'c' })
  assert.equal(await media.hasArt('playlist', ID), false)
  assert.equal((await app.as('user').get(`/cache/playlists/${ID}.jpg`)).status, 200)
})
