/** Rows of the ledger: faces, numbers of episodes, the files of each face, and the entries that are due. */
import type { Ledger } from 'archivolt'
import { type FaceRow, fromStored, type KnownFile, type StoredFiles, toStored } from './types.ts'

export const faceTables = {
  number: 1,
  sql: `
-- mark: what the file .archivolt-face in its root says. selection, state: JSON.
CREATE TABLE faces_face (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  root TEXT NOT NULL UNIQUE,
  mark TEXT NOT NULL,
  form TEXT NOT NULL CHECK (form IN ('shows', 'files', 'sound')),
  template TEXT NOT NULL,
  selection TEXT NOT NULL,
  takes_back INTEGER NOT NULL,
  with_places INTEGER NOT NULL,
  is_on INTEGER NOT NULL DEFAULT 1,
  state TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL
) STRICT;
-- Given once for ever, to whatever face: nothing shifts when videos come or go.
CREATE TABLE faces_number (
  show TEXT NOT NULL,
  season INTEGER NOT NULL,
  number INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  PRIMARY KEY (show, season, number),
  UNIQUE (video_id, show, season)
) STRICT, WITHOUT ROWID;
-- files: [path, mark, seen][]; seen is null while a file is on its way to the disk.
CREATE TABLE faces_unit (
  face_id INTEGER NOT NULL REFERENCES faces_face (id) ON DELETE CASCADE,
  show TEXT NOT NULL,
  unit TEXT NOT NULL,
  files TEXT NOT NULL,
  PRIMARY KEY (face_id, show, unit)
) STRICT, WITHOUT ROWID;
CREATE INDEX faces_unit_of ON faces_unit (unit);
-- times: how often it was noted; what is noted again while it is worked on stays.
CREATE TABLE faces_due (
  kind TEXT NOT NULL CHECK (kind IN ('video', 'show', 'playlist', 'face')),
  id TEXT NOT NULL,
  times INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
`,
}

/** Stamps, by which a whole render skips units with unchanged documents and files. */
export const stampTables = {
  number: 3,
  sql: `
-- stamp: differs where the unit is to be compared in full; '' always is. path: of its main file, for reading by folders.
ALTER TABLE faces_unit ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
ALTER TABLE faces_unit ADD COLUMN path TEXT NOT NULL DEFAULT '';
DROP INDEX faces_unit_of;
CREATE INDEX faces_unit_of ON faces_unit (face_id, unit, show);
CREATE INDEX faces_unit_at ON faces_unit (face_id, path, show, unit);
`,
}

/** An index from which a whole render reads all stamps without the rows. */
export const coveringTables = {
  number: 6,
  sql: `
DROP INDEX faces_unit_of;
CREATE INDEX faces_unit_of ON faces_unit (face_id, unit, show, stamp);
`,
}

export interface Due {
  kind: 'video' | 'show' | 'playlist' | 'face'
  id: string
}

export interface DueRow extends Due {
  times: number
}

export interface Unit {
  show: string
  unit: string
  files: KnownFile[]
  stamp: string
}

export type UnitName = Pick<Unit, 'show' | 'unit'>

export type Rows = ReturnType<typeof openRows>

