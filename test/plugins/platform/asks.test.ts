/** Requests to the platform service and their answers, with the real yt-dlp on the loopback platform. */
import assert from 'node:assert/strict'
import { readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { isAppError } from '../../../core/base/error.ts'
import { inEnglish } from '../../../core/base/say.ts'
import { addHostileVideos, addLargeChannel, CHANNEL, GONE, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import type { LoopbackPlatform } from '../../platform/start.ts'
import { testClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { givenPlatform, SIGNED_IN } from './given.ts'
import '../../support/long.ts'

const asker = 'test'
const failsAs = (failure: string) => (error: unknown) => (error as { failure?: string }).failure === failure

describe('metadata', () => {
  test('the downloader starts no programs to find out about this machine', async (t) => {
    const folder = await temporaryFolder(t)
    const { PATH } = process.env
    await writeFile(join(folder, 'file'), `#!/bin/sh\n: > '${join(folder, 'started')}'\n`, { mode: 0o755 })
    process.env['PATH'] = `${folder}:${PATH}`
    t.after(() => void (process.env['PATH'] = PATH))
    const { service } = await givenPlatform(t)

    await service.video(VIDEO.breakwater, { asker })

    assert.deepEqual(await readdir(folder), ['file'])
  })

  test('a video is described in our terms', async (t) => {
    const { service, platform } = await givenPlatform(t)

    const metadata = await service.video(VIDEO.breakwater, { asker })

    const { thumbnails, expectedBytes, ...rest } = metadata
    assert.deepEqual(rest, {
      id: '-breakwater',
      title: 'Rebuilding the breakwater, stone by stone',
      description: 'Rebuilding the breakwater, stone by stone.\n\nFilmed on day 0.',
      channelId: CHANNEL.harbour,
      channelName: 'Harbour & Tide',
      vidType: 'videos',
      published: '2023-03-01',
      timestamp: 1677663000,
      durationSeconds: 12,
      tags: [],
      categories: ['Education'],
      chapters: [
        { start: 0, title: 'Low water' },
        { start: 4, title: 'First stones' },
        { start: 8, title: 'The crane' },
      ],
      viewCount: 1000,
      likeCount: 4210,
      averageRating: undefined,
      subtitles: { user: ['en', 'de'], auto: ['en-orig', 'de', 'en', 'es', 'fr', 'ja'] },
      availability: 'public',
      language: 'en',
      height: 720,
    })
    assert.match(thumbnails.at(-1)!.url, new RegExp(`^${platform.baseUrl}/vi`))
    assert.ok(expectedBytes! > 100_000, `${expectedBytes}`)
  })

  test('a thousand chapters are returned, but none without a name', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const named = Array.from({ length: 1000 }, (_, at) => ({ start_time: 1 + at / 100, title: `第${at}章`.repeat(20) }))
    platform.catalogue.put('videos', VIDEO.breakwater, { chapters: [...named, { start_time: 11.5, title: '' }] })

    const { chapters } = await service.video(VIDEO.breakwater, { asker })

    assert.deepEqual(
      chapters,
      named.map(({ start_time: start, title }) => ({ start, title })),
    )
  })

  test('streams and shorts are distinguished', async (t) => {
    const { service } = await givenPlatform(t)

    const [storm, gull] = [await service.video(VIDEO.storm, { asker }), await service.video(VIDEO.gull, { asker })]

    assert.deepEqual([storm.vidType, storm.liveStatus, gull.vidType], ['streams', 'was_live', 'shorts'])
  })

  test('a live status that remains on a video delays its recording for only a day', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const daysAgo = (days: number) => Math.floor(Date.now() / 1000 - days * 86_400)
    const cases: Array<[liveStatus: string, began: number, info: object, isTaken: boolean]> = [
      ['post_live', daysAgo(5), {}, true],
      ['post_live', daysAgo(0.5), {}, false],
      ['post_live', daysAgo(1.5), { duration: 86_400 }, false],
      ['is_live', daysAgo(5), {}, true],
      ['is_live', daysAgo(0.5), {}, false],
      ['is_live', daysAgo(5), { duration: null }, false],
      ['was_live', daysAgo(0.1), {}, true],
    ]

    const taken: boolean[] = []
    for (const [live_status, release_timestamp, info] of cases) {
      platform.catalogue.put('videos', VIDEO.storm, { info: { live_status, release_timestamp, duration: 12, ...info } })
      const { unavailable } = await service.video(VIDEO.storm, { asker })
      assert.ok(unavailable === undefined || unavailable.failure === 'upcoming')
      taken.push(unavailable === undefined)
    }

    assert.deepEqual(
      taken,
      cases.map(([, , , isTaken]) => isTaken),
    )
  })

  test('a video that is not available yet, or not to us, has metadata and a reason', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const comingAt = Math.floor(Date.now() / 1000) + 7200
    platform.catalogue.put('videos', VIDEO.fog, { info: { live_status: 'is_upcoming', release_timestamp: comingAt } })
    platform.faults.set(VIDEO.nets, 'members_only')
    platform.faults.set(VIDEO.ferry, 'age_restricted')
    platform.faults.set(VIDEO.charts, 'geo_blocked')

    const [fog, nets, ferry, charts] = await Promise.all(
      [VIDEO.fog, VIDEO.nets, VIDEO.ferry, VIDEO.charts].map((id) => service.video(id!, { asker })),
    )

    assert.deepEqual(
      [fog!.title, fog!.liveStatus, fog!.unavailable?.failure, fog!.unavailable?.availableAt],
      ['Fog signals explained', 'is_upcoming', 'upcoming', comingAt],
    )
    assert.deepEqual([nets!.title, nets!.unavailable?.failure], ['Mending nets with Ingrid', 'members_only'])
    assert.equal(ferry!.unavailable?.failure, 'age')
    assert.equal(charts!.unavailable?.failure, 'restricted')
    assert.equal(service.state().state, 'open')
  })

  test('impossible numbers are left out, so that the rest can be stored', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const absurd = { view_count: 1e19, like_count: 1e300, duration: 1e16 }
    platform.catalogue.put('videos', VIDEO.fog, { info: absurd })

    const told = await service.video(VIDEO.fog, { asker })
    const written = service.metadataOf(
      { id: VIDEO.fog, channel_id: CHANNEL.harbour, timestamp: 1e12, release_timestamp: 1677663000, ...absurd },
      VIDEO.fog,
    )

    for (const metadata of [told, written])
      assert.deepEqual([metadata.viewCount, metadata.likeCount, metadata.durationSeconds], [0, 0, 0])
    assert.deepEqual([written.timestamp, written.published], [1677663000, '2023-03-01'])
  })

  test('a missing video fails with the platform’s message', async (t) => {
    const { service } = await givenPlatform(t)

    await assert.rejects(service.video(GONE.private, { asker }), (error) => {
      const failure = service.failureOf(error)
      return (
        failure?.failure === 'gone' &&
        failure.message === "Private video. Sign in if you've been granted access to this video."
      )
    })
  })

  test('a channel is found by its id or its handle, and has its tabs and art', async (t) => {
    const { service, platform } = await givenPlatform(t)

    const byId = await service.channel(CHANNEL.harbour, { asker })
    const byHandle = await service.channel('@harbourandtide', { asker })
    const small = await service.channel(CHANNEL.orbit, { asker })

    const pictures = `${platform.baseUrl}/channel-pictures/${CHANNEL.harbour}`
    assert.deepEqual(byId, {
      id: CHANNEL.harbour,
      name: 'Harbour & Tide',
      handle: '@HarbourAndTide',
      description: 'Slow films from a small harbour.\nNew ones most Fridays.',
      tags: ['harbour', 'sea', 'slow film'],
      subscribers: 48200,
      views: undefined,
      tabs: ['videos', 'streams', 'shorts'],
      art: {
        thumb: `${pictures}/avatar-s0.jpg`,
        banner: `${pictures}/banner-2120.jpg`,
        tvart: `${pictures}/banner-s0.jpg`,
      },
    })
    assert.deepEqual(byHandle, byId)
    assert.deepEqual(small.tabs, ['videos'])
    await assert.rejects(service.channel('@nobody-here', { asker }), failsAs('gone'))
  })

  test('a playlist lists all its entries, and marks those that are only placeholders', async (t) => {
    const { service } = await givenPlatform(t)

    const joinery = await service.playlist(PLAYLIST.joinery, { asker })

    assert.equal(joinery.name, 'Holzverbindungen')
    assert.equal(joinery.channelId, CHANNEL.workshop)
    assert.deepEqual(
      joinery.entries.map(({ id, isThere }) => [id, isThere]),
      [
        [VIDEO.dovetail, true],
        [GONE.private, false],
        [VIDEO.stool, true],
        [GONE.deleted, false],
        [VIDEO.plane, true],
      ],
    )
    const { thumbnail, ...dovetail } = joinery.entries[0]!
    assert.deepEqual(dovetail, {
      id: VIDEO.dovetail,
      title: 'Schwalbenschwanz von Hand – ganz ohne Maschine',
      uploader: 'Kleine Werkstatt',
      isThere: true,
      isPending: false,
      channelId: CHANNEL.workshop,
      durationSeconds: 9,
    })
    assert.match(thumbnail ?? '', /^http:/)
    await assert.rejects(service.playlist(`PL${'A'.repeat(32)}`, { asker }), failsAs('gone'))
  })

  test('an upcoming entry of a playlist says so', async (t) => {
    const { service, platform } = await givenPlatform(t)
    platform.faults.set(VIDEO.stool, 'upcoming_premiere')

    const { entries } = await service.playlist(PLAYLIST.joinery, { asker })

    assert.deepEqual(
      entries.filter(({ isPending }) => isPending).map(({ id }) => id),
      [VIDEO.stool],
    )
  })

  test('a channel’s playlists are its public ones; a channel without that tab has none', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const empty = addLargeChannel(platform.catalogue, { videos: 1 })

    assert.deepEqual(await service.playlistsOf(CHANNEL.harbour, { asker }), [
      { id: PLAYLIST.coast, name: 'The coast in five films' },
    ])
    assert.deepEqual(await service.playlistsOf(empty, { asker }), [])
  })

  test('comments are returned with their replies, within the requested limits', async (t) => {
    const { service } = await givenPlatform(t)

    const few = await service.comments(VIDEO.breakwater, { max: '5,all,all,all', sort: 'top' }, { asker })
    const all = await service.comments(VIDEO.breakwater, { max: 'all', sort: 'new' }, { asker })
    const none = await service.comments(VIDEO.ferry, { max: 'all', sort: 'new' }, { asker })

    assert.equal(few.length, 5)
    assert.equal(few[0]!.parent, 'root')
    assert.match(few[0]!.text, /^Comment 1: lovely work\.\nSecond line/)
    assert.ok(few.some(({ parent, authorIsUploader }) => parent === few[0]!.id && authorIsUploader))
    assert.ok(all.length > 45)
    assert.deepEqual(none, [])
    await assert.rejects(service.comments(VIDEO.ferry, { max: 'all;rm', sort: 'new' }, { asker }), (error) =>
      isAppError(error, 'bad_request'),
    )
  })

  test('hostile texts are returned with a limited length, and a false id is refused', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const { channelId, videoIds } = addHostileVideos(platform.catalogue)

    for (const [key, id] of Object.entries(videoIds)) {
      if (key === 'lyingId') continue
      const metadata = await service.video(id, { asker })
      assert.equal(metadata.id, id)
      const { title = 'x', description } = metadata
      assert.ok(title.length > 0 && title.length <= 500)
      assert.doesNotMatch(title + description, /[\u0000-\u0008\u000b-\u001f\u007f]/, key)
    }
    await assert.rejects(service.video(videoIds.lyingId, { asker }), failsAs('unknown'))
    const ids: string[] = []
    for await (const page of service.list(channelId, 'videos', { asker })) ids.push(...page.map(({ id }) => id))
    assert.ok(ids.length >= 13 && ids.every((id) => /^[\w-]{11}$/.test(id)))
  })
})

