/**
 * The rows that record changes on the platform. Few versions of a long text are stored whole; each of the others is
 * stored as its difference from the version before it.
 */
import type { App } from './app.ts'
import { openDictionaries } from './dictionary.ts'
import { type Packed, pack, packDifference, unpack, unpackDifference } from './pack.ts'

/** Rows contain the positions in this list: append new kinds at the end. */
export const KINDS = ['video', 'channel', 'playlist'] as const
export type Kind = (typeof KINDS)[number]
/** The parts that may change. Rows contain the positions in this list: append new parts at the end. */
export const PARTS = [
  'title',
  'description',
  'thumbnail',
  'tags',
  'category',
  'length',
  'chapters',
  'captions',
  'availability',
  'name',
  'handle',
  'picture',
  'entries',
] as const
export type Part = (typeof PARTS)[number]

export const historyTables = {
  number: 1,
  sql: `CREATE TABLE history_change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL,
    -- of the video, channel or playlist
    subject TEXT NOT NULL,
    part INTEGER NOT NULL,
    -- epoch seconds
    seen_at INTEGER NOT NULL,
    -- JSON, or compressed JSON; NULL: what the row before it of the same subject and part has as after
    before ANY,
    -- the same; compressed as what differs from before
    after ANY NOT NULL
  ) STRICT;
  CREATE INDEX history_subject ON history_change (subject, kind, part, id);
  CREATE INDEX history_part ON history_change (part, id);
  -- what documents do not say: the last values of the platform
  CREATE TABLE history_seen (
    kind INTEGER NOT NULL,
    subject TEXT NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (kind, subject)
  ) STRICT, WITHOUT ROWID;
  -- a picture that was seen once: the platform shows some viewers another one for a while
  CREATE TABLE history_picture (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    hash TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE history_number (
    kind INTEGER NOT NULL,
    subject TEXT NOT NULL,
    -- epoch seconds
    seen_at INTEGER NOT NULL,
    -- views and likes of a video; views and subscribers of a channel; NULL: not told
    views INTEGER,
    second INTEGER,
    PRIMARY KEY (kind, subject, seen_at)
  ) STRICT, WITHOUT ROWID`,
}

/** A stored change. `before` and `after` are parsed JSON. */
export interface Change {
  id: number
  kind: Kind
  subject: string
  part: Part
  seenAt: number
  before: unknown
  after: unknown
}

export type NewChange = Omit<Change, 'id'>

interface Row {
  id: number
  kind: number
  subject: string
  part: number
  seen_at: number
  before: Packed | null
  after: Packed
  dictionary: number | null
}

export interface Wanted {
  kind?: Kind | undefined
  subject?: string | undefined
  parts?: readonly Part[] | undefined
  /** Epoch seconds. */
  since?: number | undefined
  until?: number | undefined
}

/** The maximum number of rows that must be read to decode a row. */
const LONGEST_CHAIN = 8
const TABLES = ['history_change', 'history_seen', 'history_number'] as const

