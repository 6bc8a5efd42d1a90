/**
 * The receipt of a download: which formats were offered, which were downloaded, and what the warnings mean. With the
 * real yt-dlp.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toReceipt } from '../../../plugins/platform/receipt.ts'
import type { QualityWish, VideoMetadata } from '../../../plugins/platform/types.ts'
import { VIDEO } from '../../platform/seed.mjs'
import { type GivenPlatform, givenPlatform } from './given.ts'

const asker = 'test'
const BEST: QualityWish = { codec: 'best', hdr: true }
const SABR =
  'Some tv client https formats have been skipped as they are missing a URL. YouTube may have enabled the SABR-only streaming experiment for the current session. See  https://github.com/yt-dlp/yt-dlp/issues/12482  for more details'

const receiptOf = async (
  { service, folder }: GivenPlatform,
  id: string,
  quality: QualityWish | undefined,
  format?: string,
) => (await service.download(id, { folder, quality, format }, { asker })).receipt

test('a receipt lists what was offered and what was downloaded', async (t) => {
  const given = await givenPlatform(t)
  given.platform.catalogue.put('videos', VIDEO.nets, {
    hdr: true,
    sound: [{ language: 'de' }, { language: 'en', isOriginal: true }],
    captions: { en: [{ start: 0, end: 1, text: 'Hello' }] },
  })

  const receipt = await receiptOf(given, VIDEO.nets, BEST)

  assert.match(receipt.downloader, /^20\d\d\.\d\d\.\d\d/)
  assert.deepEqual(
    { ...receipt, downloader: '' },
    {
      downloader: '',
      offered: {
        height: 720,
        fps: 25,
        hdr: 'HDR10',
        videoCodecs: receipt.offered.videoCodecs,
        audioCodecs: receipt.offered.audioCodecs,
        audioLanguages: receipt.offered.audioLanguages,
        originalLanguage: 'en',
        subtitles: ['en'],
        clients: ['TVHTML5'],
      },
      got: {
        height: 720,
        fps: 25,
        hdr: 'HDR10',
        videoCodec: 'vp9',
        audioCodec: 'aac',
        audioLanguage: 'en',
        formats: ['334', '140-1'],
      },
      allowedHeight: 720,
      isForeign: false,
      warnings: [],
      doubts: [],
    },
  )
  assert.deepEqual(receipt.offered.videoCodecs.toSorted(), ['h264', 'vp9'])
  assert.deepEqual(receipt.offered.audioCodecs.toSorted(), ['aac', 'opus'])
  assert.deepEqual(receipt.offered.audioLanguages.toSorted(), ['de', 'en'])
})

test('withheld formats leave a warning and a doubt, and no address', async (t) => {
  const given = await givenPlatform(t)
  given.platform.faults.set(VIDEO.nets, { name: 'formats_withheld', only: ['18'], warning: SABR, times: 1 })

  const bad = await receiptOf(given, VIDEO.nets, BEST)
  const good = await receiptOf(given, VIDEO.fog, BEST)

  assert.deepEqual([bad.offered.height, bad.got.height, bad.doubts], [360, 360, ['protocol']])
  assert.match(bad.warnings[0]!, /missing a URL/)
  assert.doesNotMatch(bad.warnings.join(), /https?:|github/)
  assert.deepEqual([good.offered.height, good.got.height, good.doubts, good.warnings], [720, 720, [], []])
})

test("a user's own format expression allows whatever it selects", async (t) => {
  const given = await givenPlatform(t)

  const receipt = await receiptOf(given, VIDEO.nets, undefined, '18')

  assert.deepEqual([receipt.got.height, receipt.allowedHeight, receipt.isForeign], [360, undefined, false])
})

const NOBODY = { subtitles: { user: [], auto: [] } } as unknown as VideoMetadata
const picture = (height: number, vcodec = 'vp9', more: object = {}) => ({
  width: height * 2,
  height,
  vcodec,
  acodec: 'none',
  ...more,
})
const sound = (language: string, isOriginal = false) => ({
  vcodec: 'none',
  acodec: 'opus',
  language,
  isOriginal,
})

const DOUBTS: Array<[warning: string, doubts: string[]]> = [
  [
    'n challenge solving failed: Some formats may be missing. Ensure you have a supported JavaScript runtime',
    ['challenge'],
  ],
  [
    'No supported JavaScript runtime could be found. YouTube extraction without a JS runtime has been deprecated',
    ['challenge'],
  ],
  ['abc: ios client https formats require a GVS PO Token which was not provided. They will be skipped', ['token']],
  [SABR, ['protocol']],
  ['abc: Some web client subtitles require a PO Token which was not provided', []],
  ['The thumbnail is left out: it cannot be converted', []],
]

test('each warning that formats may be missing has its doubt', () => {
  const raw = { offered: [picture(360)], got: [picture(360)], downloader: 'x' }

  const found = DOUBTS.map(([warning]) => [warning, toReceipt(raw, NOBODY, [warning], BEST).doubts])

  assert.deepEqual(found, DOUBTS)
})

test('the allowed formats are the best ones within the wish, or the lowest if all exceed it', () => {
  const offered = [
    picture(480, 'avc1.4D401E'),
    picture(720, 'avc1.4D401F'),
    picture(1080),
    picture(2160, 'av01.0.12M.10', { dynamic_range: 'HDR10' }),
  ]
  const allowed = (wish: Partial<QualityWish>) =>
    toReceipt({ offered, got: [] }, NOBODY, [], { ...BEST, ...wish }).allowedHeight

  assert.deepEqual(
    [{}, { hdr: false }, { codec: 'compatible' as const }, { height: 1440 }, { height: 144 }].map(allowed),
    [2160, 1080, 720, 1080, 480],
  )
})

test('audio is foreign if it is neither the wanted language nor, without an offered one, the original', () => {
  const offered = [sound('en-US', true), sound('de'), sound('fr')]
  const isForeign = (got: string, language?: string) =>
    toReceipt({ offered, got: [sound(got)] }, NOBODY, [], { ...BEST, ...(language !== undefined && { language }) })
      .isForeign

  assert.deepEqual(
    [
      isForeign('en'),
      isForeign('de'),
      isForeign('de', 'de'),
      isForeign('en', 'de'),
      isForeign('en', 'ja'),
      isForeign(''),
      toReceipt({ offered: [sound('iw'), sound('en', true)], got: [sound('iw')] }, NOBODY, [], {
        ...BEST,
        language: 'he',
      }).isForeign,
    ],
    [false, true, false, true, false, false, false],
  )
})

test('values from outside are bounded and have no control characters', () => {
  const hostile = {
    format_id: 'x'.repeat(1000),
    height: 1e300,
    width: '9',
    fps: 'many',
    vcodec: 'a\u0007b'.repeat(90),
    language: 7,
    client: {},
  }

  const receipt = toReceipt(
    { offered: Array(2000).fill(hostile), got: 'nothing', downloader: ['x'] },
    NOBODY,
    Array.from({ length: 99 }, (_, at) => `${at} \u001b[31m ${'long '.repeat(500)}`),
    BEST,
  )

  assert.ok(JSON.stringify(receipt).length < 6000)
  assert.doesNotMatch(JSON.stringify(receipt), /\\u00/)
  assert.deepEqual([receipt.offered.height, receipt.got.height, receipt.allowedHeight], [0, 0, 0])
})
