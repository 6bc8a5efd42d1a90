/**
 * A child asks for something outside of its view; a parent allows the video or its channel, or refuses; on both
 * indexes.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { NO_PLATFORM } from '../../platform/start.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { aReceiver } from '../../support/receiver.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

const CHILD = 3
const HOSTILE = '<img src=x onerror=alert(1)>'

async function household(t: TestContext, settings: object = {}, view: object = { channel: ['UC1'] }) {
  const app = await testApp(t, { settings })
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Harbour' }),
    aChannel({ id: 'UC2', channel_name: 'Night' }),
    aVideo({ id: 'seen', title: 'Bread one', channelId: 'UC1' }),
    aVideo({ id: 'hidden', title: `Bread ${HOSTILE}`, channelId: 'UC2' }),
    aVideo({ id: 'other', title: 'Bread three', channelId: 'UC2' }),
  )
  const [admin, child] = [app.as('admin'), app.as('child')]
  assert.equal((await admin.post('/api/user/', { username: 'child', password: PASSWORD, view })).status, 200)
  await admin.post('/api/config/', { asks: { in_search: true } })
  const videos = async () =>
    (await child.get('/api/video/')).body.data.map(({ platform_id }: any) => platform_id).toSorted()
  const offers = async () =>
    (await child.get('/api/ask/offer/?query=bread')).body
      .map(({ video_id, state }: any) => [video_id, state])
      .toSorted()
  return { app, admin, child, videos, offers }
}

for (const { index, skip } of INDEXES)
  describe(`asks on ${index}`, { skip }, () => {
    test('a search offers hidden videos, without their picture; an ask is answered with the video alone', async (t) => {
      const { admin, child, videos, offers } = await household(t, await indexSettings(t, index, 'ask'))
      const { body } = await child.get('/api/ask/offer/?query=bread')
      assert.deepEqual(
        body.toSorted((one: any, two: any) => (one.video_id < two.video_id ? -1 : 1)),
        [
          { video_id: 'hidden', title: `Bread ${HOSTILE}`, channel_name: 'Night', state: 'open' },
          { video_id: 'other', title: 'Bread three', channel_name: 'Night', state: 'open' },
        ],
      )
      assert.equal((await child.get('/cache/videos/h/hidden.jpg')).status, 404)
      assert.equal((await child.post('/api/ask/', { video_id: 'hidden' })).body.state, 'waiting')
      assert.equal((await child.post('/api/ask/', { video_id: 'hidden' })).status, 200, 'the same again is one')
      const { body: waiting } = await admin.get('/api/ask/')
      assert.deepEqual(
        waiting.map(({ id, username, video_id, channel_name }: any) => [id, username, video_id, channel_name]),
        [[1, 'child', 'hidden', 'Night']],
      )
      assert.equal((await admin.post('/api/ask/1/', { answer: 'video' })).status, 200)
      assert.deepEqual(await videos(), ['hidden', 'seen'])
      assert.equal((await child.get('/api/video/hidden/')).status, 200)
      assert.deepEqual(await offers(), [['other', 'open']])
      assert.deepEqual(
        (await child.get('/api/ask/own/')).body.map(({ video_id, state }: any) => [video_id, state]),
        [['hidden', 'allowed']],
      )
      await child.post('/api/ask/', { video_id: 'other' })
      assert.equal((await admin.post('/api/ask/2/', { answer: 'video' })).status, 200)
      assert.deepEqual(await videos(), ['hidden', 'other', 'seen'])
      const { view } = (await admin.get(`/api/user/${CHILD}/`)).body
      assert.deepEqual([view.channel, view.playlist.length], [['UC1'], 1], 'one playlist has them all')
    })

    test('a channel is allowed as a whole, even if a view hides it', async (t) => {
      const { admin, child, videos, offers } = await household(t, await indexSettings(t, index, 'askchannel'))
      await child.post('/api/ask/', { video_id: 'hidden' })
      assert.equal((await admin.post('/api/ask/1/', { answer: 'channel' })).status, 200)
      assert.deepEqual(await videos(), ['hidden', 'other', 'seen'])

      await admin.post(`/api/user/${CHILD}/`, { view: { not_channel: ['UC2'] } })
      assert.deepEqual(await offers(), [
        ['hidden', 'open'],
        ['other', 'open'],
      ])
      await child.post('/api/ask/', { video_id: 'other' })
      assert.equal((await admin.post('/api/ask/2/', { answer: 'video' })).status, 200)
      assert.deepEqual(await videos(), ['other', 'seen'], 'an exception shows a video of a hidden channel')
      assert.deepEqual(await offers(), [['hidden', 'open']])
      await child.post('/api/ask/', { video_id: 'hidden' })
      assert.equal((await admin.post('/api/ask/3/', { answer: 'channel' })).status, 200)
      assert.deepEqual(await videos(), ['hidden', 'other', 'seen'])

      await admin.post(`/api/user/${CHILD}/`, { view: { channel: ['UC1'] } })
      const own = async () =>
        (await child.get('/api/ask/own/')).body.map(({ video_id, state, is_new }: any) => [video_id, state, is_new])
      assert.deepEqual(await own(), [
        ['hidden', 'open', false],
        ['other', 'open', false],
      ])
      assert.equal((await child.post('/api/ask/', { video_id: 'hidden' })).body.state, 'waiting', 'it is hidden again')
    })
  })

test('admins get one message for each ask until it is answered, also after a restart; a refusal holds', async (t) => {
  const { admin, app, child, offers } = await household(t)
  await admin.post('/api/user/', { username: 'second', password: PASSWORD, view: {} })
  await child.post('/api/ask/', { video_id: 'hidden' })
  await app.as('second').post('/api/ask/', { video_id: 'hidden' })
  const told = async () =>
    (await admin.get('/api/notification/')).body.filter(({ group }: any) => group.startsWith('ask:'))
  assert.deepEqual(
    (await told()).map(({ messages, group }: any) => [messages, group]),
    [
      [[`child asks for “Bread ${HOSTILE}”`], 'ask:1'],
      [[`second asks for “Bread ${HOSTILE}”`], 'ask:2'],
    ],
  )
  const others = (await app.as('user').get('/api/notification/')).body
  assert.ok(!others.some(({ group }: any) => group.startsWith('ask:')), 'only admins')
  await child.post('/api/ask/', { video_id: 'hidden' })
  await app.restart()
  assert.equal((await told()).length, 2)
  assert.deepEqual((await child.get('/api/notification/')).body, [])
  assert.equal((await admin.get('/api/ask/')).body.length, 2)
  for (const id of [1, 2]) assert.equal((await admin.post(`/api/ask/${id}/`, { answer: 'no' })).status, 200)
  assert.equal((await admin.post('/api/ask/1/', { answer: 'video' })).status, 404, 'it has been answered')
  assert.deepEqual(
    (await told()).map(({ messages, group }: any) => [messages, group]),
    ['child', 'second'].map((name) => [[`admin said no to ${name}: “Bread ${HOSTILE}”`], 'ask:answered']),
  )
  assert.equal((await child.get('/api/ask/own/')).body[0].is_new, true)
  assert.equal((await child.post('/api/ask/own/')).status, 200)
  assert.deepEqual((await child.get('/api/ask/own/')).body, [
    { video_id: 'hidden', title: `Bread ${HOSTILE}`, channel_name: 'Night', state: 'refused', is_new: false },
  ])
  assert.deepEqual(await offers(), [
    ['hidden', 'refused'],
    ['other', 'open'],
  ])
  assert.equal((await child.post('/api/ask/', { video_id: 'hidden' })).body.state, 'refused')
  assert.deepEqual((await admin.get('/api/ask/')).body, [])
})

test('nothing can be offered or asked for unless admins have permitted it, nor by an account that sees everything', async (t) => {
  const { admin, app, child, offers } = await household(t)
  assert.deepEqual((await app.as('user').get('/api/ask/offer/?query=bread')).body, [])
  assert.equal((await app.as('user').post('/api/ask/', { video_id: 'hidden' })).status, 404)
  assert.equal((await child.post('/api/ask/', { video_id: 'seen' })).status, 409)
  const none = await child.post('/api/ask/', { video_id: 'none' })
  await admin.post('/api/config/', { asks: { in_search: false } })
  assert.deepEqual(await offers(), [])
  const hidden = await child.post('/api/ask/', { video_id: 'hidden' })
  assert.deepEqual([hidden.status, hidden.body.error], [404, none.body.error], 'it tells nothing of what is there')
  for (const who of ['user', 'child'])
    assert.equal((await app.as(who).post('/api/ask/1/', { answer: 'video' })).status, 403)
  assert.equal((await child.get('/api/ask/')).status, 403)
})

test('simultaneous answers fill one playlist, and only the first answer to an ask counts', async (t) => {
  const { admin, child, videos } = await household(t)
  for (const video_id of ['hidden', 'other']) await child.post('/api/ask/', { video_id })
  const shown = await Promise.all([1, 2].map((id) => admin.post(`/api/ask/${id}/`, { answer: 'video' })))
  assert.deepEqual(
    shown.map(({ status }) => status),
    [200, 200],
  )
  assert.deepEqual(await videos(), ['hidden', 'other', 'seen'])
  const { view } = (await admin.get(`/api/user/${CHILD}/`)).body
  assert.equal(view.playlist.length, 1)

  await admin.post(`/api/user/${CHILD}/`, { view: { channel: ['UC1'] } })
  await child.post('/api/ask/', { video_id: 'hidden' })
  const both = await Promise.all(['no', 'channel'].map((answer) => admin.post('/api/ask/3/', { answer })))

  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 404],
  )
  assert.deepEqual(await videos(), ['seen'])
})

test('at most twenty asks are pending, and all are removed with their account', async (t) => {
  const { admin, app, child } = await household(t)
  await app.given(...Array.from({ length: 21 }, (_, at) => aVideo({ id: `v${at}`, title: 'Cake', channelId: 'UC2' })))
  for (let at = 0; at < 20; at++) assert.equal((await child.post('/api/ask/', { video_id: `v${at}` })).status, 200)
  assert.equal((await child.post('/api/ask/', { video_id: 'v20' })).status, 429)
  await admin.post('/api/ask/1/', { answer: 'no' })
  assert.equal((await child.post('/api/ask/', { video_id: 'v20' })).status, 200)
  await admin.delete(`/api/user/${CHILD}/`)
  assert.deepEqual((await admin.get('/api/ask/')).body, [])
})

test('asks and their answers are sent to webhooks that have selected them', async (t) => {
  const { received, port, until } = await aReceiver<{ type: string; data: unknown }>(t)
  const { admin, child } = await household(t, { privateHosts: ['127.0.0.1'] })
  const url = `http://127.0.0.1:${port}/`
  const { status } = await admin.post('/api/webhook/', { name: 'Home', url, events: ['ask.made', 'ask.answered'] })
  assert.equal(status, 200)

  await child.post('/api/ask/', { video_id: 'hidden' })
  await admin.post('/api/ask/1/', { answer: 'no' })
  await until(2)

  const asked = { id: 1, username: 'child', video_id: 'hidden', title: `Bread ${HOSTILE}` }
  assert.deepEqual(
    received.map(({ type, data }) => [type, data]),
    [
      ['ask.made', asked],
      ['ask.answered', { ...asked, answer: 'no' }],
    ],
  )
})

test('a video whose id consists of letters can be asked for, while an ordinary word offers none', async (t) => {
  const { child } = await household(t, NO_PLATFORM)
  assert.equal((await child.post('/api/ask/', { video_id: 'AbCdEfGhIjK' })).body.state, 'waiting')
  assert.deepEqual((await child.get('/api/ask/offer/?query=AbCdEfGhIjL')).body, [])
  assert.equal((await child.post('/api/ask/', { video_id: 'AbCdEfGhIj' })).status, 404, 'no id of a video')
})
