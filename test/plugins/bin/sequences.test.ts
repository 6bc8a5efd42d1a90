/** A hundred random sequences of removals, restores and restarts: nothing is lost, and at the end all is as before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ACTS,
  aHouseholdOf,
  assertNothingLost,
  everythingOf,
  randomOf,
  restoreAll,
} from '../../support/bin-sequences.ts'
import { testApp } from '../../support/testing.ts'

const SEQUENCES = 100
/** One household lives through so many. */
const TOGETHER = 25
const ACTS_EACH = 6

for (let first = 1; first <= SEQUENCES; first += TOGETHER)
  test(`sequences ${first} to ${first + TOGETHER - 1}`, async (t) => {
    const app = await testApp(t)
    await aHouseholdOf(app)
    const before = await everythingOf(app)
    for (let seed = first; seed < first + TOGETHER; seed++) {
      const random = randomOf(seed)
      const done: string[] = []
      for (let act = 0; act < ACTS_EACH; act++) {
        const names = Object.keys(ACTS)
        const name = names[random(names.length)]!
        done.push(name)
        const what = `seed ${seed}: ${done.join(', ')}`
        await ACTS[name]!(app, random).catch((cause: unknown) => {
          throw new Error(`${what}: ${cause}`, { cause })
        })
        await assertNothingLost(app).catch((cause: unknown) => {
          throw new Error(`${what}: ${cause}`, { cause })
        })
      }
      await restoreAll(app, random).catch((cause: unknown) => {
        throw new Error(`seed ${seed}: ${done.join(', ')}, restored: ${cause}`, { cause })
      })
      assert.deepEqual(await everythingOf(app), before, `seed ${seed}: ${done.join(', ')}`)
    }
  })
