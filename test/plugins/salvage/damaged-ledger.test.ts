/** A damaged or lost ledger: what replaces it, what is salvaged, and what people are told. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { isAppError } from '../../../core/base/error.ts'
import { inEnglish } from '../../../core/base/say.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { copiesFolder, copiesOf } from '../../../plugins/recovery/copies.ts'
import plugin from '../../../plugins/recovery/plugin.ts'
import { salvage } from '../../../plugins/salvage/salvage.ts'
import { bundledChild } from '../../support/child.ts'
import { testClock } from '../../support/clock.ts'
import { things } from '../../support/things.ts'
import '../../support/slow.ts'

const log = openLog('silent')
const recovery = plugin.recovery!
const child = await bundledChild(new URL('./damaged-ledger-child.ts', import.meta.url))
const PAGE_BYTES = 4096
const [MARKS, ROWS] = [2000, 400]

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'archivolt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

type Opened = Awaited<ReturnType<typeof open>>

async function open(t: TestContext, folder = aFolder(t), clock = testClock()) {
  const file = join(folder, 'ledger.sqlite')
  const ledger = await openLedger({ file, log, clock, plugins: [things], recovery, salvage })
  t.after(() => ledger.close())
  const all = <Row>(sql: string) => ledger.sql<Row>(sql).all()
  return {
    ...{ folder, file, clock, ledger },
    said: () => inEnglish(ledger.recovered ?? ''),
    names: () => all<{ username: string }>('SELECT username FROM users ORDER BY id').map(({ username }) => username),
    marks: () => all<{ name: string }>('SELECT name FROM thing_mark').length,
    rows: () => all<{ id: number }>('SELECT id FROM thing_list').length,
  }
}

/**
 * Two accounts with marks, and a list.
 * @param text  of each row of the list
 */
async function filled(t: TestContext, text = 'x'.repeat(200)): Promise<Opened> {
  const opened = await open(t)
  const { sql, write } = opened.ledger
  await write(() => {
    const account = sql('INSERT INTO users (username, password, is_staff, created_at) VALUES (?, ?, ?, 0)')
    for (const name of ['ann', 'ben']) account.run(name, `hash of ${name}`, name === 'ann' ? 1 : 0)
    for (let at = 0; at < MARKS; at++)
      sql('INSERT INTO thing_mark (user_id, name, at) VALUES (?, ?, ?)').run(1 + (at % 2), `mark-${at}`, at)
    for (let at = 1; at <= ROWS; at++) sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(at, `${at}${text}`)
  })
  const other = new Database(opened.file)
  other.pragma('wal_checkpoint(TRUNCATE)')
  other.close()
  return opened
}

/** The page numbers of a table or an index. */
function pagesOf(file: string, name: string, type: 'leaf' | 'internal' | 'overflow' = 'leaf'): number[] {
  const db = new Database(file, { readonly: true })
  try {
    return db
      .prepare<[string, string], number>('SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY path')
      .pluck()
      .all(name, type)
  } finally {
    db.close()
  }
}

/** From another process, as a disk does: a file that this process closes loses its locks. */
function damage(file: string, page: number, bytes = PAGE_BYTES, from = (page - 1) * PAGE_BYTES): void {
  const noise = 'head -c "$1" /dev/zero | tr "\\0" "\\245" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none'
  execFileSync('sh', ['-c', noise, 'sh', String(bytes), file, String(from)])
}

const unfinishedIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.includes('.part'))

const middleOf = <Item>(all: readonly Item[]): Item => all[Math.floor(all.length / 2)]!

const isWhole = (file: string): boolean => {
  const db = new Database(file, { readonly: true })
  try {
    return db.pragma('integrity_check(1)', { simple: true }) === 'ok'
  } finally {
    db.close()
  }
}

async function closed(opened: Opened): Promise<Opened> {
  await opened.ledger.close()
  return opened
}

