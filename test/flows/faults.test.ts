/**
 * Every fault that the platform can produce: the result for the item, and whether the queue continues. With a real
 * yt-dlp, and a clock that the test advances.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import platformPlugin from '../../plugins/platform/plugin.ts'
import { CHANNEL, PLAYLIST, VIDEO } from '../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { pacedPlatform } from '../support/paced-platform.ts'
import { type TestApp, testApp, testClock } from '../support/testing.ts'
import '../support/long.ts'

type Fault = string | ({ name: string } & Record<string, unknown>)
interface Row {
  fault: Fault
  /**
   * `archived`: it is downloaded nevertheless. `waits`: the gate closes with that state, the item has no message, and
   * is downloaded when the fault has ended.
   */
  outcome: 'archived' | { class: string } | { waits: 'blocked' | 'offline' | 'halted' }
}

const failsAs = (errorClass: string) => ({ class: errorClass })
const ROWS: Row[] = [
  ...['private', 'removed', 'terminated', 'policy_removed', 'copyright', 'unavailable', 'live_not_recorded'].map(
    (fault) => ({ fault, outcome: failsAs('gone') }),
  ),
  ...['copyright_blocked', 'geo_blocked', 'payment_required', 'drm'].map((fault) => ({
    fault,
    outcome: failsAs('restricted'),
  })),
  ...['members_only', 'members_level'].map((fault) => ({ fault, outcome: failsAs('members_only') })),
  { fault: 'age_restricted', outcome: failsAs('age') },
  ...['login_required', 'cookie_required'].map((fault) => ({ fault, outcome: failsAs('login_required') })),
  ...['upcoming_premiere', 'upcoming_live', 'live_ended', 'live_processing'].map((fault) => ({
    fault,
    outcome: failsAs('upcoming'),
  })),
  ...['bot_check', 'captcha', 'session_rate_limited'].map((fault) => ({
    fault,
    outcome: { waits: 'blocked' as const },
  })),
  { fault: { name: 'api_status', status: 429 }, outcome: { waits: 'blocked' } },
  { fault: { name: 'media_status', status: 429 }, outcome: { waits: 'blocked' } },
  { fault: { name: 'media_status', status: 403 }, outcome: { waits: 'blocked' } },
  { fault: { name: 'api_status', status: 500 }, outcome: failsAs('network') },
  { fault: { name: 'api_status', status: 503, times: 2 }, outcome: 'archived' },
  { fault: { name: 'api_slow', ms: 300 }, outcome: 'archived' },
  { fault: 'api_garbage', outcome: failsAs('unknown') },
  { fault: { name: 'media_status', status: 503 }, outcome: failsAs('network') },
  { fault: { name: 'media_status', status: 503, times: 2 }, outcome: 'archived' },
  { fault: { name: 'media_slow', bytesPerSecond: 300_000 }, outcome: 'archived' },
  { fault: { name: 'media_cut', afterBytes: 20_000 }, outcome: 'archived' },
  { fault: { name: 'media_cut', afterBytes: 0 }, outcome: failsAs('network') },
  { fault: { name: 'media_stall', afterBytes: 60_000 }, outcome: 'archived' },
  { fault: { name: 'media_truncated', bytes: 30_000 }, outcome: failsAs('network') },
  { fault: { name: 'media_wait', seconds: 1 }, outcome: 'archived' },
]

const nameOf = (fault: Fault) => (typeof fault === 'string' ? fault : Object.values(fault).join(' '))

/** Polls until the condition holds, because child processes take real time, independently of the test's clock. */
async function until<Value>(what: string, ask: () => Promise<Value>, isIt: (value: Value) => boolean): Promise<Value> {
  for (const end = Date.now() + 60_000; ; await delay(20)) {
    const value = await ask()
    if (isIt(value)) return value
    if (Date.now() > end) throw new Error(`Not in a minute: ${what}; last seen ${JSON.stringify(value)}`)
  }
}

