/** New videos are found within minutes, by the platform's feed of each subscribed channel. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { fetchFeed, NoFeed } from '../../../plugins/platform/feed.ts'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { listening } from '../../support/listening.ts'
import { aChannel, type TestApp, testApp } from '../../support/testing.ts'

const MINUTE = 60_000

async function given(t: TestContext): Promise<{ app: TestApp; loopback: TestPlatform }> {
  const loopback = await startTestPlatform(t)
  const app = await testApp(t, { settings: loopback.settings })
  await app.as('admin').post('/api/config/', { platform: { request_pause: 0 } })
  await app.given(
    aChannel({ id: CHANNEL.harbour, channel_subscribed: true }),
    aChannel({ id: CHANNEL.workshop, channel_subscribed: true }),
    aChannel({ id: CHANNEL.orbit, channel_subscribed: false }),
    aChannel({ id: 'peertube.example@someone', channel_subscribed: true }),
  )
  return { app, loopback }
}

const feedRequests = ({ platform }: TestPlatform) =>
  platform.requests.filter(({ path }: { path: string }) => path === '/feeds/videos.xml')

/** Waits for the next round, which begins within eleven minutes, and takes seconds. */
async function round(app: TestApp, loopback: TestPlatform, count = 2): Promise<void> {
  const before = feedRequests(loopback).length
  for (let idleSeconds = 0; feedRequests(loopback).length < before + count; ) {
    assert.ok(idleSeconds < 800, 'no round within eleven minutes')
    await app.clock.advance(1000)
    // Waits for the disk: a round begins with writes.
    await app.app.ledger.write(() => undefined)
    // Requests of a running round take real time.
    if (!isRunning(app)) idleSeconds++
  }
  await rounded(app)
}

const isRunning = (app: TestApp) => app.app.jobs.open('subscription.feeds').some(({ state }) => state === 'STARTED')

async function rounded(app: TestApp): Promise<void> {
  while (isRunning(app)) await app.clock.advance(1000)
  await app.settled()
}

const isQueued = (app: TestApp, id: string) => app.app.queue.known([id]).has(id)

test('a new video is queued within minutes, by one conditional request per channel, and one scan of its channel', async (t) => {
  const { app, loopback } = await given(t)
  await app.restart()
  await round(app, loopback)
  assert.equal(
    (await app.as('admin').get('/api/download/')).body.paginate.total_hits,
    0,
    'old videos are left to scans',
  )

  await round(app, loopback)
  assert.deepEqual(
    feedRequests(loopback).map(({ status }: { status: number }) => status),
    [200, 200, 304, 304],
  )
  const { platform } = loopback
  const { info, ...like } = platform.catalogue.video(VIDEO.stool)
  platform.catalogue.put('videos', 'brandnewvid', {
    ...like,
    info: { ...info, title: 'New', timestamp: 1_768_000_000 },
  })
  const others = platform.requests.length
  await round(app, loopback)

  assert.ok(isQueued(app, 'brandnewvid'))
  const asked = platform.requests.slice(others).map(({ path }: { path: string }) => path)
  assert.ok(asked.some((path: string) => path.startsWith(`/api/channel/${CHANNEL.workshop}/`)))
  assert.ok(!asked.some((path: string) => path.includes(CHANNEL.harbour)), 'the other channel is not scanned')
  const budget = (await app.as('admin').get('/api/platform/')).body
  assert.doesNotMatch(JSON.stringify(budget.budgets ?? ''), /"used":[1-9]/, 'no video was asked for')

  const scanned = platform.requests.length
  await round(app, loopback)
  assert.equal(platform.requests.length, scanned + 2, 'what was seen is not looked for again')
})

test('a feed that is sent again without a change is not written again', async (t) => {
  const { app, loopback } = await given(t)
  await app.restart()
  const { feed } = app.app.platform
  t.mock.method(app.app.platform, 'feed', (id: string, _tag: object, signal: AbortSignal) => feed(id, {}, signal))
  const changes: number[] = []
  const { sql } = app.app.ledger
  t.mock.method(app.app.ledger, 'sql', (text: string) => {
    const statement = sql(text)
    if (!text.includes('INTO subscription_feed')) return statement
    return { run: (...given: unknown[]) => changes.push(statement.run(...given).changes) }
  })
  await round(app, loopback)

  await round(app, loopback)

  assert.deepEqual(
    feedRequests(loopback).map(({ status }: { status: number }) => status),
    [200, 200, 200, 200],
  )
  assert.deepEqual(changes, [1, 1, 0, 0])
})

test('rounds are off if the setting is off, and pause for an hour after a refusal', async (t) => {
  const { app, loopback } = await given(t)
  loopback.platform.faults.set('global', { name: 'feed_status', status: 429 })
  await app.restart()
  await round(app, loopback, 1)
  await app.clock.advance(50 * MINUTE)
  assert.equal(feedRequests(loopback).length, 1, 'the second channel is not asked either')
  loopback.platform.faults.clear()
  await app.clock.advance(12 * MINUTE)
  await rounded(app)
  assert.equal(feedRequests(loopback).length, 3)

  await app.as('admin').post('/api/config/', { subscriptions: { feeds: false } })
  await app.clock.advance(30 * MINUTE)
  await rounded(app)
  assert.equal(feedRequests(loopback).length, 3)
  await app.as('admin').post('/api/config/', { subscriptions: { feeds: true } })
  await round(app, loopback)
})

