/**
 * Stores a checksum for each file of the archive. Only this module accesses these rows, whose order is also that of the
 * scrub.
 */
import type { App } from './app.ts'

const ADD = `INSERT INTO checksum_total (state, hour, files, bytes)
    VALUES (new.state, new.read_at / 3600, 1, new.size_bytes)
    ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;`
const SUBTRACT = `UPDATE checksum_total SET files = files - 1, bytes = bytes - old.size_bytes
      WHERE state = old.state AND hour = old.read_at / 3600;
    DELETE FROM checksum_total WHERE state = old.state AND hour = old.read_at / 3600 AND files = 0;`

export const checksumTables = {
  number: 1,
  sql: `CREATE TABLE checksum_file (
    kind TEXT NOT NULL CHECK (kind IN ('video', 'subtitle', 'picture')),
    -- of the video, channel or playlist that the file belongs to
    id TEXT NOT NULL,
    -- of a subtitle its language, of a picture its kind
    part TEXT NOT NULL,
    -- NULL: to be made
    sha256 BLOB,
    -- MD5 of each stream, with commas: the same after another program has changed the tags
    streams TEXT,
    size_bytes INTEGER NOT NULL DEFAULT 0,
    changed_ms INTEGER NOT NULL DEFAULT 0,
    -- epoch seconds; 0: never
    read_at INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'due'
      CHECK (state IN ('due', 'whole', 'rewritten', 'rotten', 'missing', 'unreadable')),
    -- epoch seconds: when the state was found
    found_at INTEGER,
    -- epoch seconds: it is being fetched again since then
    mending_at INTEGER,
    -- 1: the archive has just written it, and it is still in memory
    fresh INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, id, part)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX checksum_read ON checksum_file (read_at, kind, id, part);
  CREATE INDEX checksum_id ON checksum_file (id);
  CREATE INDEX checksum_fresh ON checksum_file (kind, id, part) WHERE fresh = 1;
  CREATE INDEX checksum_found ON checksum_file (found_at) WHERE state IN ('rewritten', 'rotten', 'missing', 'unreadable');
  -- sums by state and hour of reading, so that nobody has to add up all files
  CREATE TABLE checksum_total (
    state TEXT NOT NULL,
    hour INTEGER NOT NULL,
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (state, hour)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER checksum_added AFTER INSERT ON checksum_file BEGIN ${ADD} END;
  CREATE TRIGGER checksum_removed AFTER DELETE ON checksum_file BEGIN ${SUBTRACT} END;
  CREATE TRIGGER checksum_changed AFTER UPDATE OF state, read_at, size_bytes ON checksum_file BEGIN ${SUBTRACT} ${ADD} END`,
}

const ADD_TURN = `INSERT INTO checksum_total (state, hour, is_passed, files, bytes)
    VALUES (new.state, new.turn_at / 3600, new.turn_at > new.read_at, 1, new.size_bytes)
    ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;`
const OLD_TURN = 'state = old.state AND hour = old.turn_at / 3600 AND is_passed = (old.turn_at > old.read_at)'
const SUBTRACT_TURN = `UPDATE checksum_total SET files = files - 1, bytes = bytes - old.size_bytes WHERE ${OLD_TURN};
    DELETE FROM checksum_total WHERE ${OLD_TURN} AND files = 0;`

export const turnTables = {
  number: 2,
  sql: `DROP TRIGGER checksum_added;
  DROP TRIGGER checksum_removed;
  DROP TRIGGER checksum_changed;
  DROP TABLE checksum_total;
  DROP INDEX checksum_read;
  -- epoch seconds: it was last read, or passed over because it could not be judged; 0: never
  ALTER TABLE checksum_file ADD COLUMN turn_at INTEGER NOT NULL DEFAULT 0;
  UPDATE checksum_file SET turn_at = read_at;
  CREATE INDEX checksum_turn ON checksum_file (turn_at, kind, id, part);
  -- sums by state and hour of the turn, so that nobody has to add up all files
  CREATE TABLE checksum_total (
    state TEXT NOT NULL,
    hour INTEGER NOT NULL,
    -- 1: passed over since they were last read
    is_passed INTEGER NOT NULL,
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (state, hour, is_passed)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO checksum_total
    SELECT state, turn_at / 3600, 0, count(*), sum(size_bytes) FROM checksum_file GROUP BY state, turn_at / 3600;
  CREATE TRIGGER checksum_added AFTER INSERT ON checksum_file BEGIN ${ADD_TURN} END;
  CREATE TRIGGER checksum_removed AFTER DELETE ON checksum_file BEGIN ${SUBTRACT_TURN} END;
  CREATE TRIGGER checksum_changed AFTER UPDATE OF state, read_at, turn_at, size_bytes ON checksum_file BEGIN
    ${SUBTRACT_TURN} ${ADD_TURN} END`,
}

