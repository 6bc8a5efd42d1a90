/**
 * Download rules, with the real yt-dlp at the loopback platform: what a scan queues, and how many requests it sends.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MAX_WINDOW } from 'archivolt'
import { addLargeChannel } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const NEW = { info: { timestamp: 1_760_000_000, availability: 'public' }, tab: 'videos', clip: 'wide-3s' }

async function given(t: TestContext) {
  const loopback = await startTestPlatform(t)
  const app = await testApp(t, { settings: loopback.settings })
  const { catalogue } = loopback.platform
  const channelId = addLargeChannel(catalogue, { videos: 5, key: 'bulk0', hasPictures: false })
  const publish = (id: string, info: object = {}, more: object = {}) =>
    catalogue.put('videos', id, { ...NEW, channelId, info: { ...NEW.info, title: id, ...info }, ...more })
  const rule = async (outcome: string, conditions: object, more: object = {}) => {
    const body = { side: 'take', scope: { kind: 'channel', id: channelId }, outcome, conditions, ...more }
    const reply = await app.as('admin').post('/api/rule/', body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  return { app, loopback, channelId, publish, rule }
}

async function subscribe(app: TestApp, channelId: string, take?: unknown): Promise<void> {
  const data = [{ channel_id: channelId, channel_subscribed: true, ...(take !== undefined && { take }) }]
  const { body, text, status } = await app.as('admin').post('/api/channel/', { data })
  assert.equal(status, 200, text)
  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
}

async function scan(app: TestApp): Promise<string | null> {
  const { body } = await app.as('admin').post('/api/task-name/update_subscribed/')
  return (await app.app.jobs.ended(body.task_id)).result
}

async function queued(app: TestApp): Promise<string[]> {
  const { items } = await app.app.queue.list({ from: 0, size: MAX_WINDOW })
  return items.map(({ status, platform_id: id }) => `${status} ${id}`).sort()
}

test('what a listing contains decides at once: some are left out, some ignored, and members-only videos are never queued', async (t) => {
  const { app, channelId, loopback, publish, rule } = await given(t)
  await subscribe(app, channelId, 'new')
  await rule('skip', { title: { words: ['trailer'] } })
  await rule('ignore', { title: { pattern: '^teaser' } })
  publish('trailer0001')
  publish('teaserABC01')
  publish('wanted00001')
  publish('members0001')
  loopback.platform.faults.set('members0001', 'members_only')
  publish('upcoming001', { live_status: 'is_upcoming', release_timestamp: 4_000_000_000 })

  assert.equal(await scan(app), '1 new video found')
  const first = await queued(app)
  assert.equal(await scan(app), null)

  assert.deepEqual(first, ['ignore teaserABC01', 'pending wanted00001'])
  assert.deepEqual(await queued(app), first)
  const { body } = await app.as('admin').get('/api/rule/')
  assert.deepEqual([body.take.map((one: any) => one.left_out), body.members_only], [[1, 0], 1])
})

test('a listing with many rejected videos is read further: wanted ones behind them are found', async (t) => {
  const { app, channelId, publish, rule } = await given(t)
  await subscribe(app, channelId, 'all')
  await scan(app)
  await rule('skip', { title: { words: ['trailer'] } })
  publish('wanted00001', { timestamp: 1_800_000_000 })
  for (let at = 10; at < 25; at++) publish(`trailer00${at}`, { timestamp: 1_800_000_000 + at })

  assert.equal(await scan(app), '1 new video found')

  assert.ok((await queued(app)).includes('pending wanted00001'))
  assert.equal(await scan(app), null)
})

test('what no listing contains is requested once, before the download; the answer decides', async (t) => {
  const { app, channelId, publish, rule } = await given(t)
  await subscribe(app, channelId, 'new')
  const { id } = await rule('skip', { views_below: 1000 })
  publish('few00000001', { view_count: 10 })
  publish('many0000001', { view_count: 5000 })
  const asked: string[] = []
  const ask = app.app.platform.video
  t.mock.method(app.app.platform, 'video', (video: string, ...more: [any]) => {
    asked.push(video)
    return ask(video, ...more)
  })

  assert.equal(await scan(app), '2 new videos found')
  assert.deepEqual(asked, [], 'a scan asks nothing more')
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()
  assert.deepEqual(await app.ids('video'), ['many0000001'])
  assert.deepEqual(await queued(app), [])
  assert.equal(await scan(app), null)
  await app.as('admin').post(`/api/rule/${id}/`, { conditions: { views_below: 2000 } })
  assert.equal(await scan(app), null, 'the answer is kept when rules change')

  assert.deepEqual(asked.toSorted(), ['few00000001', 'many0000001'])
})

test('a rule downloads some videos as sound only, and others as their channel says', async (t) => {
  const { app, channelId, publish, rule } = await given(t)
  await subscribe(app, channelId, 'new')
  await rule('take', { title: { words: ['podcast'] } }, { quality: { quality_codec: 'sound' } })
  publish('podcast0001')
  publish('another0001')
  const wishes = new Map<string, string | undefined>()
  t.mock.method(app.app.platform, 'download', async (id: string, { quality }: { quality?: { codec: string } }) => {
    wishes.set(id, quality?.codec)
    throw new Error('not now')
  })

  await scan(app)
  await app.as('admin').post('/api/task-name/download_pending/')
  while (wishes.size < 2) await app.clock.advance(3_600_000)

  assert.deepEqual(Object.fromEntries(wishes), { podcast0001: 'sound', another0001: 'best' })
})

test('a scan with fifty download rules sends no additional requests to the platform', async (t) => {
  const { app, channelId, loopback, publish, rule } = await given(t)
  await subscribe(app, channelId, 'new')
  const requests = async () => {
    const before = loopback.platform.requests?.length ?? 0
    await scan(app)
    return (loopback.platform.requests?.length ?? 0) - before
  }
  publish('plain000001')
  const without = await requests()
  for (let at = 0; at < 50; at++) await rule('skip', { title: { words: [`nothing like ${at}`] }, languages: ['xx'] })
  publish('plain000002')

  assert.equal(await requests(), without)
  assert.deepEqual(await queued(app), ['pending plain000001', 'pending plain000002'])
})

test('wishes of a subscription are rules before its first scan: ten of the wanted videos are queued', async (t) => {
  const { app, channelId, publish } = await given(t)
  for (let at = 10; at < 25; at++)
    publish(at % 3 === 0 ? `trailer00${at}` : `wanted000${at}`, { timestamp: 1_800_000_000 + at })
  publish('short000001', { timestamp: 1_800_000_000 }, { tab: 'shorts' })
  const wishes = { skip_kinds: ['shorts'], skip_titles: ['trailer'], keep: { newest: 3 } }
  const data = [{ channel_id: channelId, channel_subscribed: true, take: 10, wishes }]
  // All stay in the queue.
  t.mock.method(app.app.platform, 'download', async () => {
    throw new Error('not now')
  })

  for (let time = 0; time < 2; time++) {
    const { body, status, text } = await app.as('admin').post('/api/channel/', { data })
    assert.equal(status, 200, text)
    assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
  }

  assert.deepEqual(
    (await queued(app)).map((line) => line.split(' ')[1]),
    Array.from({ length: 15 }, (_, at) => at + 10)
      .filter((at) => at % 3 !== 0)
      .map((at) => `wanted000${at}`),
  )
  const { body: rules } = await app.as('admin').get(`/api/rule/?channel=${channelId}`)
  assert.deepEqual(
    [...rules.take, ...rules.keep].map(({ side, outcome, conditions }: any) => [side, outcome, conditions]),
    [
      ['take', 'skip', { kinds: ['shorts'] }],
      ['take', 'skip', { title: { words: ['trailer'] } }],
      ['keep', 'remove', { not_newest: { count: 3 } }],
    ],
  )
  assert.equal((await app.as('admin').get('/api/rule/?channel=UCother')).body.take.length, 0)
  const bad = await app.as('admin').post('/api/channel/', { data: [{ ...data[0], wishes: { keep: { newest: 0 } } }] })
  assert.equal(bad.status, 400)
})

test('premieres and sizes are known once the platform is asked', async (t) => {
  const { app, channelId, publish, rule } = await given(t)
  await subscribe(app, channelId, 'new')
  const { asks } = await rule('skip', { kinds: ['premieres'], longer_than: 1 })
  assert.deepEqual(asks, ['kinds'])
  publish('premiere001')
  publish('ordinary001')
  const ask = app.app.platform.video
  t.mock.method(app.app.platform, 'video', async (id: string, ...more: [any]) => ({
    ...(await ask(id, ...more)),
    ...(id === 'premiere001' && { isPremiere: true }),
  }))

  assert.equal(await scan(app), '2 new videos found')
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()

  assert.deepEqual(await app.ids('video'), ['ordinary001'])
})

test('a single video that a person requests is downloaded, although a rule was to decide about it', async (t) => {
  const { app, channelId, publish, rule } = await given(t)
  await subscribe(app, channelId, 'new')
  await rule('skip', { views_below: 1000 })
  const ids = ['still000001', 'removed0001', 'nobody00001']
  const [still, removed] = ids as [string, string]
  for (const id of ids) publish(id, { view_count: 10 })
  await scan(app)
  await app.as('admin').delete(`/api/download/${removed}/`)

  for (const id of [still, removed]) await app.as('admin').post('/api/download/', { data: [{ platform_id: id }] })
  await app.settled()
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()

  assert.deepEqual((await app.ids('video')).toSorted(), [removed, still])
  assert.deepEqual(await queued(app), [])
})
