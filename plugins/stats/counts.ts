/** The figures of contract 5.12. Each is one aggregation with a covering index, and every key is always present. */
import type { AggregateRow } from 'archivolt'
import { addDays, addMonths, addWeeks, format, startOfDay, startOfMonth, startOfWeek, subDays } from 'date-fns'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'

export const ORDERS = ['doc_count', 'duration', 'media_size'] as const
export const SPANS = ['day', 'week', 'month'] as const
type Order = (typeof ORDERS)[number]
type Span = (typeof SPANS)[number]

/** Length of the download history: today and this many days before. */
const HISTORY_DAYS = 7

const SPAN_OF = {
  day: { start: startOfDay, next: (day: Date) => addDays(day, 1) },
  week: { start: (day: Date) => startOfWeek(day, { weekStartsOn: 1 }), next: (day: Date) => addWeeks(day, 1) },
  month: { start: startOfMonth, next: (day: Date) => addMonths(day, 1) },
} as const

const dayText = (day: Date): string => format(day, 'yyyy-MM-dd')
const fromDayText = (text: string): Date => new Date(`${text}T00:00:00`)

type IsIn = (key: AggregateRow['key']) => boolean

function total(rows: readonly AggregateRow[], isIn: IsIn = () => true) {
  const sum = { count: 0, mediaSize: 0, duration: 0 }
  for (const { key, count, sums } of rows) {
    if (!isIn(key)) continue
    sum.count += count
    sum.mediaSize += sums.media_size ?? 0
    sum.duration += sums.duration ?? 0
  }
  return sum
}

/** Durations in seconds, sizes in bytes. */
interface Sums {
  doc_count: number
  media_size: number
  duration: number
  duration_str: string
}
interface VideoCounts extends Sums {
  type_videos: Sums
  type_streams: Sums
  type_shorts: Sums
  active_true: Sums
  active_false: Sums
}
interface QualityCounts {
  best: Sums
  limited: Sums
  degraded: Sums
  /** Videos without a receipt. */
  unknown: Sums
  /** Most frequent first. */
  reasons: Array<{ reason: string; doc_count: number }>
}
interface Flags {
  doc_count: number
  active_true: number
  active_false: number
  subscribed_true: number
  subscribed_false: number
}
interface QueueCounts {
  pending: number
  ignore: number
  pending_videos: number
  pending_streams: number
  pending_shorts: number
}
interface Part {
  duration: number
  duration_str: string
  items: number
}
interface WatchCounts {
  total: Part
  /** `progress` is the share of all videos, 0 to 1. */
  watched: Part & { progress: number }
  unwatched: Part & { progress: number }
}
interface ChannelCounts extends Sums {
  id: string
  name: string
}
interface SpanCounts {
  /** The first day of the span, `2026-01-31`. */
  date: string
  count: number
  media_size: number
  duration: number
}

export interface Counts {
  video(): Promise<VideoCounts>
  /** Counted from the receipts of downloads. */
  quality(): Promise<QualityCounts>
  channel(): Promise<Flags>
  playlist(): Promise<Flags>
  download(): Promise<QueueCounts>
  /** Figures of one account. */
  watch(userId: number): Promise<WatchCounts>
  /** Newest day first; days without a download between the first and the last one have zeros. */
  downloadHistory(): Promise<Array<Omit<SpanCounts, 'duration'>>>
  /** The largest channels first. @param limit  maximum number */
  biggestChannels(order: Order, limit: number): Promise<ChannelCounts[]>
  /** Spans from the first download until now, oldest first. */
  growth(by: Span): Promise<SpanCounts[]>
}