export type State = 'due' | 'whole' | 'rewritten' | 'rotten' | 'missing' | 'unreadable'

export interface FileKey {
  kind: 'video' | 'subtitle' | 'picture'
  id: string
  part: string
}

export interface Row extends FileKey {
  sha256: Buffer | null
  streams: string | null
  size_bytes: number
  changed_ms: number
  read_at: number
  turn_at: number
  state: State
  found_at: number | null
  mending_at: number | null
  fresh: 0 | 1
}

export interface Sums {
  files: number
  bytes: number
  /** Size of the files that were read since a given second. */
  read: number
  /** The same, including files that were skipped since then. */
  turned: number
  /** Epoch seconds: the oldest turn of any file; 0: a file has never had one; null: there are no files. */
  oldest: number | null
  states: Record<State, number>
}

const FAULTS = "state IN ('rewritten', 'rotten', 'missing', 'unreadable')"
const KEY = 'kind = @kind AND id = @id AND part = @part'
const CHUNK = 500
const HOUR_SECONDS = 3600
/** A file that was not downloaded again within this time counts as not being repaired. */
const MENDING_SECONDS = 2 * 86_400
/** A time that is further in the future was stored while the clock was ahead. */
const AHEAD_SECONDS = 86_400

export type Rows = ReturnType<typeof openRows>

