/**
 * Kills the server at every step of `check_lost`: the next start ends with the same result as a server that was never
 * killed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../support/folder.ts'
import { mayTake } from '../support/hanging.ts'
import { lastFirst } from '../support/last-first.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { aChannel, aVideo, endSchedules, testApp, testClock } from '../support/testing.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const ENV = {
  ...{ AV_USERNAME: 'admin', AV_PASSWORD: 'a password for tests', AV_PRIVATE_HOSTS: '127.0.0.1' },
  ...{ AV_SEGMENTS_URL: 'http://127.0.0.1:9', AV_PLATFORM_URL: 'http://127.0.0.1:9' },
}
const POINTS = ['lose', 'mark', 'emit', 'tell'].flatMap((step) =>
  ['before', 'after'].map((phase) => `history.${step}:${phase}`),
)
const EVENTS = ['video.lost', 'video.returned', 'channel.lost', 'channel.returned']
const SAID = ['channel.lost UC2', 'video.lost v1', 'video.returned v5']
const LATE = 4_000_000_000

/** A video that is certainly lost, a channel of three, and a video that is back. */
async function archive(): Promise<string> {
  const { app, dataDir, given, as, close } = await testApp({ after: () => undefined }, { clock: testClock(Date.now()) })
  await given(
    ...['UC1', 'UC2', 'UC3'].map((id) => aChannel({ id })),
    aVideo({ id: 'v1', channelId: 'UC1' }),
    ...['v2', 'v3', 'v4'].map((id) => aVideo({ id, channelId: 'UC2' })),
    aVideo({ id: 'v5', channelId: 'UC3' }),
  )
  await app.videos.setKept('v4', true)
  await endSchedules({ as })
  const { losses } = app.history
  const certain = { first_at: 1000, last_at: 30_000, ask_at: LATE }
  await app.ledger.write(() => {
    losses.put({ ...certain, kind: 'video', subject: 'v1', channel: 'UC1', loss: 'removed' })
    losses.put({ ...certain, kind: 'channel', subject: 'UC2', channel: 'UC2', loss: 'account' })
    losses.put({ ...certain, kind: 'video', subject: 'v2', channel: 'UC2', loss: 'account', last_at: null })
    losses.put({
      ...{ ...certain, kind: 'video', subject: 'v5', channel: 'UC3', loss: 'private' },
      ...{ lost_at: 30_000, back_at: 40_000, is_told: 1 },
    })
  })
  await close()
  return dataDir
}

/** Collects the messages of the events. */
async function receiver(t: TestContext): Promise<{ url: string; said: Set<string> }> {
  const said = new Set<string>()
  const hook = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { type, data } = JSON.parse(text)
    said.add(`${type} ${data.id}`)
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(hook, 'listening')
  lastFirst(t).after(async () => {
    hook.close()
    hook.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`, said }
}

/** Documents, changes and rows, without their times of writing. */
async function stateOf(server: Server, folder: string): Promise<object> {
  const videos = await Promise.all(['v1', 'v2', 'v3', 'v4', 'v5'].map((id) => server.api('GET', `/api/video/${id}/`)))
  const { body: changes } = await server.api('GET', '/api/change/?part=availability')
  const ledger = new Database(join(folder, 'ledger.sqlite'), { readonly: true })
  const rows = ledger.prepare(
    'SELECT kind, subject, loss, is_marked, with_channel, is_kept, is_told FROM history_loss ORDER BY kind, subject',
  )
  const state = {
    videos: videos.map(({ body: { lost, active, keep } }) => ({ lost: lost?.kind, active, keep })),
    channel: (await server.api('GET', '/api/channel/UC2/')).body.channel_active,
    changes: changes.data.map(({ subject, after }: { subject: string; after: string }) => `${subject} ${after}`).sort(),
    rows: rows.all(),
  }
  ledger.close()
  return state
}

test('check_lost continues after a kill at any step', async (t) => {
  mayTake(600)
  const filled = await archive()
  lastFirst(t).after(() => rm(filled, { recursive: true, force: true }))
  const begin = async (point?: string) => {
    const folder = await temporaryFolder(t)
    await cp(filled, folder, { recursive: true })
    const { url, said } = await receiver(t)
    const env = { ...ENV, ...(point && { AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point }) }
    const server = await startServer(t, folder, env)
    assert.equal((await server.api('POST', '/api/webhook/', { name: 'Barn', url, events: EVENTS })).status, 200)
    return { folder, said, server, started: server.api('POST', '/api/task-name/check_lost/').catch(() => undefined) }
  }
  const whole = await begin()
  await whole.started
  await allQuiet(whole.server)
  const expected = await stateOf(whole.server, whole.folder)
  await until(
    'everything is said',
    async () => [...whole.said].sort(),
    (said) => said.length === SAID.length,
  )
  assert.deepEqual([...whole.said].sort(), SAID)
  await whole.server.end('SIGKILL')

  for (const point of POINTS)
    await t.test(point, async () => {
      const { folder, said, server } = await begin(point)
      await until(
        'it is killed',
        async () => server.child.signalCode,
        (signal) => signal === 'SIGKILL',
        60_000,
      )

      const next = await startServer(t, folder, ENV)
      await allQuiet(next)

      assert.deepEqual(await stateOf(next, folder), expected)
      await until(
        'everything is said',
        async () => [...said].sort(),
        (now) => now.length >= SAID.length,
      )
      assert.deepEqual([...said].sort(), SAID)
      assert.equal(await next.end('SIGTERM'), 0)
    })
})
