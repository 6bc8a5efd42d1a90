/** Skip segments through the API, read from the loopback platform's segment service. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { CATEGORIES } from '../../../plugins/segment/community.ts'
import { SEGMENT_CATEGORIES } from '../../../plugins/user/user-preferences.ts'
import { startTestPlatform } from '../../platform/start.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aVideo, type TestApp, testApp } from '../../support/testing.ts'

const EMPTY = { is_enabled: false, has_unlocked: false, segments: [] }

test('segments of a new video are requested by four digits of a hash and shown with the video', async (t) => {
  const { platform, segmentsUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { segmentsUrl } })
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await app.as('admin').post('/api/config/', { downloads: { integrate_sponsorblock: true } })
  platform.skipSegments.add('v1', [
    { segment: [50, 60.5], category: 'outro', UUID: 'b' },
    { segment: [1, 2], category: 'sponsor', UUID: 'a', votes: 3, videoDuration: 100 },
    { segment: [5, 6], category: 'poi_highlight', UUID: 'c' },
  ])

  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'new' })

  const expected = {
    is_enabled: true,
    last_refresh: app.clock.now() / 1000,
    has_unlocked: true,
    segments: [
      { UUID: 'a', actionType: 'skip', category: 'sponsor', segment: [1, 2], locked: 0, votes: 3, videoDuration: 100 },
      { UUID: 'b', actionType: 'skip', category: 'outro', segment: [50, 60.5], locked: 0, votes: 0, videoDuration: 0 },
    ],
  }
  assert.deepEqual((await app.as('user').get('/api/video/v1/sponsor/')).body, expected)
  const video = (await app.as('user').get('/api/video/v1/')).body.data
  assert.deepEqual(video.sponsorblock, expected)
  assert.ok(!('position' in video.player))
  const [call] = platform.skipSegments.calls as Array<{ path: string }>
  assert.match(call!.path, /^\/api\/skipSegments\/[0-9a-f]{4}$/)
})

for (const { index, skip } of INDEXES)
  test(`only channels with their own setting are requested, and the session says whether any are: ${index}`, {
    skip,
  }, async (t) => {
    const app = await testApp(t, { settings: await indexSettings(lastFirst(t), index, 'segment') })
    await app.given(aChannel(), aChannel({ id: 'UC2', channel_overwrites: { integrate_sponsorblock: false } }))
    const scan = t.mock.method(app.app.channels.collection, 'scan')
    const community = async () => (await app.as('user').get('/api/session/')).body.community

    assert.deepEqual([await community(), await app.app.segments.isWanted()], [[], false])
    assert.equal(scan.mock.callCount(), 0, 'a start reads none')
    assert.equal(await app.app.segments.wanted(), undefined)
    assert.deepEqual(scan.mock.calls[0]!.arguments, [{ filter: { eq: ['own_segments', true] } }])

    await app.as('admin').post('/api/channel/UC2/', { channel_overwrites: { integrate_sponsorblock: true } })
    assert.deepEqual(await community(), ['segments'])
    assert.deepEqual(await app.app.segments.wanted(), { in: ['channel_id', ['UC2']] })
  })

test('one locked segment means that not all are unlocked; a video without segments has an empty list', async (t) => {
  const { platform, segmentsUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { segmentsUrl } })
  await app.given(
    aChannel({ channel_overwrites: { integrate_sponsorblock: true } }),
    aVideo({ id: 'v1' }),
    aVideo({ id: 'v2' }),
  )
  platform.skipSegments.add('v1', [
    { segment: [1, 2], category: 'sponsor', locked: 1 },
    { segment: [3, 4], category: 'intro' },
  ])

  for (const id of ['v1', 'v2']) await app.app.segments.refresh(id)

  const list = async (id: string) => (await app.as('user').get(`/api/video/${id}/sponsor/`)).body
  assert.equal((await list('v1')).has_unlocked, false)
  assert.deepEqual(await list('v2'), {
    is_enabled: true,
    last_refresh: app.clock.now() / 1000,
    has_unlocked: false,
    segments: [],
  })
})

test('the channel’s setting overrides the general one, and unwanted segments are deleted', async (t) => {
  const { platform, segmentsUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { segmentsUrl } })
  await app.given(
    aChannel({ channel_overwrites: { integrate_sponsorblock: false } }),
    aVideo({ id: 'v1', sponsorblock: { ...EMPTY, is_enabled: true } }),
  )
  await app.as('admin').post('/api/config/', { downloads: { integrate_sponsorblock: true } })

  await app.app.segments.refresh('v1')

  assert.deepEqual((await app.as('user').get('/api/video/v1/sponsor/')).body, EMPTY)
  assert.equal('sponsorblock' in (await app.doc('video', 'v1')), false)
  assert.equal(platform.skipSegments.calls.length, 0)
})

test('a service that fails, or sends invalid or too much data, changes nothing and fails nobody', async (t) => {
  let answer = (): { status: number; body: string } => ({ status: 500, body: '' })
  const server = createServer((_request, response) => {
    const { status, body } = answer()
    response.writeHead(status, { location: '/elsewhere' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const app = await testApp(t, {
    settings: { segmentsUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  })
  const known = {
    ...EMPTY,
    is_enabled: true,
    segments: [
      { UUID: 'a', actionType: 'skip', category: 'sponsor', segment: [1, 2], locked: 0, votes: 0, videoDuration: 0 },
    ],
  }
  await app.given(
    aChannel({ channel_overwrites: { integrate_sponsorblock: true } }),
    aVideo({ id: 'v1', sponsorblock: known }),
  )

  for (const bad of [
    { status: 500, body: '' },
    { status: 302, body: '' },
    { status: 200, body: '<html>' },
    { status: 200, body: '{"videoID":"v1"}' },
    { status: 200, body: `"${'x'.repeat(5 * 1024 * 1024)}"` },
  ]) {
    answer = () => bad
    await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'new' })
    assert.deepEqual(
      (await app.as('user').get('/api/video/v1/sponsor/')).body,
      known,
      `${bad.status} ${bad.body.slice(0, 20)}`,
    )
  }

  const odd = [
    { UUID: 'x', actionType: 'skip', category: 'sponsor', segment: [9, 2] },
    { UUID: 'y', actionType: 'skip', category: '<b>', segment: [1, 2] },
    7,
  ]
  answer = () => ({
    status: 200,
    body: JSON.stringify([
      { videoID: 'other', segments: [] },
      { videoID: 'v1', segments: odd },
    ]),
  })
  await app.app.segments.refresh('v1')
  assert.deepEqual((await app.as('user').get('/api/video/v1/sponsor/')).body.segments, [])
})

test('votes and new segments are checked, and sent nowhere', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const post = (id: string, body: object) => app.as('user').post(`/api/video/${id}/sponsor/`, body)

  for (const yourVote of [0, 1, 20])
    assert.deepEqual((await post('v1', { vote: { uuid: 'a', yourVote } })).body, { success: true })
  for (const segment of [
    { startTime: 1, endTime: 2.5 },
    { startTime: 3, endTime: 3 },
  ])
    assert.equal((await post('v1', { segment })).status, 200)

  const refused = [
    {},
    { vote: { uuid: 'a', yourVote: 1 }, segment: { startTime: 1, endTime: 2 } },
    { vote: { uuid: 'a' } },
    { vote: { yourVote: 1 } },
    { vote: { uuid: 'a', yourVote: 2 } },
    { vote: { uuid: 'a', yourVote: '1' } },
    { segment: { startTime: 2, endTime: 1 } },
    { segment: { startTime: -1, endTime: 1 } },
    { segment: { startTime: 1 } },
    { segment: { startTime: '1', endTime: 2 } },
  ]
  for (const body of refused) assert.equal((await post('v1', body)).status, 400, JSON.stringify(body))
  assert.equal((await post('unknown', { vote: { uuid: 'a', yourVote: 1 } })).status, 404)
  assert.equal((await app.as('user').get('/api/video/unknown/sponsor/')).status, 404)
  assert.deepEqual((await app.as('user').get('/api/video/v1/sponsor/')).body, EMPTY)
})

const HOUR = 3_600_000

/** Advances this many hours by halves; rounds of requests end in between. */
async function pass(app: TestApp, hours: number): Promise<void> {
  for (let half = 0; half < hours * 2; half++) {
    await app.clock.advance(HOUR / 2)
    while (app.app.jobs.open('segment.refresh').some(({ state }) => state !== 'RETRY')) {
      await app.clock.advance(1000)
      await setImmediate()
    }
  }
}

