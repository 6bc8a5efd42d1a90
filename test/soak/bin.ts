/**
 * Runs a thousand random sequences of removals, restores and restarts, and moves ten thousand videos to the bin and
 * back; prints how long they take. `SEQUENCES=50 VIDEOS=500` sets the numbers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aHouseholdOf, everythingOf, liveThrough } from '../support/bin-sequences.ts'
import { aChannel, aVideo, testApp } from '../support/testing.ts'

const SEQUENCES = Number(process.env['SEQUENCES'] ?? 1000)
const VIDEOS = Number(process.env['VIDEOS'] ?? 10_000)
/** Documents per batch. */
const TOGETHER = 1000

test(`${SEQUENCES} sequences lose nothing`, { timeout: 12 * 3_600_000 }, async (t) => {
  const app = await testApp(t)
  await aHouseholdOf(app)
  const before = await everythingOf(app)
  for (let seed = 1; seed <= SEQUENCES; seed++) await liveThrough(app, before, seed)
})

test(`${VIDEOS} videos go to the bin and back`, { timeout: 3_600_000 }, async (t) => {
  const app = await testApp(t)
  const ids = Array.from({ length: VIDEOS }, (_, at) => `many${String(at).padStart(7, '0')}`)
  await app.given(aChannel({ id: 'UC1' }))
  for (let from = 0; from < VIDEOS; from += TOGETHER)
    await app.given(...ids.slice(from, from + TOGETHER).map((id) => aVideo({ id, channelId: 'UC1' })))
  const timed = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
    const begun = performance.now()
    const result = await work()
    console.log(`# ${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    return result
  }

  const { removal } = await timed('into the bin', () => app.app.bin.put(ids, { why: 'removed' }))
  assert.deepEqual(await app.ids('video'), [])
  const { restored, refused } = await timed('and back', () => app.app.bin.restore({ removal: removal! }))

  assert.deepEqual([restored, refused], [VIDEOS, []])
  assert.deepEqual(await app.ids('video'), ids)
})
