/**
 * Stores the entries of the bin, from which lists are made. Only this module accesses these rows. The record of a video
 * is stored next to its film.
 */
import { DAY_MS, fold, type Words } from 'archivolt'
import type { Homed } from '../media/types.ts'
import type { App } from './app.ts'
import type { BinEntry, BinSum, Chosen, Why } from './types.ts'

export const binTables = {
  number: 1,
  sql: `
CREATE TABLE bin_entry (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('video', 'channel')),
  -- what went at once is restored at once
  removal TEXT NOT NULL,
  -- the folder with its files and its record
  trash TEXT NOT NULL,
  -- of a channel its own id
  video_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  title TEXT NOT NULL,
  channel_name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  -- the platform has it no longer: it never goes by itself
  is_gone INTEGER NOT NULL,
  why TEXT NOT NULL,
  by_user INTEGER,
  note TEXT NOT NULL,
  -- epoch milliseconds
  removed_at INTEGER NOT NULL,
  -- a job is about to bring it back or to delete it: then it does that first of all
  state TEXT CHECK (state IN ('restoring', 'emptying')),
  -- why it could not be brought back the last time
  refused TEXT,
  UNIQUE (trash, kind, video_id)
) STRICT;
CREATE INDEX bin_entry_removal ON bin_entry (removal);
CREATE INDEX bin_entry_video ON bin_entry (video_id);
CREATE INDEX bin_entry_due ON bin_entry (is_gone, removed_at);`,
}

/** Adds playlists to the bin. */
export const binnedPlaylists = {
  number: 2,
  sql: `
CREATE TABLE bin_entry_2 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('video', 'channel', 'playlist')),
  removal TEXT NOT NULL,
  -- of a playlist, which has no files, the job that has removed it
  trash TEXT NOT NULL,
  video_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  title TEXT NOT NULL,
  channel_name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  is_gone INTEGER NOT NULL,
  why TEXT NOT NULL,
  by_user INTEGER,
  note TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  state TEXT CHECK (state IN ('restoring', 'emptying')),
  refused TEXT,
  private_to INTEGER REFERENCES users (id) ON DELETE CASCADE,
  record TEXT,
  UNIQUE (trash, kind, video_id)
) STRICT;
INSERT INTO bin_entry_2 SELECT *, NULL, NULL FROM bin_entry;
DROP TABLE bin_entry;
ALTER TABLE bin_entry_2 RENAME TO bin_entry;
CREATE INDEX bin_entry_removal ON bin_entry (removal);
CREATE INDEX bin_entry_video ON bin_entry (video_id);
CREATE INDEX bin_entry_due ON bin_entry (is_gone, removed_at);
CREATE INDEX bin_entry_private ON bin_entry (private_to);`,
}

/** Adds the kind `film`: a film that was replaced by another one. */
export const binnedFilms = {
  number: 3,
  sql: `
CREATE TABLE bin_entry_3 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('video', 'channel', 'playlist', 'film')),
  removal TEXT NOT NULL,
  trash TEXT NOT NULL,
  video_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  title TEXT NOT NULL,
  channel_name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  is_gone INTEGER NOT NULL,
  why TEXT NOT NULL,
  by_user INTEGER,
  note TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  state TEXT CHECK (state IN ('restoring', 'emptying')),
  refused TEXT,
  private_to INTEGER REFERENCES users (id) ON DELETE CASCADE,
  record TEXT,
  UNIQUE (trash, kind, video_id)
) STRICT;
INSERT INTO bin_entry_3 SELECT * FROM bin_entry;
DROP TABLE bin_entry;
ALTER TABLE bin_entry_3 RENAME TO bin_entry;
CREATE INDEX bin_entry_removal ON bin_entry (removal);
CREATE INDEX bin_entry_video ON bin_entry (video_id);
CREATE INDEX bin_entry_due ON bin_entry (is_gone, removed_at);
CREATE INDEX bin_entry_private ON bin_entry (private_to);`,
}

export type Kind = 'video' | 'channel' | 'playlist' | 'film'

export interface Row {
  id: number
  kind: Kind
  removal: string
  trash: string
  /** For a channel or playlist, its own id. */
  video_id: string
  channel_id: string
  title: string
  channel_name: string
  size_bytes: number
  duration: number
  is_gone: 0 | 1
  why: Why
  by_user: number | null
  note: string
  removed_at: number
  state: 'restoring' | 'emptying' | null
  refused: string | null
  /** For a private playlist: the only account that sees it. */
  private_to: number | null
  /** For a playlist: all its belongings (JSON), because it has no files. */
  record: string | null
}

export type NewRow = Omit<Row, 'id' | 'state' | 'refused' | 'private_to' | 'record'> &
  Partial<Pick<Row, 'private_to' | 'record'>>

/** Number of rows that one transaction writes. */
const CHUNK = 500

