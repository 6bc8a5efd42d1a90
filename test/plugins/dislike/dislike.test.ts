/** Estimates of dislikes through the API, read from the loopback platform's service. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startTestPlatform } from '../../platform/start.ts'
import { aChannel, aVideo, type TestApp, testApp } from '../../support/testing.ts'

const MINUTE = 60_000

async function given(t: TestContext, { isOn = true } = {}) {
  const { platform, dislikesUrl } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { dislikesUrl } })
  await app.given(aChannel())
  if (isOn) await app.as('admin').post('/api/config/', { downloads: { integrate_ryd: true } })
  return { app, votes: platform.votes }
}

const added = (app: TestApp, id: string) => app.app.emit('video.added', { id, channelId: 'UC1', why: 'new' })
const stats = async (app: TestApp, id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data.stats
const due = (app: TestApp): string[] =>
  app.app.ledger
    .sql<{ video_id: string }>('SELECT video_id FROM dislike_due ORDER BY rowid')
    .all()
    .map(({ video_id }) => video_id)
/** Advances until nothing is due, or no more requests are sent. */
async function worked(app: TestApp, isIt: () => boolean, stepMs = 1000): Promise<void> {
  for (let step = 0; step < 500 && !isIt(); step++) {
    await app.clock.advance(stepMs)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.ok(isIt())
}

test('once it is switched on, a new video is requested by its id, and its other numbers stay', async (t) => {
  const { app, votes } = await given(t, { isOn: false })
  await app.given(aVideo({ id: 'v1', stats: { like_count: 50, view_count: 900 } }))
  votes.add('v1', 7)
  await added(app, 'v1')
  await app.settled()
  assert.equal(votes.calls.length, 0, 'nobody has switched it on')

  await app.as('admin').post('/api/config/', { downloads: { integrate_ryd: true } })
  await added(app, 'v1')
  await app.settled()

  assert.deepEqual(await stats(app, 'v1'), { view_count: 900, like_count: 50, dislike_count: 7, average_rating: 0 })
  assert.deepEqual(
    votes.calls.map(({ path, query }: { path: string; query: object }) => [path, query]),
    [['/votes', { videoId: 'v1' }]],
  )
  assert.deepEqual(due(app), [])
})

test('at most a hundred requests are sent per minute, also across a restart', async (t) => {
  const { app, votes } = await given(t)
  const ids = Array.from({ length: 12 }, (_, number) => `v${number}`)
  await app.given(...ids.map((id) => aVideo({ id })))
  const askedAt: number[] = []
  const answer = votes.answer.bind(votes)
  t.mock.method(votes, 'answer', (...args: Parameters<typeof answer>) => {
    askedAt.push(app.clock.now())
    return answer(...args)
  })
  for (const id of ids) {
    votes.add(id, 3)
    await added(app, id)
  }

  await worked(app, () => due(app).length <= 6, 100)
  await app.restart()
  await worked(app, () => due(app).length === 0, 100)

  const pauses = askedAt
    .slice(1)
    .map((at, index) => at - askedAt[index]!)
    .filter((pause) => pause < 600)
  assert.ok(askedAt.length >= 12 && pauses.length <= 1, `${askedAt.length} asked, ${pauses.length} too soon`)
  for (const id of ids) assert.equal((await stats(app, id)).dislike_count, 3)
})

test('after a rate-limit answer requests pause for a while, and then continue', async (t) => {
  const { app, votes } = await given(t)
  await app.given(aVideo({ id: 'v1' }))
  votes.add('v1', 4)
  votes.instead = { status: 429, body: 'Too Many Requests' }
  await added(app, 'v1')
  await worked(app, () => votes.calls.length === 1)
  await app.clock.advance(10 * MINUTE)
  assert.deepEqual([votes.calls.length, due(app)], [1, ['v1']])

  votes.instead = undefined
  await worked(app, () => due(app).length === 0, MINUTE)

  assert.equal((await stats(app, 'v1')).dislike_count, 4)
})

test('a service that fails, or sends invalid or too much data, changes nothing and is not asked for ever', async (t) => {
  let answer = (): { status: number; body: string } => ({ status: 500, body: '' })
  let asked = 0
  const server = createServer((_request, response) => {
    const { status, body } = answer()
    asked++
    response.writeHead(status, { location: '/elsewhere' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const app = await testApp(t, {
    settings: { dislikesUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  })
  await app.given(aChannel(), aVideo({ id: 'v1', stats: { dislike_count: 5 } }))
  await app.as('admin').post('/api/config/', { downloads: { integrate_ryd: true } })

  for (const bad of [
    { status: 500, body: '' },
    { status: 302, body: '' },
    { status: 200, body: '<html>' },
    { status: 200, body: '[]' },
    { status: 200, body: '{"id":"other","dislikes":3}' },
    { status: 200, body: '{"id":"v1","dislikes":-3}' },
    { status: 200, body: '{"id":"v1","dislikes":1e300}' },
    { status: 200, body: '{"id":"v1","dislikes":"3"}' },
    { status: 200, body: `{"id":"v1","dislikes":3,"x":"${'x'.repeat(70_000)}"}` },
  ]) {
    const before = asked
    answer = () => bad
    await added(app, 'v1')
    await worked(app, () => due(app).length === 0, MINUTE)
    assert.equal(asked - before, 3, `${bad.status} ${bad.body.slice(0, 40)}`)
    assert.equal((await stats(app, 'v1')).dislike_count, 5, `${bad.status} ${bad.body.slice(0, 40)}`)
  }

  for (const status of [404, 400]) {
    const before = asked
    answer = () => ({ status, body: '{}' })
    await added(app, 'v1')
    await worked(app, () => due(app).length === 0, MINUTE)
    assert.deepEqual([asked - before, (await stats(app, 'v1')).dislike_count], [1, 5], 'it knows nothing of this video')
  }
})

test('a video that is removed, or a setting that is switched off, ends its requests', async (t) => {
  const { app, votes } = await given(t)
  await app.given(aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  votes.instead = { status: 429, body: '' }
  for (const id of ['gone', 'v1', 'v2']) await added(app, id)
  await worked(app, () => votes.calls.length === 1)
  await app.as('admin').post('/api/config/', { downloads: { integrate_ryd: false } })

  await worked(app, () => due(app).length === 0, MINUTE)

  assert.deepEqual(
    votes.calls.map(({ query }: { query: { videoId: string } }) => query.videoId),
    ['v1'],
  )
})
