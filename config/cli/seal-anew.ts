/** Seals the secrets of a ledger with another key. */
import type Database from 'better-sqlite3'
import { isSealedSql, type Seal } from '../../core/ledger/seal.ts'
import { changeColumn, knownColumns } from '../../core/ledger/sealed-columns.ts'

/** In one transaction. Secrets that the old key does not open stay unchanged. @returns the number sealed again */
export function sealAnew(db: Database.Database, former: Pick<Seal, 'unseal'>, next: Pick<Seal, 'seal'>): number {
  let count = 0
  db.transaction(() => {
    for (const column of knownColumns(db)) {
      const again = (text: string): string => {
        const plain = former.unseal(column.name, text)
        if (plain === undefined) return text
        count++
        return next.seal(column.name, plain)
      }
      changeColumn(db, column, again, `${isSealedSql(column.column)} AND '' = ?`, '')
    }
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  return count
}
