/** Copies of the ledger, and how a start handles a damaged, missing or empty ledger. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { inEnglish } from '../../../core/base/say.ts'
import type { MigrationOwner } from '../../../core/ledger/migrate.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { copiesFolder, copiesOf } from '../../../plugins/recovery/copies.ts'
import plugin from '../../../plugins/recovery/plugin.ts'
import { testClock } from '../../support/clock.ts'
import { lookAtElsewhere } from '../../support/elsewhere.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { things } from '../../support/things.ts'

const log = openLog('silent')
const recovery = plugin.recovery!

interface Given {
  folder?: string
  clock?: ReturnType<typeof testClock>
  plugins?: MigrationOwner[]
}

async function aLedger(t: TestContext, { folder, clock = testClock(), plugins = [things] }: Given = {}) {
  const file = join(folder ?? (await temporaryFolder(t)), 'ledger.sqlite')
  const ledger = await openLedger({ file, log, clock, plugins, recovery })
  t.after(() => ledger.close())
  const add = (id: number) =>
    ledger.write(() => ledger.sql('INSERT INTO thing_list (id, text) VALUES (?, ?)').run(id, `thing ${id}`).changes)
  const ids = () =>
    ledger
      .sql<{ id: number }>('SELECT id FROM thing_list ORDER BY id')
      .all()
      .map((row) => row.id)
  return { folder: join(file, '..'), file, clock, ledger, add, ids, copy: ledger.backup }
}

async function untilTrue(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

test('a copy is made before the migrations of a ledger with content', async (t) => {
  const { folder, file, ledger, add } = await aLedger(t)
  await add(1)
  await ledger.close()
  assert.deepEqual(copiesOf(file), [])

  const more: MigrationOwner = {
    name: 'thing',
    migrations: [
      ...things.migrations,
      {
        number: things.migrations.length + 1,
        sql: `ALTER TABLE thing_list ADD COLUMN size INTEGER NOT NULL DEFAULT 7`,
      },
    ],
  }
  const second = await aLedger(t, { folder, plugins: [more] })
  assert.deepEqual(second.ledger.sql('SELECT * FROM thing_list').all(), [{ id: 1, text: 'thing 1', size: 7 }])
  const copies = copiesOf(file)
  assert.equal(copies.length, 1)
  const copy = new Database(copies[0], { readonly: true })
  assert.deepEqual(copy.prepare('SELECT * FROM thing_list').all(), [{ id: 1, text: 'thing 1' }])
  copy.close()
  await second.add(2)
  await lookAtElsewhere(file)
  assert.ok(existsSync(`${file}-wal`), 'the copy has ended no lock')
  await second.ledger.close()

  await (await aLedger(t, { folder, plugins: [more] })).ledger.close()
  assert.equal(copiesOf(file).length, 1)
  await assert.rejects(aLedger(t, { folder }), /later version of thing/)
})

test('a damaged ledger is moved aside and replaced by the newest good copy', async (t) => {
  const clock = testClock()
  const { folder, file, ledger, add } = await aLedger(t, { clock })
  await add(1)
  await ledger.backup(join(copiesFolder(file), 'daily-2026-01-14.sqlite'))
  await add(2)
  await ledger.close()
  writeFileSync(join(copiesFolder(file), 'daily-2026-01-15.sqlite'), 'a copy that is no good either, and newer')

  const damages: Record<string, () => void> = {
    'overwritten with text': () => writeFileSync(file, 'this is no database, whatever its name says. '.repeat(200)),
    'cut off': () => truncateSync(file, 5 * 4096),
    'pages turned to noise': () => writeFileSync(file, readFileSync(file).fill(0xa5, 4096)),
  }
  for (const [name, damage] of Object.entries(damages)) {
    damage()
    await clock.advance(1000)
    const next = await aLedger(t, { folder, clock })
    assert.match(inEnglish(next.ledger.recovered ?? ''), /daily-2026-01-14/, name)
    assert.deepEqual(next.ids(), [1], name)
    await next.ledger.close()
  }
  assert.equal(readdirSync(folder).filter((name) => name.startsWith('ledger.sqlite.damaged-')).length, 3)
})

test('a ledger that is missing or empty although there are copies counts as lost', async (t) => {
  const clock = testClock()
  const { folder, file, ledger, add } = await aLedger(t, { clock })
  await add(1)
  await ledger.backup(join(copiesFolder(file), 'daily-2026-01-14.sqlite'))
  await ledger.close()

  const losses: Record<string, () => void> = {
    'was missing': () => rmSync(file),
    'was empty': () => truncateSync(file, 0),
    // As after an interrupted recovery: the remaining log belongs to another file.
    'was missing. It was replaced by the copy': () => (
      rmSync(file), writeFileSync(`${file}-wal`, 'x'.repeat(5000)), writeFileSync(`${file}.part`, 'half')
    ),
  }
  for (const [said, lose] of Object.entries(losses)) {
    lose()
    await clock.advance(1000)
    const next = await aLedger(t, { folder, clock })
    assert.match(inEnglish(next.ledger.recovered ?? ''), new RegExp(`${said}.*daily-2026-01-14`), said)
    assert.deepEqual(next.ids(), [1], said)
    await next.ledger.close()
  }
  assert.equal((await aLedger(t, { folder, clock })).ledger.recovered, undefined)
})

test('a damaged ledger without a copy starts empty and says so', async (t) => {
  const { folder, file, ledger } = await aLedger(t)
  assert.equal(ledger.recovered, undefined)
  await ledger.close()
  writeFileSync(file, 'x'.repeat(9000))

  const next = await aLedger(t, { folder })

  assert.match(inEnglish(next.ledger.recovered ?? ''), /no copy/)
  assert.deepEqual(next.ids(), [])
})

test('each day one copy is made while the ledger is in use; the newest three stay', async (t) => {
  const { file, ledger, add, clock } = await aLedger(t)
  const copies = recovery.keepDailyCopies({ file, copy: ledger.backup, clock, log })
  const shown: string[][] = []
  for (let day = 0; day < 5; day++) {
    await add(day)
    await clock.advance(day === 0 ? 0 : 24 * 3600_000)
    await untilTrue(() => existsSync(join(copiesFolder(file), `daily-2026-01-${15 + day}.sqlite`)))
    shown.push(
      readdirSync(copiesFolder(file))
        .filter((name) => name.endsWith('.sqlite'))
        .sort(),
    )
  }
  await copies.close()

  assert.deepEqual(shown[0], ['daily-2026-01-15.sqlite'])
  assert.equal(shown[4]?.at(-1), 'daily-2026-01-19.sqlite')
  await untilTrue(() => copiesOf(file).length === 3)
  const newest = new Database(join(copiesFolder(file), 'daily-2026-01-19.sqlite'), { readonly: true })
  assert.equal(newest.prepare('SELECT count(*) AS n FROM thing_list').pluck().get(), 5)
  newest.close()
})

test('a clean stop renews the copy of the day, and replaces no other day’s', async (t) => {
  const { folder, file, ledger, add, clock } = await aLedger(t)
  for (const day of ['13', '14']) await ledger.backup(join(copiesFolder(file), `daily-2026-01-${day}.sqlite`))
  for (let stop = 0; stop < 4; stop++) {
    const copies = recovery.keepDailyCopies({ file, copy: ledger.backup, clock, log })
    await clock.advance(0)
    await add(stop)
    await copies.close()
  }

  assert.deepEqual(readdirSync(copiesFolder(file)).sort(), [
    'daily-2026-01-13.sqlite',
    'daily-2026-01-14.sqlite',
    'daily-2026-01-15.sqlite',
  ])
  await ledger.close()
  rmSync(file)
  assert.deepEqual((await aLedger(t, { folder, clock })).ids(), [0, 1, 2, 3])
})

test('copies of an empty ledger displace no earlier ones, and copies with a future date are used last', async (t) => {
  const { folder, file, ledger, clock } = await aLedger(t)
  await ledger.close()
  mkdirSync(copiesFolder(file))
  for (const day of ['12', '13', '14'])
    writeFileSync(
      join(copiesFolder(file), `daily-2026-01-${day}.sqlite`),
      'no good to us, but to somebody who knows more',
    )
  writeFileSync(file, 'x'.repeat(9000))

  const next = await aLedger(t, { folder, clock })
  for (let day = 0; day < 5; day++) {
    const copies = recovery.keepDailyCopies({ file, copy: next.copy, clock, log })
    await copies.close()
    await clock.advance(24 * 3600_000)
  }

  const names = readdirSync(copiesFolder(file))
  assert.deepEqual(names.filter((name) => name.startsWith('kept-')).length, 3)
  assert.deepEqual(names.filter((name) => name.startsWith('daily-')).length, 3)

  const now = Date.now()
  utimesSync(join(copiesFolder(file), 'daily-2026-01-17.sqlite'), now / 1000 + 1e9, now / 1000 + 1e9)
  assert.match(copiesOf(file, now).at(-1)!, /daily-2026-01-17/)
})
