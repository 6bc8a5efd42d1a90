/** A list of the API read page by page, as far as it is looked at, and past its window where its order allows. */
import { signal } from '@preact/signals'
import { get, toFailure, type Failure, type Query } from './api.ts'
import { keep, keptValue } from './load.ts'
import type { Page } from './records.ts'

export interface ListOptions<Record, Row> {
  path: string
  query?: Query
  idOf: (row: Row) => string
  /** What is kept of a record: lists get long. */
  toRow: (record: Record) => Row
  /** Lists in order of a day go on past the 10,000 that one question reaches. */
  byDay?: { dayOf: (row: Row) => string; parameter: 'before' | 'after' }
}

export type List<Row> = ReturnType<typeof openList<never, Row>>

/** Asked for together: the server's pages are small. */
const AT_ONCE = 4

export function openList<Record, Row>({ path, query = {}, idOf, toRow, byDay }: ListOptions<Record, Row>) {
  const rows = signal<Row[]>([])
  const state = signal<'loading' | 'ready' | 'failed'>('loading')
  const failure = signal<Failure | undefined>(undefined)
  /** Nothing comes after the rows. */
  const isWhole = signal(false)
  /** There is more, but the API does not reach it: the filter has to be narrower. */
  const isCut = signal(false)
  const total = signal<number | undefined>(undefined)
  const seen = new Set<string>()
  let next = 1
  let lastPage: number | undefined
  let bound: Query = {}
  let running: Promise<void> | undefined
  let life = 0

  async function readMore(): Promise<void> {
    const mine = life
    state.value = 'loading'
    // How many there are is known with the first page only.
    const ahead = lastPage === undefined ? 1 : Math.min(AT_ONCE, lastPage - next + 1)
    try {
      const pages = await Promise.all(Array.from({ length: ahead }, (_, index) => get<Page<Record>>(path, { ...query, ...bound, page: next + index })))
      if (mine !== life) return
      take(pages)
      state.value = 'ready'
      failure.value = undefined
    } catch (error) {
      if (mine !== life) return
      const met = toFailure(error)
      // The list got shorter while it was read.
      if (met.code === 'page_not_found') {
        isWhole.value = true
        state.value = 'ready'
        return
      }
      failure.value = met
      state.value = 'failed'
    }
  }

  function take(pages: Array<Page<Record>>): void {
    const fresh: Row[] = []
    for (const { data } of pages) {
      for (const record of data) {
        const row = toRow(record)
        if (seen.has(idOf(row))) continue
        seen.add(idOf(row))
        fresh.push(row)
      }
    }
    const { paginate } = pages.at(-1)!
    total.value ??= paginate.total_hits
    rows.value = [...rows.value, ...fresh]
    next += pages.length
    if (paginate.last_page !== 0) {
      lastPage = paginate.last_page
      return
    }
    if (!paginate.max_hits) isWhole.value = true
    else if (byDay && fresh.length > 0) goOn(byDay)
    else isCut.value = isWhole.value = true
  }

  /** The last day is asked for again as a whole: rows of it that are there already are dropped by their ids. */
  function goOn({ dayOf, parameter }: NonNullable<typeof byDay>): void {
    const last = dayOf(rows.value.at(-1)!)
    bound = { [parameter]: parameter === 'before' ? dayAfter(last) : last }
    next = 1
    lastPage = undefined
  }

  return {
    rows,
    state,
    failure,
    isWhole,
    isCut,
    total,
    /** Reads until there are so many, or no more. */
    async reach(count: number): Promise<void> {
      while (rows.value.length < count && !isWhole.value && state.value !== 'failed') {
        running ??= readMore().finally(() => void (running = undefined))
        await running
      }
    },
    retry(): void {
      state.value = 'ready'
      void this.reach(rows.value.length + 1)
    },
    /** Begins anew; the rows stay until the new ones are there. */
    async reload(): Promise<void> {
      life++
      running = undefined
      const before = rows.value
      seen.clear()
      ;[next, lastPage, bound] = [1, undefined, {}]
      isWhole.value = isCut.value = false
      total.value = undefined
      rows.value = []
      await this.reach(1)
      if (state.value === 'failed') rows.value = before
    },
    change(id: string, how: (row: Row) => Row): void {
      rows.value = rows.value.map((row) => (idOf(row) === id ? how(row) : row))
    },
    drop(id: string): void {
      rows.value = rows.value.filter((row) => idOf(row) !== id)
      if (total.value) total.value--
    },
  }
}

/** The same list for the same key, so that Back finds it as it was left. */
export function keptList<Record, Row>(key: string, options: ListOptions<Record, Row>): List<Row> {
  const known = keptValue<List<Row>>(`list ${key}`)
  const list = known ?? (openList(options) as List<Row>)
  keep(`list ${key}`, list)
  return list
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}
