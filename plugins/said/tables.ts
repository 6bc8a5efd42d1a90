/** The table of files with clips: each belongs to an account and is deleted with it. */

export const fileTables = {
  number: 1,
  sql: `
-- id: the name of the file in the cache. clips: as JSON. created_at: epoch seconds.
CREATE TABLE said_file (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  query TEXT NOT NULL,
  clips TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX said_file_user ON said_file (user_id);
`,
}
