/** The gate: when both lanes are closed, who probes, and when they open again, on a clock that the test advances. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../../core/base/error.ts'
import { inEnglish } from '../../../core/base/say.ts'
import { openLog } from '../../../core/log.ts'
import type { Verdict } from '../../../plugins/platform/classify.ts'
import { type Fate, type GateParts, type GateRecord, openGate } from '../../../plugins/platform/gate.ts'
import { testClock } from '../../support/clock.ts'

const MINUTE = 60_000
const blocked: Verdict = { failure: 'blocked', message: 'Too many requests' }
const network: Verdict = { failure: 'network', message: 'No route to host' }
const signIn: Verdict = { failure: 'login_required', message: 'Please sign in', sign: 'sign_in' }
const gone: Verdict = { failure: 'gone', message: 'Private video' }
const garbled: Verdict = { failure: 'unknown', message: 'Failed to parse JSON', sign: 'not_understood' }

function given(parts: Partial<GateParts> = {}) {
  const clock = testClock()
  const saved: GateRecord[] = []
  const save = async (record: GateRecord) => void saved.push(record)
  const gate = openGate({
    clock,
    log: openLog('silent'),
    save,
    recheck: async () => false,
    absence: async () => undefined,
    onOutdated: () => undefined,
    ...parts,
  })
  /** One item's work with this outcome; undefined if it may not go now. */
  const attempt = (item: string, outcome: 'done' | Verdict, place?: string): Fate | undefined => {
    const pass = gate.claim(item)
    return pass && gate.settle(pass, outcome, place)
  }
  return { clock, gate, saved, attempt }
}

test('a refusal closes the gate for 1, 5, 15, then every 60 minutes, with one probe at a time', async () => {
  const { clock, gate, attempt } = given()

  assert.equal(attempt('a', blocked), 'wait')

  assert.equal(gate.state().state, 'blocked')
  assert.match(inEnglish(gate.state().reason), /YouTube refuses our requests: Too many requests/)
  for (const [minutes, next] of [
    [1, 5],
    [5, 15],
    [15, 60],
    [60, 60],
    [60, 60],
  ] as const) {
    await clock.advance(minutes * MINUTE - 1000)
    assert.equal(gate.claim('b'), undefined, `nothing passes before ${minutes} min`)
    await clock.advance(1000)
    const probe = gate.claim(`item ${minutes} ${next}`)
    assert.ok(probe?.isProbe)
    assert.equal(gate.claim('another'), undefined, 'one probe at a time')
    assert.equal(gate.settle(probe, blocked), 'wait')
    assert.equal(gate.state().next_attempt, Math.ceil(clock.now() / 1000) + next * 60)
  }
})

test('an answered probe opens the gate, whatever the answer says about the item', async () => {
  const { clock, gate, attempt } = given()
  attempt('a', blocked)
  await clock.advance(MINUTE)

  assert.equal(attempt('a', gone), 'throw')

  assert.equal(gate.state().state, 'open')
  assert.equal(gate.state().next_attempt, 0)
})

test('a gate that closes again soon continues its back-off; after a quiet while it starts anew', async () => {
  const { clock, gate, attempt } = given()
  attempt('a', blocked)
  await clock.advance(MINUTE)
  attempt('a', 'done')

  attempt('b', blocked)
  assert.equal(gate.state().next_attempt, clock.now() / 1000 + 5 * 60)

  await clock.advance(5 * MINUTE)
  attempt('b', 'done')
  await clock.advance(11 * MINUTE)
  attempt('c', blocked)
  assert.equal(gate.state().next_attempt, clock.now() / 1000 + 60)
})

test('waiting items continue by themselves when the probe succeeds', async () => {
  const { clock, gate, attempt } = given()
  attempt('a', blocked)
  const order: string[] = []
  const waiting = ['x', 'y'].map(async (item) => {
    for (;;) {
      await gate.wait()
      const pass = gate.claim(item)
      if (!pass) continue
      order.push(`${item}${pass.isProbe ? ' as probe' : ''}`)
      await clock.sleep(1000)
      gate.settle(pass, 'done')
      return
    }
  })

  await clock.advance(MINUTE)
  assert.deepEqual(order, ['x as probe'])
  await clock.advance(3000)

  await Promise.all(waiting)
  assert.deepEqual(order, ['x as probe', 'y'])
})

