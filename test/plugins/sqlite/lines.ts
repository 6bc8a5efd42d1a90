/** A small index with documents of texts and whole numbers alone, for the tests in this folder. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Type } from 'typebox'
import { defineIndex } from '../../../core/index/mapping.ts'

export const lineIndex = defineIndex({
  name: 'line',
  newest: 'said_at',
  doc: Type.Object({
    film: Type.String(),
    line_id: Type.String(),
    number: Type.Integer(),
    line: Type.String(),
    said_at: Type.Integer(),
    owner: Type.String(),
  }),
  fields: {
    film: { type: 'keyword', filter: true },
    line: { type: 'text', search: 1 },
    owner: { type: 'keyword', filter: true, internal: true },
    said_at: { type: 'date', sort: true, internal: true },
  },
})

export const lineOf = (at: number) => ({
  id: `f${at % 7}-${at}`,
  doc: {
    film: `f${at % 7}`,
    line_id: `f${at % 7}-${at}`,
    number: at,
    line: `Somebody says word${at}, "${'and so on, '.repeat(20)}"`,
    said_at: 1_500_000_000 + at,
    owner: 'me',
  },
})

/** Stores all documents as an earlier version did: as texts, including keys. */
export function asTexts(folder: string): void {
  const db = new Database(join(folder, 'index.sqlite'))
  db.exec(`
    INSERT INTO line_v1_doc(rid, text, internal)
      SELECT m.rid, json_object('film', m.film, 'line_id', ifnull(f.line_id, m.id), 'number', f.number, 'line', f.line),
        json_object('owner', m.owner, 'said_at', m.said_at)
      FROM line_v1 m JOIN line_v1_flat f ON f.rid = m.rid;
    DROP TABLE line_v1_flat;
    DROP TABLE index_flat;
  `)
  db.close()
}

/** The number of documents stored as texts, and in columns. */
export function storedIn(folder: string): { texts: number; columns: number } {
  const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
  const count = (table: string) => db.prepare<unknown[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!
  try {
    return { texts: count('line_v1_doc'), columns: count('line_v1_flat') }
  } finally {
    db.close()
  }
}
