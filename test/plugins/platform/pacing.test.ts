/** The rate of requests to the platform: pauses by the clock, and a budget that refusals and quiet hours change. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { inEnglish } from '../../../core/base/say.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { openPacing, type Pacing, type Pauses, pacingTables } from '../../../plugins/platform/pacing.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

const HOUR_MS = 3_600_000

interface Given {
  clock?: TestClock
  pauses?: Partial<Pauses>
  perHour?: number | (() => number)
  account?: string | undefined
  proxy?: string
  random?: number
  ledger?: Awaited<ReturnType<typeof aLedger>>
}

function pacingWith({
  clock = testClock(),
  pauses = {},
  perHour = 300,
  account,
  proxy,
  random = 0.5,
  ledger,
}: Given = {}) {
  const pacing = openPacing({
    ...{ clock, ledger, log: openLog('silent') },
    pauses: () => ({ video: 0, request: 0, subtitle: 0, ...pauses }),
    perHour: () => (typeof perHour === 'function' ? perHour() : perHour),
    route: () => (proxy === undefined ? {} : { proxy }),
    account: () => account,
    random: () => random,
  })
  return { pacing, clock }
}

async function aLedger(t: TestContext, clock: TestClock) {
  const file = join(await temporaryFolder(t), 'ledger.sqlite')
  const ledger = await openLedger({ file, log: openLog('silent'), clock })
  const db = new Database(file)
  db.exec(pacingTables.sql)
  db.close()
  t.after(() => ledger.close())
  return ledger
}

const ask = (pacing: Pacing, times = 1) => {
  for (let count = 0; count < times; count++) pacing.takeVideo()
}
/** Whether it continues when the clock has advanced by this much. */
async function goesOnAfter(pacing: Pacing, clock: TestClock, ms: number, isVideo = true): Promise<boolean> {
  let isThrough = false
  const place = pacing.queue(isVideo)
  void place.wait(undefined).then(() => {
    isThrough = true
  })
  await clock.advance(ms)
  place.leave()
  return isThrough
}

test('the pause between videos varies from once to twice the setting; other requests have their own pause', async () => {
  for (const [random, seconds] of [
    [0, 5],
    [0.5, 7.5],
    [1, 10],
  ] as const) {
    const { pacing, clock } = pacingWith({ pauses: { video: 5, request: 1 }, random })
    pacing.begin(true)

    assert.equal(await goesOnAfter(pacing, clock, seconds * 200 - 1, false), false, 'a fifth: the pause of requests')
    assert.equal(await goesOnAfter(pacing, clock, 1, false), true)
    assert.equal(await goesOnAfter(pacing, clock, seconds * 800 - 6), false)
    assert.equal(await goesOnAfter(pacing, clock, 6), true)
  }
})

test('at most the configured number of videos is requested per hour, and the status says why it pauses', async () => {
  const { pacing, clock } = pacingWith({ perHour: 20 })
  ask(pacing, 19)
  assert.equal(await goesOnAfter(pacing, clock, 0), true)
  await clock.advance(600_000)
  ask(pacing)

  assert.equal(await goesOnAfter(pacing, clock, 49 * 60_000), false)
  assert.match(inEnglish(pacing.resting()!.reason), /^The limit of 20 videos per hour has been reached/)
  assert.equal(pacing.resting()!.nextAttempt, (clock.now() + 60_000) / 1000)
  assert.equal(await goesOnAfter(pacing, clock, 60_000), true)
  assert.equal(pacing.resting(), undefined)
  assert.deepEqual(pacing.state().address, { used: 1, limit: 20, per_hour: 20, learned: false })
})

test('a refusal halves the budget, each quiet hour returns five percent, up to the configured limit', async () => {
  const { pacing, clock } = pacingWith({ perHour: 300 })
  ask(pacing, 10)
  await clock.advance(1000)

  pacing.onRefusal(clock.steady(), undefined)

  assert.deepEqual(pacing.state().address, { used: 10, limit: 150, per_hour: 300, learned: true })
  await clock.advance(HOUR_MS - 1)
  assert.equal(pacing.state().address.limit, 150)
  await clock.advance(1)
  assert.equal(pacing.state().address.limit, 157)
  await clock.advance(HOUR_MS)
  assert.equal(pacing.state().address.limit, 165)
  await clock.advance(20 * HOUR_MS)
  assert.deepEqual(pacing.state().address, { used: 0, limit: 300, per_hour: 300, learned: false })
})

test('it is halved at most once an hour, not by earlier requests, and has a minimum', async () => {
  const { pacing, clock } = pacingWith({ perHour: 300 })
  const began = clock.steady()
  await clock.advance(1000)

  pacing.onRefusal(began, undefined)
  await clock.advance(HOUR_MS - 1)
  pacing.onRefusal(clock.steady(), undefined)
  await clock.advance(HOUR_MS - 1)
  pacing.onRefusal(began, undefined)

  assert.equal(pacing.state().address.limit, 150, 'no hour was quiet')
  for (let times = 0; times < 10; times++) {
    pacing.onRefusal(clock.steady(), undefined)
    if (times === 0) assert.equal(pacing.state().address.limit, 75)
    await clock.advance(HOUR_MS)
  }
  pacing.onRefusal(clock.steady(), undefined)
  assert.equal(pacing.state().address.limit, 10)
})

