/** Items of the queue in the ledger: finds the next one, reads and changes them, and replaces all of them at once. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BulkResult, chunksOf, isAmong, MAX_WINDOW, partsAsked } from 'archivolt'
import type { App } from './app.ts'
import {
  COLUMNS,
  faultOf,
  type Row,
  type RowChange,
  TABLES,
  type Table,
  toDoc,
  type Value,
  valuesOf,
} from './queue-tables.ts'
import type { DownloadDoc } from './schema.ts'
import type { Removal } from './undoing.ts'

/** The filters of a request for the queue. */
export interface QueueFilter {
  /** A status; `pending` includes priority items. */
  filter?: string | undefined
  channel?: string | undefined
  vidType?: string | undefined
  errorClass?: string | undefined
  /** Whether the item has a message. */
  error?: boolean | undefined
}

/** A condition on rows, and its values. */
export interface Where {
  sql: string
  values: readonly Value[]
}

/** @param more  a further condition, without values */
export function whereOf({ filter, channel, vidType, errorClass, error }: QueueFilter, more?: string): Where {
  const parts: Array<[sql: string, ...values: Value[]]> = []
  if (filter === 'pending') parts.push([IS_OPEN])
  else if (filter !== undefined) parts.push(['status = ?', filter])
  if (channel !== undefined) parts.push(['channel_id = ?', channel])
  if (vidType !== undefined) parts.push(['vid_type = ?', vidType])
  if (errorClass !== undefined) parts.push(['error_class = ?', errorClass])
  if (error !== undefined) parts.push([error ? 'error_class IS NOT NULL' : 'error_class IS NULL'])
  if (more !== undefined) parts.push([more])
  return { sql: parts.map(([sql]) => sql).join(' AND ') || '1', values: parts.flatMap(([, ...values]) => values) }
}

export const IS_OPEN = "status <> 'ignore'"

/** An UPDATE or DELETE without its WHERE clause, and the values that it binds. */
interface RowsChange {
  toSql(table: string): string
  values: readonly Value[]
}

export interface ListQuery extends QueueFilter {
  /** Words of the title; the last word also matches as a prefix. */
  words?: string | undefined
  from: number
  size: number
}

/** Maximum number of rows that one write changes, which takes some milliseconds. */
const CHANGED_AT_ONCE = 100
/** Number of rows that a search reads at a time. */
const READ_AT_ONCE = 2000
const [FIRST, LAST] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export type QueueTable = ReturnType<typeof openQueueTable>

