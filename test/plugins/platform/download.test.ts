/** Real downloads from the loopback platform: files, resumption, truncation, and the class of every fault. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { addHostileVideos, CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import type { LoopbackPlatform } from '../../platform/start.ts'
import { testClock } from '../../support/clock.ts'
import { type GivenPlatform, givenPlatform } from './given.ts'
import '../../support/long.ts'

const asker = 'test'
const run = promisify(execFile)
const failsAs = (failure: string) => (error: unknown) => (error as { failure?: string }).failure === failure

async function probed(
  path: string,
): Promise<Array<{ codec_type: string; codec_name: string; duration: string; width?: number }>> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_streams', '-of', 'json', `file:${path}`])
  return JSON.parse(stdout).streams
}

const mediaRequests = (platform: LoopbackPlatform, stream: string) =>
  platform.requests.filter(({ path }) => path.startsWith('/media/') && path.includes(`/${stream}.`))

describe('files', () => {
  test('video and audio are merged into one mp4, named by the id, with thumbnail, subtitles and metadata', async (t) => {
    const { service, folder } = await givenPlatform(t)
    const fractions: number[] = []
    const progress = ({ fraction }: { fraction: number }) => void fractions.push(fraction)

    const got = await service.download(
      VIDEO.breakwater,
      { folder, subtitleLanguages: 'en,de', embedMetadata: true, embedThumbnail: true },
      { asker, progress },
    )

    assert.equal(got.mediaPath, join(folder, '-breakwater.mp4'))
    const streams = await probed(got.mediaPath)
    const played = streams.filter(({ codec_type, codec_name }) => codec_type !== 'data' && codec_name !== 'mjpeg')
    assert.deepEqual(
      played.map(({ codec_type, duration }) => [codec_type, Math.round(Number(duration))]),
      [
        ['video', 12],
        ['audio', 12],
      ],
    )
    assert.equal(streams[0]!.width, 1280)
    assert.equal(got.metadata.channelId, CHANNEL.harbour)
    assert.deepEqual(
      got.subtitles.map(({ lang, source, path }) => [lang, source, path]),
      [
        ['en', 'user', join(folder, '-breakwater.en.vtt')],
        ['de', 'user', join(folder, '-breakwater.de.vtt')],
      ],
    )
    assert.match(await readFile(got.subtitles[0]!.path, 'utf8'), /^WEBVTT[\s\S]*Good morning from the pier/)
    assert.deepEqual([...(await readFile(got.thumbnailPath!)).subarray(0, 3)], [0xff, 0xd8, 0xff])
    assert.deepEqual((await readdir(folder)).sort(), [
      '-breakwater.de.vtt',
      '-breakwater.en.vtt',
      '-breakwater.mp4',
      '-breakwater.picture',
    ])
    assert.ok(
      fractions.length >= 2 && fractions.every((fraction, at) => fraction >= (fractions[at - 1] ?? 0) && fraction <= 1),
    )
    assert.equal(fractions.at(-1), 1)
  })

  test('a picture that is not put into the film stays as the platform has it, and costs no conversion', async (t) => {
    const { service, folder } = await givenPlatform(t)

    const got = await service.download(VIDEO.breakwater, { folder }, { asker })

    assert.equal((await readFile(got.thumbnailPath!)).subarray(8, 12).toString(), 'WEBP')
  })

  test('a format, its sort order and a speed limit are respected; other containers are converted to mp4', async (t) => {
    const { service, folder } = await givenPlatform(t)

    const small = await service.download(VIDEO.nets, { folder, formatSort: 'res:360' }, { asker })
    const webm = await service.download(VIDEO.fog, { folder, format: '247+251', limitSpeedKib: 4000 }, { asker })

    assert.equal((await probed(small.mediaPath))[0]!.width, 640)
    assert.deepEqual(
      (await probed(webm.mediaPath)).map(({ codec_name }) => codec_name),
      ['vp9', 'opus'],
    )
    assert.equal(webm.mediaPath, join(folder, `${VIDEO.fog}.mp4`))
  })

  test('an ended stream without a time counts as a recording a day after it was first seen', async (t) => {
    const { service, platform, folder } = await givenPlatform(t)
    const timeless = { release_timestamp: null, timestamp: null, upload_date: null, release_date: null }
    platform.catalogue.put('videos', VIDEO.storm, { info: { live_status: 'post_live', ...timeless } })
    const metDaysAgo = (days: number) =>
      service.download(VIDEO.storm, { folder, firstSeen: Math.floor(Date.now() / 1000 - days * 86_400) }, { asker })

    await assert.rejects(metDaysAgo(0.5), failsAs('upcoming'))
    const { mediaPath } = await metDaysAgo(1.5)

    assert.equal(mediaPath, join(folder, `${VIDEO.storm}.mp4`))
  })

  test('automatic subtitles are downloaded only on request, and not if there are human ones', async (t) => {
    const { service, folder } = await givenPlatform(t)

    const user = await service.download(
      VIDEO.ferry,
      { folder, subtitleLanguages: 'en', subtitleSource: 'user' },
      { asker },
    )
    const { subtitles: auto } = await service.subtitles(
      VIDEO.ferry,
      { folder, languages: 'en,fr', source: 'auto' },
      { asker },
    )
    const { subtitles: both } = await service.subtitles(
      VIDEO.breakwater,
      { folder, languages: 'en,fr', source: 'auto' },
      { asker },
    )

    assert.deepEqual(user.subtitles, [])
    assert.deepEqual(
      auto.map(({ lang, source }) => [lang, source]),
      [
        ['en', 'auto'],
        ['fr', 'auto'],
      ],
    )
    assert.match(await readFile(auto[0]!.path, 'utf8'), /^WEBVTT/)
    assert.deepEqual(
      both.map(({ lang, source }) => [lang, source]),
      [
        ['en', 'user'],
        ['fr', 'auto'],
      ],
    )
  })

  test('a language selects the nearest offered one, human subtitles before automatic ones', async (t) => {
    const { service, platform, folder } = await givenPlatform(t)
    const offered = (captions: string[], autoCaptions?: string) =>
      platform.catalogue.put('videos', VIDEO.nets, {
        captions: Object.fromEntries(captions.map((language) => [language, [{ start: 0, end: 1, text: language }]])),
        autoCaptions,
      })
    const cases: Array<[languages: string, byPeople: string[], autoCaptions: string | undefined, taken: string[]]> = [
      ['en', ['fr', 'en-US'], undefined, ['en-US']],
      ['en', ['en-GB'], 'en', ['en-GB']],
      ['en', ['en-GB', 'en'], 'en', ['en']],
      ['en', ['en-x8Yq3Tz91aB', 'en-AU'], undefined, ['en-AU']],
      ['en', ['en-x8Yq3Tz91aB'], undefined, ['en-x8Yq3Tz91aB']],
      ['en', ['eno', 'de'], 'de', ['en']],
      ['en,-en-US', ['en-US', 'en-GB'], undefined, ['en-GB']],
      ['en.*', ['en-US', 'en-GB'], undefined, ['en-US', 'en-GB']],
      ['pt,es,zh', ['pt-BR', 'es-419', 'zh-Hant'], undefined, ['pt-BR', 'es-419', 'zh-Hant']],
      ['zh-Hans', ['zh-TW', 'zh-CN'], undefined, ['zh-CN']],
      ['zh-TW', ['zh-Hans', 'zh-Hant'], undefined, ['zh-Hant']],
      ['he,no,fil,id,yi', ['iw', 'nb', 'tl', 'in', 'ji'], undefined, ['iw', 'nb', 'tl', 'in', 'ji']],
      ['iw,nb', ['he-IL', 'no'], undefined, ['he-IL', 'no']],
      ['en_us,en-US', ['en-US'], undefined, ['en-US']],
      ['en-US', ['en-GB', 'en'], undefined, []],
    ]

    const taken: string[][] = []
    for (const [languages, byPeople, autoCaptions] of cases) {
      offered(byPeople, autoCaptions)
      const { subtitles } = await service.subtitles(VIDEO.nets, { folder, languages, source: 'auto' }, { asker })
      taken.push(subtitles.map(({ lang }) => lang))
    }

    assert.deepEqual(
      taken,
      cases.map(([, , , wanted]) => wanted),
    )
  })

  test('hostile titles, languages and ids leave nothing outside of the folder', async (t) => {
    const { service, platform, folder, dataDir } = await givenPlatform(t)
    const { videoIds } = addHostileVideos(platform.catalogue)
    platform.catalogue.put('videos', videoIds.traversal, {
      captions: { '../../escaped': [{ start: 0, end: 1, text: 'x' }], en: [{ start: 0, end: 1, text: 'x' }] },
    })

    const got = await service.download(
      videoIds.traversal,
      { folder, format: '18', subtitleLanguages: 'all', embedMetadata: true },
      { asker },
    )
    await service.download(videoIds.option, { folder, format: '18' }, { asker })
    await service.download(videoIds.long, { folder, format: '18' }, { asker })
    await assert.rejects(service.download(videoIds.lyingId, { folder, format: '18' }, { asker }), failsAs('unknown'))

    assert.deepEqual(
      got.subtitles.map(({ lang }) => lang),
      ['en'],
    )
    const expected = [videoIds.traversal, videoIds.option, videoIds.long].flatMap((id) => [
      `${id}.mp4`,
      `${id}.picture`,
    ])
    assert.deepEqual((await readdir(folder)).sort(), [...expected, `${videoIds.traversal}.en.vtt`].sort())
    assert.deepEqual((await readdir(dataDir)).sort(), [folder.slice(dataDir.length + 1), 'yt-dlp'].sort())
  })
})

describe('interruptions', () => {
  test('after kill -9 the next download requests only the rest', async (t) => {
    const { service, platform, folder } = await givenPlatform(t)
    platform.faults.set(VIDEO.breakwater, { name: 'media_slow', bytesPerSecond: 400_000 })
    const ending = new AbortController()
    const progress = ({ fraction }: { fraction: number }) => {
      if (fraction > 0.2) ending.abort(new Error('power is gone'))
    }
    await assert.rejects(
      service.download(VIDEO.breakwater, { folder }, { asker, progress, signal: ending.signal }),
      /power is gone/,
    )
    const left = await readdir(folder)
    assert.ok(
      left.some((name) => name.endsWith('.part')),
      left.join(),
    )
    platform.faults.clear(VIDEO.breakwater)
    const before = platform.requests.length

    const got = await service.download(VIDEO.breakwater, { folder }, { asker })

    const first = platform.requests.slice(before).find(({ path }) => path.startsWith('/media/'))
    assert.match(first!.range ?? '', /^bytes=[1-9]\d*-/)
    assert.equal((await probed(got.mediaPath)).length, 2)
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.endsWith('.part')),
      [],
    )
  })

  test('broken connections and temporary errors are retried within the download', async (t) => {
    const { service, platform, folder } = await givenPlatform(t)
    platform.faults.set(VIDEO.nets, [
      { name: 'media_cut', afterBytes: 100_000, times: 3 },
      { name: 'media_status', status: 503, times: 2 },
    ])

    const got = await service.download(VIDEO.nets, { folder }, { asker })

    assert.equal((await probed(got.mediaPath)).length, 2)
  })

  test('a truncated file in a well-formed answer is a failure, and its part is not resumed', async (t) => {
    for (const [stream, format] of [
      ['136', '136+140'],
      ['140', '136+140'],
      ['18', '18'],
    ] as const) {
      const { service, platform, folder } = await givenPlatform(t)
      const { size } = await stat(platform.media.streamPath('wide-6s', stream))
      platform.faults.set(`${VIDEO.ferry}/${stream}`, {
        name: 'media_truncated',
        bytes: Math.floor(size * 0.9),
        times: 1,
      })

      await assert.rejects(
        service.download(VIDEO.ferry, { folder, format }, { asker }),
        (error) => failsAs('network')(error) && /is not complete/.test((error as Error).message),
      )

      assert.deepEqual(await readdir(folder), [])
      await service.download(VIDEO.ferry, { folder, format }, { asker })
    }
  })

  test('media refused once are requested again with new addresses; refused twice they count as a block that ends by itself', async (t) => {
    const clock = testClock(Date.now())
    const { service, platform, folder } = await givenPlatform(t, { clock })
    platform.faults.set(VIDEO.nets, { name: 'media_status', status: 403, times: 1 })
    await service.download(VIDEO.nets, { folder, format: '18' }, { asker })
    assert.equal(mediaRequests(platform, '18').length, 2)

    platform.faults.set(VIDEO.fog, { name: 'media_status', status: 403, times: 2 })
    const download = service.download(VIDEO.fog, { folder, format: '18' }, { asker })
    await until(() => service.state().state === 'blocked')
    await clock.advance(61_000)

    assert.equal((await download).metadata.id, VIDEO.fog)
    assert.equal(service.state().state, 'open')
  })

  test('three items without an answer mean offline; the third waits, and continues when the platform is back', async (t) => {
    const clock = testClock(Date.now())
    const { service, platform, folder } = await givenPlatform(t, { clock })
    platform.faults.set('global', { name: 'api_status', status: 503 })
    for (const id of [VIDEO.fog, VIDEO.nets])
      await assert.rejects(service.download(id, { folder, format: '18' }, { asker }), failsAs('network'))
    const third = service.download(VIDEO.ferry, { folder, format: '18' }, { asker })
    await until(() => service.state().state === 'offline')
    await assert.rejects(service.video(VIDEO.fog, { asker, isUrgent: true }), { code: 'unavailable' })

    platform.faults.clear('global')
    await clock.advance(61_000)

    assert.equal((await third).metadata.id, VIDEO.ferry)
  })
})

test('an answer without a title is an unknown failure, and nothing is downloaded', async (t) => {
  const { service, platform, folder } = await givenPlatform(t)
  platform.catalogue.put('videos', VIDEO.fog, { info: { title: null } })

  await assert.rejects(service.download(VIDEO.fog, { folder, format: '18' }, { asker }), failsAs('unknown'))
  await assert.rejects(service.video(VIDEO.fog, { asker }), failsAs('unknown'))

  assert.deepEqual(await readdir(folder), [])
})

/** Every fault of the loopback platform with its meaning. `ok`: the request succeeds. */
const FAULTS: Array<[fault: string | object, meaning: string]> = [
  ['private', 'gone'],
  ['removed', 'gone'],
  ['terminated', 'gone'],
  ['policy_removed', 'gone'],
  ['copyright', 'gone'],
  ['copyright_blocked', 'restricted'],
  ['unavailable', 'gone'],
  ['geo_blocked', 'restricted'],
  ['members_only', 'members_only'],
  ['members_level', 'members_only'],
  ['payment_required', 'restricted'],
  ['drm', 'restricted'],
  ['age_restricted', 'age'],
  ['login_required', 'login_required'],
  ['cookie_required', 'login_required'],
  ['bot_check', 'blocked'],
  ['captcha', 'blocked'],
  ['session_rate_limited', 'blocked'],
  ['upcoming_premiere', 'upcoming'],
  ['upcoming_live', 'upcoming'],
  ['live_ended', 'upcoming'],
  ['live_processing', 'upcoming'],
  ['live_not_recorded', 'gone'],
  [{ name: 'api_status', status: 429 }, 'blocked'],
  [{ name: 'api_status', status: 403 }, 'blocked'],
  [{ name: 'api_status', status: 500 }, 'network'],
  [{ name: 'api_status', status: 503, times: 2 }, 'ok'],
  [{ name: 'api_slow', ms: 3000 }, 'network'],
  ['api_garbage', 'unknown'],
  [{ name: 'media_status', status: 403 }, 'blocked'],
  [{ name: 'media_status', status: 404 }, 'unknown'],
  [{ name: 'media_status', status: 429 }, 'blocked'],
  [{ name: 'media_status', status: 503 }, 'network'],
  [{ name: 'media_slow', bytesPerSecond: 2_000_000 }, 'ok'],
  [{ name: 'media_cut', afterBytes: 0 }, 'network'],
  [{ name: 'media_cut', afterBytes: 100_000 }, 'ok'],
  [{ name: 'media_stall', afterBytes: 10_000, times: 1 }, 'ok'],
  [{ name: 'media_truncated', bytes: 50_000 }, 'network'],
  [{ name: 'media_wait', seconds: 1 }, 'ok'],
]

