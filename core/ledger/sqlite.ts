/** The SQLite file of all that happens: opened once, written in one transaction per tick. */
import type Database from 'better-sqlite3'

export interface Ledger {
  /** A prepared statement, kept: for reads (any time) and for writes (inside `write` only). Plugins touch their own tables only. */
  sql<Row = unknown>(text: string): Database.Statement<unknown[], Row>
  /**
   * Runs `work` in this tick's shared transaction (in a savepoint of its own: what throws is undone alone).
   * Resolves after the commit, so what it wrote is on disk. No await inside.
   */
  write<Result>(work: () => Result): Promise<Result>
}
