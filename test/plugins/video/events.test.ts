/** Events for external plugins about a changed video: which part of it is new. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin, type Events } from 'archivolt'
import { aChannel, aVideo } from 'archivolt/testing'
import { makeFilm } from '../../support/ffmpeg.ts'
import { aDownload, videoApp } from './scripted-platform.ts'

test('each change of a video is emitted with the changed part; marks of accounts are no change', async (t) => {
  const heard: Array<Events['video.changed']> = []
  const tide = definePlugin({
    name: 'tide',
    needs: ['video'],
    on: { 'video.changed': () => (event) => void heard.push(event) },
  })
  const app = await videoApp(t, { plugins: [tide] })
  const { videos } = app.app
  const downloaded = await aDownload(app.app, 'v1', 'UC1')
  await videos.ingest({ downloaded })
  assert.deepEqual(heard, [])

  await videos.setComments('v1', [])
  await videos.refreshWith({ ...downloaded.metadata, title: 'Fog, again' })
  await videos.setActive(['v1', 'nobody'], false)
  await videos.exclusive('v1', () => videos.measure('v1'))
  await videos.change('v1', { add: { playlist: ['p1'] } })
  for (const isKept of [true, true, false]) await videos.setKept('v1', isKept)

  assert.deepEqual(
    heard.map(({ id, what }) => `${id} ${what}`),
    ['v1 comments', 'v1 metadata', 'v1 metadata', 'v1 file', 'v1 keep', 'v1 keep'],
  )
})

test('a refresh emits that it has found another file', async (t) => {
  const heard: string[] = []
  const tide = definePlugin({
    name: 'tide',
    needs: ['video'],
    on: { 'video.changed': () => (event) => void heard.push(event.what) },
  })
  const app = await videoApp(t, { plugins: [tide] })
  const { videos, media } = app.app
  const downloaded = await aDownload(app.app, 'v1', 'UC1')
  await videos.ingest({ downloaded })

  await makeFilm(media.pathOf('UC1', 'v1'), ['-vf', 'scale=160:90'])
  for (const _ of ['first', 'second']) await videos.refreshWith(downloaded.metadata)

  assert.deepEqual(heard, ['metadata', 'file', 'metadata'])
})

test('a missing video emits no change', async (t) => {
  const heard: unknown[] = []
  const tide = definePlugin({
    name: 'tide',
    needs: ['video'],
    on: { 'video.changed': () => (event) => void heard.push(event) },
  })
  const app = await videoApp(t, { plugins: [tide] })
  await app.given(aChannel(), aVideo())

  await app.app.videos.dropLostSubtitles('v1')
  await app.app.videos.setActive(['nobody'], false)
  await app.app.videos.setSubtitles('nobody', [])

  assert.deepEqual(heard, [])
})
