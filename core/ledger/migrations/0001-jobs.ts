/**
 * First tables of the ledger: jobs and their messages, schedules, settings. Never edited once released: the columns of
 * today are those of `ledger/jobs.ts`.
 */
export const jobs = `
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
`