export type Rows = ReturnType<typeof openRows>

export function openRows({ ledger }: Pick<App, 'ledger'>) {
  const { sql, write } = ledger

  /** The next entries in the order of their ids, so a channel comes before its videos. */
  function after(chosen: Chosen, id: number, limit: number): Row[] {
    const [where, values] = whereOf(chosen)
    return sql<Row>(`SELECT * FROM bin_entry WHERE ${where} AND id > ? ORDER BY id LIMIT ?`).all(...values, id, limit)
  }

  return {
    after,

    playlists(chosen: Chosen): number[] {
      const [where, values] = whereOf(chosen)
      return sql<{ id: number }>(`SELECT id FROM bin_entry WHERE kind = 'playlist' AND ${where} ORDER BY id`)
        .all(...values)
        .map(({ id }) => id)
    },

    /** Later entries have higher ids. */
    lastId: (): number => sql<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM bin_entry').get()!.id,

    /** @param last  entries with higher ids do not count */
    count(chosen: Chosen, last: number): number {
      const [where, values] = whereOf(chosen)
      return sql<{ count: number }>(`SELECT count(*) AS count FROM bin_entry WHERE ${where} AND id <= ?`).get(
        ...[...values, last],
      )!.count
    },

    /** @param viewer  the requesting account: private playlists of others are left out */
    page(words: string, from: number, size: number, viewer: number): { rows: Row[]; total: number } {
      const where = 'WHERE coalesce(private_to, ?) = ?'
      if (words === '')
        return {
          rows: sql<Row>(`SELECT * FROM bin_entry ${where} ORDER BY id DESC LIMIT ? OFFSET ?`).all(
            ...[viewer, viewer, size, from],
          ),
          total: sql<{ count: number }>(`SELECT count(*) AS count FROM bin_entry ${where}`).get(viewer, viewer)!.count,
        }
      // SQLite ignores the case of ASCII letters only.
      const asked = fold(words)
      const found = sql<Pick<Row, 'id' | 'title' | 'channel_name'>>(
        `SELECT id, title, channel_name FROM bin_entry ${where} ORDER BY id DESC`,
      )
        .all(viewer, viewer)
        .filter(({ title, channel_name }) => fold(`${title}\n${channel_name}`).includes(asked))
      const ids = found.slice(from, from + size).map(({ id }) => id)
      const rows = sql<Row>('SELECT * FROM bin_entry WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id DESC')
      return { rows: rows.all(JSON.stringify(ids)), total: found.length }
    },

    sum: (): BinSum =>
      sql<BinSum>('SELECT count(*) AS entries, coalesce(sum(size_bytes), 0) AS sizeBytes FROM bin_entry').get()!,

    async add(rows: readonly NewRow[]): Promise<void> {
      const put = sql(
        `INSERT OR IGNORE INTO bin_entry (kind, removal, trash, video_id, channel_id, title, channel_name, size_bytes,
           duration, is_gone, why, by_user, note, removed_at, private_to, record)
         VALUES (@kind, @removal, @trash, @video_id, @channel_id, @title, @channel_name, @size_bytes,
           @duration, @is_gone, @why, @by_user, @note, @removed_at, @private_to, @record)`,
      )
      for (let from = 0; from < rows.length; from += CHUNK)
        await write(() => {
          for (const row of rows.slice(from, from + CHUNK)) put.run({ private_to: null, record: null, ...row })
        })
    },

    /**
     * Marks entries for restoring or deletion. An entry that is marked for one of these is not marked for the other.
     * @param isOtherFree  whether no job works on entries in the other state: then a failed job has left them in that
     * state
     * @returns the marked rows
     */
    mark: (ids: readonly number[], state: NonNullable<Row['state']>, isOtherFree: () => boolean): Promise<Row[]> =>
      write(() =>
        sql<Row>(
          `UPDATE bin_entry SET state = @state, refused = NULL
             WHERE id IN (SELECT value FROM json_each(@ids)) AND (coalesce(state, @state) = @state OR @isOtherFree)
             RETURNING *`,
        ).all({ state, ids: JSON.stringify(ids), isOtherFree: Number(isOtherFree()) }),
      ),

    refuse: (id: number, why: Words): Promise<void> =>
      write(() => void sql('UPDATE bin_entry SET state = NULL, refused = ? WHERE id = ?').run(JSON.stringify(why), id)),

    remove: (ids: readonly number[]): Promise<void> =>
      write(
        () => void sql('DELETE FROM bin_entry WHERE id IN (SELECT value FROM json_each(?))').run(JSON.stringify(ids)),
      ),

    /** Whether the trash contains other entries. */
    hasOthers: (trash: string, ids: readonly number[]): boolean =>
      sql('SELECT 1 FROM bin_entry WHERE trash = ? AND id NOT IN (SELECT value FROM json_each(?)) LIMIT 1').get(
        trash,
        JSON.stringify(ids),
      ) !== undefined,

    /** The videos among these that have another entry. */
    otherwiseIn: (videoIds: readonly string[], ids: readonly number[]): Set<string> =>
      new Set(
        sql<{ id: string }>(
          `SELECT DISTINCT video_id AS id FROM bin_entry WHERE video_id IN (SELECT value FROM json_each(?))
             AND id NOT IN (SELECT value FROM json_each(?))`,
        )
          .all(JSON.stringify(videoIds), JSON.stringify(ids))
          .map(({ id }) => id),
      ),

    channel: (channelId: string): Row | undefined =>
      sql<Row>("SELECT * FROM bin_entry WHERE kind = 'channel' AND video_id = ? ORDER BY id DESC LIMIT 1").get(
        channelId,
      ),

    refusedAmong(chosen: Chosen): Row[] {
      const [where, values] = whereOf(chosen)
      return sql<Row>(`SELECT * FROM bin_entry WHERE ${where} AND refused IS NOT NULL ORDER BY id`).all(...values)
    },

    holds: (kind: Kind, id: string): boolean =>
      sql('SELECT 1 FROM bin_entry WHERE video_id = ? AND kind = ?').get(id, kind) !== undefined,

    /** Whether the removal consists only of playlists that this account has removed, and may restore. */
    isOwn(removal: string, account: number): boolean {
      const { others, own } = sql<{ others: number; own: number }>(
        `SELECT count(*) FILTER (WHERE kind <> 'playlist' OR by_user IS NOT ?) AS others, count(*) AS own
           FROM bin_entry WHERE removal = ?`,
      ).get(account, removal)!
      return others === 0 && own > 0
    },

    /** The newest entry of this playlist. */
    playlist: (playlistId: string): Row | undefined =>
      sql<Row>("SELECT * FROM bin_entry WHERE kind = 'playlist' AND video_id = ? ORDER BY id DESC LIMIT 1").get(
        playlistId,
      ),

    /**
     * Corrects the times of all entries after this one, because the clock was set. Entries that were made after that
     * are dated now if it was set forward, and stay unchanged if it was set back.
     * @param setBy  in milliseconds; negative: the clock was set back
     */
    redate: (last: number, setBy: number, now: number): Promise<void> =>
      write(
        () =>
          void sql(
            `UPDATE bin_entry SET removed_at = min(removed_at + @setBy, @now)
             WHERE id > @last AND (@setBy > 0 OR removed_at > @now)`,
          ).run({ last, setBy, now }),
      ),

    setRecord: (id: number, record: string): Promise<void> =>
      write(() => void sql('UPDATE bin_entry SET record = ? WHERE id = ?').run(record, id)),

    /** Drops the entry of a failed removal. */
    drop: (trash: string, kind: Kind): Promise<void> =>
      write(() => void sql('DELETE FROM bin_entry WHERE trash = ? AND kind = ?').run(trash, kind)),

    /** The oldest entries after this one that may be deleted automatically. */
    oldest: (limit: number, { removed_at: at, id }: Pick<Row, 'removed_at' | 'id'> = { removed_at: 0, id: 0 }): Row[] =>
      sql<Row>(
        'SELECT * FROM bin_entry WHERE is_gone = 0 AND (removed_at, id) > (?, ?) ORDER BY removed_at, id LIMIT ?',
      ).all(at, id, limit),
  }
}