test('without a limit, half of the actual rate is learned, at least a usual number, and grows out again', async () => {
  for (const [asked, learned] of [
    [800, 400],
    [12, 150],
  ] as const) {
    const { pacing, clock } = pacingWith({ perHour: Number.POSITIVE_INFINITY })
    ask(pacing, asked)
    await clock.advance(1000)

    pacing.onRefusal(clock.steady(), undefined)

    assert.deepEqual(pacing.state().address, { used: asked, limit: learned, per_hour: null, learned: true })
    assert.equal(await goesOnAfter(pacing, clock, 0), asked < learned)
    await clock.advance(200 * HOUR_MS)
    assert.deepEqual(pacing.state().address, { used: 0, limit: null, per_hour: null, learned: false })
  }
})

test('waiting requests continue as soon as the budget allows one more, and not before', async () => {
  let perHour = 20
  const { pacing, clock } = pacingWith({ perHour: () => perHour })
  ask(pacing, 20)
  let isThrough = false
  void pacing
    .queue(true)
    .wait(undefined)
    .then(() => {
      isThrough = true
    })
  pacing.changed()
  await clock.advance(0)
  assert.equal(isThrough, false)

  perHour = 30
  pacing.changed()
  await clock.advance(0)

  assert.equal(isThrough, true)
})

test('an admin’s retry resets what was learned, and allows one request beyond the limit', async () => {
  const { pacing, clock } = pacingWith({ perHour: 40 })
  ask(pacing, 30)
  await clock.advance(1000)
  pacing.onRefusal(clock.steady(), undefined)
  assert.equal(await goesOnAfter(pacing, clock, 0), false)

  pacing.retry()

  assert.deepEqual(pacing.state().address, { used: 30, limit: 40, per_hour: 40, learned: false })
  assert.equal(await goesOnAfter(pacing, clock, 0), true)
  ask(pacing, 10)
  assert.equal(await goesOnAfter(pacing, clock, 0), false)
  pacing.retry()
  assert.equal(await goesOnAfter(pacing, clock, 0), true)
  ask(pacing)
  assert.equal(await goesOnAfter(pacing, clock, 0), false, 'one')
})

test('each address and each cookie has its own budget', async () => {
  const clock = testClock()
  const one = pacingWith({ clock, account: 'a' }).pacing
  ask(one, 3)
  await clock.advance(1000)

  one.onRefusal(clock.steady(), 'a')

  assert.deepEqual(one.state().cookie, { used: 3, limit: 150, per_hour: 300, learned: true })
  assert.equal(pacingWith({ clock }).pacing.state().cookie, null)
})

test('use and learned limits survive a restart, by address and by cookie', async (t) => {
  const clock = testClock()
  const ledger = await aLedger(t, clock)
  const before = pacingWith({ clock, ledger, account: 'a' }).pacing
  ask(before, 5)
  await clock.advance(1000)
  before.onRefusal(clock.steady(), undefined)
  await clock.advance(HOUR_MS / 2)
  ask(before, 2)
  await clock.advance(0)

  const after = pacingWith({ clock, ledger, account: 'a' }).pacing

  assert.deepEqual(after.state(), {
    address: { used: 7, limit: 150, per_hour: 300, learned: true },
    cookie: { used: 7, limit: 300, per_hour: 300, learned: false },
  })
  assert.deepEqual(pacingWith({ clock, ledger, proxy: 'socks5://x:1' }).pacing.state().address.used, 0)
  await clock.advance(HOUR_MS / 2)
  assert.deepEqual([after.state().address.used, after.state().address.limit], [2, 157])
})

test('a budget that was not used for a month is deleted', async (t) => {
  const clock = testClock()
  const ledger = await aLedger(t, clock)
  ask(pacingWith({ clock, ledger, proxy: 'socks5://old:1' }).pacing)
  await clock.advance(31 * 24 * HOUR_MS)

  ask(pacingWith({ clock, ledger }).pacing)
  await clock.advance(0)

  assert.equal(ledger.sql<{ count: number }>('SELECT count(*) AS count FROM platform_budget').get()!.count, 1)
})

test('look-ups delay a waiting job once, however many there are', async () => {
  const { pacing, clock } = pacingWith({ pauses: { video: 5, request: 1 }, random: 0 })
  const places = [pacing.queue(true), pacing.queue(false)]
  const done: number[] = []
  pacing.begin(true)()
  places.forEach((place, at) => void place.wait(undefined).then(() => done.push(at)))

  for (let seconds = 0; seconds < 6; seconds++) {
    const ended = pacing.begin(true, true)
    await clock.advance(900)
    ended()
    await clock.advance(100)
  }

  assert.deepEqual(done, [1, 0])
  assert.deepEqual(
    places.map((place) => place.isTime()),
    [true, true],
  )
})

test('waiting requests continue in their order, however often all have to wait again', async () => {
  const { pacing, clock } = pacingWith({ pauses: { request: 1 }, random: 0 })
  pacing.begin(false)
  const [first, second] = [pacing.queue(false), pacing.queue(false)]
  const done: string[] = []
  void second.wait(undefined).then(() => done.push('second'))
  void first.wait(undefined).then(() => done.push('first'))

  await clock.advance(1001)

  assert.deepEqual(done, ['first', 'second'])
})

test('accounts may look up half of the videos of an hour, jobs have the rest', async () => {
  const { pacing, clock } = pacingWith({ perHour: 20 })
  for (let count = 0; count < 10; count++) pacing.takeVideo(true)

  assert.deepEqual([pacing.mayLookUp(true), pacing.mayLookUp(false)], [false, true])
  assert.equal(await goesOnAfter(pacing, clock, 0), true)
  await clock.advance(HOUR_MS)
  assert.equal(pacing.mayLookUp(true), true)
})