test('segments of new videos are read again every few hours for three days, those of old ones monthly', async (t) => {
  const { platform, segmentsUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { segmentsUrl } })
  await app.given(
    aChannel(),
    aChannel({ id: 'UC2', channel_overwrites: { integrate_sponsorblock: false } }),
    aVideo({ id: 'old', published: '2020-01-01' }),
    aVideo({ id: 'new', published: new Date(app.clock.now()).toISOString().slice(0, 10) }),
    aVideo({ id: 'not', channelId: 'UC2' }),
  )
  const prefixOf = new Map(
    ['old', 'new', 'not'].map((id) => [createHash('sha256').update(id).digest('hex').slice(0, 4), id]),
  )
  const askedFor = () =>
    (platform.skipSegments.calls.splice(0) as Array<{ path: string }>).map(({ path }) => prefixOf.get(path.slice(-4)))
  await pass(app, 3)
  assert.deepEqual(askedFor(), [], 'nobody has switched it on')

  await app.as('admin').post('/api/config/', { downloads: { integrate_sponsorblock: true } })
  await pass(app, 2)
  assert.deepEqual(askedFor().toSorted(), ['new', 'old'])
  platform.skipSegments.add('new', [{ segment: [1, 2], category: 'sponsor' }])
  await app.restart()
  await pass(app, 24)
  const inOneDay = askedFor()
  assert.ok(inOneDay.length >= 6 && inOneDay.length <= 8, `${inOneDay.length} times in a day`)
  assert.deepEqual([...new Set(inOneDay)], ['new'])
  assert.equal((await app.as('user').get('/api/video/new/sponsor/')).body.segments.length, 1)

  await app.clock.advance(3 * 24 * HOUR)
  await pass(app, 2)
  askedFor()
  await app.clock.advance(20 * 24 * HOUR)
  await pass(app, 2)
  assert.deepEqual(askedFor(), [])
  await app.clock.advance(10 * 24 * HOUR)
  await pass(app, 2)
  assert.deepEqual(askedFor().toSorted(), ['new', 'old'])
})

