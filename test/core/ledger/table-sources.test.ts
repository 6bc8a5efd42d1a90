/** Reads of the ledger are recorded as sources by table and account, and every visible write outdates them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type OpenedLedger, openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { isUnchanged, recordSources, type Sources } from '../../../core/sources.ts'
import { testClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

const TABLES = `
  CREATE TABLE maps_map (id INTEGER PRIMARY KEY, name TEXT) STRICT;
  CREATE TABLE maps_pin (user_id INTEGER NOT NULL, map_id INTEGER NOT NULL REFERENCES maps_map (id) ON DELETE CASCADE, place TEXT,
    PRIMARY KEY (user_id, map_id)) STRICT, WITHOUT ROWID;`

async function aLedger(t: TestContext): Promise<OpenedLedger> {
  const ledger = await openLedger({
    file: join(await temporaryFolder(t), 'ledger.sqlite'),
    log: openLog('silent'),
    clock: testClock(),
    plugins: [{ name: 'maps', migrations: [{ number: 1, sql: TABLES }] }],
  })
  t.after(() => ledger.close())
  await ledger.write(() => {
    ledger.sql("INSERT INTO maps_map VALUES (1, 'harbour'), (2, 'hill')").run()
    ledger.sql("INSERT INTO maps_pin VALUES (1, 1, 'mole'), (2, 1, 'quay'), (3, 2, 'top')").run()
  })
  return ledger
}

const READS: Record<string, [sql: string, ...values: unknown[]]> = {
  maps: ['SELECT * FROM maps_map'],
  'pins of 1': ['SELECT * FROM maps_pin WHERE user_id = ? AND map_id IN (SELECT value FROM json_each(?))', 1, '[1, 2]'],
  'pins of 3': ['SELECT place FROM maps_pin WHERE user_id = ? ORDER BY map_id LIMIT ?', 3, 10],
  'pins of 1 or of a map': ['SELECT * FROM maps_pin WHERE user_id = ? OR map_id = ?', 1, 2],
  'pins with maps of 1': ['SELECT * FROM maps_pin JOIN maps_map ON maps_map.id = map_id WHERE user_id = ?', 1],
  'no table': ['SELECT 1'],
}

const WRITES: Record<string, { sql: string; ends: string[] }> = {
  'a pin of 2': {
    sql: "UPDATE maps_pin SET place = 'pier' WHERE user_id = 2",
    ends: ['pins of 1 or of a map', 'pins with maps of 1', 'no table'],
  },
  'a pin of 1': {
    sql: "INSERT OR REPLACE INTO maps_pin VALUES (1, 1, 'bank')",
    ends: ['pins of 1', 'pins of 1 or of a map', 'pins with maps of 1', 'no table'],
  },
  'a pin changes hands': {
    sql: 'UPDATE maps_pin SET user_id = 1 WHERE user_id = 3',
    ends: ['pins of 1', 'pins of 3', 'pins of 1 or of a map', 'pins with maps of 1', 'no table'],
  },
  'a map takes its pins along': {
    sql: 'DELETE FROM maps_map WHERE id = 1',
    ends: ['maps', 'pins of 1', 'pins of 1 or of a map', 'pins with maps of 1', 'no table'],
  },
  'another table': { sql: "INSERT INTO meta (key, value) VALUES ('a', 'b')", ends: ['no table'] },
}

for (const [what, { sql, ends }] of Object.entries(WRITES)) {
  test(`${what}: exactly the replies that show it are outdated`, async (t) => {
    const ledger = await aLedger(t)
    const read = new Map<string, Sources>()
    for (const [name, [text, ...values]] of Object.entries(READS)) {
      const sources: Sources = new Map()
      await recordSources(sources, async () => ledger.sql(text).all(...values))
      read.set(name, sources)
    }

    await ledger.write(() => ledger.sql(sql).run())

    assert.deepEqual(
      [...read].filter(([, sources]) => !isUnchanged(sources)).map(([name]) => name),
      ends,
    )
  })
}

test('a value is cached until its sources change, also inside a transaction that is undone', async (t) => {
  const ledger = await aLedger(t)
  let finds = 0
  const count = () =>
    ledger.cached('pins', () => {
      finds++
      return ledger.sql<{ count: number }>('SELECT count(*) AS count FROM maps_pin').get()!.count
    })
  const counts: number[] = []
  counts.push(count(), count())
  await ledger.write(() => ledger.sql("INSERT INTO maps_map VALUES (3, 'field')").run())
  counts.push(count())
  assert.deepEqual([finds, counts], [1, [3, 3, 3]])

  const undone = ledger.write(() => {
    ledger.sql("INSERT INTO maps_pin VALUES (4, 1, 'dock')").run()
    counts.push(count())
    ledger.sql("INSERT INTO maps_pin VALUES (5, 1, 'dyke')").run()
    counts.push(count())
    throw new Error('undone')
  })

  await assert.rejects(undone, { message: 'undone' })
  counts.push(count())
  assert.deepEqual(counts.slice(3), [4, 5, 3])
})

test('a value that is first computed inside a transaction is computed again after each change', async (t) => {
  const ledger = await aLedger(t)
  const count = () =>
    ledger.cached('pins', () => ledger.sql<{ count: number }>('SELECT count(*) AS count FROM maps_pin').get()!.count)
  const counts: number[] = []
  const change = (account: number) => {
    counts.push(count())
    ledger.sql('INSERT INTO maps_pin VALUES (?, 1, NULL)').run(account)
    counts.push(count())
  }

  const undone = ledger.write(() => {
    change(4)
    throw new Error('undone')
  })
  const done = ledger.write(() => change(5))

  await assert.rejects(undone, { message: 'undone' })
  await done
  counts.push(count())
  await ledger.write(() => ledger.sql('DELETE FROM maps_pin').run())
  counts.push(count())
  assert.deepEqual(counts, [3, 4, 3, 4, 4, 0])
})

test('only tables that were read have triggers, because creating all of them takes long', async (t) => {
  const ledger = await aLedger(t)
  const followed = () =>
    ledger.sql('SELECT DISTINCT tbl_name FROM sqlite_temp_schema ORDER BY 1').pluck().all() as string[]
  assert.deepEqual(followed(), [])

  ledger.cached('maps', () => ledger.sql('SELECT * FROM maps_map').all())
  await ledger.write(() => undefined)

  assert.deepEqual(followed(), ['maps_map'])
})

test('only migrations create tables, because changes of other tables would not be noticed', async (t) => {
  const ledger = await aLedger(t)
  assert.throws(() => ledger.sql('CREATE TABLE late (id INTEGER)'), /Only migrations create/)
})
