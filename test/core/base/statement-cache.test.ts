/** Statements are prepared once, and planned only once if their LIMIT is bound. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { statementCache } from '../../../core/base/statement-cache.ts'

const NUMBERS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n'

test('a statement is prepared once, until there are too many', () => {
  const db = new Database(':memory:')
  const prepared: string[] = []
  const sql = statementCache((text) => (prepared.push(text), db.prepare(text)))
  assert.equal(sql('SELECT 1'), sql('SELECT 1'))
  assert.deepEqual(prepared, ['SELECT 1'])
  for (let number = 2; number < 1000; number++) sql(`SELECT ${number}`)
  sql('SELECT 1')
  assert.equal(prepared.filter((text) => text === 'SELECT 1').length, 2)
  db.close()
})

test('a bound LIMIT becomes an expression, with the same rows; numbered values stay as they are', () => {
  const db = new Database(':memory:')
  const sql = statementCache((text) => db.prepare(text).pluck())
  assert.equal(sql(`${NUMBERS} LIMIT ? OFFSET ?`).source, `${NUMBERS} LIMIT ?+0 OFFSET ?`)
  assert.deepEqual(sql(`${NUMBERS} LIMIT ? OFFSET ?`).all(2, 3), [4, 5])
  assert.deepEqual(sql(`SELECT i FROM (${NUMBERS} LIMIT ?) WHERE i > ? LIMIT ?`).all(4, 1, 9), [2, 3, 4])
  assert.equal(sql('SELECT 1 LIMIT ?2').source, 'SELECT 1 LIMIT ?2')
  db.close()
})
