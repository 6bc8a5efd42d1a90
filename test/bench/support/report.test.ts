import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareRuns, missesOf, type Row } from './report.ts'

const row = (what: string, value: number, more: Partial<Row> = {}): Row => ({
  ...{ bench: 'http', what, unit: 'ms', value },
  ...more,
})

test('compares a run with the previous one, and keeps the figures of benches that did not run', () => {
  const known = [row('list', 40), row('gone', 1), { ...row('channel', 7), bench: 'queue' }]

  const { rows, kept } = compareRuns([row('list', 30), row('item', 2)], known)

  assert.deepEqual(rows, [row('list', 30, { before: 40 }), row('item', 2)])
  assert.deepEqual(kept, [{ ...row('channel', 7), bench: 'queue' }, ...rows])
})

test('lists the missed limits with their earlier values', () => {
  const missed = { reach: '≤ 20 ms', isReached: false }

  const lines = missesOf([
    row('list', 30, { ...missed, before: 40, note: 'p50 9' }),
    row('item', 2, { reach: '≤ 20 ms', isReached: true }),
    row('queue', 21, missed),
  ])

  assert.equal(lines.length, 2)
  assert.match(lines[0]!, /list +30 ms +NO +≤ 20 ms +before 40 ms$/)
  assert.match(lines[1]!, /queue .* new$/)
})
