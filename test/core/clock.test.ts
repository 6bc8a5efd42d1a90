/** Regular looks, and how tests leave out those that show nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from 'archivolt/testing'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

test('the next look is so long after the end of the one before, and none comes once it is cancelled', async () => {
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

test('a clock that is moved on looks once before anything else happens, at the time of a look', async () => {
  const clock = testClock(0)
  const happened: string[] = []
  const minutes = () => clock.now() / MINUTE_MS
  clock.every(MINUTE_MS, async () => void happened.push(`look ${minutes()}`))
  clock.after(20.5 * MINUTE_MS, () => happened.push(`timer ${minutes()}`))

  await clock.advance(HOUR_MS)

  assert.deepEqual(happened, ['look 20', 'timer 20.5', 'look 60'])
})
