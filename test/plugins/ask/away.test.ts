/** A child asks for a video of the platform, a parent allows it, and it is downloaded and shown; on both indexes. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { aChannel, aQueued, aVideo, PASSWORD, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const TITLE = 'Rebuilding the breakwater, stone by stone'
const offerPath = (text: string) => `/api/ask/offer/?query=${encodeURIComponent(text)}`

async function household(t: TestContext, settings: object = {}, view: object = { channel: ['UC1'] }) {
  const { settings: ofPlatform, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { ...settings, ...ofPlatform } })
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'seen', channelId: 'UC1' }))
  const [admin, child] = [app.as('admin'), app.as('child')]
  await admin.post('/api/user/', { username: 'child', password: PASSWORD, view })
  await admin.post('/api/config/', { asks: { in_search: true } })
  return { app, admin, child, platform }
}

for (const { index, skip } of INDEXES)
  describe(`asks for videos that are not in the archive, on ${index}`, { skip }, () => {
    for (const [answer, view] of [
      ['video', { channel: ['UC1'] }],
      ['channel', { channel: ['UC1'] }],
      ['video', { not_channel: ['UC1'] }],
    ] as const)
      test(`a link is offered, allowed as ${answer}, downloaded and shown (${Object.keys(view)[0]})`, async (t) => {
        const settings = await indexSettings(t, index, `askaway${answer}${Object.keys(view)[0]!.length}`)
        const { app, admin, child } = await household(t, settings, view)
        const { body: offers } = await child.get(offerPath(`https://www.youtube.com/watch?v=${VIDEO.breakwater}`))
        assert.deepEqual(
          offers.map(({ video_id, title, state }: any) => [video_id, title, state]),
          [[VIDEO.breakwater, TITLE, 'open']],
        )
        assert.match(offers[0].picture, /^data:image\/jpeg;base64,/)
        assert.equal((await child.post('/api/ask/', { video_id: VIDEO.breakwater })).body.state, 'waiting')
        const [asked] = (await admin.get('/api/ask/')).body
        assert.deepEqual([asked.title, asked.is_away, asked.channel_id], [TITLE, true, ''])
        assert.equal((await admin.post('/api/ask/1/', { answer })).status, 200)
        assert.match((await child.get('/api/ask/own/')).body[0].state, /coming|allowed/)
        await app.settled()
        const [own] = (await child.get('/api/ask/own/')).body
        assert.deepEqual([own.state, own.is_new], ['allowed', true])
        const { data: video } = (await child.get(`/api/video/${VIDEO.breakwater}/`)).body
        assert.equal(video.title, TITLE)
        assert.equal((await child.get(video.media_url)).status, 200)
        if (answer === 'channel') {
          const { view: now } = (await admin.get('/api/user/3/')).body
          assert.deepEqual(now.channel, ['UC1', CHANNEL.harbour])
        }
      })
  })

test('the platform is asked for links and ids only, not for words, and only up to a limit', async (t) => {
  const { child, app, platform } = await household(t)
  const asked = () => platform.requests.length
  for (const words of ['fog', 'hippopotami', `${VIDEO.fog} ${VIDEO.ferry}`, CHANNEL.harbour])
    assert.deepEqual((await child.get(offerPath(words))).body, [], words)
  assert.equal((await child.post('/api/ask/', { video_id: 'none' })).status, 404)
  assert.equal(asked(), 0)
  assert.deepEqual((await child.get(offerPath('goneDelete1'))).body, [], 'the platform has no such video')
  for (let at = 0; at < 30; at++) await child.get(offerPath(VIDEO.fog))
  const before = asked()
  const { body } = await child.get(offerPath(VIDEO.ferry))
  assert.deepEqual(body, [{ video_id: VIDEO.ferry, title: VIDEO.ferry, channel_name: '', state: 'open' }])
  assert.equal(asked(), before, 'an hour has its limit; asking is still possible')
  assert.equal((await child.post('/api/ask/', { video_id: VIDEO.ferry })).body.state, 'waiting')
  assert.deepEqual((await app.as('user').get(offerPath(VIDEO.ferry))).body, [])
})

test('an answer survives a stop before the film has arrived', async (t) => {
  const { app, admin, child } = await household(t)
  await child.post('/api/ask/', { video_id: VIDEO.breakwater })
  await admin.post('/api/ask/1/', { answer: 'video' })
  await app.restart()
  await app.settled()
  assert.equal((await child.get('/api/ask/own/')).body[0].state, 'allowed')
  assert.equal((await child.get(`/api/video/${VIDEO.breakwater}/`)).status, 200)
})

test('an allowed video that was ignored, has failed or is in the queue is downloaded, too', async (t) => {
  const { app, admin, child } = await household(t)
  const states = { ignore: VIDEO.breakwater, failed: VIDEO.fog, pending: VIDEO.ferry }
  for (const [state, id] of Object.entries(states))
    await app.given(
      aQueued({
        id,
        status: state === 'ignore' ? 'ignore' : 'pending',
        ...(state === 'failed' && { error_class: 'gone', message: 'Video unavailable' }),
      }),
    )
  for (const video_id of Object.values(states))
    assert.equal((await child.post('/api/ask/', { video_id })).body.state, 'waiting')
  for (const { id } of (await admin.get('/api/ask/')).body)
    assert.equal((await admin.post(`/api/ask/${id}/`, { answer: 'video' })).status, 200)
  await app.settled()
  assert.deepEqual(
    (await child.get('/api/ask/own/')).body.map(({ video_id, state }: any) => [video_id, state]).toSorted(),
    Object.values(states)
      .map((id) => [id, 'allowed'])
      .toSorted(),
  )
})

test('an allowed video that cannot be downloaded has failed, and may be asked for again', async (t) => {
  const { app, admin, child, platform } = await household(t)
  const stateOf = async () => (await child.get('/api/ask/own/')).body[0].state
  const askFor = async () => (await child.post('/api/ask/', { video_id: VIDEO.breakwater })).body.state
  const allow = async (id: number) =>
    assert.equal((await admin.post(`/api/ask/${id}/`, { answer: 'video' })).status, 200)
  assert.equal(await askFor(), 'waiting')
  platform.faults.set(VIDEO.breakwater, 'removed')
  await allow(1)
  await app.settled()

  assert.equal(await stateOf(), 'failed')
  assert.equal((await child.get(offerPath(VIDEO.breakwater))).body[0].state, 'open')
  assert.equal(await askFor(), 'waiting')

  platform.faults.clear()
  await allow(2)
  await app.settled()
  assert.equal(await stateOf(), 'allowed')
  assert.equal((await child.get(`/api/video/${VIDEO.breakwater}/`)).status, 200)
})

test('an allowed video is shown once it is restored from the bin', async (t) => {
  const { app, admin, child, platform } = await household(t)
  await app.given(aChannel({ id: 'UC2' }), aVideo({ id: VIDEO.fog, channelId: 'UC2' }))
  const { body: removed } = await admin.delete(`/api/video/${VIDEO.fog}/`)
  await child.post('/api/ask/', { video_id: VIDEO.fog })
  platform.faults.set(VIDEO.fog, 'removed')
  await admin.post('/api/ask/1/', { answer: 'video' })
  await app.settled()

  assert.equal((await admin.post('/api/bin/restore/', { removal: removed.removal })).status, 200)
  await app.settled()

  assert.equal((await child.get('/api/ask/own/')).body[0].state, 'allowed')
  assert.equal((await child.get(`/api/video/${VIDEO.fog}/`)).status, 200)
})

test('an allowed video that an admin removes from the queue is no longer coming', async (t) => {
  const { app, admin, child } = await household(t)
  await app.given(aQueued({ id: VIDEO.fog }))
  await child.post('/api/ask/', { video_id: VIDEO.fog })
  await admin.post('/api/ask/1/', { answer: 'channel' })
  assert.equal((await child.get('/api/ask/own/')).body[0].state, 'coming')
  assert.equal((await admin.delete(`/api/download/${VIDEO.fog}/`)).status, 200)
  await app.settled()
  assert.equal((await child.get('/api/ask/own/')).body[0].state, 'failed')
})

test('a child whose view is full does not keep others from what they were allowed', async (t) => {
  const { app, admin, child } = await household(t)
  const full = Array.from({ length: 500 }, (_, at) => `UC${at}`)
  await app.given(...full.filter((id) => id !== 'UC1').map((id) => aChannel({ id })))
  const { status, text } = await admin.post('/api/user/3/', { view: { channel: full } })
  assert.equal(status, 200, text)
  await admin.post('/api/user/', { username: 'other', password: PASSWORD, view: { channel: ['UC1'] } })
  const other = app.as('other')
  for (const one of [child, other]) await one.post('/api/ask/', { video_id: VIDEO.breakwater })

  for (const { id } of (await admin.get('/api/ask/')).body)
    assert.equal((await admin.post(`/api/ask/${id}/`, { answer: 'channel' })).status, 200)
  await app.settled()

  const stateOf = async (one: typeof child) => (await one.get('/api/ask/own/')).body[0].state
  assert.deepEqual([await stateOf(child), await stateOf(other)], ['coming', 'allowed'])
  assert.equal((await other.get(`/api/video/${VIDEO.breakwater}/`)).status, 200)
})
