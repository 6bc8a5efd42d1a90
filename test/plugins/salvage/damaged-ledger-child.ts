/** Opens a ledger and is killed before the n-th file system call; for damaged-ledger.test.ts. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { systemClock } from '../../../core/base/clock.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import plugin from '../../../plugins/recovery/plugin.ts'
import { salvage } from '../../../plugins/salvage/salvage.ts'
import { things } from '../../support/things.ts'

const [folder = '', calls = ''] = process.argv.slice(2)
let left = Number(calls)
for (const name of ['renameSync', 'rmSync', 'copyFileSync', 'openSync', 'fsyncSync', 'writeSync'] as const) {
  const real = fs[name] as (...given: unknown[]) => unknown
  Object.assign(fs, {
    [name]: (...given: unknown[]) => {
      if (left-- === 0) process.kill(process.pid, 'SIGKILL')
      return real(...given)
    },
  })
}
syncBuiltinESMExports()
const file = join(folder, 'ledger.sqlite')
const { recovery } = plugin
const ledger = await openLedger({
  ...{ file, log: openLog('silent'), clock: systemClock },
  ...{ plugins: [things], recovery, salvage },
})
await ledger.close()
