/** Skip segments through the public door, read from the loopback platform's segment service. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startTestPlatform } from '../../platform/start.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

const EMPTY = { is_enabled: false, has_unlocked: false, segments: [] }

test('segments of a new video are read by four digits of a hash and shown with the video', async (t) => {
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

test('one locked segment means that not all are open; a video without any has an empty list', async (t) => {
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

test('the channel decides over the setting, and what is not wanted any more goes', async (t) => {
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

test('a service that fails, talks nonsense or sends too much changes nothing and fails nobody', async (t) => {
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

test('votes and new segments are checked, and go nowhere', async (t) => {
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
