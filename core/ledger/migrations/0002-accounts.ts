/** Accounts: users with their settings, tokens and sessions. No secret is in here, only hashes. */

export const accounts = `
-- Ids are never used twice: a token is derived from the id of its user.
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  password TEXT NOT NULL,
  is_staff INTEGER NOT NULL,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_login INTEGER,
  settings TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- The generation outlives a revoked token, so the same one never comes back; hash is null while there is none.
CREATE TABLE tokens (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  hash TEXT UNIQUE
) STRICT;

CREATE TABLE sessions (
  hash TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_end ON sessions (expires_at);
`
