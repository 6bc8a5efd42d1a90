/** The tables of rules, groups, decisions, and runs. */

export const ruleTables = {
  number: 1,
  sql: `
-- place: the order of a side. scope, conditions, quality: JSON. setting: the setting that it stands for.
CREATE TABLE rules_rule (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  side TEXT NOT NULL CHECK (side IN ('take', 'keep')),
  place INTEGER NOT NULL,
  scope TEXT NOT NULL,
  conditions TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('take', 'skip', 'ignore', 'keep', 'remove', 'fetch')),
  quality TEXT,
  name TEXT NOT NULL,
  is_on INTEGER NOT NULL,
  setting TEXT UNIQUE,
  account INTEGER
) STRICT;
CREATE INDEX rules_rule_order ON rules_rule (side, place);
-- Grows with each change of a rule or group: what was decided before is decided anew.
CREATE TABLE rules_version (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL) STRICT;
INSERT INTO rules_version VALUES (1, 1);

CREATE TABLE rules_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  color TEXT NOT NULL
) STRICT;
CREATE TABLE rules_member (
  group_id INTEGER NOT NULL REFERENCES rules_group (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'playlist')),
  id TEXT NOT NULL,
  PRIMARY KEY (group_id, kind, id)
) STRICT, WITHOUT ROWID;

-- What taking rules have decided of listed videos that are not simply taken. left: left out; waits: the platform is
-- asked before the download; as: taken in another quality. rule_id: NULL: no rule, what is for members only.
-- facts: JSON, what the platform has told. at: epoch seconds.
CREATE TABLE rules_seen (
  video_id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('left', 'waits', 'as')),
  rule_id INTEGER,
  quality TEXT,
  origin TEXT NOT NULL,
  facts TEXT,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_seen_age ON rules_seen (state, at);

-- A preview: what keeping rules decide of all videos. rules: JSON, as they were; sums: JSON.
CREATE TABLE rules_list (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  made_at INTEGER NOT NULL,
  version INTEGER,
  account INTEGER,
  rules TEXT NOT NULL,
  sums TEXT NOT NULL
) STRICT;
-- Its rows in parts, by outcome: JSON.
CREATE TABLE rules_part (
  list_id INTEGER NOT NULL REFERENCES rules_list (id) ON DELETE CASCADE,
  outcome TEXT NOT NULL,
  part INTEGER NOT NULL,
  rows TEXT NOT NULL,
  PRIMARY KEY (list_id, outcome, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE rules_run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  list_id INTEGER NOT NULL REFERENCES rules_list (id),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'refused', 'discarded', 'undoing', 'undone')),
  account INTEGER,
  made_at INTEGER NOT NULL,
  ended_at INTEGER,
  reason TEXT
) STRICT;
-- What a run has touched. outcome: remove, fetch. bin: what brings it back.
CREATE TABLE rules_touched (
  run_id INTEGER NOT NULL REFERENCES rules_run (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  rule_id INTEGER NOT NULL,
  title TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('done', 'left', 'undone')),
  reason TEXT,
  bin TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rules_touched_rule ON rules_touched (video_id, rule_id, at);
`,
}
