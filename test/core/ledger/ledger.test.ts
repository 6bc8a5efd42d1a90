import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Clock, systemClock } from '../../../core/base/clock.ts'
import { isAppError } from '../../../core/base/error.ts'
import { openDiskSync } from '../../../core/ledger/disk-sync.ts'
import { applyMigrations, type MigrationOwner, planMigrations } from '../../../core/ledger/migrate.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { bundledChild } from '../../support/child.ts'
import { testClock } from '../../support/clock.ts'

const log = openLog('silent')
const child = await bundledChild(new URL('./ledger-child.ts', import.meta.url))

const things: MigrationOwner = {
  name: 'thing',
  migrations: [{ number: 1, sql: 'CREATE TABLE thing_list (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT' }],
}

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'archivolt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function aLedger(
  t: TestContext,
  {
    folder = aFolder(t),
    clock = testClock(),
    plugins = [things],
  }: { folder?: string; clock?: Clock; plugins?: MigrationOwner[] } = {},
) {
  const file = join(folder, 'ledger.sqlite')
  const ledger = await openLedger({ file, log, clock, plugins })
  t.after(() => ledger.close())
  const add = (id: number, text = `thing ${id}`) =>
    ledger.write(() => ledger.sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(id, text).changes)
  const ids = () =>
    ledger
      .sql<{ id: number }>('SELECT id FROM thing_list ORDER BY id')
      .all()
      .map((row) => row.id)
  return { folder, file, clock, ledger, add, ids }
}

test('the writes of one tick share a transaction; one that throws is undone alone', async (t) => {
  const { ledger, add, ids, file } = await aLedger(t)
  const reader = new Database(file, { readonly: true })
  t.after(() => reader.close())
  const version = () => reader.pragma('data_version', { simple: true }) as number
  const before = version()

  const results = await Promise.allSettled([
    add(1),
    ledger.write(() => {
      ledger.sql('INSERT INTO thing_list VALUES (2, ?)').run('half done')
      throw new Error('no')
    }),
    add(3),
    add(3),
  ])

  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
  )
  assert.deepEqual(ids(), [1, 3])
  assert.equal(version() - before, 1, 'one commit')
})

test('a change of the ledger outside of a write is refused, and a read is not', async (t) => {
  const { ledger, ids } = await aLedger(t)
  const outside = { name: 'Error', message: /outside of `ledger\.write\(\(\) => …\)`: (INSERT|DELETE)/ }
  const insert = ledger.sql('INSERT INTO thing_list (id, text) VALUES (?, ?)')

  assert.throws(() => insert.run(1, 'x'), outside)
  assert.throws(() => ledger.sql('DELETE FROM thing_list RETURNING id').all(), outside)
  assert.deepEqual(ids(), [])
  await ledger.write(() => insert.run(1, 'x'))
  assert.throws(() => ledger.sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(2, 'x'), outside)
  assert.deepEqual(ids(), [1])
})

test('asynchronous work in a transaction is refused and undone', async (t) => {
  const { ledger, ids } = await aLedger(t)

  await assert.rejects(
    ledger.write(async () => {
      ledger.sql('INSERT INTO thing_list VALUES (1, ?)').run('early')
    }),
    TypeError,
  )
  assert.deepEqual(ids(), [])
})

test('ten thousand simultaneous writes do not block the event loop: a transaction ends after some milliseconds', async (t) => {
  const { ledger, ids } = await aLedger(t)
  // Each write takes one millisecond.
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let inTurn = 0
  let most = 0
  let isDone = false
  const endTurn = () => {
    most = Math.max(most, inTurn)
    inTurn = 0
    if (!isDone) setImmediate(endTurn)
  }
  setImmediate(endTurn)

  await Promise.all(
    Array.from({ length: 10_000 }, (_, id) =>
      ledger.write(() => {
        now++
        inTurn++
        ledger.sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(id, 'x')
      }),
    ),
  )
  isDone = true

  assert.equal(ids().length, 10_000)
  assert.ok(most > 1 && most < 10, `${most} writes in one turn`)
})

/** Holds back the syncs of the disk. @returns each one's callback, in order */
function holdSyncs(t: TestContext): Array<(failure: Error | null) => void> {
  const held: Array<(failure: Error | null) => void> = []
  t.mock.method(fs, 'fdatasync', (_file: number, synced: (failure: Error | null) => void) => void held.push(synced))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return held
}

test('a write is confirmed once it is on the disk; meanwhile the event loop goes on, and further writes share the next sync', async (t) => {
  const held = holdSyncs(t)
  const { add, ids } = await aLedger(t, { clock: systemClock })
  const confirmed: number[] = []
  const write = (id: number) => add(id).then(() => void confirmed.push(id))

  const first = write(1)
  while (held.length === 0) await nextTurn()
  const others = [write(2), write(3)]
  while (ids().length < 3) await nextTurn()
  assert.deepEqual([confirmed, held.length], [[], 1])
  held[0]!(null)
  await first
  assert.deepEqual([confirmed, held.length], [[1], 2])
  held[1]!(null)
  await Promise.all(others)

  assert.deepEqual(confirmed, [1, 2, 3])
})

