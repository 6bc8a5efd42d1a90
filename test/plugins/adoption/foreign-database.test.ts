/**
 * A database that another program writes to while it is copied: read completely, including the latest rows, or not at
 * all.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { withDatabase } from '../../../plugins/adoption/catalogs/files.ts'
import { NoCatalog } from '../../../plugins/adoption/catalogs/types.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'

/** Its program writes this many times between the copies of its files. */
async function aBusyDatabase(t: TestContext, times: number) {
  const scope = lastFirst(t)
  const folder = await mkdtemp(join(tmpdir(), 'av-foreign-'))
  scope.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'theirs.db')
  const theirs = new Database(path)
  scope.after(() => void theirs.close())
  theirs.pragma('journal_mode = WAL')
  theirs.exec('CREATE TABLE media (id INTEGER PRIMARY KEY); INSERT INTO media DEFAULT VALUES')
  const copyFileSync = fs.copyFileSync
  let left = times
  fs.copyFileSync = (from, to, mode) => {
    copyFileSync(from, to, mode)
    // The latest row is only in the -wal, or by now in the database.
    if (from !== path || left-- <= 0) return
    theirs.exec('INSERT INTO media DEFAULT VALUES')
    if (left % 2 === 0) theirs.pragma('wal_checkpoint(PASSIVE)')
  }
  syncBuiltinESMExports()
  scope.after(() => {
    fs.copyFileSync = copyFileSync
    syncBuiltinESMExports()
  })
  const own = await mkdtemp(join(tmpdir(), 'av-own-'))
  scope.after(() => rm(own, { recursive: true, force: true }))
  return {
    theirs,
    own,
    read(): number[] {
      const ids: number[] = []
      withDatabase(path, own, ['media'], (db) => {
        for (const { id } of db.rows('media', ['id'])) ids.push(id as number)
      })
      return ids
    },
  }
}

for (const times of [0, 1, 2])
  test(`a database that gets ${times} rows while it is copied is read with all of them`, async (t) => {
    const { read, theirs, own } = await aBusyDatabase(t, times)

    const ids = read()

    assert.deepEqual(ids, theirs.prepare('SELECT id FROM media ORDER BY id').pluck().all())
    assert.equal(ids.length, times + 1)
    assert.deepEqual(await readdir(own), [], 'no copy is left')
  })

test('a database that is written all the time is not read, and the remedy is reported', async (t) => {
  const { read, theirs } = await aBusyDatabase(t, Number.POSITIVE_INFINITY)

  assert.throws(
    read,
    (thrown) => thrown instanceof NoCatalog && /stop its program, then scan again$/.test(thrown.message),
  )

  assert.equal(theirs.pragma('integrity_check', { simple: true }), 'ok', 'theirs is as it was')
})

test('none of its expressions is evaluated, because one might never end', async (t) => {
  const scope = lastFirst(t)
  const own = await mkdtemp(join(tmpdir(), 'av-own-'))
  scope.after(() => rm(own, { recursive: true, force: true }))
  const path = join(own, 'theirs.db')
  const theirs = new Database(path)
  // An evaluation of either would report a row that violates its rule.
  theirs.unsafeMode(true)
  theirs.exec(`
    CREATE TABLE ruled (id INTEGER PRIMARY KEY, CHECK (id > 1));
    CREATE TABLE computed (id INTEGER PRIMARY KEY, twice AS (id) NOT NULL);
    PRAGMA ignore_check_constraints = ON;
    INSERT INTO ruled VALUES (1);
    INSERT INTO computed VALUES (1);
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'AS (id)', 'AS (NULL)')`)
  theirs.close()
  const read = (table: string): unknown[] => {
    const rows: unknown[] = []
    withDatabase(path, own, [table], (db) => rows.push(...db.rows(table, ['id', 'twice'])))
    return rows
  }

  assert.deepEqual(read('ruled'), [{ id: 1, twice: null }])
  assert.deepEqual(read('computed'), [{ id: 1, twice: null }])
})

test('one that is larger than a chunk is read completely', async (t) => {
  const { theirs, read } = await aBusyDatabase(t, 0)
  theirs.exec('CREATE TABLE large (x); INSERT INTO large VALUES (zeroblob(20 << 20))')
  theirs.exec('INSERT INTO media DEFAULT VALUES')
  theirs.pragma('wal_checkpoint(TRUNCATE)')

  assert.deepEqual(read(), [1, 2])
})

test('a view and a virtual table are not read, because their results may be endless', async (t) => {
  const scope = lastFirst(t)
  const own = await mkdtemp(join(tmpdir(), 'av-own-'))
  scope.after(() => rm(own, { recursive: true, force: true }))
  const path = join(own, 'theirs.db')
  const theirs = new Database(path)
  theirs.exec(`
    CREATE VIEW long AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 1000) SELECT id FROM n;
    CREATE VIRTUAL TABLE media USING fts5 (id, content = 'long', content_rowid = 'id');
    CREATE TABLE other (id INTEGER)`)
  assert.equal(theirs.prepare('SELECT id FROM media').all().length, 1000)
  theirs.close()

  const without = (name: string) => ({ why: { key: 'The database has no table {name}', params: { name } } })
  for (const name of ['media', 'long'])
    assert.throws(() => withDatabase(path, own, [name], () => undefined), without(name))
  withDatabase(path, own, ['other'], (db) => {
    assert.equal(db.has('media'), false)
    assert.throws(() => db.rows('media', ['id']), without('media'))
    assert.throws(() => db.cell('media', 'id', 1), without('media'))
  })
})

test('a pipe in place of the -wal is reported and not waited for', async (t) => {
  const folder = await temporaryFolder(lastFirst(t))
  const path = join(folder, 'theirs.db')
  new Database(path).exec('CREATE TABLE media (id INTEGER PRIMARY KEY)').close()
  execFileSync('mkfifo', [`${path}-wal`])

  const read = () => withDatabase(path, folder, ['media'], () => undefined)

  assert.throws(read, (thrown) => thrown instanceof NoCatalog && /is not a file$/.test(thrown.message))
})