test('the copy of a damaged ledger at a stop is rejected, the good one stays, and the next start uses it', async (t) => {
  const { folder, file, ledger, clock } = await filled(t, 'x'.repeat(20_000)) // more than its cache
  const copies = recovery.keepDailyCopies({ file, copy: ledger.backup, clock, log })
  await clock.advance(0)
  while (copiesOf(file).length === 0) await new Promise((resolve) => setImmediate(resolve))
  const told: string[] = []
  ledger.whenDamaged(() => void told.push('damaged'))

  damage(file, middleOf(pagesOf(file, 'thing_list')))
  await copies.close()
  await ledger.close()

  const [copy, ...others] = copiesOf(file)
  assert.deepEqual([isWhole(copy!), others, unfinishedIn(copiesFolder(file))], [true, [], []])
  assert.deepEqual(told, ['damaged'])
  const next = await open(t, folder, clock)
  assert.match(next.said(), /was damaged and was moved to .*It was replaced by the copy .*daily-/)
  assert.deepEqual([next.names(), next.marks(), next.rows()], [['ann', 'ben'], MARKS, ROWS])
})

test('a copy that is larger than a chunk of the check is checked completely, and no incomplete one is left', async (t) => {
  const { file, ledger } = await filled(t, 'x'.repeat(20_000))
  const good = join(copiesFolder(file), 'daily-2026-01-15.sqlite')

  await ledger.backup(good)
  const size = statSync(good).size
  damage(file, middleOf(pagesOf(file, 'thing_mark_at')))
  await assert.rejects(ledger.backup(good), (error) => isAppError(error, 'unavailable'))

  assert.ok(size > 1 << 20)
  assert.ok(isWhole(good))
  assert.deepEqual(unfinishedIn(copiesFolder(file)), [])
  assert.ok(existsSync(`${file}.damaged`))
})

test('a stop does not wait for a copy that takes too long: the previous one stays, nothing incomplete does', async (t) => {
  const { file, ledger, clock } = await filled(t, 'x'.repeat(50_000))
  const copies = recovery.keepDailyCopies({ file, copy: ledger.backup, clock, log })
  const before = join(copiesFolder(file), 'daily-2026-01-14.sqlite')
  await ledger.backup(before)

  const closing = copies.close()
  await clock.advance(5000)
  await closing

  assert.deepEqual(copiesOf(file), [before])
  assert.deepEqual(unfinishedIn(copiesFolder(file)), [])
})

interface Salvage {
  damage: (file: string) => void
  says: RegExp
  /** Minimum number. */
  marks: number
  rows: number
}

const salvages: Record<string, Salvage> = {
  'a page of marks': {
    damage: (file) => damage(file, middleOf(pagesOf(file, 'thing_mark'))),
    says: /Rows are missing from these tables: thing_mark\./,
    marks: MARKS * 0.8,
    rows: ROWS,
  },
  'the first page of marks': {
    damage: (file) => damage(file, pagesOf(file, 'thing_mark')[0]!),
    says: /Rows are missing from these tables: thing_mark\./,
    marks: MARKS * 0.8,
    rows: ROWS,
  },
  'three pages of a list': {
    damage: (file) => {
      const pages = pagesOf(file, 'thing_list')
      for (const at of [0, middleOf(pages.map((_, at) => at)), pages.length - 1]) damage(file, pages[at]!)
    },
    says: /Rows are missing from these tables: thing_list\./,
    marks: MARKS,
    rows: ROWS * 0.8,
  },
  'a page of an index alone': {
    damage: (file) => damage(file, middleOf(pagesOf(file, 'thing_mark_at'))),
    says: /All tables could be read completely/,
    marks: MARKS,
    rows: ROWS,
  },
  'the header': {
    damage: (file) => damage(file, 1, 100),
    says: /All tables could be read completely/,
    marks: MARKS,
    rows: ROWS,
  },
  'the root of a list': {
    damage: (file) => damage(file, pagesOf(file, 'thing_list', 'internal')[0]!),
    says: /Rows are missing from these tables: thing_list\./,
    marks: MARKS,
    rows: 0,
  },
  'its end, which is cut off': {
    damage: (file) => execFileSync('truncate', ['-s', String(statSync(file).size - 8 * PAGE_BYTES), file]),
    says: /Rows are missing from these tables: .*thing_list\./,
    marks: MARKS * 0.5,
    rows: 1,
  },
}

