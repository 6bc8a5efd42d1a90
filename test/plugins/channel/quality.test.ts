/** Rules of yt-dlp that the page wrote become words; those that somebody wrote by hand stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { wordsForRules } from '../../../plugins/channel/quality.ts'

type Values = Record<string, unknown>

function migrated(before: Values): Values {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE preferences (section TEXT, key TEXT, value TEXT, PRIMARY KEY (section, key)) STRICT')
  const put = db.prepare<[string, string]>("INSERT INTO preferences VALUES ('downloads', ?, ?)")
  for (const [key, value] of Object.entries(before)) put.run(key, JSON.stringify(value))
  db.exec(wordsForRules.sql)
  const rows = db.prepare<[], { key: string; value: string }>('SELECT key, value FROM preferences').all()
  db.close()
  return Object.fromEntries(rows.map(({ key, value }) => [key, JSON.parse(value)]))
}

test('rules that the page wrote become words', () => {
  const compatible = { format_sort: false, quality_codec: 'compatible' }
  assert.deepEqual(migrated({ format_sort: 'vcodec:h264,acodec:aac' }), compatible)
  assert.deepEqual(migrated({ format_sort: 'vcodec:h264,res:1080,acodec:aac' }), {
    ...compatible,
    quality_height: 1080,
  })
  assert.deepEqual(migrated({ format_sort: 'res:720', format: false }), {
    format: false,
    format_sort: false,
    quality_height: 720,
  })
})

test('rules that were written by hand stay unchanged', () => {
  const rules = [
    {},
    { format_sort: false },
    { format_sort: 'res:1080,fps' },
    { format_sort: 'vcodec:h264,res:1080' },
    { format_sort: 'res:720', format: 'bv*+ba' },
  ]

  assert.deepEqual(rules.map(migrated), rules)
})
