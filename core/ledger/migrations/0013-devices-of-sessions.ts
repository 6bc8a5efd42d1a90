/**
 * Where sessions are used, and on which devices accounts have signed in. An older program leaves the new columns as they
 * are: its sessions have no name, and count as used when they began.
 */
export const devicesOfSessions = `
ALTER TABLE sessions ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN system TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
-- How the account proved who it is.
ALTER TABLE sessions ADD COLUMN way TEXT NOT NULL DEFAULT 'password';
-- Hash of the id that the device has in its cookie.
ALTER TABLE sessions ADD COLUMN device TEXT;
-- When those that are there were last used is not known: none ends by this.
UPDATE sessions SET used_at = CAST(strftime('%s', 'now') AS INTEGER);

CREATE TABLE known_devices (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  device TEXT NOT NULL,
  browser TEXT NOT NULL,
  system TEXT NOT NULL,
  address TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  -- 1: the account has not been told of it yet.
  is_new INTEGER NOT NULL,
  UNIQUE (user_id, device)
) STRICT;
`
