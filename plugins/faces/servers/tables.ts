/**
 * Media servers, the changes of which each has still to be notified, and the playlists created in each: rows of the
 * ledger.
 */
import type { Ledger } from 'archivolt'
import type { Change } from '../types.ts'

export const KINDS = ['jellyfin', 'emby', 'plex', 'kodi'] as const
export type Kind = (typeof KINDS)[number]

export const serverTables = {
  number: 2,
  sql: `
-- url and secret are sealed. secret: a key or token; of Kodi, name:password. paths: [ours, theirs][], longest first.
CREATE TABLE faces_server (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  paths TEXT NOT NULL DEFAULT '[]',
  is_on INTEGER NOT NULL DEFAULT 1,
  state TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL
) STRICT;
-- path: absolute, as we have it.
CREATE TABLE faces_told (
  server_id INTEGER NOT NULL REFERENCES faces_server (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (server_id, path)
) STRICT, WITHOUT ROWID;
`,
}

export const listTables = {
  number: 4,
  sql: `
ALTER TABLE faces_server ADD COLUMN with_playlists INTEGER NOT NULL DEFAULT 0;
-- remote: its id in the server. name: as it was given there. mark: of the file in the face that it follows; '': it lacks something.
CREATE TABLE faces_list (
  server_id INTEGER NOT NULL REFERENCES faces_server (id) ON DELETE CASCADE,
  playlist TEXT NOT NULL,
  remote TEXT NOT NULL,
  name TEXT NOT NULL,
  mark TEXT NOT NULL,
  PRIMARY KEY (server_id, playlist)
) STRICT, WITHOUT ROWID;
`,
}

export const makingTables = {
  number: 5,
  sql: `
-- making: JSON of Making while the playlist is made in the server, which may have it already; its remote is '' until then.
ALTER TABLE faces_list ADD COLUMN making TEXT;
`,
}

export const toldTables = {
  number: 7,
  sql: `
-- times: how often a change was noted. latest: the kind of the last one. kind: of all together, for a server that was told of none of them.
ALTER TABLE faces_told ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
ALTER TABLE faces_told ADD COLUMN latest TEXT NOT NULL DEFAULT 'changed';
`,
}

export const leftTables = {
  number: 8,
  sql: `
-- machine: the server's own id; '': it has none; NULL: it was not asked at its address yet.
ALTER TABLE faces_server ADD COLUMN machine TEXT;
-- Playlists that stay in a server after it was removed here, or has another address here. machine: '': unknown.
CREATE TABLE faces_left (
  kind TEXT NOT NULL,
  machine TEXT NOT NULL,
  playlist TEXT NOT NULL,
  remote TEXT NOT NULL,
  name TEXT NOT NULL,
  making TEXT NOT NULL,
  PRIMARY KEY (kind, machine, playlist)
) STRICT, WITHOUT ROWID;
`,
}

/** Distinguishes a playlist that we have created from those of people, if the server's answer was lost. */
export interface Making {
  /** Ids of the playlists that already had this name. */
  before: string[]
  /** Ids of the items that the new playlist gets. */
  items: string[]
}

/** Stored instead of a `Making` if the playlist must be looked up in the server, which was at another address before. */
export const MOVED = '"moved"'

export const serverSecrets = ['faces_server.url', 'faces_server.secret'] as const
const [URL_COLUMN, SECRET_COLUMN] = serverSecrets

export interface ServerRow {
  id: number
  name: string
  kind: Kind
  /** undefined: it was sealed with another secret key. */
  url: string | undefined
  secret: string | undefined
  paths: string
  is_on: number
  with_playlists: number
  state: string
  machine: string | null
  created_at: number
}

/** A change of which a server has not been notified yet. */
export interface WaitingRow extends Change {
  times: number
}

export interface ListRow {
  server_id: number
  playlist: string
  remote: string
  name: string
  mark: string
  making: string | null
}

export type ServerRows = ReturnType<typeof openServerRows>

