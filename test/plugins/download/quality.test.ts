/**
 * Quality in words, for all channels and for one: which formats the real yt-dlp selects, and what happens without them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp, testClock } from 'archivolt/testing'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import '../../support/long.ts'

const HOUR_MS = 3_600_000
const ids = ['fog', 'nets', 'mussels', 'ferry', 'pilots'].map((key) => VIDEO[key] as string)
const [fog, nets] = ids as [string, string]

async function openQualityApp(t: Parameters<typeof testApp>[0]) {
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings: settings as never, clock: testClock(Date.now()) })
  const set = async (downloads: object) => {
    const { status, text } = await app.as('admin').post('/api/config/', { downloads })
    assert.equal(status, 200, text)
  }
  await set({ sleep_interval: 0 })
  const download = async (id: string) => {
    await app.as('admin').post('/api/download/?autostart=true&force=true', { data: [{ platform_id: id }] })
    await app.settled()
    return (await app.as('user').get(`/api/video/${id}/`)).body.data?.receipt
  }
  for (const id of ids)
    platform.catalogue.put('videos', id, {
      hdr: true,
      sound: [{ language: 'en', isOriginal: true }, { language: 'de' }],
    })
  return { app, platform, set, download }
}

test('words choose the formats: height, codec, HDR, language', async (t) => {
  const { set, download } = await openQualityApp(t)
  const none = { quality_height: false, quality_codec: 'best', quality_hdr: true, quality_language: false }
  const got = async (words: object) => {
    await set({ ...none, ...words })
    const { got: it, quality } = await download(fog)
    return [it.height, it.hdr ?? 'SDR', it.video_codec, it.audio_codec, it.audio_language, quality]
  }

  assert.deepEqual(await got({}), [720, 'HDR10', 'vp9', 'aac', 'en', 'best'])
  assert.deepEqual(await got({ quality_height: 480 }), [360, 'SDR', 'vp9', 'aac', 'en', 'limited'])
  assert.deepEqual(await got({ quality_hdr: false }), [720, 'SDR', 'vp9', 'aac', 'en', 'best'])
  assert.deepEqual(await got({ quality_codec: 'compatible' }), [720, 'SDR', 'h264', 'aac', 'en', 'best'])
  assert.deepEqual(await got({ quality_codec: 'smallest', quality_hdr: false }), [
    720,
    'SDR',
    'vp9',
    'opus',
    'en',
    'best',
  ])
  assert.deepEqual(await got({ quality_language: 'de' }), [720, 'HDR10', 'vp9', 'aac', 'de', 'best'])
  assert.deepEqual(await got({ quality_language: 'ja' }), [720, 'HDR10', 'vp9', 'aac', 'en', 'best'])
})

test('a channel with sound only: no picture is downloaded or missing, and its videos are listed like others', async (t) => {
  const { app, set, download } = await openQualityApp(t)
  await set({ quality_height: 720, quality_missing: 'skip', quality_language: 'de', add_thumbnail: true })
  const channel_overwrites = { quality_codec: 'sound' }
  await download(fog)
  assert.equal((await app.as('admin').post(`/api/channel/${CHANNEL.harbour}/`, { channel_overwrites })).status, 200)

  const { got, quality, allowed_height: allowed } = await download(fog)

  assert.deepEqual([got.height, got.video_codec, got.audio_codec, got.audio_language], [0, undefined, 'aac', 'de'])
  assert.deepEqual([quality, allowed], ['limited', 0])
  const { data } = (await app.as('user').get('/api/video/')).body
  assert.deepEqual(
    data.map(({ platform_id: id, streams, degraded, player }: Record<string, any>) => [
      id,
      streams.map(({ type }: { type: string }) => type),
      degraded,
      player.duration > 0,
    ]),
    [[fog, ['audio'], undefined, true]],
  )
  const film = await app.as('user').get(data[0].media_url, { range: 'bytes=4-7' })
  assert.deepEqual([film.status, film.text], [206, 'ftyp'])
})

test("a channel's words override the general words and rule; its own rule overrides them", async (t) => {
  const { app, set, download } = await openQualityApp(t)
  const overwrite = async (channel_overwrites: object) => {
    const { status, text } = await app.as('admin').post(`/api/channel/${CHANNEL.harbour}/`, { channel_overwrites })
    assert.equal(status, 200, text)
  }
  await set({ quality_height: 360, quality_language: 'de' })
  await download(fog)

  await overwrite({ quality_height: false })
  const ofChannel = await download(fog)
  await set({ format: '18' })
  const beforeRule = await download(fog)
  await overwrite({ download_format: '134+140-0' })
  const ownRule = await download(fog)
  await overwrite({ download_format: null, quality_height: null })
  const rule = await download(fog)

  assert.deepEqual([ofChannel.got.height, ofChannel.got.audio_language], [720, 'de'])
  assert.deepEqual([beforeRule.got.height, beforeRule.got.audio_language], [720, 'de'])
  assert.deepEqual([ownRule.got.formats, ownRule.allowed_height], [['134', '140-0'], undefined])
  assert.deepEqual(rule.got.formats, ['18'])
})

test('an unavailable quality is skipped with a message, or waited for until it is available or the days are over', async (t) => {
  const { app, platform, set, download } = await openQualityApp(t)
  const now = Math.floor(app.clock.now() / 1000)
  const run = async () => {
    await app.as('admin').post('/api/task-name/download_pending/')
    await app.settled()
  }
  for (const id of [fog, nets]) platform.catalogue.put('videos', id, { info: { timestamp: now - 3600 } })
  platform.faults.set('global', { name: 'formats_withheld', only: ['18'] })

  await set({ quality_height: 720, quality_missing: 'skip' })
  assert.equal(await download(fog), undefined)
  const skipped = await app.doc('download', fog)
  assert.deepEqual([skipped.error_class, skipped.retry_at], ['not_offered', undefined])
  assert.match(skipped.message, /360p .* 720p/)

  await set({ quality_missing: 'wait', quality_wait_days: 2 })
  assert.equal(await download(nets), undefined)
  const waiting = await app.doc('download', nets)
  assert.deepEqual([waiting.error_class, waiting.retry_at], ['not_offered', now + 6 * 3600])
  assert.equal(platform.requests.filter(({ path }) => path.startsWith('/media/')).length, 0)

  platform.faults.clear('global')
  await app.clock.advance(6 * HOUR_MS + 1000)
  await run()
  assert.deepEqual(await app.ids('video'), [nets], 'it is there now')

  platform.faults.set('global', { name: 'formats_withheld', only: ['18'] })
  await app.clock.advance(48 * HOUR_MS)
  assert.equal((await download(ids[2]!)).got.height, 360, 'the days are over')
})

test('an unknown quality is refused', async (t) => {
  const { app } = await openQualityApp(t)
  const wrong = [
    { quality_height: 5 },
    { quality_height: '1080' },
    { quality_codec: 'mpeg2' },
    { quality_language: 'English please' },
    { quality_missing: 'cry' },
    { quality_wait_days: 0 },
  ]

  for (const words of wrong) {
    const { status, body } = await app.as('admin').post('/api/config/', { downloads: words })
    const [key] = Object.keys(words)
    assert.deepEqual([status, Object.keys(body.fields ?? {})], [400, [`downloads.${key}`]])
    const ofChannel = await app.as('admin').post(`/api/channel/${CHANNEL.harbour}/`, { channel_overwrites: words })
    assert.equal(ofChannel.status, 400)
  }
})
