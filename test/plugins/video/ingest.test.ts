/** A downloaded video is added to the archive, once or again, and the user's data is never lost. */
import assert from 'node:assert/strict'
import { appendFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aChannel } from 'archivolt/testing'
import '../../support/ffmpeg.ts'
import { aDownload, videoApp } from './scripted-platform.ts'

test('a downloaded video is listed, playable and announced', async (t) => {
  const told: unknown[] = []
  const listener = definePlugin({
    name: 'listener',
    needs: ['video'],
    on: { 'video.added': () => (event) => void told.push(event) },
  })
  const app = await videoApp(t, { plugins: [listener] })
  await app.given(aChannel({ id: 'UC1', channel_name: 'Mill' }))

  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })

  const { body } = await app.as('user').get('/api/video/v1/')
  const { streams, media_size, ...record } = body.data
  assert.ok(media_size > 1000)
  assert.deepEqual(
    streams.map(({ type, codec, width }: Record<string, unknown>) => [type, codec, width]),
    [
      ['video', 'h264', 320],
      ['audio', 'aac', undefined],
    ],
  )
  assert.deepEqual(
    { ...record, channel: record.channel.channel_name },
    {
      platform_id: 'v1',
      youtube_id: 'v1',
      active: true,
      title: 'Video v1',
      description: 'two\nlines',
      category: ['Food'],
      tags: ['bread'],
      vid_type: 'videos',
      published: '2026-01-02',
      date_downloaded: Date.parse('2026-01-15T10:00:00Z') / 1000,
      vid_last_refresh: '2026-01-15',
      vid_thumb_url: '/cache/videos/v/v1.jpg',
      vid_thumb_base64: false,
      media_url: '/media/UC1/v1.mp4',
      playlist: [],
      channel: 'Mill',
      stats: { view_count: 5, like_count: 4, dislike_count: 0, average_rating: 0 },
      subtitles: [
        { ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: '/media/UC1/v1.en.vtt' },
      ],
      receipt: {
        quality: 'best',
        date: Date.parse('2026-01-15T10:00:00Z') / 1000,
        downloader: '2026.10.26',
        offered: {
          height: 1080,
          video_codecs: ['h264', 'vp9'],
          audio_codecs: ['aac', 'opus'],
          audio_languages: ['en'],
          original_language: 'en',
          subtitles: ['en'],
          clients: ['TVHTML5'],
        },
        got: { height: 1080, video_codec: 'vp9', audio_codec: 'opus', audio_language: 'en', formats: ['248', '251'] },
        allowed_height: 1080,
        warnings: [],
      },
      player: { duration: 1, duration_str: '1s', watched: false },
      _index: 'av_video',
      _score: 0,
    },
  )
  assert.deepEqual(told, [{ id: 'v1', channelId: 'UC1', why: 'new' }])

  const part = await app.as('user').get('/media/UC1/v1.mp4', { range: 'bytes=0-3' })
  assert.deepEqual([part.status, part.bytes.length, part.headers.get('content-type')], [206, 4, 'video/mp4'])
  const words = await app.as('user').get('/media/UC1/v1.en.vtt')
  assert.match(words.headers.get('content-type') ?? '', /^text\/vtt/)
  assert.match(words.text, /cold proof/)
  const small = await app.as('user').get('/cache/videos/v/v1.jpg?size=small')
  assert.deepEqual([small.status, small.headers.get('content-type')], [200, 'image/jpeg'])
})

test('subtitles are stored as searchable fragments, and replaced by the next ingest', async (t) => {
  const app = await videoApp(t)
  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })

  assert.deepEqual(await app.doc('subtitle', 'v1-en-1'), {
    platform_id: 'v1',
    subtitle_fragment_id: 'v1-en-1',
    subtitle_index: 1,
    subtitle_line: 'cold proof of sourdough',
    subtitle_start: '00:00:00.000',
    subtitle_end: '00:00:02.000',
    subtitle_lang: 'en',
    subtitle_source: 'user',
    subtitle_last_refresh: Date.parse('2026-01-15T10:00:00Z') / 1000,
    date_downloaded: Date.parse('2026-01-15T10:00:00Z') / 1000,
    channel_id: 'UC1',
  })
  assert.equal((await app.app.videos.subtitles.find({ text: { words: 'sourdough' } })).total, 1)

  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1'), isSubtitleIndexed: false })
  assert.deepEqual(await app.ids('subtitle'), [])
})