/** Functions that write are called inside `ledger.write`. */
export function openServerRows({ sql, seal, unseal }: Ledger) {
  type Stored = ServerRow & { url: string; secret: string }
  const opened = (row: Stored): ServerRow => ({
    ...row,
    url: unseal(URL_COLUMN, row.url),
    secret: unseal(SECRET_COLUMN, row.secret),
  })
  const sealed = ({ url, secret, ...row }: Partial<ServerRow>) => ({
    ...row,
    url: url === undefined ? null : seal(URL_COLUMN, url),
    secret: secret === undefined ? null : seal(SECRET_COLUMN, secret),
  })
  return {
    all: (): ServerRow[] => sql<Stored>('SELECT * FROM faces_server ORDER BY id').all().map(opened),
    get(id: number): ServerRow | undefined {
      const row = sql<Stored>('SELECT * FROM faces_server WHERE id = ?').get(id)
      return row && opened(row)
    },
    add: (row: Omit<ServerRow, 'id' | 'state' | 'machine'>): number =>
      Number(
        sql(
          `INSERT INTO faces_server (name, kind, url, secret, paths, is_on, with_playlists, created_at)
           VALUES (@name, @kind, @url, @secret, @paths, @is_on, @with_playlists, @created_at)`,
        ).run(sealed(row)).lastInsertRowid,
      ),
    /** Changes a row. Secrets that could not be read stay unchanged. */
    change: (row: ServerRow): void =>
      void sql(
        `UPDATE faces_server SET name = @name, kind = @kind, url = coalesce(@url, url),
           secret = coalesce(@secret, secret), paths = @paths, is_on = @is_on, with_playlists = @with_playlists
         WHERE id = @id`,
      ).run(sealed(row)),
    setState: (id: number, state: string): void =>
      void sql('UPDATE faces_server SET state = ? WHERE id = ?').run(state, id),
    remove: (id: number): boolean => sql('DELETE FROM faces_server WHERE id = ?').run(id).changes > 0,

    /** Records a change. A file that was added and then changed counts as added. */
    noteTold: (id: number, { path, kind }: Change): void =>
      void sql(
        `INSERT INTO faces_told (server_id, path, kind, latest) VALUES (@id, @path, @kind, @kind)
         ON CONFLICT (server_id, path) DO UPDATE SET times = times + 1, latest = excluded.latest,
           kind = CASE WHEN kind = 'added' AND excluded.kind = 'changed' THEN kind ELSE excluded.kind END`,
      ).run({ id, path, kind }),
    waiting: (id: number): WaitingRow[] =>
      sql<WaitingRow>('SELECT path, kind, times FROM faces_told WHERE server_id = ? ORDER BY path').all(id),
    /** Removes a delivered change. If the path was changed again since this row was read, that change stays. */
    dropTold(id: number, { path, times }: WaitingRow): void {
      const { changes } = sql('DELETE FROM faces_told WHERE server_id = ? AND path = ? AND times = ?').run(
        id,
        path,
        times,
      )
      if (changes === 0) sql('UPDATE faces_told SET kind = latest WHERE server_id = ? AND path = ?').run(id, path)
    },

    lists: (id: number): ListRow[] => sql<ListRow>('SELECT * FROM faces_list WHERE server_id = ?').all(id),
    list: (id: number, playlist: string): ListRow | undefined =>
      sql<ListRow>('SELECT * FROM faces_list WHERE server_id = ? AND playlist = ?').get(id, playlist),
    setList: (row: ListRow): void =>
      void sql(
        `INSERT INTO faces_list (server_id, playlist, remote, name, mark, making)
         VALUES (@server_id, @playlist, @remote, @name, @mark, @making)
         ON CONFLICT (server_id, playlist) DO UPDATE SET remote = @remote, name = @name, mark = @mark, making = @making`,
      ).run(row),
    /**
     * Called before a server is removed here, or its address changes: its playlists stay there. @returns whether there are
     * any
     */
    leaveLists(id: number): boolean {
      sql(
        `INSERT OR REPLACE INTO faces_left (kind, machine, playlist, remote, name, making)
         SELECT kind, coalesce(machine, ''), playlist, remote, faces_list.name, coalesce(making, @moved)
         FROM faces_list JOIN faces_server ON faces_server.id = server_id WHERE server_id = @id`,
      ).run({ id, moved: MOVED })
      sql('UPDATE faces_server SET machine = NULL WHERE id = ?').run(id)
      return sql('DELETE FROM faces_list WHERE server_id = ?').run(id).changes > 0
    },
    /**
     * Stores the server's own id, and takes back the playlists that stayed in it, and those that stayed in an unknown
     * server of this kind.
     */
    recognize({ id, kind }: Pick<ServerRow, 'id' | 'kind'>, machine: string): void {
      sql('UPDATE faces_server SET machine = ? WHERE id = ?').run(machine, id)
      sql(
        `INSERT OR IGNORE INTO faces_list (server_id, playlist, remote, name, mark, making)
         SELECT @id, playlist, remote, name, '', making FROM faces_left
         WHERE kind = @kind AND machine IN (@machine, '') ORDER BY machine DESC`,
      ).run({ id, kind, machine })
      sql("DELETE FROM faces_left WHERE kind = ? AND machine IN (?, '')").run(kind, machine)
    },
    dropList: (id: number, playlist: string): void =>
      void sql('DELETE FROM faces_list WHERE server_id = ? AND playlist = ?').run(id, playlist),
  }
}
