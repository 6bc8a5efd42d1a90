/** The tables of an example plugin, as tests create them in ledgers. */
import type { MigrationOwner } from '../../core/ledger/migrate.ts'

export const things: MigrationOwner = {
  name: 'thing',
  migrations: [
    { number: 1, sql: 'CREATE TABLE thing_list (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT' },
    {
      number: 2,
      sql: `CREATE TABLE thing_mark (
        user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE, name TEXT NOT NULL, at INTEGER,
        PRIMARY KEY (user_id, name)) STRICT, WITHOUT ROWID;
        CREATE INDEX thing_mark_at ON thing_mark (at)`,
    },
  ],
}
