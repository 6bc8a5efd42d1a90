/** A hundred random sequences of removals, restores and restarts: nothing is lost, and the end equals the beginning. */
import { test } from 'node:test'
import { aHouseholdOf, everythingOf, liveThrough } from '../../support/bin-sequences.ts'
import { testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const SEQUENCES = 100
/** Number of sequences that share a household. */
const TOGETHER = 10

for (let first = 1; first <= SEQUENCES; first += TOGETHER)
  test(`sequences ${first} to ${first + TOGETHER - 1}`, async (t) => {
    const app = await testApp(t)
    await aHouseholdOf(app)
    const before = await everythingOf(app)
    for (let seed = first; seed < first + TOGETHER; seed++) await liveThrough(app, before, seed)
  })