const LISTING_FAULTS: Array<[fault: string, meaning: string]> = [
  ['channel_missing', 'gone'],
  ['channel_terminated', 'gone'],
  ['channel_unavailable', 'gone'],
  ['playlist_missing', 'gone'],
  ['playlist_unviewable', 'restricted'],
]

/**
 * The result of a request: `ok`, the class of its failure, or the state of the gate at which it waits. Opens the gate
 * again.
 */
async function meaningOf(
  { service, platform }: GivenPlatform,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<string> {
  const ending = new AbortController()
  let settled: string | undefined
  const outcome = ask(ending.signal).then(
    () => (settled = 'ok'),
    (error) => (settled = service.failureOf(error)?.failure ?? String(error)),
  )
  await until(() => settled !== undefined || service.state().state !== 'open')
  const { state } = service.state()
  const meaning = state === 'open' ? settled! : state
  ending.abort(new Error('seen'))
  await outcome
  platform.faults.clear()
  await service.command('retry')
  await service.video(VIDEO.charts, { asker })
  return meaning
}

describe('every fault has its class', { timeout: 240_000 }, () => {
  test('of a video', async (t) => {
    const given = await givenPlatform(t)
    const found: Array<[unknown, string]> = []

    for (const [fault] of FAULTS) {
      given.platform.faults.set(VIDEO.fog, fault as string)
      found.push([
        fault,
        await meaningOf(given, (signal) =>
          given.service.download(VIDEO.fog, { folder: given.folder, format: '18' }, { asker, signal }),
        ),
      ])
      for (const name of await readdir(given.folder)) await rm(join(given.folder, name))
    }

    assert.deepEqual(found, FAULTS)
  })

  test('of a channel and a playlist', async (t) => {
    const found: Array<[string, string]> = []
    const given = await givenPlatform(t)

    for (const [fault] of LISTING_FAULTS) {
      given.platform.faults.set('global', fault)
      const ask = fault.startsWith('channel')
        ? () => given.service.channel(CHANNEL.harbour, { asker })
        : () => given.service.playlist(PLAYLIST.coast, { asker })
      found.push([fault, await meaningOf(given, ask)])
    }

    assert.deepEqual(found, LISTING_FAULTS)
  })
})

/** Polls until a condition holds for which there is no event. */
async function until(hasHappened: () => boolean): Promise<void> {
  while (!hasHappened()) await new Promise<void>((resolve) => setImmediate(resolve))
}