/** Functions that write are called inside `ledger.write`. */
export function openRows({ sql, json }: Ledger) {
  type Stored = UnitName & { files: string; stamp: string }
  const opened = ({ files, ...row }: Stored): Unit => ({
    ...row,
    files: fromStored(json<StoredFiles>(files, `faces_unit.files of ${row.unit}`, [])),
  })
  return {
    faces: () => sql<FaceRow>('SELECT * FROM faces_face ORDER BY id').all(),
    face: (id: number) => sql<FaceRow>('SELECT * FROM faces_face WHERE id = ?').get(id),
    isAny: () => sql('SELECT 1 FROM faces_face WHERE is_on = 1 LIMIT 1').get() !== undefined,

    addFace: (row: Omit<FaceRow, 'id' | 'state'>): number =>
      Number(
        sql(
          `INSERT INTO faces_face (name, root, mark, form, template, selection, takes_back, with_places, is_on, created_at)
           VALUES (@name, @root, @mark, @form, @template, @selection, @takes_back, @with_places, @is_on, @created_at)`,
        ).run(row).lastInsertRowid,
      ),

    changeFace: (row: FaceRow): void =>
      void sql(
        `UPDATE faces_face SET name = @name, form = @form, template = @template, selection = @selection,
           takes_back = @takes_back, with_places = @with_places, is_on = @is_on WHERE id = @id`,
      ).run(row),

    setState: (id: number, state: string): void =>
      void sql('UPDATE faces_face SET state = ? WHERE id = ?').run(state, id),
    removeFace: (id: number): void => void sql('DELETE FROM faces_face WHERE id = ?').run(id),

    /** The numbers by season, by video. */
    numbers(show: string, ids: readonly string[]): Map<string, Map<number, number>> {
      const found = new Map<string, Map<number, number>>()
      const rows = sql<{ video_id: string; season: number; number: number }>(
        // The unary + makes SQLite search by video, not through all numbers of the show.
        `SELECT video_id, season, number FROM faces_number
         WHERE video_id IN (SELECT value FROM json_each(@ids)) AND +show = @show`,
      ).all({ show, ids: JSON.stringify(ids) })
      for (const { video_id: id, season, number } of rows)
        found.set(id, (found.get(id) ?? new Map<number, number>()).set(season, number))
      return found
    },

    giveNumber: (show: string, season: number, videoId: string): void =>
      void sql(
        `INSERT INTO faces_number (show, season, number, video_id) SELECT @show, @season,
           1 + coalesce((SELECT max(number) FROM faces_number WHERE show = @show AND season = @season), 0), @videoId
         WHERE true ON CONFLICT DO NOTHING`,
      ).run({ show, season, videoId }),

    unit(faceId: number, { show, unit }: UnitName): Unit | undefined {
      const row = sql<Stored>(
        'SELECT show, unit, files, stamp FROM faces_unit WHERE face_id = ? AND show = ? AND unit = ?',
      ).get(faceId, show, unit)
      return row && opened(row)
    },

    /** Units in order and in small batches, because a show may have very many. */
    unitsAfter: (faceId: number, show: string, after: string, most: number): string[] =>
      sql<UnitName>(
        'SELECT show, unit FROM faces_unit WHERE face_id = ? AND show = ? AND unit > ? ORDER BY unit LIMIT ?',
      )
        .all(faceId, show, after, most)
        .map(({ unit }) => unit),

    /** Stamps of all shows, sorted by unit. */
    stampsAfter: (faceId: number, after: UnitName, most: number): Array<Omit<Unit, 'files'>> =>
      sql<Omit<Unit, 'files'>>(
        `SELECT show, unit, stamp FROM faces_unit INDEXED BY faces_unit_of
         WHERE face_id = ? AND (unit, show) > (?, ?) ORDER BY unit, show LIMIT ?`,
      ).all(faceId, after.unit, after.show, most),

    /** Files of all shows as JSON, sorted by main path. */
    filesAfter: (faceId: number, after: UnitName & { path: string }, most: number) =>
      sql<UnitName & { path: string; files: string }>(
        `SELECT show, unit, path, files FROM faces_unit INDEXED BY faces_unit_at
         WHERE face_id = ? AND (path, show, unit) > (?, ?, ?) ORDER BY path, show, unit LIMIT ?`,
      ).all(faceId, after.path, after.show, after.unit, most),

    /** Units of playlists. */
    lists: (faceId: number): Unit[] =>
      sql<Stored>("SELECT show, unit, files, stamp FROM faces_unit WHERE face_id = ? AND show = ''")
        .all(faceId)
        .map(opened),

    /** Makes the next whole render compare every unit in full. */
    forgetStamps: (): void => void sql("UPDATE faces_unit SET stamp = ''").run(),

    showsAfter: (faceId: number, after: string): string | undefined =>
      sql<{ show: string }>('SELECT show FROM faces_unit WHERE face_id = ? AND show > ? ORDER BY show LIMIT 1').get(
        faceId,
        after,
      )?.show,

    /** Shows that have a unit with this name. */
    showsOf: (faceId: number, unit: string): string[] =>
      sql<{ show: string }>('SELECT show FROM faces_unit WHERE unit = ? AND face_id = ?')
        .all(unit, faceId)
        .map(({ show }) => show),

    /** Units in any face that is kept up to date. */
    unitsOfAll: (units: readonly string[]): Unit[] =>
      sql<Stored>(
        `SELECT u.show, u.unit, u.files, u.stamp FROM json_each(@units) AS asked
         CROSS JOIN faces_face AS f ON f.is_on = 1
         CROSS JOIN faces_unit AS u INDEXED BY faces_unit_of ON u.face_id = f.id AND u.unit = asked.value`,
      )
        .all({ units: JSON.stringify(units) })
        .map(opened),

    /** The main paths of units in any show, without those whose source does not exist. */
    pathsOf: (faceId: number, units: readonly string[]): Array<{ unit: string; path: string }> =>
      sql<{ unit: string; path: string }>(
        `SELECT u.unit, u.path FROM json_each(@units) AS asked
         CROSS JOIN faces_unit AS u INDEXED BY faces_unit_of ON u.unit = asked.value AND u.face_id = @faceId
         WHERE u.path <> '' AND CASE WHEN json_valid(u.files) THEN coalesce(u.files ->> '$[#-1][2]', '') NOT LIKE '-%' END`,
      ).all({ faceId, units: JSON.stringify(units) }),

    /** Years in which a show has ever had videos. */
    seasons: (show: string): number[] =>
      sql<{ season: number }>('SELECT DISTINCT season FROM faces_number WHERE show = ? ORDER BY season')
        .all(show)
        .map(({ season }) => season),

    /** Units of a show that do not belong to a video. */
    frames: (faceId: number, show: string): string[] =>
      sql<{ unit: string }>("SELECT unit FROM faces_unit WHERE face_id = ? AND show = ? AND unit < 'v '")
        .all(faceId, show)
        .map(({ unit }) => unit),

    /** Stores a unit, or removes it if it has neither files nor a stamp. The main file is the last one. */
    setUnit(faceId: number, { show, unit, files, stamp }: Unit): void {
      if (files.length === 0 && stamp === '') {
        sql('DELETE FROM faces_unit WHERE face_id = ? AND show = ? AND unit = ?').run(faceId, show, unit)
        return
      }
      const row = { faceId, show, unit, files: JSON.stringify(toStored(files)), stamp, path: files.at(-1)?.[0] ?? '' }
      // If only the files differ, as after a claim, this statement writes no index.
      const { changes } = sql(
        `UPDATE faces_unit SET files = @files
         WHERE face_id = @faceId AND show = @show AND unit = @unit AND stamp = @stamp AND path = @path`,
      ).run(row)
      if (changes > 0) return
      sql(
        `INSERT INTO faces_unit (face_id, show, unit, files, stamp, path) VALUES (@faceId, @show, @unit, @files, @stamp, @path)
         ON CONFLICT (face_id, show, unit) DO UPDATE SET files = excluded.files, stamp = excluded.stamp, path = excluded.path`,
      ).run(row)
    },

    noteDue: ({ kind, id }: Due): void =>
      void sql('INSERT INTO faces_due (kind, id) VALUES (?, ?) ON CONFLICT DO UPDATE SET times = times + 1').run(
        kind,
        id,
      ),
    due: (most: number): DueRow[] => sql<DueRow>('SELECT kind, id, times FROM faces_due LIMIT ?').all(most),
    dropDue: ({ kind, id, times }: DueRow): void =>
      void sql('DELETE FROM faces_due WHERE kind = ? AND id = ? AND times = ?').run(kind, id, times),
  }
}
