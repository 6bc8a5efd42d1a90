/** Bad news for external addresses: failed downloads, a platform that is no longer asked, an expired cookie. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { definePlugin } from 'archivolt'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { aReceiver } from '../../support/receiver.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import { SIGNED_IN } from '../platform/given.ts'

interface Told {
  title: string
  message: string
  type: string
}

async function anAddress(t: TestContext) {
  const { received: told, port, until } = await aReceiver<Told>(t)
  return { url: `json://127.0.0.1:${port}/`, told, until }
}

const tell = (app: TestApp, name: string, url: string) =>
  app.as('admin').post('/api/schedule/notification/', { task_name: name, url })

test('consecutive failed downloads are one message, at most once an hour', async (t) => {
  const { url, told, until } = await anAddress(t)
  const app = await testApp(t)
  const fail = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, (_, at) =>
        app.app.emit('download.failed', {
          ...{
            id: `v${from + at}`,
            title: `Film ${from + at}`,
            channelId: 'UC1',
            errorClass: 'gone',
            message: 'Gone.',
          },
        }),
      ),
    )
  await fail(0, 1)
  assert.equal((await tell(app, 'download_failed', url)).status, 200)

  await fail(1, 14)
  await app.clock.advance(60_000)
  await until(1)
  await fail(14, 16)
  await app.clock.advance(30 * 60_000)
  await app.settled()
  assert.equal(told.length, 1)
  await app.clock.advance(30 * 60_000)
  await until(2)

  const lines = told.map(({ message }) => message.split('\n'))
  assert.deepEqual(
    told.map(({ title, type }) => [title, type]),
    Array(2).fill(['[Archivolt] Downloads have failed', 'failure']),
  )
  assert.deepEqual([lines[0]![0], lines[0]![10], lines[0]!.length], ['Film 1: Gone.', 'and 3 more', 11])
  assert.deepEqual(lines[1], ['Film 14: Gone.', 'Film 15: Gone.'])
})

test('a closed gate is reported once, with its reason; so is an expired cookie', async (t) => {
  const { url, told, until } = await anAddress(t)
  const heard: Array<[string, unknown]> = []
  const listener = definePlugin({
    name: 'listener',
    needs: ['platform', 'cookie'],
    on: {
      'platform.stopped': () => (event) => void heard.push(['platform.stopped', event.state]),
      'cookie.expired': () => (event) => void heard.push(['cookie.expired', event.stored]),
    },
  })
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings, outside: [listener] })
  const admin = app.as('admin')
  for (const name of ['platform_stopped', 'cookie_expired']) assert.equal((await tell(app, name, url)).status, 200)
  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  const stored = app.clock.now() / 1000

  platform.faults.set('LL', 'playlist_missing')
  await admin.post('/api/cookie/')
  await admin.post('/api/cookie/')
  await until(1)
  platform.faults.set('global', { name: 'api_status', status: 429 })
  const asked = app.app.platform.video(VIDEO.fog, { asker: 'test' }).catch((error: unknown) => error)
  await until(2)
  const closed = (await admin.get('/api/platform/')).body

  assert.equal(told[0]!.title, '[Archivolt] The cookie has expired')
  assert.deepEqual(
    [told[1]!.title, told[1]!.message],
    ['[Archivolt] Downloads from YouTube have stopped', closed.reason],
  )
  assert.deepEqual(heard, [
    ['cookie.expired', stored],
    ['platform.stopped', closed.state],
  ])
  assert.equal(told.length, 2)
  await app.close()
  await asked
})

test('the three are listed by the API as tasks that notify, and as events of webhooks', async (t) => {
  const app = await testApp(t)

  const tasks = (await app.as('admin').get('/api/task/')).body as Array<{ name: string; outgoing: boolean }>
  const { events } = (await app.as('admin').get('/api/webhook/')).body

  for (const name of ['download_failed', 'platform_stopped', 'cookie_expired'])
    assert.equal(tasks.find((task) => task.name === name)?.outgoing, true, name)
  for (const event of ['download.failed', 'platform.stopped', 'cookie.expired'])
    assert.ok(events.includes(event), event)
})

test('a child’s ask is a message that links to the page', async (t) => {
  const { url, told, until } = await anAddress(t)
  const app = await testApp(t, { settings: { publicUrl: 'https://archive.test/' } })
  const admin = app.as('admin')
  await app.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
  await app.given(aVideo({ id: 'hidden', title: 'Bread', channelId: 'UC2' }))
  await admin.post('/api/user/', { username: 'child', password: PASSWORD, view: { channel: ['UC1'] } })
  await admin.post('/api/config/', { asks: { in_search: true } })
  assert.equal((await tell(app, 'ask_made', url)).status, 200)

  await app.as('child').post('/api/ask/', { video_id: 'hidden' })
  await until(1)

  assert.deepEqual(
    told.map(({ title, message }) => [title, message]),
    [['[Archivolt] A child asks for a video', 'child asks for “Bread”: https://archive.test/settings/users/']],
  )
})