describe('listings', () => {
  test('a tab is listed newest first in pages of 30, and ending the loop ends the listing', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const channelId = addLargeChannel(platform.catalogue, { videos: 1000 })

    const sizes: number[] = []
    for await (const page of service.list(channelId, 'videos', { asker })) {
      sizes.push(page.length)
      if (sizes.length === 2) break
    }

    assert.deepEqual(sizes, [30, 30])
    const pages = platform.requests.filter(({ path }) => path.endsWith('/videos')).length
    assert.ok(pages <= 3, `${pages} pages were asked for`)
    assert.equal((await service.video(VIDEO.fog, { asker })).id, VIDEO.fog)
  })

  test('entries have their type, their duration if known, and whether they are upcoming', async (t) => {
    const { service, platform } = await givenPlatform(t)
    platform.catalogue.put('videos', VIDEO.fog, {
      info: { live_status: 'is_upcoming', release_timestamp: Math.floor(Date.now() / 1000) + 7200 },
    })

    platform.catalogue.put('videos', VIDEO.storm, { info: { live_status: 'post_live' } })

    const [videos, shorts, streams] = await Promise.all(
      (['videos', 'shorts', 'streams'] as const).map(async (tab) => {
        for await (const page of service.list(CHANNEL.harbour, tab, { asker })) return page
        return []
      }),
    )

    assert.equal(videos![0]!.title, 'Reading a sea chart')
    assert.equal(videos![0]!.durationSeconds, 9)
    assert.deepEqual(
      videos!.filter(({ isPending }) => isPending).map(({ id }) => id),
      [VIDEO.fog],
    )
    assert.deepEqual(
      shorts!.map(({ vidType, durationSeconds }) => [vidType, durationSeconds]),
      [
        ['shorts', undefined],
        ['shorts', undefined],
        ['shorts', undefined],
      ],
    )
    assert.deepEqual(
      streams!.filter(({ isPending }) => !isPending).map(({ id }) => id),
      [VIDEO.storm],
    )
  })

  test('a tab that the channel does not have is empty', async (t) => {
    const { service } = await givenPlatform(t)

    for await (const _ of service.list(CHANNEL.orbit, 'shorts', { asker })) assert.fail('there is nothing in it')

    assert.equal(service.state().state, 'open')
  })

  test('two listings and other requests alternate in one child', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const [one, two] = ['bulk1', 'bulk2'].map((key) => addLargeChannel(platform.catalogue, { videos: 90, key }))
    const count = async (id: string) => {
      let entries = 0
      for await (const page of service.list(id, 'videos', { asker: id })) entries += page.length
      return entries
    }

    const [first, second, other] = await Promise.all([
      count(one!),
      count(two!),
      service.video(VIDEO.fog, { asker: 'other' }),
    ])

    assert.deepEqual([first, second, other.id], [90, 90, VIDEO.fog])
  })

  test('a listing whose child was killed continues, without gaps', async (t) => {
    const { service, platform } = await givenPlatform(t)
    const channelId = addLargeChannel(platform.catalogue, { videos: 150 })
    const ids: string[] = []

    let pages = 0
    for await (const page of service.list(channelId, 'videos', { asker })) {
      ids.push(...page.map(({ id }) => id))
      if (++pages === 3) {
        process.kill(service.childPid()!, 'SIGKILL')
        // The next request notices its end, whether or not the event has arrived.
        await assert.doesNotReject(
          service.video(VIDEO.fog, { asker: 'other' }).catch((error) => assert.equal(error.failure, 'unknown')),
        )
      }
    }

    assert.equal(new Set(ids).size, 150)
  })

  test('100,000 entries pass through a child with limited memory', { timeout: 120_000 }, async (t) => {
    const { service, platform } = await givenPlatform(t)
    const channelId = addLargeChannel(platform.catalogue)
    let entries = 0
    let most = 0

    for await (const page of service.list(channelId, 'videos', { asker })) {
      entries += page.length
      if (entries % 9000 === 0) most = Math.max(most, (await service.childRssBytes()) ?? 0)
    }

    assert.equal(entries, 100_000)
    assert.ok(most < 100 << 20, `the child grew to ${Math.round(most / (1 << 20))} MB`)
  })
})

