/** The tables of custom playlists, and their migrations. */

export const ownTables = {
  number: 1,
  sql: `
-- stage private: all of it is here. shared: its document is in the index, and this row says whose it is. moving: all
-- of it is here, and perhaps in the index too; a job is about to end that. name: null where the document has it, and
-- of the list that everybody has; one that was private before it was shared keeps its name and entries as they were
-- then. changed_at: epoch seconds.
CREATE TABLE playlist_own (
  playlist_id TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  stage TEXT NOT NULL CHECK (stage IN ('private', 'moving', 'shared')),
  name TEXT,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX playlist_own_user ON playlist_own (user_id);
CREATE INDEX playlist_own_moving ON playlist_own (playlist_id) WHERE stage = 'moving';
-- Title and uploader as they were when the video was added, as in documents. place: ascending, with gaps.
CREATE TABLE playlist_own_entry (
  playlist_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  title TEXT NOT NULL,
  uploader TEXT,
  place INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, user_id, video_id),
  FOREIGN KEY (playlist_id, user_id) REFERENCES playlist_own (playlist_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX playlist_own_entry_place ON playlist_own_entry (playlist_id, user_id, place);
CREATE INDEX playlist_own_entry_video ON playlist_own_entry (video_id);
`,
}

/** Makes all custom playlists rows: before, shared ones were only in the index, and sharing moved a playlist. */
export const oneHome = {
  number: 2,
  sql: `
-- playlist_id: of Watch later with its account, 'watchlater/<user_id>'. owner_id: null: nobody's. private_to: the
-- account that alone sees it; null: everybody does, as it is in the index. is_shared: what it shall be; its document is
-- about to be written where it is still private to its owner. changed_at: epoch seconds.
CREATE TABLE playlist_custom (
  playlist_id TEXT PRIMARY KEY,
  owner_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  private_to INTEGER REFERENCES users (id) ON DELETE CASCADE,
  is_shared INTEGER NOT NULL,
  name TEXT,
  changed_at INTEGER NOT NULL,
  CHECK (is_shared OR private_to IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX playlist_custom_owner ON playlist_custom (owner_id);
CREATE INDEX playlist_custom_private ON playlist_custom (private_to);

-- Title and uploader as they were when the video was added, as in documents. place: ascending, with gaps.
CREATE TABLE playlist_custom_entry (
  playlist_id TEXT NOT NULL REFERENCES playlist_custom (playlist_id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  title TEXT NOT NULL,
  uploader TEXT,
  place INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX playlist_custom_entry_place ON playlist_custom_entry (playlist_id, place);
CREATE INDEX playlist_custom_entry_video ON playlist_custom_entry (video_id);

-- Playlists whose rows and document may differ, and which of the two is right. A further change is a further number.
-- playlist_id '*': all documents that have no rows.
CREATE TABLE playlist_unsettled (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  playlist_id TEXT NOT NULL UNIQUE,
  truth TEXT NOT NULL CHECK (truth IN ('ledger', 'index'))
) STRICT;

-- One that was about to be shared is shared: the rows had all of it while it moved.
INSERT INTO playlist_custom (playlist_id, owner_id, private_to, is_shared, name, changed_at)
  SELECT CASE playlist_id WHEN 'watchlater' THEN 'watchlater/' || user_id ELSE playlist_id END, user_id,
    CASE stage WHEN 'shared' THEN NULL ELSE user_id END, stage = 'shared' OR stage = 'moving' AND EXISTS (
      SELECT 1 FROM jobs WHERE task = 'playlist.share' AND state IN ('PENDING', 'STARTED', 'RETRY')
        AND unique_key = playlist_id), name, changed_at
  FROM playlist_own;
INSERT INTO playlist_custom_entry (playlist_id, video_id, title, uploader, place)
  SELECT CASE playlist_id WHEN 'watchlater' THEN 'watchlater/' || user_id ELSE playlist_id END,
    video_id, title, uploader, place
  FROM playlist_own_entry;
INSERT INTO playlist_unsettled (playlist_id, truth)
  SELECT playlist_id, CASE stage WHEN 'shared' THEN 'index' ELSE 'ledger' END FROM playlist_own WHERE stage <> 'private';
INSERT INTO playlist_unsettled (playlist_id, truth) SELECT '*', 'index' WHERE EXISTS (SELECT 1 FROM users);
DELETE FROM jobs WHERE task IN ('playlist.share', 'playlist.makePrivate');
DROP TABLE playlist_own_entry;
DROP TABLE playlist_own;
`,
}