function whereOf(chosen: Chosen): [sql: string, values: unknown[]] {
  const [where, value] =
    'all' in chosen
      ? ['1 = ?', 1]
      : 'removal' in chosen
        ? ['removal = ?', chosen.removal]
        : ['id IN (SELECT value FROM json_each(?))', JSON.stringify(chosen.entries)]
  return [`${where} AND coalesce(private_to = ?, 1)`, [value, chosen.viewer ?? null]]
}

export const filesOf = (some: readonly Row[]): Homed[] =>
  some.map(({ channel_id: channelId, video_id: videoId }) => ({ channelId, videoId }))

/** @returns epoch milliseconds. @param days  the preference */
export const expiryOf = ({ removed_at: at }: Pick<Row, 'removed_at'>, days: number): number => at + days * DAY_MS

export const toEntry = (row: Row, days: number): BinEntry => ({
  id: row.id,
  kind: row.kind,
  removal: row.removal,
  videoId: row.video_id,
  channelId: row.channel_id,
  title: row.title,
  channelName: row.channel_name,
  sizeBytes: row.size_bytes,
  durationSeconds: row.duration,
  isGone: row.is_gone === 1,
  why: row.why,
  by: row.by_user,
  note: row.note,
  removedAt: Math.floor(row.removed_at / 1000),
  until: Math.floor(expiryOf(row, days) / 1000),
})
