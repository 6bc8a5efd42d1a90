/**
 * While a video is ingested again, people and other plugins keep writing to its document, and nothing of that is lost.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo } from 'archivolt/testing'
// An imported film is probed.
import '../../support/ffmpeg.ts'
import { anIngest, type VideoApp, videoApp } from './scripted-platform.ts'

const SEGMENTS = { is_enabled: true, has_unlocked: false, segments: [] }

/** All fields that the ingest does not own. */
async function writeOfOthers({ app }: VideoApp): Promise<void> {
  await app.videos.setKept('v1', true)
  await app.videos.change('v1', {
    set: { stats: { dislike_count: 7 }, sponsorblock: SEGMENTS, comment_count: 3 },
    add: { playlist: ['PL1'], watched_by: ['1'] },
  })
}

const ofOthers = ({ keep, stats, sponsorblock, comment_count, playlist, watched_by }: any) => ({
  keep,
  dislikes: stats.dislike_count,
  sponsorblock,
  comment_count,
  playlist,
  watched_by,
})

test('writes of others during a second ingest are kept, at whichever step they happen', async (t) => {
  const app = await videoApp(t)
  await app.app.videos.ingest(await anIngest(app.app, 'v1', 'UC1'))
  const steps: string[] = []
  await app.app.videos.ingest(await anIngest(app.app, 'v1', 'UC1'), async (name, work) => {
    steps.push(name)
    return work()
  })
  const plain = ofOthers(await app.doc('video', 'v1'))

  for (const at of steps) {
    await app.app.videos.setKept('v1', false)
    await app.app.videos.change('v1', {
      set: { stats: { dislike_count: 0 }, sponsorblock: null, comment_count: null },
      remove: { playlist: ['PL1'], watched_by: ['1'] },
    })
    const again = await anIngest(app.app, 'v1', 'UC1')
    await app.app.videos.ingest(again, async (name, work) => {
      if (name === at) await writeOfOthers(app)
      return work()
    })

    assert.deepEqual(
      ofOthers(await app.doc('video', 'v1')),
      { keep: true, dislikes: 7, sponsorblock: SEGMENTS, comment_count: 3, playlist: ['PL1'], watched_by: ['1'] },
      `written at ${at}`,
    )
  }
  assert.ok(steps.includes('video.document') && plain.keep === undefined)
})

test('nothing of an earlier receipt remains, also if the film is imported', async (t) => {
  const app = await videoApp(t)
  const { receipt, ...film } = (await anIngest(app.app, 'v1', 'UC1')).downloaded
  const offered = { ...receipt!.offered, fps: 60, hdr: 'HDR10', originalLanguage: 'en' }
  const { probe } = await anIngest(app.app, 'v1', 'UC1')
  const degraded = { reasons: ['token' as const], since: 1, tries: 1, next_try: 5, tried_with: '1' }
  await app.app.videos.ingest({ downloaded: { ...film, receipt: { ...receipt!, offered } }, probe, degraded })
  assert.equal((await app.doc('video', 'v1')).receipt.offered.hdr, 'HDR10')

  const second = await anIngest(app.app, 'v1', 'UC1')
  await app.app.videos.ingest({ ...second, degraded: { reasons: ['token'], since: 1, tries: 2, tried_with: '1' } })
  const again = await app.doc('video', 'v1')
  const imported = await anIngest(app.app, 'v1', 'UC1')
  await app.app.videos.ingest({ ...imported, downloaded: { ...imported.downloaded, receipt: undefined } as never })

  assert.deepEqual(Object.keys(again.receipt.offered).includes('hdr'), false)
  assert.equal(again.degraded.next_try, undefined)
  const last = await app.doc('video', 'v1')
  assert.deepEqual([last.receipt, last.degraded], [undefined, undefined])
})

test('a better file of a video that was removed meanwhile does not bring it back', async (t) => {
  const app = await videoApp(t)
  await app.app.videos.ingest(await anIngest(app.app, 'v1', 'UC1'))
  const better = await anIngest(app.app, 'v1', 'UC1')
  await app.app.videos.remove('v1')

  const isArchived = await app.app.videos.ingest({ ...better, onlyIf: (now) => now !== undefined })

  assert.deepEqual([isArchived, await app.ids('video')], [false, []])
})

test('an estimate that arrives while a video is refreshed is kept', async (t) => {
  const app = await videoApp(t)
  const { downloaded, probe } = await anIngest(app.app, 'v1', 'UC1')
  await app.app.videos.ingest({ downloaded, probe })
  t.mock.method(app.app.media, 'fetchArt', async () => {
    await app.app.videos.change('v1', { set: { stats: { dislike_count: 7 } } })
    return true
  })

  const thumbnails = [{ url: 'http://127.0.0.1/1.jpg' }]
  assert.equal(await app.app.videos.refreshWith({ ...downloaded.metadata, title: 'New', thumbnails }), true)

  const { title, stats } = await app.doc('video', 'v1')
  assert.deepEqual([title, stats.dislike_count], ['New', 7])
})

test('a video that was added in another way meanwhile stays unchanged when films of a location are imported', async (t) => {
  const app = await videoApp(t)
  await app.given(aVideo({ id: 'v1', title: 'downloaded' }))
  const { metadata } = (await anIngest(app.app, 'v1', 'UC1')).downloaded
  const film = { metadata, sizeBytes: 5, streams: [], dateDownloaded: 1, isGone: false }

  const first = await app.app.videos.adopt([film, { ...film, metadata: { ...metadata, id: 'v2' } }])
  const repeated = await app.app.videos.adopt([{ ...film, metadata: { ...metadata, id: 'v2' } }])

  assert.deepEqual([first.written, first.kept], [1, ['v1']])
  assert.equal((await app.doc('video', 'v1')).title, 'downloaded')
  assert.deepEqual(repeated.kept, [], 'what it finds of itself is its own')
})