export function openRows({ ledger }: Pick<App, 'ledger'>) {
  const { sql } = ledger
  const dictionaries = openDictionaries({ ledger })

  /** Packs a whole text, with the dictionary if that makes it shorter. */
  function packWhole(text: string): Pick<Row, 'before' | 'dictionary'> {
    const before = pack(text)
    const dictionary = dictionaries.newest()
    const encoded = dictionary?.encode(text)
    const shorter = encoded === undefined ? before : pack(encoded)
    return Buffer.byteLength(shorter) < Buffer.byteLength(before)
      ? { before: shorter, dictionary: dictionary!.id }
      : { before, dictionary: null }
  }

  const unpackWhole = (packed: Packed, dictionary: number | null): string =>
    dictionary === null ? unpack(packed) : dictionaries.get(dictionary).decode(unpack(packed))

  const before = ({ kind, subject, part, id }: Pick<Row, 'kind' | 'subject' | 'part' | 'id'>): Row | undefined =>
    sql<Row>(
      'SELECT * FROM history_change WHERE subject = ? AND kind = ? AND part = ? AND id < ? ORDER BY id DESC LIMIT 1',
    ).get(subject, kind, part, id)

  /** The values of a row as JSON texts, and how many rows were read to decode them. */
  function read(row: Row): { before: string; after: string; depth: number } {
    const chain = [row]
    for (let at: Row | undefined = row; at && at.before === null; ) {
      at = before(at)
      if (at) chain.unshift(at)
    }
    let [was, is] = ['null', 'null']
    for (const one of chain) {
      was = one.before === null ? is : unpackWhole(one.before, one.dictionary)
      is = unpackDifference(one.after, was)
    }
    return { before: was, after: is, depth: chain.length }
  }

  function toChange(row: Row): Change {
    const { before: was, after: is } = read(row)
    return {
      ...{ id: row.id, kind: KINDS[row.kind]!, subject: row.subject, part: PARTS[row.part]!, seenAt: row.seen_at },
      ...{ before: JSON.parse(was) as unknown, after: JSON.parse(is) as unknown },
    }
  }

  const newest = (kind: Kind, subject: string, part: Part): Row | undefined =>
    before({ kind: KINDS.indexOf(kind), subject, part: PARTS.indexOf(part), id: Number.MAX_SAFE_INTEGER })

  function whereOf({ kind, subject, parts, since, until }: Wanted): [sql: string, values: unknown[]] {
    const conditions: Array<[string, unknown]> = [
      ...(subject === undefined ? [] : [['subject = ?', subject] as [string, unknown]]),
      ...(kind === undefined ? [] : [['kind = ?', KINDS.indexOf(kind)] as [string, unknown]]),
      ...(since === undefined ? [] : [['seen_at >= ?', since] as [string, unknown]]),
      ...(until === undefined ? [] : [['seen_at < ?', until] as [string, unknown]]),
    ]
    const numbers = parts?.map((part) => PARTS.indexOf(part)).join(', ')
    const all = [...conditions.map(([text]) => text), ...(numbers === undefined ? [] : [`part IN (${numbers})`])]
    return [all.length ? `WHERE ${all.join(' AND ')}` : '', conditions.map(([, value]) => value)]
  }

  return {
    dictionaries,

    /**
     * Call inside `ledger.write`. A value that equals the `after` of the newest row is not written again.
     * @returns whether a row was written
     */
    add({ kind, subject, part, seenAt, before: was, after: is }: NewChange): boolean {
      const [old, now] = [JSON.stringify(was), JSON.stringify(is)]
      const last = newest(kind, subject, part)
      const known = last && read(last)
      if (old === now || known?.after === now) return false
      const isChained = known?.after === old && known.depth < LONGEST_CHAIN
      const whole = isChained ? { before: null, dictionary: null } : packWhole(old)
      sql(
        `INSERT INTO history_change (kind, subject, part, seen_at, before, after, dictionary)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ).run(
        ...[KINDS.indexOf(kind), subject, PARTS.indexOf(part), seenAt],
        ...[whole.before, packDifference(now, old), whole.dictionary],
      )
      return true
    },

    /** The newest `after` of each part that has ever changed. */
    lastOf(kind: Kind, subject: string): Map<Part, unknown> {
      const rows = sql<Row>(
        `SELECT * FROM history_change WHERE id IN
           (SELECT max(id) FROM history_change WHERE subject = ? AND kind = ? GROUP BY part)`,
      ).all(subject, KINDS.indexOf(kind))
      return new Map(rows.map((row) => [PARTS[row.part]!, JSON.parse(read(row).after) as unknown]))
    },

    get(id: number): Change | undefined {
      const row = sql<Row>('SELECT * FROM history_change WHERE id = ?').get(id)
      return row && toChange(row)
    },

    /** The next change of the same part. */
    after({ kind, subject, part, id }: Change): Change | undefined {
      const row = sql<Row>(
        'SELECT * FROM history_change WHERE subject = ? AND kind = ? AND part = ? AND id > ? ORDER BY id LIMIT 1',
      ).get(subject, KINDS.indexOf(kind), PARTS.indexOf(part), id)
      return row && toChange(row)
    },

    /** Newest first. */
    page(wanted: Wanted, from: number, size: number): Change[] {
      const [where, values] = whereOf(wanted)
      return sql<Row>(`SELECT * FROM history_change ${where} ORDER BY id DESC LIMIT ? OFFSET ?`)
        .all(...values, size, from)
        .map(toChange)
    },

    /** The newest changes like `page`, but without the values. */
    subjects(wanted: Wanted, most: number): Array<{ id: number; kind: Kind; subject: string }> {
      const [where, values] = whereOf(wanted)
      return sql<{ id: number; kind: number; subject: string }>(
        `SELECT id, kind, subject FROM history_change ${where} ORDER BY id DESC LIMIT ?`,
      )
        .all(...values, most)
        .map(({ id, kind, subject }) => ({ id, kind: KINDS[kind]!, subject }))
    },

    count(wanted: Wanted): number {
      const [where, values] = whereOf(wanted)
      return sql<{ count: number }>(`SELECT count(*) AS count FROM history_change ${where}`).get(...values)!.count
    },

    /** All former values of a part, oldest first. */
    befores: (kind: Kind, subject: string, part: Part): unknown[] =>
      sql<Row>('SELECT * FROM history_change WHERE subject = ? AND kind = ? AND part = ? ORDER BY id')
        .all(subject, KINDS.indexOf(kind), PARTS.indexOf(part))
        .map((row) => toChange(row).before),

    /** All changes of a subject, oldest first. */
    of(kind: Kind, subject: string): Change[] {
      return sql<Row>('SELECT * FROM history_change WHERE subject = ? AND kind = ? ORDER BY id')
        .all(subject, KINDS.indexOf(kind))
        .map(toChange)
    },

    seen: (kind: Kind, subject: string): Record<string, unknown> | undefined => {
      const row = sql<{ seen: string }>('SELECT seen FROM history_seen WHERE kind = ? AND subject = ?').get(
        ...[KINDS.indexOf(kind), subject],
      )
      return row && ledger.json<Record<string, unknown>>(row.seen, `history_seen of ${subject}`, {})
    },

    /** Call inside `ledger.write`. */
    setSeen(kind: Kind, subject: string, seen: object): void {
      sql(
        `INSERT INTO history_seen (kind, subject, seen) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET seen = excluded.seen WHERE history_seen.seen <> excluded.seen`,
      ).run(KINDS.indexOf(kind), subject, JSON.stringify(seen))
    },

    /** Call inside `ledger.write`. */
    forgetChanges: (kind: Kind, subject: string): void =>
      void sql('DELETE FROM history_change WHERE subject = ? AND kind = ?').run(subject, KINDS.indexOf(kind)),

    forget(kind: Kind, subjects: readonly string[]): void {
      const ids = JSON.stringify(subjects)
      for (const table of TABLES)
        sql(`DELETE FROM ${table} WHERE subject IN (SELECT value FROM json_each(?)) AND kind = ?`).run(
          ids,
          KINDS.indexOf(kind),
        )
      sql('DELETE FROM history_picture WHERE subject IN (SELECT value FROM json_each(?))').run(ids)
    },
  }
}