export function openQueueTable({ ledger, index, media }: Pick<App, 'ledger' | 'index' | 'media'>) {
  const { sql } = ledger
  const inUse = (): Table => sql<{ name: Table }>('SELECT name FROM download_queue_in_use').get()?.name ?? TABLES[0]

  /** Writes to the table in use. During a restore, jobs wait here and requests are refused. */
  async function write<Result>(work: (table: Table) => Result): Promise<Result> {
    await index.writable()
    return ledger.write(() => work(inUse()))
  }

  const docOf = (row: Row): DownloadDoc => toDoc(row, media.artUrl('video', row.id))

  function among<Found>(columns: string, ids: readonly string[]): Found[] {
    const [isAsked, value] = isAmong('id', ids)
    return ids.length === 0 ? [] : sql<Found>(`SELECT ${columns} FROM ${inUse()} WHERE ${isAsked}`).all(value)
  }

  const getMany = (ids: readonly string[]): Map<string, DownloadDoc> =>
    new Map(among<Row>('*', ids).map((row) => [row.id, docOf(row)]))

  /** The position of the last row of the next piece of `rows` rows; undefined: fewer rows are left. */
  const endOf = (where: string, values: readonly Value[], rows: number): number | undefined =>
    sql<{ position: number }>(`SELECT position FROM ${inUse()} WHERE ${where} ORDER BY position LIMIT 1 OFFSET ?`).get(
      ...values,
      rows - 1,
    )?.position

  /** Changes the rows that meet a condition. @param on  what follows the table's name @returns the number of rows */
  const changeRows = (
    { toSql, values }: RowsChange,
    where: Where,
    { removal, on = '' }: { removal?: Removal | undefined; on?: string },
  ): Promise<number> =>
    write((table) => {
      removal?.note(table, where.sql, where.values)
      return sql(`${toSql(`${table}${on}`)} WHERE ${where.sql}`).run(...values, ...where.values).changes
    })

  /**
   * Changes all rows in pieces, by position, so that rows added meanwhile are included at the end. @returns the number
   * of rows
   */
  async function inPieces(where: Where, change: RowsChange, removal?: Removal): Promise<number> {
    let rows = 0
    for (let after = FIRST; after < LAST; ) {
      const upTo = endOf('position > ?', [after], CHANGED_AT_ONCE) ?? LAST
      const piece = { sql: `position > ? AND position <= ? AND ${where.sql}`, values: [after, upTo, ...where.values] }
      rows += await changeRows(change, piece, { removal, on: ' NOT INDEXED' })
      after = upTo
    }
    return rows
  }

  async function byIds(
    ids: readonly string[],
    change: RowsChange,
    { onlyIf = '1', removal }: { onlyIf?: string | undefined; removal?: Removal | undefined },
  ): Promise<number> {
    let rows = 0
    for (const some of chunksOf(ids, CHANGED_AT_ONCE)) {
      const [isAsked, asked] = isAmong('id', some)
      rows += await changeRows(change, { sql: `${isAsked} AND ${onlyIf}`, values: [asked] }, { removal })
    }
    return rows
  }

  /**
   * Positions of items with these words in the title, in queue order. It searches in pieces, so that the event loop
   * stays responsive.
   */
  async function positionsOf(where: Where, parts: string[][]): Promise<number[]> {
    const hasWords = parts.map((ways) => `(${ways.map(() => 'instr(words, ?)').join(' OR ')})`).join(' AND ')
    const found: number[] = []
    for (const later of [0, 1]) {
      for (let after = FIRST; after < LAST && found.length < MAX_WINDOW; await nextTurn()) {
        const upTo = endOf('later = ? AND position > ?', [later, after], READ_AT_ONCE) ?? LAST
        const table = inUse()
        const rows = sql<{ position: number }>(
          `SELECT position FROM ${table} INDEXED BY ${table}_order WHERE later = ? AND position > ? AND position <= ? AND ${where.sql} AND ${hasWords} ORDER BY position`,
        ).all(later, after, upTo, ...where.values, ...parts.flat())
        for (const { position } of rows) found.push(position)
        after = upTo
      }
    }
    return found.slice(0, MAX_WINDOW)
  }

  /** The cached count of matching items, because counting takes ten times as long as reading a page. */
  const count = (where: Where, cap: number): number =>
    ledger.cached(
      `queue ${where.sql} ${JSON.stringify(where.values)} ${cap}`,
      () =>
        sql<{ count: number }>(
          `SELECT count(*) AS count FROM (SELECT 1 FROM ${inUse()} WHERE ${where.sql} LIMIT ?)`,
        ).get(...where.values, cap === Number.POSITIVE_INFINITY ? -1 : cap)!.count,
    )

  /** Call inside a write. @returns the written ids */
  function put(table: Table, docs: readonly DownloadDoc[], conflict: 'OR IGNORE' | 'OR REPLACE') {
    const isTaken = sql(`SELECT 1 FROM ${table} WHERE position = ? AND id <> ?`)
    const last = sql<{ last: number }>(`SELECT max(position) AS last FROM ${table}`)
    const insert = sql(
      `INSERT ${conflict} INTO ${table} (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
    )
    const added: string[] = []
    for (const doc of docs) {
      const { platform_id: id } = doc
      // If a position is already taken, for example in an edited backup, the item goes to the end.
      const position = isTaken.get(doc.position, id) ? last.get()!.last + 1 : doc.position
      if (insert.run(...valuesOf({ ...doc, position })).changes > 0) added.push(id)
    }
    return added
  }

  /**
   * Writes items in pieces. Invalid items are returned as failed and do not stop others.
   * @param change  writes to the right table
   */
  async function fill(
    docs: readonly DownloadDoc[],
    conflict: 'OR IGNORE' | 'OR REPLACE',
    change: (work: (table: Table) => void) => Promise<unknown>,
  ) {
    const added = new Set<string>()
    const failed: BulkResult['failed'] = []
    const sound = docs.filter((doc) => {
      const reason = faultOf(doc)
      if (reason !== undefined) failed.push({ id: doc.platform_id, reason })
      return reason === undefined
    })
    // All at once, so that several pieces share a transaction, and with it one wait for the disk.
    await Promise.all(
      [...chunksOf(sound, CHANGED_AT_ONCE)].map((some) =>
        change((table) => {
          for (const id of put(table, some, conflict)) added.add(id)
        }),
      ),
    )
    return { added, failed }
  }

  const isEmpty = (table: Table): boolean => sql(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined

  async function clear(table: Table): Promise<void> {
    const some = sql(`DELETE FROM ${table} WHERE position IN (SELECT position FROM ${table} LIMIT ${CHANGED_AT_ONCE})`)
    while (!isEmpty(table)) await ledger.write(() => some.run())
  }

  const setting = (set: RowChange): RowsChange => {
    const assignments = Object.keys(set).map((name) => `${name} = ?`)
    return { toSql: (table) => `UPDATE ${table} SET ${assignments.join(', ')}`, values: Object.values(set) }
  }
  const removing: RowsChange = { toSql: (table) => `DELETE FROM ${table}`, values: [] }

  return {
    getMany,
    get: (id: string) => getMany([id]).get(id),

    /** Those of the ids that are in the queue. */
    known: (ids: readonly string[]) => new Set(among<{ id: string }>('id', ids).map(({ id }) => id)),

    /** Counts matching items, but stops at `cap`. */
    count: (filter: QueueFilter, cap = MAX_WINDOW) => count(whereOf(filter), cap),

    isEmpty: () => isEmpty(inUse()),

    /** A page in the order of the queue: auto_start first, then oldest. */
    async list({ words = '', from, size, ...filter }: ListQuery): Promise<{ items: DownloadDoc[]; total: number }> {
      const where = whereOf(filter)
      const parts = partsAsked(words)
      if (parts) {
        const positions = parts.length === 0 ? [] : await positionsOf(where, parts)
        const shown = JSON.stringify(positions.slice(from, from + size))
        const rows = sql<Row>(
          `SELECT q.* FROM json_each(?) shown CROSS JOIN ${inUse()} q ON q.position = shown.value ORDER BY shown.key`,
        ).all(shown)
        return { items: rows.map(docOf), total: positions.length }
      }
      const table = inUse()
      const by = filter.channel === undefined ? 'order' : 'channel'
      const rows = sql<Row>(
        `SELECT * FROM ${table} INDEXED BY ${table}_${by} WHERE ${where.sql} ORDER BY later, position LIMIT ? OFFSET ?`,
      ).all(...where.values, size, from)
      return { items: rows.map(docOf), total: count(where, MAX_WINDOW) }
    },

    /**
     * The next item to download: those whose time for a retry has come, then those without a failure.
     * @param options.except  ids that the run has postponed
     */
    next({ isAutoOnly, except, now }: { isAutoOnly: boolean; except: readonly string[]; now: number }) {
      const left = JSON.stringify(except)
      const table = inUse()
      const first = (by: string, condition: string) =>
        `SELECT position FROM ${table} INDEXED BY ${table}_${by} WHERE ${IS_OPEN} AND ${condition}${isAutoOnly ? ' AND later = 0' : ''}
         AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY later, position LIMIT 1`
      const row = sql<Row>(
        `SELECT * FROM ${table} WHERE position = coalesce((${first('due', 'retry_at <= ?')}), (${first('ready', 'error_class IS NULL')}))`,
      ).get(now, left, left)
      return row && docOf(row)
    },

    /** Counts by channel; channels with the most items come first. */
    byChannel(filter: QueueFilter) {
      const where = whereOf(filter)
      return sql<{ channel: string; count: number }>(
        `SELECT channel_id AS channel, count(*) AS count FROM ${inUse()} WHERE ${where.sql} GROUP BY channel_id ORDER BY count DESC, channel_id`,
      ).all(...where.values)
    },

    byKind: () =>
      sql<{ status: DownloadDoc['status']; vidType: DownloadDoc['vid_type']; count: number }>(
        `SELECT status, vid_type AS vidType, count(*) AS count FROM ${inUse()} GROUP BY status, vid_type`,
      ).all(),

    /** Counts items that are not ignored. */
    byErrorClass(): Record<string, number> {
      const rows = sql<{ name: string; items: number }>(
        `SELECT error_class AS name, count(*) AS items FROM ${inUse()} WHERE error_class IS NOT NULL AND ${IS_OPEN} GROUP BY error_class ORDER BY items DESC, error_class`,
      ).all()
      return Object.fromEntries(rows.map(({ name, items }) => [name, items]))
    },

    /** Existing items stay unchanged. @returns the added ids, and the items that could not be added */
    add: (docs: readonly DownloadDoc[]) => fill(docs, 'OR IGNORE', write),

    /** @returns the number of changed items */
    change: (ids: readonly string[], set: RowChange, onlyIf?: string) => byIds(ids, setting(set), { onlyIf }),

    /** Changes matching rows in pieces, each of which is atomic. */
    changeWhere: (where: Where, set: RowChange, removal?: Removal) => inPieces(where, setting(set), removal),

    /** Changes matching rows until none is left, so a changed row must no longer match. @returns the changed ids */
    async changeAll(where: Where, set: RowChange): Promise<string[]> {
      const { toSql, values } = setting(set)
      const isLeft = () => sql(`SELECT 1 FROM ${inUse()} WHERE ${where.sql} LIMIT 1`).get(...where.values)
      const changeSome = (table: Table) =>
        sql<{ id: string }>(
          `${toSql(table)} WHERE position IN (SELECT position FROM ${table} WHERE ${where.sql} LIMIT ${CHANGED_AT_ONCE}) RETURNING id`,
        ).all(...values, ...where.values)
      const changed: string[] = []
      while (isLeft()) for (const { id } of await write(changeSome)) changed.push(id)
      return changed
    },

    /** @param removal  records the items first, so that they can be put back */
    remove: (ids: readonly string[], removal?: Removal) => byIds(ids, removing, { removal }),

    removeWhere: (where: Where, removal?: Removal) => inPieces(where, removing, removal),

    async *scan(batch: number): AsyncIterable<DownloadDoc[]> {
      for (let after = FIRST; ; ) {
        const rows = sql<Row>(`SELECT * FROM ${inUse()} WHERE position > ? ORDER BY position LIMIT ?`).all(after, batch)
        if (rows.length > 0) yield rows.map(docOf)
        if (rows.length < batch) return
        after = rows.at(-1)!.position
        await nextTurn()
      }
    },

    /** Begins to replace all items, and discards an earlier replacement that was not finished. */
    async replacement() {
      const before = inUse()
      const fresh = TABLES.find((table) => table !== before)!
      await clear(fresh)
      const change = (work: (table: Table) => void) => ledger.write(() => work(fresh))
      return {
        async write(docs: readonly DownloadDoc[]): Promise<BulkResult> {
          const { added, failed } = await fill(docs, 'OR REPLACE', change)
          return { written: added.size, failed }
        },
        async commit() {
          const changeOver = sql('INSERT OR REPLACE INTO download_queue_in_use (only, name) VALUES (1, ?)')
          await ledger.write(() => changeOver.run(fresh))
          await clear(before)
        },
      }
    },
  }
}