test("an ingest that is repeated after its files were moved does not change the user's data", async (t) => {
  const app = await videoApp(t)
  const downloaded = await aDownload(app.app, 'v1', 'UC1')
  await app.app.videos.ingest({ downloaded })
  await app.app.videos.change('v1', {
    set: {
      comment_count: 3,
      sponsorblock: { is_enabled: true, has_unlocked: true, segments: [] },
    },
    add: { playlist: ['PL1'], watched_by: ['1'] },
  })
  await app.clock.advance(3_600_000)

  await app.app.videos.ingest({ downloaded })

  const doc = await app.doc('video', 'v1')
  assert.deepEqual([doc.watched_by, doc.playlist, doc.comment_count], [['1'], ['PL1'], 3])
  assert.equal(doc.date_downloaded, Date.parse('2026-01-15T10:00:00Z') / 1000)
  assert.deepEqual((await readdir(app.inLibrary('UC1'))).sort(), ['v1.en.vtt', 'v1.mp4'])
  const { body } = await app.as('user').get('/api/video/v1/')
  assert.ok(!('position' in body.data.player))
  assert.equal(body.data.sponsorblock.is_enabled, true)
})

test('an invalid film is refused and stays out of the library', async (t) => {
  const app = await videoApp(t)
  const downloaded = await aDownload(app.app, 'v1', 'UC1')
  await writeFile(downloaded.mediaPath, '#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n')

  await assert.rejects(app.app.videos.ingest({ downloaded }), { code: 'unprocessable' })

  assert.deepEqual(await app.ids('video'), [])
  assert.deepEqual((await readdir(app.inLibrary())).sort(), [
    '.archivolt-library',
    '.archivolt-lock',
    '.archivolt-room',
    '.staging',
  ])
})

test('a channel that was not read yet is stored with its name', async (t) => {
  const app = await videoApp(t)

  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })

  const { body } = await app.as('user').get('/api/channel/UC1/')
  assert.deepEqual(
    [body.data.channel_name, body.data.channel_subscribed, body.data.channel_active],
    ['Channel UC1', false, true],
  )
})

test('subtitles that are read again replace those of their language', async (t) => {
  const app = await videoApp(t)
  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })
  const folder = await app.app.media.staging('v1')
  const staged = ['en', 'de'].map((lang) => ({
    lang,
    name: lang,
    source: 'auto' as const,
    url: '',
    path: join(folder, `${lang}.vtt`),
  }))
  for (const { lang, path } of staged) await writeFile(path, `WEBVTT\n\n00:00.000 --> 00:01.000\nnew in ${lang}\n`)

  assert.equal(await app.app.videos.setSubtitles('v1', staged), true)

  const doc = await app.doc('video', 'v1')
  assert.deepEqual(
    doc.subtitles.map(({ lang, source }: Record<string, string>) => [lang, source]),
    [
      ['en', 'auto'],
      ['de', 'auto'],
    ],
  )
  assert.deepEqual(
    [await app.ids('subtitle'), (await app.doc('subtitle', 'v1-en-1')).subtitle_line],
    [['v1-de-1', 'v1-en-1'], 'new in en'],
  )
  assert.equal(await app.app.videos.setSubtitles('none', []), false)
})

test('an ingest with fewer subtitles removes none whose file exists', async (t) => {
  const app = await videoApp(t)
  const first = await aDownload(app.app, 'v1', 'UC1')
  const folder = await app.app.media.staging('v1')
  for (const lang of ['de', 'fr']) {
    await writeFile(join(folder, `${lang}.vtt`), `WEBVTT\n\n00:00.000 --> 00:01.000\nsaid in ${lang}\n`)
    first.subtitles.push({ lang, name: lang, source: 'auto', url: 'x', path: join(folder, `${lang}.vtt`) })
  }
  await app.app.videos.ingest({ downloaded: first })
  await rm(app.inLibrary('UC1', 'v1.fr.vtt'))
  const again = await aDownload(app.app, 'v1', 'UC1')
  const languages = async () =>
    (await app.doc('video', 'v1')).subtitles.map(({ lang, source, url }: Record<string, string>) => [lang, source, url])

  await app.app.videos.ingest({ downloaded: { ...again, subtitles: [] } })

  assert.deepEqual(await languages(), [
    ['en', 'user', ''],
    ['de', 'auto', 'x'],
  ])
  assert.deepEqual(await app.ids('subtitle'), ['v1-de-1', 'v1-en-1'])

  // No longer searchable: new ones are not indexed, existing ones stay.
  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1'), isSubtitleIndexed: false })
  assert.deepEqual(await languages(), [
    ['de', 'auto', 'x'],
    ['en', 'user', ''],
  ])
  assert.deepEqual(await app.ids('subtitle'), ['v1-de-1'])
})