test('rounds begin again with a subscribed channel that is restored from the bin', async (t) => {
  const { app, loopback } = await given(t)
  await app.restart()
  await app.app.channels.collection.remove('peertube.example@someone')
  for (const id of [CHANNEL.harbour, CHANNEL.workshop])
    assert.equal((await app.as('admin').delete(`/api/channel/${id}/`)).status, 200)
  // The last round finds no subscribed channel.
  for (let idleSeconds = 0; app.app.jobs.open('subscription.feeds').length > 0; ) {
    assert.ok(idleSeconds < 800, 'the rounds do not end')
    if (!isRunning(app)) idleSeconds++
    await app.clock.advance(1000)
    await app.app.ledger.write(() => undefined)
  }

  await app.as('admin').post('/api/bin/restore/', { all: true })

  await round(app, loopback)
})

test('a channel without a feed, and one that fails, do not prevent requests to others', async (t) => {
  const { app, loopback } = await given(t)
  loopback.platform.faults.set(CHANNEL.harbour, { name: 'feed_status', status: 404 })
  await app.restart()
  await round(app, loopback)
  assert.deepEqual(
    feedRequests(loopback)
      .map(({ status }: { status: number }) => status)
      .sort(),
    [200, 404],
  )

  loopback.platform.faults.set(CHANNEL.harbour, { name: 'feed_status', status: 503 })
  await round(app, loopback)
  assert.equal(feedRequests(loopback).length, 4)
})

test('a failed round is not the last one', async (t) => {
  const { app, loopback } = await given(t)
  const { collection } = app.app.channels
  const { scan } = collection
  Object.assign(collection, {
    scan() {
      throw new Error('disk I/O error')
    },
  })
  await app.app.jobs.start('subscription.feeds')
  await app.clock.advance(1000)
  await rounded(app)
  assert.equal(feedRequests(loopback).length, 0)

  Object.assign(collection, { scan })
  await round(app, loopback)

  assert.equal(feedRequests(loopback).length, 2)
})

test('a clock that is set back during a round does not delay the next one', async (t) => {
  const { app, loopback } = await given(t)
  await app.app.jobs.start('subscription.feeds')
  while (feedRequests(loopback).length === 0) await app.clock.advance(100)
  app.clock.set(app.clock.now() - 365 * 24 * 60 * MINUTE)
  await rounded(app)

  await round(app, loopback)

  assert.equal(feedRequests(loopback).length, 4)
})

test('a clock that is set back by days between two rounds does not delay the next one', async (t) => {
  const { app, loopback } = await given(t)
  await app.app.jobs.start('subscription.feeds')
  await round(app, loopback)
  app.clock.set(app.clock.now() - 2 * 24 * 60 * MINUTE)

  await round(app, loopback)

  assert.equal(feedRequests(loopback).length, 4)
})

test('a new video whose channel could not be listed is found by the next round', async (t) => {
  const { app, loopback } = await given(t)
  const { platform } = loopback
  await app.restart()
  await round(app, loopback)
  const { info, ...like } = platform.catalogue.video(VIDEO.stool)
  platform.catalogue.put('videos', 'brandnewvid', {
    ...like,
    info: { ...info, title: 'New', timestamp: 1_768_000_000 },
  })
  platform.faults.set(CHANNEL.workshop, { name: 'api_status', status: 503 })
  await round(app, loopback)
  assert.ok(!isQueued(app, 'brandnewvid'))

  platform.faults.clear()
  await round(app, loopback)

  assert.ok(isQueued(app, 'brandnewvid'))
})

test('channels with new videos are scanned once each, however many appear during a scan', async (t) => {
  const { app, loopback } = await given(t)
  const admin = app.as('admin')
  await admin.post('/api/platform/', { command: 'pause' })
  for (const id of [CHANNEL.harbour, CHANNEL.workshop]) await app.app.jobs.start('subscription.new', { ids: [id] })

  await admin.post('/api/platform/', { command: 'resume' })
  await app.settled()

  const tabs = loopback.platform.requests
    .map(({ path }: { path: string }) => path)
    .filter((path: string) => /^\/api\/channel\/[^/]+\/videos/.test(path))
  assert.deepEqual(tabs.map((path: string) => path.split('/')[3]).sort(), [CHANNEL.harbour, CHANNEL.workshop].sort())
})

test('only a feed of reasonable size is read, and only ids are used', async (t) => {
  const entry = (id: string) => `<entry><yt:videoId>${id}</yt:videoId></entry>`
  const answers: Record<string, string> = {
    good: `<feed>${entry('abcdefghijk')}${entry('../../etc')}${entry('abcdefghijk')}<yt:videoId>outsideEntr</yt:videoId></feed>`,
    many: `<feed>${Array.from({ length: 80 }, (_, at) => entry(`video${String(at).padStart(6, '0')}`)).join('')}</feed>`,
    html: '<html><body>consent</body></html>',
    cut: `<feed>${entry('abcdefghijk')}`,
    bomb: `<!DOCTYPE feed [<!ENTITY a "aaaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><feed>${entry('&b;')}</feed>`,
    large: `<feed>${' '.repeat(1024 * 1024)}</feed>`,
    empty: '',
  }
  const server = createServer(({ url = '' }, response) => {
    if (url === '/moved') return void response.writeHead(302, { location: '/good' }).end()
    response.end(answers[url.slice(1)])
  })
  const host = await listening(t, server)
  const ask = (name: string) => fetchFeed(`http://${host}/${name}`, {}, AbortSignal.timeout(10_000))

  assert.deepEqual(await ask('good'), { ids: ['abcdefghijk'] })
  assert.equal(((await ask('many')) as { ids: string[] }).ids.length, 50)
  for (const name of ['html', 'cut', 'bomb', 'large', 'empty', 'moved']) await assert.rejects(ask(name), NoFeed, name)
})
