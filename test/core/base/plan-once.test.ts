/** Statements whose LIMIT is bound are planned only once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { planOnce } from '../../../core/base/plan-once.ts'

test('a bound LIMIT becomes an expression, with the same rows; numbered values stay as they are', () => {
  const db = new Database(':memory:')
  const rows = (sql: string, ...values: unknown[]) =>
    db
      .prepare(planOnce(sql))
      .pluck()
      .all(...values)
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n'
  assert.equal(planOnce('SELECT 1 LIMIT ? OFFSET ?'), 'SELECT 1 LIMIT ?+0 OFFSET ?')
  assert.deepEqual(rows(`${numbers} LIMIT ? OFFSET ?`, 2, 3), [4, 5])
  assert.deepEqual(rows(`SELECT i FROM (${numbers} LIMIT ?) WHERE i > ? LIMIT ?`, 4, 1, 9), [2, 3, 4])
  assert.equal(planOnce('SELECT 1 LIMIT ?2'), 'SELECT 1 LIMIT ?2')
  db.close()
})