for (const [name, salvage] of Object.entries(salvages)) {
  test(`without a copy, undamaged rows are salvaged: ${name}`, async (t) => {
    const { file, folder } = await closed(await filled(t))
    salvage.damage(file)

    const next = await open(t, folder)

    assert.match(next.said(), salvage.says)
    assert.deepEqual(next.names(), ['ann', 'ben'])
    assert.ok(next.marks() >= salvage.marks, `${next.marks()} marks`)
    assert.ok(next.rows() >= salvage.rows, `${next.rows()} rows`)
    const aside = readdirSync(folder).filter((one) => one.startsWith('ledger.sqlite.damaged-'))
    assert.equal(aside.length, 1)
    assert.deepEqual(unfinishedIn(folder), [])
  })
}

test('an account whose row is lost keeps its marks under a new name, and its id is not reused', async (t) => {
  const { file, folder } = await closed(await filled(t))
  damage(file, pagesOf(file, 'users')[0]!)

  const next = await open(t, folder)

  assert.match(next.said(), /Accounts that have lost their name and password: recovered-1, recovered-2/)
  assert.deepEqual(next.names(), ['recovered-1', 'recovered-2'])
  assert.equal(next.marks(), MARKS)
  const { sql, write } = next.ledger
  const { lastInsertRowid } = await write(() =>
    sql("INSERT INTO users (username, password, is_staff, created_at) VALUES ('cid', '', 0, 0)").run(),
  )
  assert.equal(lastInsertRowid, 3)
})

test('damaged copies are skipped, but salvaged if nothing of the ledger is left', async (t) => {
  const { file, folder, ledger } = await filled(t)
  const copy = join(copiesFolder(file), 'daily-2026-01-15.sqlite')
  await ledger.backup(copy)
  await ledger.close()
  damage(copy, middleOf(pagesOf(copy, 'thing_mark')))
  writeFileSync(file, 'nothing of it is left. '.repeat(1000))

  const next = await open(t, folder)

  assert.match(next.said(), /There is no intact copy, so the readable content of .*daily-2026-01-15.sqlite was saved/)
  assert.deepEqual(next.names(), ['ann', 'ben'])
  assert.ok(next.marks() > MARKS * 0.8)
  assert.ok(existsSync(join(copiesFolder(file), 'kept-daily-2026-01-15.sqlite')))
})

test('a missing ledger where there was one does not count as a first installation, and people are told for a week', async (t) => {
  const clock = testClock()
  const { file, folder } = await closed(await open(t, aFolder(t), clock))
  const first = await closed(await open(t, aFolder(t), clock))
  assert.equal(first.ledger.lastRecovery, undefined)
  rmSync(file)

  const next = await closed(await open(t, folder, clock))
  const later = await closed(await open(t, folder, clock))
  await clock.advance(7 * 24 * 3600_000)
  const afterAWeek = await closed(await open(t, folder, clock))

  assert.match(next.said(), /was missing\. There is no copy .*a new, empty ledger was created/)
  assert.deepEqual(later.ledger.lastRecovery, next.ledger.lastRecovery)
  assert.equal(later.ledger.recovered, undefined)
  assert.equal(afterAWeek.ledger.lastRecovery, undefined)
})

test('damage found by a read is reported and recorded, and the next start recovers even if it opens without an error', async (t) => {
  const { file, folder, ledger } = await closed(await filled(t, 'x'.repeat(20_000)))
  assert.ok(ledger)
  const again = await open(t, folder)
  const told: string[] = []
  again.ledger.whenDamaged(() => void told.push('damaged'))
  damage(file, middleOf(pagesOf(file, 'thing_mark_at')))

  const read = () => again.ledger.sql('SELECT at FROM thing_mark INDEXED BY thing_mark_at ORDER BY at').all()
  assert.throws(read, (error) => isAppError(error, 'unavailable') && /restart the server/.test(error.message))
  assert.throws(read)
  await again.ledger.close()

  assert.deepEqual(told, ['damaged'])
  const next = await closed(await open(t, folder))
  assert.match(next.said(), /was damaged.*All tables could be read completely/)
  assert.equal((await closed(await open(t, folder))).said(), '')
})

