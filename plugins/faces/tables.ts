/** Faces, numbers of episodes, what lies in each face, and what is due: rows of the ledger. */
import type { Ledger } from 'archivolt'
import type { FaceRow, KeptFile } from './types.ts'

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

export interface Due {
  kind: 'video' | 'show' | 'playlist' | 'face'
  id: string
}

export interface DueRow extends Due {
  times: number
}

export interface Unit {
  unit: string
  files: KeptFile[]
}

export type Rows = ReturnType<typeof openRows>

/** Those that write are called inside `ledger.write`. */
export function openRows({ sql, json }: Ledger) {
  type Stored = { show: string; unit: string; files: string }
  const filesOf = ({ unit, files }: Stored): KeptFile[] => json<KeptFile[]>(files, `faces_unit.files of ${unit}`, [])
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

    /** By video. */
    numbers(show: string, ids: readonly string[]): Map<string, Map<number, number>> {
      const found = new Map<string, Map<number, number>>()
      const rows = sql<{ video_id: string; season: number; number: number }>(
        `SELECT n.video_id, n.season, n.number FROM json_each(@ids) AS asked
         JOIN faces_number AS n ON n.video_id = asked.value AND n.show = @show`,
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

    units(faceId: number, show: string, units: readonly string[]): Map<string, KeptFile[]> {
      const rows = sql<Stored>(
        `SELECT u.show, u.unit, u.files FROM json_each(@units) AS asked
         JOIN faces_unit AS u ON u.face_id = @faceId AND u.show = @show AND u.unit = asked.value`,
      ).all({ faceId, show, units: JSON.stringify(units) })
      return new Map(rows.map((row) => [row.unit, filesOf(row)]))
    },

    /** In order; a few at a time, as a show may have very many. */
    unitsAfter: (faceId: number, show: string, after: string, most: number): Unit[] =>
      sql<Stored>(
        'SELECT show, unit, files FROM faces_unit WHERE face_id = ? AND show = ? AND unit > ? ORDER BY unit LIMIT ?',
      )
        .all(faceId, show, after, most)
        .map((row) => ({ unit: row.unit, files: filesOf(row) })),

    showsAfter: (faceId: number, after: string): string | undefined =>
      sql<{ show: string }>('SELECT show FROM faces_unit WHERE face_id = ? AND show > ? ORDER BY show LIMIT 1').get(
        faceId,
        after,
      )?.show,

    /** Where units of this name lie. */
    places: (faceId: number, unit: string): string[] =>
      sql<{ show: string }>('SELECT show FROM faces_unit WHERE unit = ? AND face_id = ?')
        .all(unit, faceId)
        .map(({ show }) => show),

    /** Of whichever show. */
    unitsOf: (faceId: number, units: readonly string[]): Unit[] =>
      sql<Stored>(
        `SELECT u.show, u.unit, u.files FROM json_each(@units) AS asked
         JOIN faces_unit AS u ON u.unit = asked.value AND u.face_id = @faceId`,
      )
        .all({ faceId, units: JSON.stringify(units) })
        .map((row) => ({ unit: row.unit, files: filesOf(row) })),

    /** Years in which a show has ever had videos. */
    seasons: (show: string): number[] =>
      sql<{ season: number }>('SELECT DISTINCT season FROM faces_number WHERE show = ? ORDER BY season')
        .all(show)
        .map(({ season }) => season),

    /** Units of a show that are of no video. */
    frames: (faceId: number, show: string): string[] =>
      sql<{ unit: string }>("SELECT unit FROM faces_unit WHERE face_id = ? AND show = ? AND unit < 'v '")
        .all(faceId, show)
        .map(({ unit }) => unit),

    setUnit: (faceId: number, show: string, unit: string, files: readonly KeptFile[]): void =>
      void (files.length === 0
        ? sql('DELETE FROM faces_unit WHERE face_id = ? AND show = ? AND unit = ?').run(faceId, show, unit)
        : sql(
            `INSERT INTO faces_unit (face_id, show, unit, files) VALUES (?, ?, ?, ?)
             ON CONFLICT (face_id, show, unit) DO UPDATE SET files = excluded.files`,
          ).run(faceId, show, unit, JSON.stringify(files))),

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