test('a transaction that changes nothing waits only for syncs that are under way', async (t) => {
  const held = holdSyncs(t)
  const { add, ledger } = await aLedger(t, { clock: systemClock })
  const drop = (id: number) => ledger.write(() => ledger.sql('DELETE FROM thing_list WHERE id = ?').run(id).changes)

  const alone = await drop(1)
  const syncsAlone = held.length
  const first = add(1)
  while (held.length === 0) await nextTurn()
  let isAnswered = false
  const meanwhile = drop(2).then(() => void (isAnswered = true))
  await nextTurn()
  await nextTurn()

  assert.deepEqual([alone, syncsAlone, held.length, isAnswered], [0, 0, 1, false])
  held[0]!(null)
  await first
  held[1]!(null)
  await meanwhile
})

test('a write that a failing disk does not take is refused as such', async (t) => {
  const held = holdSyncs(t)
  const { add } = await aLedger(t, { clock: systemClock })
  const failed = add(1).catch((error: unknown) => error)
  while (held.length === 0) await nextTurn()

  held[0]!(Object.assign(new Error('i/o error, fdatasync'), { code: 'EIO' }))

  const error = await failed
  assert.ok(isAppError(error, 'unavailable'))
  assert.match(error.message, /cannot be written/)
})

test('if no thread syncs the log, the event loop does so itself', async (t) => {
  const held = holdSyncs(t)
  const path = join(aFolder(t), 'log')
  writeFileSync(path, '')
  const disk = openDiskSync(path, 1)
  t.after(() => disk.close())

  const failure = await new Promise((resolve) => disk.whenSynced(resolve))

  assert.deepEqual([failure, held.length], [undefined, 1])
})

test('close commits pending writes, and refuses later ones', async (t) => {
  const { folder, ledger, add } = await aLedger(t)
  const pending = [add(1), add(2)]
  await ledger.close()
  await Promise.all(pending)
  await assert.rejects(add(3), { code: 'unavailable' })

  const again = await aLedger(t, { folder })
  assert.deepEqual(again.ids(), [1, 2])
})