async function openWorld(
  t: { after(cleanUp: () => Promise<void>): void },
  settings: object = {},
): Promise<{ app: TestApp; world: TestPlatform }> {
  const world = await startTestPlatform(t)
  const clock = testClock(Date.now())
  // The queue sleeps between two attempts: here the time passes at once.
  clock.sleep = async (ms, signal) => {
    await clock.advance(ms)
    signal?.throwIfAborted()
  }
  // yt-dlp's own pauses between its retries are real time, so they are shortened; nothing else is.
  const pace = { retryPause: 0.01, socketTimeout: 2 }
  const hasty = { ...platformPlugin, services: pacedPlatform(pace) }
  const app = await testApp(t, { clock, settings: { ...world.settings, ...settings } as never, replace: [hasty] })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  return { app, world }
}

const add = (app: TestApp, ...ids: string[]) =>
  app.as('admin').post('/api/download/?autostart=true', { data: ids.map((id) => ({ youtube_id: id })) })
const item = async (app: TestApp, id: string) => (await app.as('admin').get(`/api/download/${id}/`)).body.data
const isArchived = async (app: TestApp, id: string) => (await app.as('admin').get(`/api/video/${id}/`)).status === 200
const stateOf = async (app: TestApp) => (await app.as('admin').get('/api/platform/')).body

/** Advances the clock to the gate's next attempt repeatedly, until the item is in the library. */
async function archivedAtLast(app: TestApp, id: string): Promise<void> {
  await until(
    `${id} is archived`,
    async () => {
      const { state, next_attempt } = await stateOf(app)
      if (state !== 'open') await app.clock.advance(Math.max(0, next_attempt * 1000 - app.clock.now()) + 1000)
      return isArchived(app, id)
    },
    Boolean,
  )
}

test('each fault has its class, and everything available is downloaded', async (t) => {
  const { app, world } = await openWorld(t)
  const { faults } = world.platform
  const id = VIDEO.fog as string
  const proved = new Set<string>()
  for (const { fault, outcome } of ROWS) {
    await t.test(nameOf(fault), async () => {
      faults.set(id, fault)
      await add(app, id)
      if (outcome === 'archived') {
        await until('it is archived', () => isArchived(app, id), Boolean)
      } else if ('class' in outcome) {
        const { error_class, message, status } = await until(
          'it has a message',
          () => item(app, id),
          (found) => found?.message !== undefined,
        )
        assert.equal(error_class, outcome.class)
        assert.ok(
          message.length > 10 && !/\bat .*:\d+:\d+|Traceback/.test(message),
          `a sentence for people: ${message}`,
        )
        await app.settled()
        assert.equal((await item(app, id)).status, status === 'priority' ? 'pending' : status)
        assert.equal((await stateOf(app)).state, 'open')
        if (!proved.has(error_class)) {
          // The next item is not delayed by it.
          proved.add(error_class)
          await add(app, VIDEO.nets as string)
          await until('the next one is archived', () => isArchived(app, VIDEO.nets as string), Boolean)
          await app.settled()
          await app.as('admin').delete(`/api/video/${VIDEO.nets}/`)
        }
      } else {
        const state = await until(
          'the gate closes',
          () => stateOf(app),
          ({ state }) => state === outcome.waits,
        )
        assert.ok(state.reason.length > 20 && state.next_attempt * 1000 > app.clock.now())
        assert.equal((await item(app, id))?.message, undefined, 'no item is blamed')
        faults.clear()
        await archivedAtLast(app, id)
      }
      faults.clear()
      await app.settled()
      await app.as('admin').delete(`/api/video/${id}/`)
      await app.as('admin').delete(`/api/download/${id}/`)
    })
  }
})

test('a block stops everything, becomes longer, and ends by itself', async (t) => {
  const { app, world } = await openWorld(t)
  const ids = [VIDEO.fog, VIDEO.nets, VIDEO.wave] as string[]
  world.platform.faults.set('global', 'bot_check')
  await add(app, ...ids)
  const waits: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = (
      await until(
        'the gate is closed',
        () => stateOf(app),
        ({ state }) => state === 'blocked',
      )
    ).next_attempt
    waits.push(Math.round((before * 1000 - app.clock.now()) / 60_000))
    const asked = world.platform.requests.length
    await app.clock.advance(before * 1000 - app.clock.now() + 1000)
    await until(
      'a probe has been refused',
      () => stateOf(app),
      ({ state, next_attempt }) => state === 'blocked' && next_attempt > before,
    )
    assert.ok(world.platform.requests.length - asked <= 4, 'one probe at a time')
  }
  assert.deepEqual(waits, [1, 5, 15])
  world.platform.faults.clear()
  for (const id of ids) await archivedAtLast(app, id)
  assert.deepEqual(await app.ids('download'), [])
})

