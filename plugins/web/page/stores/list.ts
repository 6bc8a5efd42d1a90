/**
 * A list of the API that is read page by page as far as needed, and beyond the result window if its order allows that.
 */
import { batch, type ReadonlySignal, signal } from '@preact/signals'
import { type Failure, type Query, toFailure } from '../server/api.ts'
import { getPage } from '../server/paged.ts'
import type { Page, Paginate } from '../server/records.ts'
import type { Count } from '../texts/lookup.ts'
import { cache, cachedValue } from './load.ts'

interface ListOptions<Record, Row> {
  path: string
  query?: Query
  idOf: (row: Row) => string
  /** Reduces a record to the part that is cached, because lists get long. */
  toRow: (record: Record) => Row
  /** For lists ordered by date: they continue beyond the 10,000 results of one query. */
  byDay?: { dayOf: (row: Row) => string; parameter: 'before' | 'after' }
}

/** The number of records, as far as the API counts them. */
export const countOf = ({ total_hits: total, max_hits: isMore }: Paginate): Count =>
  isMore ? { moreThan: total } : total
export const isSome = (count: Count | undefined): boolean => count !== undefined && count !== 0
export const isMore = (count: Count | undefined, than: number): boolean =>
  typeof count === 'number' ? count > than : count !== undefined
/** Subtracts records that are shown elsewhere. */
export const without = (count: Count, some: number): Count =>
  typeof count === 'number' ? Math.max(0, count - some) : count

export interface List<Row> {
  idOf: (row: Row) => string
  rows: ReadonlySignal<Row[]>
  state: ReadonlySignal<'loading' | 'ready' | 'failed'>
  failure: ReadonlySignal<Failure | undefined>
  /** No more rows can be read. */
  isWhole: ReadonlySignal<boolean>
  /** More rows exist, but the API cannot return them without a narrower filter. */
  isCut: ReadonlySignal<boolean>
  total: ReadonlySignal<Count | undefined>
  /** The time at which the list was last read from its start, in epoch milliseconds; undefined: not requested yet. */
  askedAt(): number | undefined
  /** Reads until there are `count` rows, or the list ends. */
  reach(count: number): Promise<void>
  retry(): void
  /** Reads the list again; the current rows stay until the new ones arrive. */
  reload(): Promise<void>
  /** Called when the list may be outdated: reloads it if it is shown, otherwise when it is read again. */
  renew(): void
  change(id: string, how: (row: Row) => Row): void
  /** @returns a function that puts the row back at its position */
  drop(id: string): () => void
  /** Adds a new row at the end. @returns false: the end of the list has not been read, so the row was not added */
  append(row: Row): boolean
}

/** What all lists can do, including those that were read with one request. */
export type Rows<Row> = Pick<List<Row>, 'rows' | 'change' | 'drop'>

/** Maximum number of pages that are requested concurrently, because the server's pages are small. */
const AT_ONCE = 4
/** Maximum number of rows that a reload reads; others follow while scrolling. */
const MOST_RELOADED = 240

/** A cursor: determines which page is read next. */
function openCursor<Record>(path: string, query: Query | undefined) {
  let next = 1
  let lastPage: number | undefined
  let pageSize = 1
  let bound: Query = {}

  return {
    begin(from: Query = {}): void {
      bound = from
      next = 1
      lastPage = undefined
    },
    /** Whether nothing has been read yet. Only the first page gives the total. */
    isFirst: (): boolean => lastPage === undefined && !bound['before'] && !bound['after'],

    /**
     * @param dropped  the number of rows that were removed after they were read, because the following rows have moved
     * up
     */
    read(wanted: number, dropped: number): Promise<Array<Page<Record>>> {
      next = Math.max(1, next - Math.ceil(dropped / pageSize))
      const most = Math.min(AT_ONCE, Math.ceil(wanted / pageSize), (lastPage ?? 1) - next + 1)
      return Promise.all(
        Array.from({ length: Math.max(1, most) }, (_, index) =>
          getPage<Record>(path, { ...query, ...bound, page: next + index }),
        ),
      )
    },
    advance(pages: number, { page_size: size, last_page: last }: Paginate): void {
      next += pages
      pageSize = Math.max(1, size)
      if (last !== 0) lastPage = last
    },
  }
}