export function openRows({ ledger }: Pick<App, 'ledger'>) {
  const { sql, write } = ledger

  /** The next file after this one, in the order of their last turns, the oldest first. */
  function next(after: Pick<Row, 'turn_at' | 'kind' | 'id' | 'part'> | undefined): Row | undefined {
    if (!after) return sql<Row>('SELECT * FROM checksum_file ORDER BY turn_at, kind, id, part LIMIT 1').get()
    const { turn_at, kind, id, part } = after
    return sql<Row>(
      `SELECT * FROM checksum_file WHERE (turn_at, kind, id, part) > (@turn_at, @kind, @id, @part)
       ORDER BY turn_at, kind, id, part LIMIT 1`,
    ).get({ turn_at, kind, id, part })
  }

  return {
    /** Adds files that have no row yet. */
    async add(files: readonly FileKey[]): Promise<void> {
      const put = sql('INSERT INTO checksum_file (kind, id, part) VALUES (@kind, @id, @part) ON CONFLICT DO NOTHING')
      for (let from = 0; from < files.length; from += CHUNK)
        await write(() => {
          for (const { kind, id, part } of files.slice(from, from + CHUNK)) put.run({ kind, id, part })
        })
    },

    /** Removes the checksum of a file that the archive has written, so that a new one is calculated. */
    renew: ({ kind, id, part }: FileKey): Promise<void> =>
      write(
        () =>
          void sql(
            `INSERT INTO checksum_file (kind, id, part, fresh) VALUES (@kind, @id, @part, 1)
             ON CONFLICT DO UPDATE SET sha256 = NULL, streams = NULL, read_at = 0, turn_at = 0, state = 'due', found_at = NULL,
               mending_at = NULL, fresh = 1`,
          ).run({ kind, id, part }),
      ),

    get: ({ kind, id, part }: FileKey): Row | undefined =>
      sql<Row>(`SELECT * FROM checksum_file WHERE ${KEY}`).get({ kind, id, part }),

    of: (id: string): Row[] => sql<Row>('SELECT * FROM checksum_file WHERE id = ? ORDER BY kind DESC, part').all(id),

    /** The next file after this one that the archive has just written. */
    fresh: (after: FileKey = { kind: 'picture', id: '', part: '' }): Row | undefined =>
      sql<Row>(
        `SELECT * FROM checksum_file WHERE fresh = 1 AND (kind, id, part) > (@kind, @id, @part)
         ORDER BY kind, id, part LIMIT 1`,
      ).get({ kind: after.kind, id: after.id, part: after.part }),

    next,

    /** The next file after this one whose `turn_at` is in the future, because it was read while the clock was ahead. */
    ahead(now: number, after?: Row): Row | undefined {
      const turn_at = now + AHEAD_SECONDS
      return next(after && after.turn_at > turn_at ? after : { turn_at, kind: 'video', id: '', part: '' })
    },

    /**
     * Skips a file that cannot be judged now: its next turn comes after all others.
     * @param of  the earlier row: if it has changed since, nothing is written
     * @param at  epoch seconds
     */
    pass: ({ kind, id, part, sha256, state, turn_at }: Row, at: number): Promise<void> =>
      write(
        () =>
          void sql(
            `UPDATE checksum_file SET turn_at = @at
             WHERE ${KEY} AND sha256 IS @sha256 AND state = @state AND turn_at = @turn_at`,
          ).run({ kind, id, part, sha256, state, turn_at, at }),
      ),

    /** @param of  the row at the time when the file was read: if it has changed since, nothing is written */
    set: (of: Row, values: Partial<Row>): Promise<boolean> =>
      write(() => {
        const now = { ...of, ...values }
        const { changes } = sql(
          `UPDATE checksum_file SET sha256 = @sha256, streams = @streams, size_bytes = @size_bytes, changed_ms = @changed_ms,
             read_at = @read_at, turn_at = @read_at, state = @state, found_at = @found_at, mending_at = @mending_at, fresh = 0
           WHERE ${KEY} AND sha256 IS @before AND state = @was`,
        ).run({ ...now, before: of.sha256, was: of.state })
        return changes > 0
      }),

    /** Restores rows; files that already have a checksum keep it. */
    restore: (rows: ReadonlyArray<Omit<Row, 'turn_at'>>): Promise<void> =>
      write(() => {
        const put = sql(
          `INSERT INTO checksum_file (kind, id, part, sha256, streams, size_bytes, changed_ms, read_at, turn_at, state)
           VALUES (@kind, @id, @part, @sha256, @streams, @size_bytes, @changed_ms, @read_at, @read_at, 'whole')
           ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, streams = excluded.streams,
             size_bytes = excluded.size_bytes, changed_ms = excluded.changed_ms, read_at = excluded.read_at,
             turn_at = excluded.turn_at, state = 'whole' WHERE checksum_file.sha256 IS NULL`,
        )
        for (const { found_at: _f, mending_at: _m, state: _s, fresh: _, ...row } of rows) put.run(row)
      }),

    /** Moves the files of these documents to the front, so that they are read before all others. */
    first: (ids: readonly string[]): Promise<void> =>
      write(
        () =>
          void sql(
            `UPDATE checksum_file SET turn_at = (SELECT max(0, min(turn_at) - 1) FROM checksum_file)
             WHERE id IN (SELECT value FROM json_each(?))`,
          ).run(JSON.stringify(ids)),
      ),

    forget: (ids: readonly string[]): Promise<void> =>
      write(
        () =>
          void sql('DELETE FROM checksum_file WHERE id IN (SELECT value FROM json_each(?))').run(JSON.stringify(ids)),
      ),

    drop: ({ kind, id, part }: FileKey): Promise<void> =>
      write(() => void sql(`DELETE FROM checksum_file WHERE ${KEY}`).run({ kind, id, part })),

    /** @param since  epoch seconds, rounded down to an hour: the beginning for `read` and `turned` */
    sums(since: number): Sums {
      const states: Sums['states'] = { due: 0, whole: 0, rewritten: 0, rotten: 0, missing: 0, unreadable: 0 }
      const hour = Math.floor(since / HOUR_SECONDS)
      let [files, bytes, read, turned] = [0, 0, 0, 0]
      for (const row of sql<{ state: State; files: number; bytes: number; read: number; turned: number }>(
        `SELECT state, sum(files) AS files, sum(bytes) AS bytes,
           coalesce(sum(bytes) FILTER (WHERE hour >= @hour AND is_passed = 0), 0) AS read,
           coalesce(sum(bytes) FILTER (WHERE hour >= @hour), 0) AS turned FROM checksum_total GROUP BY state`,
      ).all({ hour })) {
        states[row.state] = row.files
        files += row.files
        bytes += row.bytes
        read += row.read
        turned += row.turned
      }
      const oldest = sql<{ at: number | null }>('SELECT min(turn_at) AS at FROM checksum_file').get()!.at
      return { files, bytes, read, turned, oldest, states }
    },

    /** Files with a fault, sorted by its discovery, newest first. */
    faults: (from: number, size: number): { rows: Row[]; total: number } => ({
      rows: sql<Row>(
        `SELECT * FROM checksum_file WHERE ${FAULTS} ORDER BY found_at DESC, kind, id, part LIMIT ? OFFSET ?`,
      ).all(size, from),
      total: sql<{ count: number }>(`SELECT count(*) AS count FROM checksum_file WHERE ${FAULTS}`).get()!.count,
    }),

    /** Number of damaged files that are not being repaired. @param now  epoch seconds */
    alarms: (now: number): number =>
      sql<{ count: number }>(
        `SELECT count(*) AS count FROM checksum_file
         WHERE ${FAULTS} AND state IN ('rotten', 'unreadable') AND coalesce(mending_at NOT BETWEEN ? AND ?, 1)`,
      ).get(now - MENDING_SECONDS, now + AHEAD_SECONDS)!.count,
  }
}
