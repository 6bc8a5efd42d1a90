/**
 * Calculates what uses the space of the library's disk, when it will be full, and what could be removed to free space.
 */
import { DAY_SECONDS, epochSeconds } from 'archivolt'
import type { App } from './app.ts'

/** Number of days over which the growth is averaged. */
const PACE_DAYS = 30
const MOST_CHANNELS = 1000
/** Documents per batch. */
const READ = 100
/** Maximum number of large watched videos that are checked for proposals. */
const MOST_CHECKED = 2000

export interface StorageFigures {
  /** All sizes are in bytes. */
  total: number
  free: number
  videos: number
  bin: number
  per_day: number
  /** null: nothing was added recently. */
  days_until_full: number | null
  /** The largest channels first. */
  channels: Array<{ id: string; name: string; media_size: number; doc_count: number }>
}

export interface Proposal {
  platform_id: string
  title: string
  channel_id: string
  channel_name: string
  /** Bytes that the removal frees when the video is deleted from the bin. */
  media_size: number
  /** When it was watched, in epoch seconds. */
  watched: number
}

export interface Storage {
  /** @throws unavailable: the library is offline */
  figures(): Promise<StorageFigures>
  /**
   * Videos that can be removed to free space and downloaded again: watched by all relevant accounts, not protected, and
   * still on the platform. The largest first. Films in places of other programs and films with other hard links are
   * omitted, because their removal frees nothing.
   */
  proposals(limit: number): Promise<Proposal[]>
}

export function openStorage(app: App): Storage {
  const { media, videos, channels } = app

  async function perDay(): Promise<number> {
    const since = epochSeconds(app.clock) - PACE_DAYS * DAY_SECONDS
    const [row] = await videos.collection.aggregate({
      filter: { range: ['date_downloaded', { gte: since }] },
      sums: ['media_size'],
    })
    return Math.round((row?.sums.media_size ?? 0) / PACE_DAYS)
  }

  return {
    async figures() {
      const [{ free, total }, rows, pace] = await Promise.all([
        media.space(),
        videos.collection.aggregate({
          groupBy: ['channel_id'],
          sums: ['media_size'],
          orderBy: { metric: 'media_size', order: 'desc' },
        }),
        perDay(),
      ])
      const idOf = (row: (typeof rows)[number]) => String(row.key[0] ?? '')
      const largest = rows.slice(0, MOST_CHANNELS)
      const names = await channels.names(largest.map(idOf))
      return {
        total,
        free,
        videos: rows.reduce((sum, { sums }) => sum + (sums.media_size ?? 0), 0),
        bin: app.bin.sum().sizeBytes,
        per_day: pace,
        days_until_full: pace > 0 ? Math.floor(free / pace) : null,
        channels: largest.map((row) => ({
          id: idOf(row),
          name: names.get(idOf(row)) ?? '',
          media_size: row.sums.media_size ?? 0,
          doc_count: row.count,
        })),
      }
    },

    async proposals(limit) {
      const found: Proposal[] = []
      for (let from = 0; from < MOST_CHECKED && found.length < limit; from += READ) {
        const { hits } = await videos.collection.find({
          filter: { and: [{ eq: ['active', true] }, { exists: 'watched_by' }] },
          sort: [{ by: 'media_size', order: 'desc' }],
          from,
          size: READ,
        })
        const docs = await videos.collection.getMany(hits.map(({ id }) => id))
        const watched = app.watch.watchedSince([...docs.keys()])
        const names = await channels.names([...new Set([...docs.values()].map((doc) => doc.channel_id))])
        const ours = [...docs].filter(([id]) => media.isOurs(id))
        const links = await media.linksOf(ours.map(([videoId, doc]) => ({ videoId, channelId: doc.channel_id })))
        for (const { id } of hits) {
          const doc = docs.get(id)
          const since = watched.get(id)
          if (!doc || doc.keep || since === undefined || found.length === limit || links.get(id) !== 1) continue
          found.push({
            platform_id: id,
            title: doc.title,
            channel_id: doc.channel_id,
            channel_name: names.get(doc.channel_id) ?? '',
            media_size: doc.media_size,
            watched: since,
          })
        }
        if (hits.length < READ) break
      }
      return found
    },
  }
}
