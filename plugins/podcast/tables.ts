/** The table of feeds: each belongs to an account and is deleted with it; numbers are never reused. */

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

/** Adds groups. Numbers are still never reused, even if the row was deleted. */
export const feedsOfGroups = {
  number: 2,
  sql: `
CREATE TABLE podcast_feed_anew (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'playlist', 'group', 'search')),
  target TEXT NOT NULL,
  guid TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, kind, target)
) STRICT;
INSERT INTO podcast_feed_anew SELECT * FROM podcast_feed;
DELETE FROM sqlite_sequence WHERE name = 'podcast_feed_anew';
INSERT INTO sqlite_sequence (name, seq) SELECT 'podcast_feed_anew', seq FROM sqlite_sequence WHERE name = 'podcast_feed';
DROP TABLE podcast_feed;
ALTER TABLE podcast_feed_anew RENAME TO podcast_feed;
`,
}
