/** The growth of an archive: the total at the end of each known span. Values between two ends are not interpolated. */
import { DAY_SECONDS } from '../../texts/format.ts'

export interface Span {
  /** The first day of the span. */
  date: string
  count: number
  media_size: number
}

export const SPANS = ['month', 'week', 'day'] as const
export type SpanName = (typeof SPANS)[number]

export const toEpoch = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000

/** @param today  the end of the last span so far */
export function growthOf(spans: readonly Span[], by: SpanName, today: string) {
  let [count, size] = [0, 0]
  return {
    starts: spans.map(({ date }) => toEpoch(date)),
    ends: spans.map(({ date }, position) =>
      position + 1 < spans.length
        ? toEpoch(spans[position + 1]!.date) - DAY_SECONDS
        : Math.max(toEpoch(date), Math.min(toEpoch(today), lastDay(date, by))),
    ),
    counts: spans.map((span) => (count += span.count)),
    sizes: spans.map((span) => (size += span.media_size)),
  }
}

function lastDay(date: string, by: SpanName): number {
  const first = new Date(`${date}T00:00:00Z`)
  if (by === 'month') return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0) / 1000
  return toEpoch(date) + (by === 'week' ? 6 : 0) * DAY_SECONDS
}
