/** What core asks of the plugins that replace an unusable ledger and salvage a damaged one. */
import type Database from 'better-sqlite3'
import type { Clock } from '../base/clock.ts'
import type { Words } from '../base/say.ts'
import type { Log } from '../log.ts'
import type { MigrationPlan } from './migrate.ts'

export type LedgerFault = 'missing' | 'empty' | 'damaged'

/** Makes a complete, checked copy of the open ledger. */
export type CopyLedger = (path: string, signal?: AbortSignal) => Promise<void>

export interface SalvageParts {
  now: number
  /** Those of core and of all plugins. */
  migrations: {
    plan(db: Database.Database): MigrationPlan
    apply(db: Database.Database, steps: MigrationPlan['steps']): void
  }
}

/**
 * What a plugin with the manifest key `salvage` does: saves the readable content of a damaged ledger.
 * @param from  the damaged file; only read, like its log
 * @param to    a new file; complete, but not yet synced, if something was saved
 * @returns what is lost, for people; undefined: no account could be saved
 * @throws a sentence: the file was written by a later version
 */
export type Salvage = (from: string, to: string, parts: SalvageParts) => Words | undefined

/** What a plugin with the manifest key `recovery` does, mostly before the ledger is opened. `file`: its path. */
export interface LedgerRecovery {
  /** @returns undefined: it can be used, or there never was one. @throws SqliteError: see isUnreadable */
  faultOf(file: string): Promise<LedgerFault | undefined>
  /** Moves an unusable ledger aside and replaces it; the next start goes on if interrupted. @returns what was done */
  replace(fault: LedgerFault, file: string, parts: SalvageParts & { salvage: Salvage | undefined }): Promise<Words>
  /** Reads the log before SQLite opens it. @returns tells what SQLite then ignored, for people; undefined: nothing */
  readLog(file: string): (db: Database.Database, now: number) => Words | undefined
  /** Notes damage that a running server has found: `faultOf` checks the whole file at the next start. */
  noteDamage(file: string): void
  /** @returns the path of the copy */
  copyBeforeMigration(file: string, now: number, copy: CopyLedger): Promise<string>
  /** From now on copies the ledger each day, and again at the close. */
  keepDailyCopies(parts: { file: string; copy: CopyLedger; clock: Clock; log: Log }): { close(): Promise<void> }
}