describe('the child', () => {
  test('the first request starts it, later ones reuse it, and it ends after a minute without work', async (t) => {
    const clock = testClock(Date.now())
    const { service } = await givenPlatform(t, { clock })
    assert.equal(service.childPid(), undefined)
    await service.video(VIDEO.fog, { asker })
    const pid = service.childPid()
    await service.video(VIDEO.nets, { asker })
    assert.equal(service.childPid(), pid)

    await clock.advance(61_000)
    await service.video(VIDEO.nets, { asker })

    assert.notEqual(service.childPid(), pid)
  })

  test('an abort kills it, and the next request gets a new one', async (t) => {
    const { service, platform } = await givenPlatform(t)
    await service.video(VIDEO.fog, { asker })
    const pid = service.childPid()!
    platform.faults.set('global', { name: 'api_slow', ms: 60_000 })
    const ending = new AbortController()
    const asked = service.video(VIDEO.nets, { asker, signal: ending.signal })
    await nextRequest(platform)

    ending.abort(new Error('stopped'))

    await assert.rejects(asked, /stopped/)
    platform.faults.clear('global')
    await service.video(VIDEO.nets, { asker })
    assert.notEqual(service.childPid(), pid)
    assert.equal(service.state().state, 'open')
  })

  test('a silent child is killed, which counts as a network failure', async (t) => {
    const clock = testClock(Date.now())
    const { service, platform } = await givenPlatform(t, { clock })
    await service.video(VIDEO.fog, { asker })
    platform.faults.set('global', { name: 'api_slow', ms: 60_000 })
    const asked = service.video(VIDEO.nets, { asker })
    const failed = assert.rejects(asked, failsAs('network'))
    await clock.advance(1)

    await clock.advance(121_000)

    await failed
  })

  test('an urgent request is unavailable if the answer takes more than 20 seconds', async (t) => {
    const clock = testClock(Date.now())
    const { service, platform } = await givenPlatform(t, { clock })
    await service.channel('@HarbourAndTide', { asker, isUrgent: true })
    platform.faults.set('global', { name: 'api_slow', ms: 60_000 })
    const asked = assert.rejects(service.channel('@HarbourAndTide', { asker, isUrgent: true }), (error) =>
      isAppError(error, 'unavailable'),
    )
    await clock.advance(1)
    await clock.advance(21_000)
    await asked
  })

  test('urgent requests that take too long say nothing about the platform, and end no child', async (t) => {
    const clock = testClock(Date.now())
    const { service, platform } = await givenPlatform(t, { clock })
    const isUrgent = true
    await service.video(VIDEO.fog, { asker, isUrgent })
    const child = service.childPid({ isUrgent })

    platform.faults.set('global', { name: 'api_slow', ms: 500 })
    for (const handle of ['@one', '@two', '@three', '@four']) {
      const asked = assert.rejects(service.channel(handle, { asker, isUrgent: true }), (error) =>
        isAppError(error, 'unavailable'),
      )
      await nextRequest(platform)
      await clock.advance(20_000)
      await asked
    }
    platform.faults.clear()

    assert.equal((await service.video(VIDEO.nets, { asker, isUrgent })).id, VIDEO.nets)
    assert.equal(service.state().state, 'open')
    assert.equal(service.childPid({ isUrgent }), child)
  })

  test('without yt-dlp everything halts, and continues by itself once it is installed', async (t) => {
    const clock = testClock(Date.now())
    const place = await temporaryFolder(t)
    const { service } = await givenPlatform(t, { clock, settings: { ytdlp: join(place, 'venv') } })
    const asked = service.video(VIDEO.fog, { asker })
    await until(() => service.state().state === 'halted')
    assert.match(inEnglish(service.state().reason), /program is missing/)
    await assert.rejects(service.video(VIDEO.nets, { asker, isUrgent: true }), (error) =>
      isAppError(error, 'unavailable'),
    )

    await symlink(join(import.meta.dirname, '../../../tools'), join(place, 'venv'))
    await clock.advance(61_000)

    assert.equal((await asked).id, VIDEO.fog)
    assert.equal(service.state().state, 'open')
  })

  test('versions of all tools are reported', async (t) => {
    const { service } = await givenPlatform(t)

    const { downloader, tools, missing } = await service.report()

    assert.match(downloader.version, /^20\d\d\./)
    assert.equal(downloader.channel, 'stable')
    assert.deepEqual(Object.keys(tools), ['yt-dlp', 'ffmpeg', 'ffprobe'])
    assert.deepEqual(missing, [])
  })
})

