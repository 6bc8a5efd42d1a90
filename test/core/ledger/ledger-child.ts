/** A process that keeps writing to a ledger and reports each confirmed write; for ledger.test.ts to kill. */
import { join } from 'node:path'
import { systemClock } from '../../../core/base/clock.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'

const things = {
  name: 'thing',
  migrations: [{ number: 1, sql: 'CREATE TABLE thing_list (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT' }],
}
const ledger = await openLedger({
  file: join(process.argv[2] ?? '', 'ledger.sqlite'),
  log: openLog('silent'),
  clock: systemClock,
  plugins: [things],
})
for (let id = 0; ; id++) {
  await ledger.write(() => ledger.sql('INSERT INTO thing_list VALUES (?, ?)').run(id, 'x'))
  process.stdout.write(`${id}\n`)
}