test('a confirmed write survives a kill of the process', async (t) => {
  const folder = aFolder(t)
  const process = spawn(globalThis.process.execPath, [child, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let answered = -1
  for await (const line of createInterface(process.stdout)) {
    answered = Number(line)
    if (answered === 200) process.kill('SIGKILL')
  }

  const { ids } = await aLedger(t, { folder })
  assert.ok(ids().length > answered, `${answered} answered, ${ids().length} there`)
})

test('a full disk is reported as such, nothing half written remains, and writing continues when there is space', async (t) => {
  const { ledger, add, ids } = await aLedger(t)
  const { page_count: full } = ledger.sql<{ page_count: number }>('PRAGMA page_count').get()!
  ledger.sql(`PRAGMA max_page_count = ${full}`).get()

  const writes = await Promise.allSettled([add(1), add(2, 'x'.repeat(100_000))])
  for (const write of writes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]) {
    assert.ok(isAppError(write.reason, 'unavailable'))
    assert.match(write.reason.message, /^The disk with the data folder is full/)
  }
  assert.equal(writes[1].status, 'rejected')
  assert.deepEqual(ids(), writes[0].status === 'fulfilled' ? [1] : [])

  ledger.sql(`PRAGMA max_page_count = ${full + 1000}`).get()
  await add(3, 'x'.repeat(100_000))
  assert.ok(ids().includes(3))
})

test('a second process on the same folder is refused with a sentence that names it', async (t) => {
  const { folder, ledger, add } = await aLedger(t)
  const second = spawn(process.execPath, [child, folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said = readText(second.stderr)
  const [code] = (await once(second, 'exit')) as [number]

  assert.notEqual(code, 0)
  assert.match(await said, new RegExp(`Another Archivolt is already using the data folder ${folder}`))
  await assert.rejects(
    openLedger({ file: join(folder, 'ledger.sqlite'), log, clock: testClock() }),
    /already using/,
    'nor twice in one process',
  )
  await add(1)
  await ledger.close()
  await aLedger(t, { folder })
})

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const part of stream) text += String(part)
  return text
}

test('migrations are applied once, in order', async (t) => {
  const { folder, ledger, add } = await aLedger(t)
  await add(1)
  await ledger.close()

  const more: MigrationOwner = {
    name: 'thing',
    migrations: [
      ...things.migrations,
      { number: 2, sql: `ALTER TABLE thing_list ADD COLUMN size INTEGER NOT NULL DEFAULT 7` },
    ],
  }
  const second = await aLedger(t, { folder, plugins: [more] })
  assert.deepEqual(second.ledger.sql('SELECT * FROM thing_list').all(), [{ id: 1, text: 'thing 1', size: 7 }])
  await second.ledger.close()

  await (await aLedger(t, { folder, plugins: [more] })).ledger.close()
  await assert.rejects(aLedger(t, { folder }), /later version of thing/)
})

test('without a plugin that replaces it, a damaged ledger is refused and stays unchanged', async (t) => {
  const { folder, file, ledger } = await aLedger(t)
  await ledger.close()
  writeFileSync(file, 'x'.repeat(9000))

  await assert.rejects(aLedger(t, { folder }), /ledger\.sqlite is damaged, and the plugin that replaces it/)

  assert.equal(readFileSync(file, 'utf8'), 'x'.repeat(9000))
})

test('a failed migration leaves the ledger unchanged, and the folder unlocked', async (t) => {
  const { folder, ledger } = await aLedger(t)
  await ledger.close()
  const broken: MigrationOwner = {
    name: 'thing',
    migrations: [...things.migrations, { number: 2, sql: 'CREATE TABLE thing_more (id INTEGER) STRICT; NOT SQL' }],
  }

  await assert.rejects(aLedger(t, { folder, plugins: [broken] }), /syntax error/)

  const again = await aLedger(t, { folder })
  assert.equal(again.ledger.sql(`SELECT 1 FROM sqlite_schema WHERE name = 'thing_more'`).get(), undefined)
})

test('an external migration that was edited after it was applied is named; whitespace does not count, older rows are completed', async (t) => {
  const outside = (sql: string): MigrationOwner[] => [
    { name: 'thing', migrations: [{ number: 1, sql }], leaveOut: 'thing' },
  ]
  const { sql } = things.migrations[0]!
  const { folder, ledger } = await aLedger(t, { plugins: outside(sql) })
  await ledger.write(() => ledger.sql("UPDATE migrations SET digest = NULL WHERE owner = 'thing'").run())
  await ledger.close()
  await (await aLedger(t, { folder, plugins: outside(`${sql.replace(' (', '\n (')}\n`) })).ledger.close()

  await assert.rejects(aLedger(t, { folder, plugins: outside(sql.replace('NOT NULL', '')) }), {
    reason:
      'Migration 1 of thing was edited after it was applied here: restore it, and write the change as migration 2',
    leaveOut: 'thing',
  })
})

test('a plugin can change only tables with its own prefix', async (t) => {
  const refused: Record<string, string> = {
    'CREATE TABLE others (id INTEGER) STRICT': 'others',
    'CREATE TABLE things (id INTEGER) STRICT': 'things',
    'CREATE TABLE thing_a (id INTEGER) STRICT; CREATE INDEX by_id ON thing_a (id)': 'by_id',
    'CREATE INDEX thing_jobs ON jobs (task)': 'thing_jobs',
    'ALTER TABLE jobs ADD COLUMN thing_size INTEGER': 'jobs',
    'DROP TABLE schedules': 'schedules',
    'CREATE TRIGGER thing_watch AFTER INSERT ON jobs BEGIN DELETE FROM jobs; END': 'thing_watch',
    'COMMIT; CREATE TABLE thing_a (id INTEGER)': 'transaction',
  }
  for (const [sql, named] of Object.entries(refused)) {
    const folder = aFolder(t)
    await assert.rejects(
      aLedger(t, { folder, plugins: [{ name: 'thing', migrations: [{ number: 1, sql }] }] }),
      new RegExp(`of (the plugin )?thing .*${named}`),
      sql,
    )
  }
})

test('foreign keys are enforced, tables are strict, and only the owner can read the file', async (t) => {
  const plugins = [
    {
      name: 'thing',
      migrations: [
        ...things.migrations,
        { number: 2, sql: 'CREATE TABLE thing_part (thing INTEGER NOT NULL REFERENCES thing_list (id)) STRICT' },
      ],
    },
  ]
  const { ledger, file } = await aLedger(t, { plugins })

  await assert.rejects(
    ledger.write(() => ledger.sql('INSERT INTO thing_part VALUES (99)').run()),
    /FOREIGN KEY/,
  )
  await assert.rejects(
    ledger.write(() => ledger.sql('INSERT INTO thing_list VALUES (1, ?)').run(Buffer.from('x'))),
    /cannot store BLOB/,
  )
  for (const end of ['', '-wal']) assert.equal(statSync(file + end).mode & 0o777, 0o600)
  const loose = ledger
    .sql<{ name: string }>(
      `SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'`,
    )
    .all()
  assert.deepEqual(loose, [])
})

test('a ledger of an older version keeps its jobs, and pending events of an external plugin are still delivered', async (t) => {
  const folder = aFolder(t)
  const before = new Database(join(folder, 'ledger.sqlite'))
  applyMigrations(before, planMigrations(before, []).steps.slice(0, 2), 0, log)
  const row = before.prepare(
    "INSERT INTO jobs (id, task, lane, single_key, state, payload, created_at) VALUES (?, ?, 'light', 'k', 'PENDING', ?, 0)",
  )
  for (const task of ['tide.hear', 'other'])
    row.run(task, task, JSON.stringify({ fact: 'word.said', told: { word: 'x' } }))
  before.close()

  const { ledger } = await aLedger(t, { folder })
  const payloads = ledger
    .sql<{ payload: string }>("SELECT payload FROM jobs WHERE unique_key = 'k' ORDER BY seq")
    .all()
    .map(({ payload }) => JSON.parse(payload) as unknown)
  assert.deepEqual(payloads, [
    { told: { word: 'x' }, event: 'word.said' },
    { fact: 'word.said', told: { word: 'x' } },
  ])
})

/** Simulates a network share that is mounted without locks. */
const NO_LOCKS = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int answer(const char *name, int fd, int command, void *given) {
  if (command == F_SETLK || command == F_SETLKW) { errno = ENOLCK; return -1; }
  return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, name))(fd, command, given);
}
int fcntl(int fd, int command, ...) { va_list all; va_start(all, command); void *given = va_arg(all, void *); va_end(all); return answer("fcntl", fd, command, given); }
int fcntl64(int fd, int command, ...) { va_list all; va_start(all, command); void *given = va_arg(all, void *); va_end(all); return answer("fcntl64", fd, command, given); }`

test('a file system without locks is reported as such, and not as another server', async (t) => {
  const folder = aFolder(t)
  writeFileSync(join(folder, 'no-locks.c'), NO_LOCKS)
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-o', 'no-locks.so', 'no-locks.c', '-ldl'], { cwd: folder })
  if (compiled.status !== 0) return t.skip('no C compiler makes a file system without locks here')

  const { stderr } = spawnSync(process.execPath, [child, join(folder, 'data')], {
    env: { LD_PRELOAD: join(folder, 'no-locks.so') },
    encoding: 'utf8',
  })

  assert.match(stderr, /data is on a file system without file locks, .*local disk \(AV_DATA_DIR\)/)
  assert.doesNotMatch(stderr, /already using/)
  assert.deepEqual(readdirSync(join(folder, 'data')), ['lock'])
})

test('changed rows are recorded in the same transaction, by their subject, and only if somebody follows them', async (t) => {
  const folder = aFolder(t)
  const plugins = [
    { name: 'map', migrations: [{ number: 1, sql: 'CREATE TABLE map_mark (id TEXT PRIMARY KEY, note TEXT) STRICT' }] },
    {
      name: 'copy',
      migrations: [
        {
          number: 1,
          sql: 'CREATE TABLE copy_due (kind TEXT, id TEXT, times INTEGER DEFAULT 1, PRIMARY KEY (kind, id)) STRICT',
        },
      ],
    },
  ]
  const open = () => openLedger({ file: join(folder, 'ledger.sqlite'), log, clock: testClock(), plugins })
  const ledger = await open()
  ledger.follow(
    { table: 'map_mark', id: (row) => `nullif(${row}.id, 'none')`, when: 'old.note IS NOT new.note' },
    'copy_due',
    'map',
  )
  const due = () => ledger.sql('SELECT * FROM copy_due ORDER BY id').all()
  const run = (text: string) => ledger.write(() => void ledger.sql(text).run())

  await run("INSERT INTO map_mark VALUES ('a', 'x'), ('b', 'x'), ('none', 'x')")
  await run("UPDATE map_mark SET note = 'x'")
  await run("UPDATE map_mark SET id = 'c', note = 'y' WHERE id = 'b'")
  await assert.rejects(
    ledger.write(() => {
      ledger.sql("DELETE FROM map_mark WHERE id = 'a'").run()
      throw new Error('no')
    }),
  )

  assert.deepEqual(due(), [
    { kind: 'map', id: 'a', times: 1 },
    { kind: 'map', id: 'b', times: 2 },
    { kind: 'map', id: 'c', times: 1 },
  ])
  await run('DELETE FROM copy_due')
  await run("DELETE FROM map_mark WHERE id = 'a'")
  assert.deepEqual(due(), [{ kind: 'map', id: 'a', times: 1 }])
  await ledger.close()
  const again = await open()
  await again.write(() => void again.sql("DELETE FROM map_mark WHERE id = 'c'").run())
  assert.equal(again.sql('SELECT * FROM copy_due').all().length, 1)
  await again.close()
})
