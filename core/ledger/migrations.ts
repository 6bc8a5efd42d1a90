/** The migrations of core's tables, in order. Never edit one that was released. */

export const CORE_MIGRATIONS: readonly string[] = [
  // Jobs and their messages, schedules, preferences. Today's columns of jobs are in `jobs.ts`.
  `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  task TEXT NOT NULL,
  lane TEXT NOT NULL,
  single_key TEXT,
  internal INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('PENDING', 'STARTED', 'RETRY', 'SUCCESS', 'FAILURE', 'REVOKED', 'FAILED')),
  payload TEXT NOT NULL,
  result TEXT,
  traceback TEXT,
  command TEXT CHECK (command IN ('STOP', 'KILL')),
  step TEXT,
  again INTEGER NOT NULL DEFAULT 0,
  retries INTEGER NOT NULL DEFAULT 0,
  retry_at INTEGER,
  log TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX jobs_single ON jobs (task, single_key) WHERE single_key IS NOT NULL AND state IN ('PENDING', 'STARTED', 'RETRY');
CREATE INDEX jobs_open ON jobs (task, seq) WHERE state IN ('PENDING', 'STARTED', 'RETRY');
CREATE INDEX jobs_waiting ON jobs (lane, seq) WHERE state = 'PENDING';
CREATE INDEX jobs_started ON jobs (seq) WHERE state = 'STARTED';
CREATE INDEX jobs_retry ON jobs (retry_at) WHERE state = 'RETRY';
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_listed ON jobs (created_at, seq) WHERE internal = 0;
CREATE INDEX jobs_listed_by_task ON jobs (task, created_at, seq) WHERE internal = 0;

CREATE TRIGGER jobs_legal_moves BEFORE UPDATE OF state ON jobs
WHEN OLD.state <> NEW.state AND NOT (
  (OLD.state = 'PENDING' AND NEW.state IN ('STARTED', 'SUCCESS', 'REVOKED', 'FAILED'))
  OR (OLD.state = 'STARTED')
  OR (OLD.state = 'RETRY' AND NEW.state IN ('PENDING', 'STARTED', 'SUCCESS', 'REVOKED', 'FAILED'))
)
BEGIN
  SELECT RAISE(ABORT, 'a job cannot move between these states');
END;

CREATE TABLE notifications (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  task TEXT,
  title TEXT NOT NULL,
  group_name TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('info', 'error')),
  messages TEXT NOT NULL,
  progress REAL NOT NULL DEFAULT 0,
  expires_at INTEGER
) STRICT;

CREATE TABLE schedules (
  task TEXT PRIMARY KEY,
  cron TEXT NOT NULL,
  config TEXT NOT NULL,
  last_run_at INTEGER,
  next_run_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE outgoing_urls (
  task TEXT NOT NULL,
  url TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (task, url)
) STRICT, WITHOUT ROWID;

CREATE TABLE preferences (
  section TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (section, key)
) STRICT, WITHOUT ROWID;
`,
  // Accounts: users with their settings, tokens and sessions. No secret is in here, only hashes.
  `
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
`,
  // Renames: `single_key` is now `unique_key`, and the payload for external listeners has `event` instead of `fact`.
  `
ALTER TABLE jobs RENAME COLUMN single_key TO unique_key;
DROP INDEX jobs_single;
CREATE UNIQUE INDEX jobs_unique ON jobs (task, unique_key) WHERE unique_key IS NOT NULL AND state IN ('PENDING', 'STARTED', 'RETRY');
UPDATE jobs SET payload = json_remove(json_set(payload, '$.event', json_extract(payload, '$.fact')), '$.fact')
WHERE task LIKE '%.hear' AND json_extract(payload, '$.fact') IS NOT NULL;
`,
  // Rights of accounts that are no admins, and their views. Existing accounts keep their rights.
  `
ALTER TABLE users ADD COLUMN may_download INTEGER NOT NULL DEFAULT 0;
-- The chosen ids by kind, as JSON; null: the whole archive.
ALTER TABLE users ADD COLUMN view TEXT;
`,
  // PINs, and the devices where a PIN is enough: the account has signed in there with its password.
  `
-- A hash, as that of the password; null: none.
ALTER TABLE users ADD COLUMN pin TEXT;

CREATE TABLE device_accounts (
  -- Hash of the id that the device has in its cookie.
  device TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  used_at INTEGER NOT NULL,
  -- Since the PIN, or the password, was right.
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (device, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX device_accounts_by_user ON device_accounts (user_id, used_at);
CREATE INDEX device_accounts_by_age ON device_accounts (used_at);
`,
  // Access tokens of users, each with a name, a scope and an expiry.
  `
CREATE TABLE access_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  -- Of the token with the secret key: a new key ends it.
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  used_at INTEGER
) STRICT;
CREATE INDEX access_tokens_by_user ON access_tokens (user_id);
`,
  // The second factor: codes of an authenticator app (TOTP), and recovery codes.
  `
CREATE TABLE totp (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Codes are computed from it, so it is no hash: it is sealed (core/ledger/seal.ts).
  secret TEXT NOT NULL,
  -- null: no code of it has been shown yet, so no login asks for one.
  enabled_at INTEGER,
  -- The time step of the last code that was taken: no code is taken twice, and none from before it.
  last_step INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE recovery_codes (
  user_id INTEGER NOT NULL REFERENCES totp (user_id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;
`,
  // The columns with sealed text: a key rotation finds all of them, also those of missing plugins.
  `
CREATE TABLE sealed_columns (
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  PRIMARY KEY (table_name, column_name)
) STRICT, WITHOUT ROWID;
`,
  // Sentences with separate values; the task that a message without a job is about.
  `
ALTER TABLE jobs ADD COLUMN said TEXT;
ALTER TABLE notifications ADD COLUMN about TEXT;
`,
  // How the last run of a schedule ended: its job may be deleted before the next run. `last_words`: JSON.
  `
ALTER TABLE schedules ADD COLUMN last_state TEXT;
ALTER TABLE schedules ADD COLUMN last_ended_at INTEGER;
ALTER TABLE schedules ADD COLUMN last_words TEXT;
`,
  // Pictures of accounts. `version`: a new one for each picture.
  `
CREATE TABLE user_pictures (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  version TEXT NOT NULL,
  jpeg BLOB NOT NULL
) STRICT;
`,
  // The number that ledger and index share (`core/index/generation.ts`).
  `
CREATE TABLE generation (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL,
  -- on its way into the index; NULL: none is
  next INTEGER
) STRICT;
INSERT INTO generation VALUES (1, 0, NULL);
`,
  // Where sessions are used, and on which devices accounts signed in. Defaults, because older programs write none.
  `
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
`,
]