test('rounds begin again with a channel of its own setting that is restored from the bin', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await app.as('admin').post('/api/channel/UC1/', { channel_overwrites: { integrate_sponsorblock: true } })
  await app.as('admin').delete('/api/channel/UC1/')
  const isOpen = () => app.app.jobs.open('segment.refresh').length > 0
  for (let minutes = 0; isOpen(); minutes++) {
    assert.ok(minutes < 180, 'the rounds do not end')
    await app.clock.advance(60_000)
    await app.app.ledger.write(() => undefined)
  }

  await app.as('admin').post('/api/bin/restore/', { all: true })

  await app.settled()
  assert.ok(isOpen())
})

test('a service that does not answer gets three requests an hour, and one that limits the rate gets one', async (t) => {
  const { platform, segmentsUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { segmentsUrl } })
  await app.given(aChannel(), ...['a', 'b', 'c', 'd', 'e'].map((id) => aVideo({ id })))
  let status = 500
  t.mock.method(platform.skipSegments, 'answer', (_method: string, path: string) => {
    platform.skipSegments.calls.push({ path })
    return { status, body: '' }
  })
  await app.as('admin').post('/api/config/', { downloads: { integrate_sponsorblock: true } })

  while (app.app.jobs.open('segment.refresh').length === 0) await setImmediate()
  await app.app.jobs.start('segment.refresh')
  await pass(app, 0.5)
  assert.equal(platform.skipSegments.calls.splice(0).length, 3)
  status = 429
  await pass(app, 1)
  assert.equal(platform.skipSegments.calls.splice(0).length, 1)
  status = 404
  await pass(app, 1)
  assert.equal(platform.skipSegments.calls.length, 5, 'the next round reads all')
})

test('an account chooses the player’s action by category, among the existing ones', async (t) => {
  const app = await testApp(t)
  assert.deepEqual(SEGMENT_CATEGORIES, CATEGORIES)
  const post = (segments: object) => app.as('user').post('/api/config/user/', { segments })

  assert.deepEqual((await post({ sponsor: 'mute', intro: 'show' })).body.segments, { sponsor: 'mute', intro: 'show' })
  assert.equal((await app.as('admin').get('/api/config/user/')).body.segments, undefined)
  for (const wrong of [{ sponsor: 'skp' }, { poi_highlight: 'skip' }, { sponsor: true }, []])
    assert.equal((await post(wrong)).status, 400, JSON.stringify(wrong))
})