test('an item that fails as probe three times in a row is returned, so that another one may probe', async () => {
  const { clock, gate, attempt } = given()
  const refused: Verdict = { failure: 'blocked', message: 'Media refused' }
  attempt('a', refused)

  const fates: Array<Fate | undefined> = []
  for (const minutes of [1, 5, 15]) {
    await clock.advance(minutes * MINUTE)
    fates.push(attempt('a', refused))
  }

  assert.deepEqual(fates, ['wait', 'wait', 'defer'])
  await clock.advance(60 * MINUTE)
  assert.equal(attempt('b', 'done'), 'throw')
  assert.equal(gate.state().state, 'open')
})

test('no answer for three different items in a row means offline; for the same item repeatedly it does not', async () => {
  const { gate, attempt } = given()

  for (let time = 0; time < 5; time++) assert.equal(attempt('a', network), 'throw')
  assert.equal(attempt('b', network), 'throw')
  assert.equal(gate.state().state, 'open')
  assert.equal(attempt('c', network), 'wait')

  assert.equal(gate.state().state, 'offline')
  assert.match(inEnglish(gate.state().reason), /does not answer/)
})

test('an answer between them resets the count', () => {
  const { gate, attempt } = given()

  for (const [item, outcome] of [
    ['a', network],
    ['b', network],
    ['c', gone],
    ['d', network],
    ['e', network],
  ] as const)
    attempt(item, outcome)

  assert.equal(gate.state().state, 'open')
})

test('while offline, an unanswered probe closes it for longer', async () => {
  const { clock, gate, attempt } = given()
  for (const item of ['a', 'b', 'c']) attempt(item, network)
  await clock.advance(MINUTE)

  assert.equal(attempt('c', network), 'wait')

  assert.equal(gate.state().next_attempt, clock.now() / 1000 + 5 * 60)
})

test('three different videos in a row that need an account are a block; two, or interrupted by another kind, are not', () => {
  const { gate, attempt } = given()

  assert.deepEqual([attempt('a', signIn), attempt('b', signIn), attempt('c', gone)], ['throw', 'throw', 'throw'])
  assert.deepEqual([attempt('a', signIn), attempt('b', signIn), attempt('b', signIn)], ['throw', 'throw', 'throw'])
  assert.equal(gate.state().state, 'open')
  assert.equal(attempt('d', signIn), 'wait')

  assert.equal(gate.state().state, 'blocked')
})

test('the same unknown text on three different items halts as outdated, and is probed every hour', async () => {
  const { clock, gate, attempt } = given()

  assert.deepEqual(
    [attempt('a', garbled), attempt('a', garbled), attempt('b', garbled), attempt('c', garbled)],
    ['throw', 'throw', 'throw', 'wait'],
  )

  assert.equal(gate.state().state, 'halted')
  assert.match(inEnglish(gate.state().reason), /update yt-dlp/)
  await clock.advance(60 * MINUTE)
  assert.equal(attempt('d', 'done'), 'throw')
  assert.equal(gate.state().state, 'open')
})

test('a full disk and a missing tool halt at once, are checked every minute, and continue when repaired', async () => {
  for (const failure of ['disk_full', 'missing_tool'] as const) {
    let isMended = false
    const places: Array<string | undefined> = []
    const { clock, gate, attempt } = given({
      recheck: async (kind, place) => {
        assert.equal(kind, failure)
        places.push(place)
        return isMended
      },
    })

    assert.equal(attempt('a', { failure, message: 'ffmpeg' }, '/library'), 'wait')
    assert.equal(gate.state().state, 'halted')
    await clock.advance(3 * MINUTE)
    assert.equal(gate.claim('a'), undefined, 'no item is a probe of the disk')
    isMended = true
    await clock.advance(MINUTE)

    assert.equal(gate.state().state, 'open')
    assert.deepEqual(places, ['/library', '/library', '/library', '/library'])
  }
})

test('work that was running when the gate closed neither opens it nor closes it for longer', async () => {
  const { gate } = given()
  const [first, second, third] = ['a', 'b', 'c'].map((item) => gate.claim(item)!)
  gate.settle(first!, blocked)
  const until = gate.state().next_attempt

  assert.equal(gate.settle(second!, 'done'), 'throw')
  assert.equal(gate.settle(third!, blocked), 'wait')

  assert.equal(gate.state().state, 'blocked')
  assert.equal(gate.state().next_attempt, until)
})

