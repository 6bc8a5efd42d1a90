/** Replaces an unusable ledger, and keeps copies for this purpose. */
import { definePlugin } from 'archivolt'
import { copyBeforeMigration, keepDailyCopies } from './copies.ts'
import { faultOf, noteDamage, replaceLedger } from './damaged-ledger.ts'
import { changesInLog, lostInLog } from './log-damage.ts'

export default definePlugin({
  name: 'recovery',
  recovery: {
    faultOf,
    replace: (fault, file, parts) => replaceLedger(fault, { file, ...parts }),
    readLog(file) {
      const changes = changesInLog(file)
      return (db, now) => lostInLog(db, file, changes, now)
    },
    noteDamage,
    copyBeforeMigration,
    keepDailyCopies,
  },
})
