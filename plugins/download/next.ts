/** Which item of the queue is next in line. */
import { epochSeconds } from 'archivolt'
import type { QueueFilter } from './filter.ts'
import type { QueueState } from './queue-state.ts'
import type { DownloadDoc } from './schema.ts'

/** The order of the queue, of the next item as of every page: auto_start first, then oldest. */
export const QUEUE_ORDER = [
  { by: 'later', order: 'asc' },
  { by: 'position', order: 'asc' },
] as const

export interface NextOptions {
  /** Only items with auto_start. */
  isAutoOnly: boolean
  /** What the run has put off. */
  except: readonly string[]
}

export async function nextItem(
  { app, items }: QueueState,
  { isAutoOnly, except }: NextOptions,
): Promise<DownloadDoc | undefined> {
  const passed = [...except]
  const auto: QueueFilter[] = isAutoOnly ? [{ eq: ['later', false] }] : []

  async function first(parts: QueueFilter[]): Promise<DownloadDoc | undefined> {
    for (;;) {
      const others: QueueFilter[] = passed.length ? [{ not: { in: ['platform_id', passed] } }] : []
      const filter: QueueFilter = { and: [...parts, ...auto, ...others] }
      const { hits } = await items.find({ filter, sort: [...QUEUE_ORDER], size: 1, withoutTotal: true })
      if (!hits[0]) return undefined
      const item = await items.get(hits[0].id)
      if (item) return item
      // It was removed a moment ago, and Elasticsearch still lists it: look at the next one.
      passed.push(hits[0].id)
    }
  }

  const isDue: QueueFilter = { range: ['retry_at', { lte: epochSeconds(app.clock) }] }
  // An item is seldom due. This count is cheap; without it the query would look at all open items.
  const due = (await items.count(isDue, 1)) > 0 ? await first([isDue, { eq: ['open', true] }]) : undefined
  return due ?? first([{ eq: ['ready', true] }])
}
