/** Addresses of the metadata provider in the ledger: at most one for each account; numbers are never reused. */

export const providerTables = {
  number: 1,
  sql: `
CREATE TABLE plex_provider (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;
`,
}
