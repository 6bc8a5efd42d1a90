/** Archived data is never lost by a later answer of the platform. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toVideoMetadata } from '../../../plugins/platform/metadata.ts'
import { toSidecarMetadata } from '../../../plugins/platform/sidecar.ts'
// A film that is ingested again is probed.
import '../../support/ffmpeg.ts'
import { anIngest, channelMetadata, type VideoApp, videoApp } from './scripted-platform.ts'

const WHOLE = {
  ...{ title: 'A whole film', description: 'Long text', tags: ['sea'], categories: ['Education'] },
  ...{ published: '2010-01-01', viewCount: 500, likeCount: 50, averageRating: 4 },
  chapters: [{ start: 0, title: 'One' }],
}
/** The platform's answer while it throttles us. */
const PARTIAL = {
  ...{ title: undefined, description: '', tags: [], categories: [], published: undefined },
  ...{ viewCount: undefined, likeCount: undefined, averageRating: undefined, chapters: [] },
}

const shown = async (app: VideoApp) => {
  const { title, description, tags, category, published, stats, chapters, vid_type } = await app.doc('video', 'v1')
  return { title, description, tags, category, published, stats, chapters, vid_type }
}

async function given(t: Parameters<typeof videoApp>[0], changes: object) {
  const app = await videoApp(t)
  const ingest = async (more: object) => {
    const { downloaded, probe } = await anIngest(app.app, 'v1', 'UC1')
    return { downloaded: { ...downloaded, metadata: { ...downloaded.metadata, ...more } }, probe }
  }
  await app.app.videos.ingest(await ingest(changes))
  return { app, ingest }
}

test('an empty answer leaves a video unchanged, at a refresh and at a second download', async (t) => {
  const { app, ingest } = await given(t, { ...WHOLE, vidType: 'streams' })
  const before = await shown(app)

  const partial = await ingest(PARTIAL)
  await app.app.videos.refreshWith(partial.downloaded.metadata)
  const refreshed = await shown(app)
  await app.app.videos.ingest(partial)

  assert.deepEqual([before.title, before.published, before.stats.like_count], ['A whole film', '2010-01-01', 50])
  assert.deepEqual(refreshed, before)
  assert.deepEqual(await shown(app), before)
})

test('values in an answer replace the known ones, including a count of 0; hidden likes stay unchanged', async (t) => {
  const { app, ingest } = await given(t, WHOLE)

  const { metadata } = (await ingest({ ...WHOLE, title: 'After', viewCount: 0, likeCount: undefined })).downloaded
  await app.app.videos.refreshWith(metadata)

  const { title, stats } = await shown(app)
  assert.deepEqual([title, stats.view_count, stats.like_count], ['After', 0, 50])
})

test('a video without a known date keeps the day of its arrival, whatever day it is read again', async (t) => {
  const { app, ingest } = await given(t, PARTIAL)
  assert.equal((await shown(app)).published, '2026-01-15')

  app.clock.set('2026-03-01T10:00:00Z')
  const again = await ingest(PARTIAL)
  await app.app.videos.refreshWith(again.downloaded.metadata)
  await app.app.videos.ingest(again)

  assert.equal((await shown(app)).published, '2026-01-15')
  await app.app.videos.refreshWith({ ...again.downloaded.metadata, published: '2012-02-03' })
  assert.equal((await shown(app)).published, '2012-02-03')
})

test('comments that are no longer returned stay', async (t) => {
  const { app } = await given(t, WHOLE)
  const comment = { id: 'c1', parent: 'root', text: 'Fine', timestamp: 1, likeCount: 0, isFavorited: false }
  const author = { author: 'Somebody', authorId: 'UC2', authorThumbnail: '', authorIsUploader: false }
  await app.app.videos.setComments('v1', [{ ...comment, ...author }])

  await app.app.videos.setComments('v1', [])

  assert.match(await app.app.videos.commentsText('v1'), /Fine/)
  assert.equal((await app.doc('video', 'v1')).comment_count, 1)
})

test('an empty answer leaves a channel unchanged', async (t) => {
  const app = await videoApp(t)
  const { channels } = app.app
  await channels.record(channelMetadata('UC1', { art: { thumb: 'https://art.example/1' } }))
  const before = await app.doc('channel', 'UC1')

  const nothing = { name: undefined, description: '', tags: [], subscribers: undefined, views: undefined, tabs: [] }
  await channels.refreshWith(channelMetadata('UC1', { ...nothing, art: {} }))

  assert.deepEqual(await app.doc('channel', 'UC1'), before)
})

test('a title that yt-dlp made up does not count; in an information file the rest is still used', () => {
  const raw = { id: 'dQw4w9WgXcQ', channel_id: 'UC1', hasFormats: true }
  const warning = 'Extractor failed to obtain "title". Creating a generic title instead'
  const madeUp = 'youtube video #dQw4w9WgXcQ'
  assert.throws(() => toVideoMetadata({ ...raw, title: madeUp }, raw.id, [warning], 0), { name: 'MetadataError' })

  const sidecar = toSidecarMetadata({ ...raw, title: madeUp, view_count: 3 }, raw.id, 0)

  assert.deepEqual([sidecar.title, sidecar.viewCount, sidecar.published], [undefined, 3, undefined])
  for (const title of ['My video #1', 'video #dQw4w9WgXcQ', `A ${madeUp}`])
    assert.equal(toVideoMetadata({ ...raw, title }, raw.id, [], 0).title, title)
})