test('subtitles that a document names but the library lacks do not affect others', async (t) => {
  const app = await videoApp(t)
  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })
  const named = ['en', 'it', '../x'].map((lang) => ({
    ext: 'vtt' as const,
    lang,
    name: lang,
    source: 'user' as const,
    url: '',
    media_url: '',
  }))
  await app.app.videos.change('v1', { set: { subtitles: named } }) // as a backup may have it
  const path = join(await app.app.media.staging('v1'), 'de.vtt')
  await writeFile(path, 'WEBVTT\n\n00:00.000 --> 00:01.000\nnew\n')

  assert.equal(
    await app.app.videos.setSubtitles('v1', [{ lang: 'de', name: 'de', source: 'user', url: '', path }]),
    true,
  )

  assert.deepEqual(await app.ids('subtitle'), ['v1-de-1', 'v1-en-1'])
})

test("a refresh updates the platform’s data and keeps the user's", async (t) => {
  const app = await videoApp(t)
  const downloaded = await aDownload(app.app, 'v1', 'UC1')
  await app.app.videos.ingest({ downloaded })
  await app.app.videos.change('v1', { set: { active: false }, add: { watched_by: ['1'] } })

  assert.equal(
    await app.app.videos.refreshWith({ ...downloaded.metadata, title: 'New', viewCount: 99, vidType: 'shorts' }),
    true,
  )
  assert.equal(await app.app.videos.refreshWith({ ...downloaded.metadata, id: 'unknown' }), false)

  const doc = await app.doc('video', 'v1')
  assert.deepEqual(
    [doc.title, doc.stats.view_count, doc.vid_type, doc.active, doc.watched_by],
    ['New', 99, 'videos', true, ['1']],
  )

  await rm(app.inLibrary('UC1', 'v1.mp4'))
  assert.equal(await app.app.videos.refreshWith({ ...downloaded.metadata, title: 'Newer' }), true)
  assert.deepEqual(await app.doc('video', 'v1'), { ...doc, title: 'Newer', stats: { ...doc.stats, view_count: 5 } })
})

test('a refresh reads a film only if its size has changed', async (t) => {
  const app = await videoApp(t)
  const downloaded = await aDownload(app.app, 'v1', 'UC1')
  await app.app.videos.ingest({ downloaded })
  const { mock } = t.mock.method(app.app.media, 'probe')
  const refresh = () => app.app.videos.refreshWith(downloaded.metadata)

  await refresh()
  const unchanged = mock.callCount()
  await appendFile(app.inLibrary('UC1', 'v1.mp4'), 'more')
  await refresh()

  assert.deepEqual([unchanged, mock.callCount()], [0, 1])
  assert.equal((await app.doc('video', 'v1')).media_size, (await stat(app.inLibrary('UC1', 'v1.mp4'))).size)
})

test('listeners are told whether a video is new, was ingested again, or was imported', async (t) => {
  const told: string[] = []
  const listener = definePlugin({
    name: 'listener',
    needs: ['video'],
    on: {
      'video.added':
        () =>
        ({ id, why }) =>
          void told.push(`${id} ${why}`),
    },
  })
  const app = await videoApp(t, { plugins: [listener] })
  const { receipt: _receipt, ...found } = await aDownload(app.app, 'v2', 'UC1')

  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })
  await app.app.videos.ingest({ downloaded: await aDownload(app.app, 'v1', 'UC1') })
  await app.app.videos.ingest({ downloaded: found })

  assert.deepEqual(told, ['v1 new', 'v1 again', 'v2 imported'])
})