export function openCounts(app: App): Counts {
  function bucket(rows: readonly AggregateRow[], isIn?: IsIn): Sums {
    const { count, mediaSize, duration } = total(rows, isIn)
    return { doc_count: count, media_size: mediaSize, duration, duration_str: app.videos.durationText(duration) }
  }

  /** The end of histories: a backup may contain any date, and each span up to it would be listed. */
  function tomorrow(): number {
    return Math.floor(startOfDay(addDays(app.clock.now(), 1)).getTime() / 1000)
  }

  /** Counts from groups of [active, subscribed]. */
  function flags(rows: readonly AggregateRow[]): Flags {
    const count = (isIn?: IsIn) => total(rows, isIn).count
    return {
      doc_count: count(),
      active_true: count(([isActive]) => isActive === true),
      active_false: count(([isActive]) => isActive !== true),
      subscribed_true: count(([, isSubscribed]) => isSubscribed === true),
      subscribed_false: count(([, isSubscribed]) => isSubscribed !== true),
    }
  }

  return {
    async video() {
      const rows = await app.videos.collection.aggregate({
        groupBy: ['vid_type', 'active'],
        sums: ['media_size', 'duration'],
      })
      return {
        ...bucket(rows),
        type_videos: bucket(rows, ([type]) => type === 'videos'),
        type_streams: bucket(rows, ([type]) => type === 'streams'),
        type_shorts: bucket(rows, ([type]) => type === 'shorts'),
        active_true: bucket(rows, ([, isActive]) => isActive === true),
        active_false: bucket(rows, ([, isActive]) => isActive !== true),
      }
    },

    async quality() {
      const { collection } = app.videos
      const [rows, reasons] = await Promise.all([
        collection.aggregate({ groupBy: ['quality'], sums: ['media_size', 'duration'] }),
        collection.aggregate({
          filter: { exists: 'degraded_reason' },
          groupBy: ['degraded_reason'],
          orderBy: { metric: 'count', order: 'desc' },
        }),
      ])
      const of = (quality: string | null) => bucket(rows, ([its]) => its === quality)
      return {
        ...{ best: of('best'), limited: of('limited'), degraded: of('degraded'), unknown: of(null) },
        reasons: reasons.map(({ key: [reason], count }) => ({ reason: String(reason), doc_count: count })),
      }
    },

    channel: async () =>
      flags(await app.channels.collection.aggregate({ groupBy: ['channel_active', 'channel_subscribed'] })),

    playlist: async () =>
      flags(await app.playlists.collection.aggregate({ groupBy: ['playlist_active', 'playlist_subscribed'] })),

    async download() {
      const rows = app.queue.byKind()
      const sum = (isCounted: (row: (typeof rows)[number]) => boolean) =>
        rows.filter(isCounted).reduce((all, { count }) => all + count, 0)
      const pending = (type?: string) =>
        sum(({ status, vidType }) => status !== 'ignore' && (type === undefined || vidType === type))
      return {
        pending: pending(),
        ignore: sum(({ status }) => status === 'ignore'),
        pending_videos: pending('videos'),
        pending_streams: pending('streams'),
        pending_shorts: pending('shorts'),
      }
    },

    async watch(userId) {
      const sum = async (filter?: VideoFilter) =>
        total(await app.videos.collection.aggregate({ filter, sums: ['duration'] }))
      const [all, watched] = await Promise.all([sum(), sum({ eq: ['watched_by', String(userId)] })])
      const part = ({ duration, count }: { duration: number; count: number }) => ({
        duration,
        duration_str: app.videos.durationText(duration),
        progress: all.duration ? duration / all.duration : 0,
        items: count,
      })
      const { progress: _whole, ...everything } = part(all)
      return {
        total: everything,
        watched: part(watched),
        // A video may have been marked between the two queries.
        unwatched: part({
          duration: Math.max(0, all.duration - watched.duration),
          count: Math.max(0, all.count - watched.count),
        }),
      }
    },

    async downloadHistory() {
      const since = Math.floor(startOfDay(subDays(app.clock.now(), HISTORY_DAYS)).getTime() / 1000)
      const rows = await app.videos.collection.aggregate({
        filter: { range: ['date_downloaded', { gte: since, lt: tomorrow() }] },
        histogram: { field: 'date_downloaded', interval: 'day' },
        sums: ['media_size'],
      })
      const filled = fill(rows, 'day').map(({ date, count, media_size }) => ({ date, count, media_size }))
      return filled.toReversed()
    },

    async biggestChannels(order, limit) {
      const rows = await app.videos.collection.aggregate({
        groupBy: ['channel_id'],
        sums: ['media_size', 'duration'],
        orderBy: { metric: order === 'doc_count' ? 'count' : order, order: 'desc' },
        limit,
      })
      const idOf = (row: AggregateRow) => String(row.key[0] ?? '')
      const names = await app.channels.names(rows.map(idOf))
      return rows.map((row) => ({ id: idOf(row), name: names.get(idOf(row)) ?? '', ...bucket([row]) }))
    },

    async growth(by) {
      const rows = await app.videos.collection.aggregate({
        filter: { range: ['date_downloaded', { gt: 0, lt: tomorrow() }] },
        histogram: { field: 'date_downloaded', interval: by },
        sums: ['media_size', 'duration'],
      })
      return fill(rows, by, app.clock.now())
    },
  }
}

/** The spans from that of the first row to that of the last one, or of `untilMs`. Spans without a row have zeros. */
function fill(rows: readonly AggregateRow[], by: Span, untilMs = 0) {
  const bySpan = new Map(rows.map((row) => [String(row.key[0]), row]))
  const [first] = bySpan.keys()
  const last = [...bySpan.keys()].at(-1)
  if (first === undefined || last === undefined) return []
  const { start, next } = SPAN_OF[by]
  const end = Math.max(fromDayText(last).getTime(), untilMs && start(new Date(untilMs)).getTime())
  const spans = []
  // If the clock is set forward at midnight, a day begins at one o'clock, but the next one does not.
  for (let day = fromDayText(first); day.getTime() <= end; day = start(next(day))) {
    const row = bySpan.get(dayText(day))
    spans.push({
      date: dayText(day),
      count: row?.count ?? 0,
      media_size: row?.sums.media_size ?? 0,
      duration: row?.sums.duration ?? 0,
    })
  }
  return spans
}

declare module 'archivolt' {
  interface Services {
    stats: {
      stats: Counts
    }
  }
}
