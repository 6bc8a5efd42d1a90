/** Feeds in the ledger: each belongs to an account and goes with it; its number is never given again. */

export const podcastTables = {
  number: 1,
  sql: `
-- target: a channel's or playlist's id, or the words of a search. guid: what other programs know the feed by, for ever.
CREATE TABLE podcast_feed (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'playlist', 'search')),
  target TEXT NOT NULL,
  guid TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, kind, target)
) STRICT;
`,
}
