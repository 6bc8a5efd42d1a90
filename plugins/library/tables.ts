/**
 * The tables of this plugin's migrations. Other plugins use some of them, because they were parts of library, and a
 * released migration stays with the plugin that ran it: adoption uses `library_adoption…` and `library_followed`,
 * playable `library_preview`, and release `library_release`.
 */

const releaseTables = {
  number: 1,
  sql: 'CREATE TABLE library_release (id INTEGER PRIMARY KEY CHECK (id = 1), version TEXT NOT NULL) STRICT',
}

const adoptionTables = {
  number: 2,
  sql: `
    CREATE TABLE library_adoption (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      place_id INTEGER NOT NULL,
      reader TEXT NOT NULL DEFAULT '',
      state TEXT NOT NULL CHECK (state IN ('scanning', 'planned', 'adopting', 'adopted', 'undoing', 'undone', 'failed')),
      created_at INTEGER NOT NULL,
      ended_at INTEGER,
      job_id TEXT,
      why TEXT NOT NULL DEFAULT '',
      -- films that are in the archive already and lie as they lay
      unchanged INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE library_adoption_item (
      adoption_id INTEGER NOT NULL REFERENCES library_adoption (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      -- found: nothing has been decided yet
      outcome TEXT NOT NULL CHECK (outcome IN ('found', 'new', 'ask', 'moved', 'known', 'removed', 'problem')),
      code TEXT,
      why TEXT NOT NULL DEFAULT '',
      video_id TEXT,
      title TEXT NOT NULL DEFAULT '',
      channel_id TEXT,
      channel_name TEXT,
      path TEXT NOT NULL,
      -- the film's own, and what lies beside it, as the reader knows it (JSON)
      file TEXT,
      is_guess INTEGER NOT NULL DEFAULT 0,
      size_bytes INTEGER NOT NULL DEFAULT 0,
      ending TEXT,
      -- planned → in: the video is in the archive → done: with picture and subtitles; left: it was not taken in
      state TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'in', 'done', 'left', 'undone')),
      PRIMARY KEY (adoption_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX library_adoption_item_video ON library_adoption_item (adoption_id, video_id);
    CREATE INDEX library_adoption_item_outcome ON library_adoption_item (adoption_id, outcome, number);
    CREATE TABLE library_adoption_channel (
      adoption_id INTEGER NOT NULL REFERENCES library_adoption (id) ON DELETE CASCADE,
      channel_id TEXT NOT NULL,
      PRIMARY KEY (adoption_id, channel_id)
    ) STRICT, WITHOUT ROWID;`,
}

/** The data of a catalog about the place and its films. */
const catalogTables = {
  number: 3,
  sql: `
    -- the database, list or backup that was read, and what comes along by it (JSON)
    ALTER TABLE library_adoption ADD COLUMN catalog TEXT NOT NULL DEFAULT '';
    ALTER TABLE library_adoption ADD COLUMN along TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE library_adoption_item ADD COLUMN is_bare INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE library_adoption_item ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE library_adoption_item ADD COLUMN is_part INTEGER NOT NULL DEFAULT 0;`,
}

/** Imported data other than films: what was chosen, and what the import has changed. */
const alongTables = {
  number: 4,
  sql: `
    ALTER TABLE library_adoption ADD COLUMN choice TEXT NOT NULL DEFAULT '';
    CREATE TABLE library_adoption_along (
      adoption_id INTEGER NOT NULL REFERENCES library_adoption (id) ON DELETE CASCADE,
      -- of the notes of the catalog
      number INTEGER NOT NULL,
      kind TEXT NOT NULL,
      -- as the notes have it (JSON), with what is needed to take it back
      data TEXT NOT NULL,
      is_done INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (adoption_id, number)
    ) STRICT, WITHOUT ROWID;`,
}

const followTables = {
  number: 5,
  sql: `
    CREATE TABLE library_followed (place_id INTEGER PRIMARY KEY) STRICT;
    -- nobody has asked for this plan: it follows its place
    ALTER TABLE library_adoption ADD COLUMN is_following INTEGER NOT NULL DEFAULT 0;`,
}

/** For a film that is restored from the trash of its place: the adoption then imports only this film. */
const onlyTables = {
  number: 6,
  sql: "ALTER TABLE library_adoption ADD COLUMN only_path TEXT NOT NULL DEFAULT '';",
}

const previewTables = {
  number: 7,
  sql: `
    CREATE TABLE library_preview (
      video_id TEXT PRIMARY KEY,
      state TEXT NOT NULL CHECK (state IN ('wanted', 'made', 'impossible')),
      -- epoch milliseconds of this state
      at INTEGER NOT NULL,
      bytes INTEGER NOT NULL DEFAULT 0,
      -- of what is made (JSON)
      shape TEXT NOT NULL DEFAULT '{}'
    ) STRICT;
    CREATE INDEX library_preview_state ON library_preview (state, at);
    -- Who has a library already is asked first: all of it would be read once more.
    INSERT INTO preferences (section, key, value)
      SELECT 'playback', 'seek_previews', 'false' WHERE EXISTS (SELECT 1 FROM users);
  `,
}

/** The mapping of the other program's paths to the place, and its settings. */
const mapTables = {
  number: 8,
  sql: `
    -- JSON; empty: there is no catalog, or nobody has said it and none was found yet
    ALTER TABLE library_adoption ADD COLUMN map TEXT NOT NULL DEFAULT '';
    -- of its filters and the like, as text (JSON)
    ALTER TABLE library_adoption ADD COLUMN settings TEXT NOT NULL DEFAULT '[]';`,
}

const offerTables = {
  number: 9,
  sql: `-- where the platform has them (JSON of a Storyboard); empty: nowhere
    ALTER TABLE library_preview ADD COLUMN offer TEXT NOT NULL DEFAULT '';`,
}

/** For adoptions that only import films whose documents are missing, although the ledger has them in their place. */
const againTables = {
  number: 10,
  sql: 'ALTER TABLE library_adoption ADD COLUMN is_again INTEGER NOT NULL DEFAULT 0;',
}

const shareTables = {
  number: 11,
  sql: `-- the account that asks for them; 0: nobody, they came with their film
    ALTER TABLE library_preview ADD COLUMN account INTEGER NOT NULL DEFAULT 0;`,
}

/** For corrections by people to the films of a plan. */
const saidTables = {
  number: 12,
  sql: 'ALTER TABLE library_adoption_item ADD COLUMN is_channel_said INTEGER NOT NULL DEFAULT 0;',
}

export const tables = [
  releaseTables,
  adoptionTables,
  catalogTables,
  alongTables,
  followTables,
  onlyTables,
  previewTables,
  mapTables,
  offerTables,
  againTables,
  shareTables,
  saidTables,
]
