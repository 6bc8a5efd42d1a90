/** A list of the API read page by page, as far as it is looked at, and past its window where its order allows. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { type Failure, type Query, toFailure } from '../server/api.ts'
import { getPage } from '../server/paged.ts'
import type { Page, Paginate } from '../server/records.ts'
import type { Count } from '../texts/lookup.ts'
import { cache, cachedValue } from './load.ts'

interface ListOptions<Record, Row> {
  path: string
  query?: Query
  idOf: (row: Row) => string
  /** What is cached of a record: lists get long. */
  toRow: (record: Record) => Row
  /** Lists in order of a day go on past the 10,000 that one question reaches. */
  byDay?: { dayOf: (row: Row) => string; parameter: 'before' | 'after' }
}

/** How many there are, as far as the API counts. */
export const countOf = ({ total_hits: total, max_hits: isMore }: Paginate): Count =>
  isMore ? { moreThan: total } : total
export const isSome = (count: Count | undefined): boolean => count !== undefined && count !== 0
export const isMore = (count: Count | undefined, than: number): boolean =>
  typeof count === 'number' ? count > than : count !== undefined
/** So many of them are shown elsewhere. */
export const without = (count: Count, some: number): Count =>
  typeof count === 'number' ? Math.max(0, count - some) : count

export interface List<Row> {
  rows: ReadonlySignal<Row[]>
  state: ReadonlySignal<'loading' | 'ready' | 'failed'>
  failure: ReadonlySignal<Failure | undefined>
  /** Nothing comes after the rows. */
  isWhole: ReadonlySignal<boolean>
  /** There is more, but the API does not reach it: the filter has to be narrower. */
  isCut: ReadonlySignal<boolean>
  total: ReadonlySignal<Count | undefined>
  /** When its first page was asked for, in epoch milliseconds; undefined: not yet. */
  askedAt(): number | undefined
  /** Reads until there are so many, or no more. */
  reach(count: number): Promise<void>
  retry(): void
  /** Begins anew; the rows stay until the new ones are there. */
  reload(): Promise<void>
  change(id: string, how: (row: Row) => Row): void
  drop(id: string): void
  /** A row that is not there, at the end, where that is what is shown. */
  append(row: Row): void
}

/** What all lists can do, also one that was there as a whole at once. */
export type Rows<Row> = Pick<List<Row>, 'rows' | 'change' | 'drop'>

/** Asked for together: the server's pages are small. */
const AT_ONCE = 4
/** So many rows are there again at once after a list was read anew; others come as they are looked at. */
const MOST_RELOADED = 240

/** Where reading stands: what is asked for next. */
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
    /** Nothing was read yet: how many there are is known with the first page only. */
    isFirst: (): boolean => lastPage === undefined && !bound['before'] && !bound['after'],

    /** @param dropped  rows that are gone since they were read: what follows has moved up by so many */
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
  const rows = signal<Row[]>([])
  const state = signal<'loading' | 'ready' | 'failed'>('loading')
  const failure = signal<Failure | undefined>(undefined)
  const isWhole = signal(false)
  const isCut = signal(false)
  const total = signal<Count | undefined>(undefined)
  const cursor = openCursor<Record>(path, query)
  /** Ids that an answer does not bring again: their rows are there, or have gone while it was on its way. */
  const seen = new Set<string>()
  let askedAt: number | undefined
  let dropped = 0
  let running: Promise<void> | undefined
  let life = 0
  /** The rows of a list that is being read anew: they take the place of the old ones once they are as many. */
  let held: Row[] | undefined
  /** Changes made while an answer is on its way: it may be from before them. */
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
    if (held) held = all
    else rows.value = all
    cursor.advance(pages.length, paginate)
    if (paginate.last_page !== 0) return
    if (!paginate.max_hits) isWhole.value = true
    else if (byDay && fresh.length > 0) cursor.begin(boundAfter(all.at(-1)!, byDay))
    else isCut.value = isWhole.value = true
  }

  return {
    rows,
    state,
    failure,
    isWhole,
    isCut,
    total,
    askedAt: () => askedAt,
    async reach(count) {
      askedAt ??= Date.now()
      while (readSoFar().length < count && !isWhole.value && state.value !== 'failed') {
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
      state.value = 'ready'
      void this.reach(rows.value.length + 1)
    },
    async reload() {
      const mine = ++life
      askedAt = Date.now()
      running = undefined
      held = []
      dropped = 0
      seen.clear()
      cursor.begin()
      isWhole.value = isCut.value = false
      state.value = 'loading'
      await this.reach(Math.max(1, Math.min(rows.value.length, MOST_RELOADED)))
      if (mine !== life) return
      const read = held
      held = undefined
      if (state.peek() !== 'failed') rows.value = read
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
      const left = rows.value.filter((row) => idOf(row) !== id)
      if (left.length === rows.value.length) return
      rows.value = left
      dropped++
      if (typeof total.value === 'number' && total.value > 0) total.value--
    },
    append(row) {
      if (typeof total.value === 'number') total.value++
      if (!isWhole.value) return
      seen.add(idOf(row))
      rows.value = [...rows.value, row]
    },
  }
}

/** The last day is asked for again as a whole: rows of it that are there already are dropped by their ids. */
function boundAfter<Row>(row: Row, { dayOf, parameter }: NonNullable<ListOptions<never, Row>['byDay']>): Query {
  const last = dayOf(row)
  return { [parameter]: parameter === 'before' ? dayAfter(last) : last }
}

export function rowsOf<Row extends { id: string }>(all: Row[]): Rows<Row> {
  const rows = signal(all)
  return {
    rows,
    change: (id, how) => void (rows.value = rows.value.map((row) => (row.id === id ? how(row) : row))),
    drop: (id) => void (rows.value = rows.value.filter((row) => row.id !== id)),
  }
}

/** The same list for the same key, so that Back finds it as it was left. */
export function cachedList<Record, Row>(key: string, options: ListOptions<Record, Row>): List<Row> {
  const known = cachedValue<List<Row>>(`list ${key}`)
  const list = known ?? openList(options)
  cache(`list ${key}`, list)
  return list
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}