test('killed before any step of a salvage, the next start completes it without loss', async (t) => {
  const { file, folder } = await closed(await filled(t))
  damage(file, middleOf(pagesOf(file, 'thing_mark_at')))
  const fresh = `${folder}-fresh`
  t.after(() => rmSync(fresh, { recursive: true, force: true }))
  renameSync(folder, fresh)

  let kills = 0
  for (let signal: NodeJS.Signals | null = 'SIGKILL'; signal === 'SIGKILL'; kills++) {
    rmSync(folder, { recursive: true, force: true })
    cpSync(fresh, folder, { recursive: true })
    ;({ signal } = spawnSync(process.execPath, [child, folder, String(kills)], { stdio: 'inherit' }))
    const next = await closed(await open(t, folder))
    const reopened = await open(t, folder)
    assert.deepEqual([reopened.names(), reopened.marks(), reopened.rows()], [['ann', 'ben'], MARKS, ROWS], `${kills}`)
    assert.deepEqual(unfinishedIn(folder), [])
    await reopened.ledger.close()
    assert.ok(next)
  }
  assert.ok(kills > 10, `${kills} kills`)
})

const logs: Record<string, (log: string) => number> = {
  'in its head': () => 0,
  'in the middle': (log) => Math.floor(statSync(log).size / 2),
}
for (const [place, at] of Object.entries(logs)) {
  test(`changes lost by a log that is damaged ${place} are reported; a log that is truncated at its end is no damage`, async (t) => {
    const { file, folder, ledger } = await open(t)
    const put = (id: number) =>
      ledger.write(() => ledger.sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(id, 'x'.repeat(9000)))
    for (let id = 0; id < 40; id++) await put(id)
    const [killed, cut] = [`${folder}-killed`, `${folder}-cut`]
    t.after(() => [killed, cut].forEach((one) => void rmSync(one, { recursive: true, force: true })))
    for (const one of [killed, cut]) cpSync(folder, one, { recursive: true })
    damage(join(killed, 'ledger.sqlite-wal'), 0, 64, at(`${file}-wal`))
    execFileSync('truncate', ['-s', '-100', join(cut, 'ledger.sqlite-wal')])

    const next = await open(t, killed)
    const afterACut = await open(t, cut)

    assert.match(next.said(), /The log of the ledger was damaged: the last \d+ changes .* are missing/)
    assert.ok(next.rows() < 40)
    assert.equal(readdirSync(killed).filter((name) => name.endsWith('-log')).length, 1)
    assert.deepEqual([afterACut.said(), afterACut.rows()], ['', 39])
  })
}

test('the log is truncated again after a reader let it grow', async (t) => {
  const { file, ledger } = await open(t)
  const { sql, write } = ledger
  const reader = new Database(file, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM thing_list').get()
  const put = (id: number) =>
    write(() => sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(id, 'x'.repeat(1 << 20)))
  for (let id = 0; id < 20; id++) await put(id)
  const grown = statSync(`${file}-wal`).size

  reader.close()
  for (let id = 20; id < 24; id++) await put(id)

  assert.ok(grown > 20 << 20)
  assert.ok(statSync(`${file}-wal`).size <= 9 << 20, `${statSync(`${file}-wal`).size}`)
})

test('the next start removes the remains of a killed process, and nothing else', async (t) => {
  const { file, folder, ledger } = await open(t)
  await ledger.backup(join(copiesFolder(file), 'daily-2026-01-15.sqlite'))
  await ledger.close()
  const left = ['ledger.sqlite.part', 'ledger.sqlite.part-journal', 'secret.key.part', 'reserve.part']
  for (const name of left) writeFileSync(join(folder, name), 'x')
  for (const end of ['', '-journal', '-wal'])
    writeFileSync(join(copiesFolder(file), `daily-2026-01-16.sqlite.part${end}`), 'x')
  writeFileSync(join(folder, 'a.partner'), 'of somebody else')

  await closed(await open(t, folder))

  assert.deepEqual([unfinishedIn(folder), unfinishedIn(copiesFolder(file))], [['a.partner'], []])
  assert.deepEqual(copiesOf(file).length, 1)
})