describe('the cookie', () => {
  test('requests use it, each child with its own copy, and the file does not change', async (t: TestContext) => {
    const { service, platform, dataDir } = await givenPlatform(t)
    platform.faults.set(VIDEO.fog, 'cookie_required')
    const path = join(dataDir, 'cookie.txt')
    await writeFile(path, SIGNED_IN)
    await assert.rejects(service.video(VIDEO.fog, { asker }), failsAs('login_required'))

    service.useCookie(path)

    assert.equal((await service.video(VIDEO.fog, { asker })).id, VIDEO.fog)
    service.useCookie(null)
    await assert.rejects(service.video(VIDEO.fog, { asker }), failsAs('login_required'))
  })

  test('it is valid if a page that only its owner sees can be read', async (t) => {
    const { service, platform } = await givenPlatform(t)

    const good = await service.validateCookie(SIGNED_IN, { asker, isUrgent: true })
    const bad = await service.validateCookie('# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tOTHER\tx\n', {
      asker,
      isUrgent: true,
    })
    const none = await service.validateCookie('[{"json": true}]', { asker, isUrgent: true })
    platform.faults.set('global', { name: 'api_status', status: 500 })

    assert.equal(good.isValid, true)
    assert.match(good.jar, /^# Netscape HTTP Cookie File[\s\S]*\tSID\tsecret/)
    assert.equal(bad.isValid, false)
    assert.equal(none.isValid, false)
    await assert.rejects(service.validateCookie(SIGNED_IN, { asker, isUrgent: true }), (error) =>
      isAppError(error, 'unavailable'),
    )
  })

  test('a jar that the platform renewed is returned; one that has lost its session is not', async (t) => {
    const { service, platform, dataDir } = await givenPlatform(t)
    const path = join(dataDir, 'cookie.txt')
    await writeFile(path, SIGNED_IN)
    service.useCookie(path)
    const renewed: string[] = []
    service.onCookieRenewed((jar) => void renewed.push(jar))

    platform.setCookies = ['SID=newer; Max-Age=10000']
    await service.video(VIDEO.fog, { asker })
    platform.setCookies = ['LOGIN_INFO=; Max-Age=0']
    await service.video(VIDEO.nets, { asker })

    assert.equal(renewed.length, 1)
    assert.match(renewed[0]!, /\tSID\tnewer\n/)
  })
})

test('a request with an invalid id is not sent', async (t) => {
  const { service } = await givenPlatform(t)

  for (const id of ['', '../x', 'a b', 'a'.repeat(129), 'ä']) {
    await assert.rejects(service.video(id, { asker }), (error) => isAppError(error, 'bad_request'), id)
  }

  assert.equal(service.childPid(), undefined)
})

/** Polls until a condition holds for which there is no event. */
async function until(hasHappened: () => boolean): Promise<void> {
  while (!hasHappened()) await new Promise<void>((resolve) => setImmediate(resolve))
}

async function nextRequest(platform: LoopbackPlatform): Promise<void> {
  const before = platform.requests.length
  await until(() => platform.requests.length > before)
}
