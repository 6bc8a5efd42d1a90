/** Durations in readable form: contract 1.3. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationText } from '../../../plugins/video/durations.ts'

test('a duration is written in units that are not zero', () => {
  const cases: Array<[number, string]> = [
    [0, 'NA'],
    [5, '5s'],
    [59.6, '1m'],
    [65, '1m 05s'],
    [500, '8m 20s'],
    [3605, '1h 05s'],
    [5000, '1h 23m 20s'],
    [86_400 * 3 + 60, '3d 01m'],
    [86_400 * 365 * 2 + 86_400 * 12, '2y 12d'],
  ]
  for (const [seconds, text] of cases) assert.equal(durationText(seconds), text)
})