test('three different videos without an answer mean that the platform is offline: no item is blamed', async (t) => {
  const { app, world } = await openWorld(t)
  const ids = [VIDEO.fog, VIDEO.nets, VIDEO.wave, VIDEO.gull] as string[]
  world.platform.faults.set('global', { name: 'api_status', status: 500 })
  await add(app, ...ids)
  await until(
    'it is offline',
    () => stateOf(app),
    ({ state }) => state === 'offline',
  )
  world.platform.faults.clear()
  for (const id of ids) await archivedAtLast(app, id)
})

test('a channel or playlist that is gone is reported in a notification, and the rest of the text is queued', async (t) => {
  const { app, world } = await openWorld(t)
  for (const [id, fault] of [
    [CHANNEL.orbit, 'channel_missing'],
    [CHANNEL.orbit, 'channel_terminated'],
    [CHANNEL.orbit, 'channel_unavailable'],
    [PLAYLIST.coast, 'playlist_missing'],
    [PLAYLIST.coast, 'playlist_unviewable'],
  ] as const) {
    world.platform.faults.set(id, fault)
    await app.as('admin').post('/api/download/', { data: [{ youtube_id: `${id} ${VIDEO.knot}` }] })
    await app.settled()
    const told = (await app.as('admin').get('/api/notification/')).body as Array<{ level: string; messages: string[] }>
    assert.ok(
      told.some(({ level, messages }) => level === 'error' && messages[0]?.startsWith(id)),
      fault,
    )
    assert.deepEqual(await app.ids('download'), [VIDEO.knot])
    await app.as('admin').delete(`/api/download/${VIDEO.knot}/`)
    await app.clock.advance(30_000)
    world.platform.faults.clear()
  }
})

test('a playlist or channel that could not be read once is read at a later attempt', async (t) => {
  const { app, world } = await openWorld(t)
  const answered = (id: string) =>
    world.platform.requests.filter(
      ({ path, status }: { path: string; status: number }) => path.includes(id) && status === 200,
    ).length
  for (const [id, expected] of [
    [PLAYLIST.coast, 5],
    [CHANNEL.orbit, 5],
  ] as const) {
    world.platform.faults.set(id, { name: 'api_status', status: 500, times: 5 })
    await app.as('admin').post('/api/download/', { data: [{ youtube_id: `${id} ${VIDEO.knot}` }] })
    await app.settled()
    assert.equal(world.platform.faults.all()[id!]?.length, 0, 'it failed more than one attempt')
    assert.ok(answered(id!) > 0)
    assert.equal((await app.ids('download')).length, expected + 1)
    assert.deepEqual(
      (await app.as('admin').get('/api/notification/')).body.filter(
        ({ level }: { level: string }) => level === 'error',
      ),
      [],
    )
    await app.as('admin').delete('/api/download/?filter=pending')
  }
})

test('without ffmpeg requests are queued nevertheless; the platform says what is missing, and continues when it is installed', async (t) => {
  const folder = await temporaryFolder(t)
  const { app } = await openWorld(t, { ffmpeg: join(folder, 'ffmpeg'), ffprobe: join(folder, 'ffprobe') })
  const ids = [VIDEO.breakwater, VIDEO.knot] as string[]
  await add(app, ...ids)
  const { reason, missing } = await until(
    'it says so',
    () => stateOf(app),
    ({ state }) => state === 'halted',
  )
  assert.match(reason, /^A program is missing: ffmpeg cannot be started; install it, or set AV_FFMPEG to its path$/)
  assert.deepEqual(missing, ['ffmpeg', 'ffprobe'])
  assert.deepEqual((await app.ids('download')).toSorted(), ids.toSorted())
  for (const id of ids) assert.equal((await item(app, id)).message, undefined)

  for (const name of ['ffmpeg', 'ffprobe'])
    await symlink(
      execFileSync('sh', ['-c', `command -v ${name}`])
        .toString()
        .trim(),
      join(folder, name),
    )
  for (const id of ids) await archivedAtLast(app, id)
})
