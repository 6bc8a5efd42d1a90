/**
 * Requests that look something up on the platform, with the real yt-dlp: no account can occupy the lanes or close the
 * gate.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addLargeChannel, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { testClock } from '../../support/clock.ts'
import { type TestReply, testApp } from '../../support/testing.ts'
import { givenPlatform } from './given.ts'

/** Many times the look-ups that fit next to two downloads. */
const MANY = 2000
const lookUp = (number: number | string) => `/api/channel/search/?q=@nobody-${number}`
const statuses = (replies: readonly TestReply[]) => replies.map(({ status }) => status).sort()

test('an account has two concurrent look-ups; others and the queue continue, and the gate stays open', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  platform.faults.set('global', { name: 'api_slow', ms: 300 })

  const many = Array.from({ length: 16 }, (_, number) => app.as('user').get(lookUp(number)))
  const refused = (await Promise.all(many)).filter(({ status }) => status === 429)
  const [own, queued] = await Promise.all([
    app.as('admin').get(lookUp('admin')),
    app.app.platform.video(VIDEO.fog, { asker: 'queue' }),
  ])

  assert.deepEqual(statuses(await Promise.all(many)), [404, 404, ...Array<number>(14).fill(429)])
  assert.ok(refused.every(({ headers, body }) => Number(headers.get('retry-after')) > 0 && body.code === 'throttled'))
  assert.deepEqual([own.status, queued.id], [404, VIDEO.fog])
  assert.equal(app.app.platform.state().state, 'open')
})

test('an account has ten look-ups in a row, then one every six seconds; cached ones are free', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  for (let number = 0; number < 10; number++) assert.equal((await app.as('user').get(lookUp(number))).status, 404)

  const [eleventh, known, other] = [
    await app.as('user').get(lookUp(10)),
    await app.as('user').get(lookUp(9)),
    await app.as('admin').get(lookUp(10)),
  ]

  assert.deepEqual(
    [eleventh.status, eleventh.headers.get('retry-after'), known.status, other.status],
    [429, '6', 404, 404],
  )
  const unsubscribe = { data: [{ channel_id: '@nobody-11', channel_subscribed: false }] }
  for (let number = 11; number < 20; number++) await app.as('admin').get(lookUp(`admin-${number}`))
  assert.equal((await app.as('admin').post('/api/channel/', unsubscribe)).status, 429)
  await app.clock.advance(6000)
  assert.deepEqual(
    [(await app.as('user').get(lookUp(11))).status, (await app.as('admin').post('/api/channel/', unsubscribe)).status],
    [404, 200],
  )
})

test('a download continues while accounts look up without end', async (t) => {
  // In real time: with a clock that runs ahead, yt-dlp would seem to hang.
  const { service, folder } = await givenPlatform(t, {
    preferences: { request_pause: 0.05, subtitle_pause: 0 },
    sleepInterval: 0.05,
  })
  let isDone = false
  const work = async () => {
    for (const id of [VIDEO.fog, VIDEO.nets]) {
      await service.channel('@HarbourAndTide', { asker: 'job' })
      await service.download(id, { folder }, { asker: 'job' })
    }
    isDone = true
  }
  const downloads = work()

  let lookUps = 0
  for (; !isDone && lookUps < MANY; lookUps++) {
    const asked = { asker: 'search', isUrgent: true, account: lookUps }
    await assert.rejects(service.channel(`@nobody-${lookUps}`, asked), { failure: 'gone' })
  }

  await downloads
  assert.ok(lookUps < MANY, `${lookUps} look-ups came first`)
})

test('a look-up does not wait for the long listing of a job', async (t) => {
  const clock = testClock(Date.now())
  const { service, platform } = await givenPlatform(t, { clock, preferences: { request_pause: 60 } })
  const listing = service.list(addLargeChannel(platform.catalogue, { videos: 150 }), 'videos', { asker: 'job' })
  const page = listing[Symbol.asyncIterator]().next() // waits within its request, because the clock is stopped
  while (platform.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))

  const found = await service.channel('@HarbourAndTide', { asker: 'search', isUrgent: true, account: 1 })

  assert.equal(found.name, 'Harbour & Tide')
  void page.catch(() => undefined) // ends with the service
})

test('an unknown handle is requested once', async (t) => {
  const { service, platform } = await givenPlatform(t)

  for (const isUrgent of [true, false])
    await assert.rejects(service.channel(`@nobody-${isUrgent}`, { asker: 'test', isUrgent }), { failure: 'gone' })

  assert.deepEqual(
    platform.requests.flatMap(({ path }) => (path.includes('nobody') ? [path] : [])),
    ['/api/channel/%40nobody-true', '/api/channel/%40nobody-false'],
  )
})