export function openList<Record, Row>({ path, query, idOf, toRow, byDay }: ListOptions<Record, Row>): List<Row> {
  let isShown = false
  const rows = signal<Row[]>([], {
    watched: () => void (isShown = true),
    unwatched: () => void (isShown = false),
  })
  const state = signal<'loading' | 'ready' | 'failed'>('loading')
  const failure = signal<Failure | undefined>(undefined)
  const isWhole = signal(false)
  const isCut = signal(false)
  const total = signal<Count | undefined>(undefined)
  const cursor = openCursor<Record>(path, query)
  /** Ids to ignore in replies: their rows are in the list already, or were removed during the request. */
  const seen = new Set<string>()
  let askedAt: number | undefined
  let isOutdated = false
  let dropped = 0
  let running: Promise<void> | undefined
  let life = 0
  /** The new rows during a reload. They replace the current rows, and their end, when the reload is complete. */
  let held: Row[] | undefined
  /** Whether reading has reached the end of the list, or of what the API returns. */
  let end: 'open' | 'whole' | 'cut' = 'open'
  /** A reload has failed, so the rows are older than the cursor. */
  let isStale = false
  /** Changes made during a request, whose reply may be older than they are. */
  let late: Array<(row: Row) => Row> = []

  const readSoFar = (): Row[] => held ?? rows.value

  async function readMore(wanted: number): Promise<void> {
    const mine = life
    state.value = 'loading'
    late = []
    const pages = cursor.read(wanted - readSoFar().length, dropped)
    dropped = 0
    try {
      const read = await pages
      if (mine !== life) return
      take(read)
      state.value = 'ready'
      failure.value = undefined
    } catch (error) {
      if (mine !== life) return
      failure.value = toFailure(error)
      state.value = 'failed'
    }
  }

  function take(pages: Array<Page<Record>>): void {
    const fresh: Row[] = []
    for (const record of pages.flatMap(({ data }) => data)) {
      const row = late.reduce((now, changed) => changed(now), toRow(record))
      if (seen.has(idOf(row))) continue
      seen.add(idOf(row))
      fresh.push(row)
    }
    const { paginate } = pages.at(-1)!
    if (cursor.isFirst()) total.value = countOf(paginate)
    const all = [...readSoFar(), ...fresh]
    cursor.advance(pages.length, paginate)
    if (paginate.last_page === 0) {
      if (!paginate.max_hits) end = 'whole'
      else if (byDay && fresh.length > 0) cursor.begin(boundAfter(all.at(-1)!, byDay))
      else end = 'cut'
    }
    if (held) held = all
    else show(all)
  }

  const show = (all: Row[]): void =>
    batch(() => {
      rows.value = all
      isWhole.value = end !== 'open'
      isCut.value = end === 'cut'
    })

  return {
    idOf,
    rows,
    state,
    failure,
    isWhole,
    isCut,
    total,
    askedAt: () => askedAt,
    async reach(count) {
      if (isOutdated) await this.reload()
      askedAt ??= Date.now()
      while (readSoFar().length < count && end === 'open' && state.value !== 'failed') {
        if (!running) {
          const mine = readMore(count).finally(() => {
            if (running === mine) running = undefined
          })
          running = mine
        }
        await running
      }
    },
    retry() {
      if (isStale) return void this.reload()
      state.value = 'ready'
      void this.reach(rows.value.length + 1)
    },
    async reload() {
      const mine = ++life
      isOutdated = false
      askedAt = Date.now()
      running = undefined
      held = []
      dropped = 0
      seen.clear()
      cursor.begin()
      end = 'open'
      state.value = 'loading'
      await this.reach(Math.max(1, Math.min(rows.value.length, MOST_RELOADED)))
      if (mine !== life) return
      const read = held
      held = undefined
      isStale = state.peek() === 'failed'
      if (!isStale) show(read)
    },
    renew() {
      isOutdated = askedAt !== undefined
      // By then a view that is being left no longer shows it.
      setTimeout(() => isShown && isOutdated && void this.reach(1))
    },
    change(id, how) {
      const changed = (row: Row): Row => (idOf(row) === id ? how(row) : row)
      rows.value = rows.value.map(changed)
      held = held?.map(changed)
      if (running) late.push(changed)
    },
    drop(id) {
      seen.add(id)
      held = held?.filter((row) => idOf(row) !== id)
      const before = rows.value
      const left = before.filter((row) => idOf(row) !== id)
      if (left.length === before.length) return () => undefined
      rows.value = left
      dropped++
      if (typeof total.value === 'number' && total.value > 0) total.value--
      return () => {
        const all = withBack(rows.value, before, id, idOf)
        if (all === rows.value) return
        rows.value = all
        seen.add(id)
        dropped = Math.max(0, dropped - 1)
        if (typeof total.value === 'number') total.value++
        // A reload that has begun may lack the row.
        if (held) void this.reload()
      }
    },
    append(row) {
      if (end !== 'whole') return false
      if (typeof total.value === 'number') total.value++
      seen.add(idOf(row))
      rows.value = [...rows.value, row]
      return true
    },
  }
}

/**
 * The query continues at the last day, which is requested again; rows that are in the list already are ignored by their
 * ids.
 */
function boundAfter<Row>(row: Row, { dayOf, parameter }: NonNullable<ListOptions<never, Row>['byDay']>): Query {
  const last = dayOf(row)
  return { [parameter]: parameter === 'before' ? dayAfter(last) : last }
}

/**
 * Puts a row back after the same previous row as before.
 * @param before  the rows from before its removal
 */
function withBack<Row>(rows: Row[], before: readonly Row[], id: string, idOf: (row: Row) => string): Row[] {
  if (rows.some((row) => idOf(row) === id)) return rows
  const at = before.findIndex((row) => idOf(row) === id)
  const there = new Map(rows.map((row, position) => [idOf(row), position]))
  const previous = before.slice(0, at).findLast((row) => there.has(idOf(row)))
  return rows.toSpliced(previous === undefined ? 0 : there.get(idOf(previous))! + 1, 0, before[at]!)
}

export function rowsOf<Row extends { id: string }>(all: Row[]): Rows<Row> {
  const rows = signal(all)
  return {
    rows,
    change: (id, how) => void (rows.value = rows.value.map((row) => (row.id === id ? how(row) : row))),
    drop(id) {
      const before = rows.value
      rows.value = before.filter((row) => row.id !== id)
      const wasThere = rows.value.length < before.length
      return () => void (wasThere && (rows.value = withBack(rows.value, before, id, (row) => row.id)))
    },
  }
}

/** Returns the same list for the same key, so that the list is unchanged when somebody returns to it. */
export function cachedList<Record, Row>(key: string, options: ListOptions<Record, Row>): List<Row> {
  const known = cachedValue<List<Row>>(`list ${key}`)
  const list = known ?? openList(options)
  cache(`list ${key}`, list)
  return list
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}
