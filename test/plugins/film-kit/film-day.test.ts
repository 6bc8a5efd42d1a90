/** The date of a film whose date of publication is unknown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOfFilm } from '../../../plugins/film-kit/film-day.ts'

const NOW = Date.parse('2026-01-15T10:00:00Z') / 1000
const CHANGED = Date.parse('2016-05-06T12:00:00Z')

const ROWS: ReadonlyArray<[base: string, changedMs: number, day: string]> = [
  ['20150607 A walk [dQw4w9WgXcQ]', CHANGED, '2015-06-07'],
  ['20150607_dQw4w9WgXcQ_A walk', CHANGED, '2015-06-07'],
  ['A walk (2015-06-07) [dQw4w9WgXcQ]', CHANGED, '2015-06-07'],
  ['2015.06.07 A walk', CHANGED, '2015-06-07'],
  ['A walk [20150607abc]', CHANGED, '2016-05-06'],
  ['A walk 201506071', CHANGED, '2016-05-06'],
  ['A walk 20150230', CHANGED, '2016-05-06'],
  ['A walk of 2099-01-01', CHANGED, '2016-05-06'],
  ['A walk', 0, '2026-01-15'],
  ['A walk', Date.parse('2112-01-01'), '2026-01-15'],
]

test('the date is that in its name, else that of its file, and never in the future', () => {
  for (const [base, changedMs, day] of ROWS) assert.equal(dayOfFilm({ base, changedMs }, NOW), day, base)
})
