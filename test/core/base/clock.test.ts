/** Repeated callbacks, and how tests skip those that have no effect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from 'archivolt/testing'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

test('the interval starts at the end of the previous callback, and none follows a cancellation', async () => {
  const clock = testClock(0)
  let [begun, end] = [0, () => {}]
  const looks = clock.every(MINUTE_MS, () => {
    begun++
    return new Promise((resolve) => (end = resolve))
  })

  await clock.advance(MINUTE_MS)
  await clock.advance(HOUR_MS)
  assert.equal(begun, 1, 'it goes on')
  end()
  await clock.advance(MINUTE_MS - 1)
  assert.equal(begun, 1)
  await clock.advance(1)
  assert.equal(begun, 2)

  looks.cancel()
  end()
  await clock.advance(HOUR_MS)
  assert.equal(begun, 2)
})

test('an advanced clock fires a repeated callback once before anything else, at one of its times', async () => {
  const clock = testClock(0)
  const happened: string[] = []
  const minutes = () => clock.now() / MINUTE_MS
  clock.every(MINUTE_MS, async () => void happened.push(`look ${minutes()}`))
  clock.after(20.5 * MINUTE_MS, () => happened.push(`timer ${minutes()}`))

  await clock.advance(HOUR_MS)

  assert.deepEqual(happened, ['look 20', 'timer 20.5', 'look 60'])
})

test('a callback for a wall-clock time fires at that time, and at most a minute late after the machine has slept', async () => {
  for (const sleptMs of [0, 16 * HOUR_MS]) {
    const clock = testClock(0)
    let cameAt: number | undefined
    clock.at(20 * HOUR_MS, () => (cameAt = clock.now()))

    await clock.advance(4 * HOUR_MS)
    if (sleptMs) clock.set(clock.now() + sleptMs)
    assert.equal(cameAt, undefined)
    await clock.advance(sleptMs ? MINUTE_MS : 16 * HOUR_MS)

    assert.equal(cameAt, sleptMs ? 20 * HOUR_MS + MINUTE_MS : 20 * HOUR_MS)
    cameAt = undefined
    await clock.advance(48 * HOUR_MS)
    assert.equal(cameAt, undefined, 'once')
  }
})

test('a callback for a wall-clock time does not wait longer if the clock is set back, and does not fire after it is cancelled', async () => {
  const clock = testClock(HOUR_MS)
  let count = 0
  clock.at(2 * HOUR_MS, () => count++)
  const cancelled = clock.at(2 * HOUR_MS, () => (count += 10))
  cancelled.cancel()
  clock.set(0)

  await clock.advance(HOUR_MS)

  assert.equal(count, 1)
})