test('an aborted probe leaves its turn to the next', async () => {
  const { clock, gate, attempt } = given()
  attempt('a', blocked)
  await clock.advance(MINUTE)
  const probe = gate.claim('a')

  gate.settle(probe!)

  assert.ok(gate.claim('b')?.isProbe)
})

test('an urgent request at a closed gate is unavailable at once, with the time to retry', async () => {
  const { clock, gate, attempt } = given()
  await gate.wait({ isUrgent: true })
  attempt('a', blocked)
  await clock.advance(10_000)

  await assert.rejects(
    gate.wait({ isUrgent: true }),
    (error) => isAppError(error, 'unavailable') && error.details.retryAfterSeconds === 50,
  )
})

test('waiting ends with its signal, and with the server', async () => {
  const { gate, attempt } = given()
  attempt('a', blocked)
  const ending = new AbortController()
  const aborted = gate.wait({ signal: ending.signal })
  const closed = gate.wait()

  ending.abort(new Error('stopped'))
  gate.end()

  await assert.rejects(aborted, /stopped/)
  await assert.rejects(closed, (error) => isAppError(error, 'unavailable'))
})

test('it is paused and resumed by hand; a block during the pause is still there afterwards', async () => {
  const { clock, gate, attempt } = given()
  await gate.command('pause')
  assert.equal(gate.state().state, 'paused')
  assert.equal(gate.claim('a'), undefined)
  await assert.rejects(gate.command('retry'), (error) => isAppError(error, 'conflict'))
  await gate.command('resume')
  attempt('a', blocked)
  await gate.command('pause')
  await clock.advance(60 * MINUTE)
  assert.equal(gate.claim('a'), undefined)

  await gate.command('resume')

  assert.equal(gate.state().state, 'blocked')
  assert.ok(gate.claim('a')?.isProbe)
})

test('retry sends one probe now', async () => {
  const { gate, attempt } = given()
  attempt('a', blocked)
  const waiting = gate.wait()

  await gate.command('retry')

  await waiting
  assert.equal(attempt('a', 'done'), 'throw')
  assert.equal(gate.state().state, 'open')
})

test('a closed gate waits the same time, whatever happens to the clock, also across a restart', async () => {
  const { clock, gate, saved, attempt } = given()
  attempt('a', blocked)
  const waiting = gate.wait()
  clock.set('2026-01-15T09:00:00Z')
  assert.equal(gate.state().next_attempt, clock.now() / 1000 + 60)
  await clock.advance(MINUTE)
  await waiting
  assert.equal(attempt('a', blocked), 'wait')

  const after = given()
  after.clock.set('1970-01-01T00:00:00Z')
  after.gate.restore(saved.at(-1)!)
  await after.clock.advance(5 * MINUTE)
  assert.ok(after.gate.claim('a'), 'no later than it was meant')
})

test('a pause and a block survive a restart, an outage does not', async () => {
  const before = given()
  before.attempt('a', blocked)
  await before.gate.command('pause')
  const after = given()

  after.gate.restore(before.saved.at(-1)!)

  assert.equal(after.gate.state().state, 'paused')
  await after.gate.command('resume')
  assert.deepEqual(after.gate.state(), {
    ...before.gate.state(),
    state: 'blocked',
    reason: {
      key: '{platform} refuses our requests: {reason}',
      params: { platform: 'YouTube', reason: { key: 'Too many requests', params: {} } },
    },
    next_attempt: before.clock.now() / 1000 + 60,
  })

  const outage = given()
  for (const item of ['a', 'b', 'c']) outage.attempt(item, network)
  assert.deepEqual(outage.saved.at(-1), { pausedSince: null, blocked: null })
})

test('a yt-dlp that no longer understands the platform is reported at once and affects no other one, and a new one is tried at once', async () => {
  let told = 0
  const { clock, gate, attempt } = given({ onOutdated: () => void told++ })

  for (const item of ['a', 'b', 'c']) attempt(item, garbled)
  assert.deepEqual([told, gate.state().state, gate.hindrance()], [1, 'halted', undefined])
  assert.equal(attempt('d', 'done'), undefined)

  gate.onUpdated()
  await clock.advance(0)
  assert.equal(attempt('d', 'done'), 'throw')
  assert.equal(gate.state().state, 'open')

  attempt('e', blocked)
  gate.onUpdated()
  await clock.advance(0)
  assert.equal(attempt('f', 'done'), undefined)
  assert.match(inEnglish(gate.hindrance() ?? ''), /refuses our requests/)
})
