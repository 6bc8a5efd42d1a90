/** Routes of statistics (contract 6.8, appendix B). */
import { defineRoute, Type } from 'archivolt'
import type { App } from './app.ts'
import { ORDERS, SPANS } from './counts.ts'

const count = Type.Integer()
const Bucket = Type.Object({ doc_count: count, media_size: count, duration: count, duration_str: Type.String() })
const Flags = Type.Object({
  doc_count: count,
  active_true: count,
  active_false: count,
  subscribed_true: count,
  subscribed_false: count,
})
const Watched = Type.Object({ duration: count, duration_str: Type.String(), progress: Type.Number(), items: count })

export const videoStats = defineRoute({
  method: 'GET',
  path: '/api/stats/video/',
  access: 'viewer',
  summary: 'Number, size and duration of videos, by type and state',
  reply: Type.Interface([Bucket], {
    type_videos: Bucket,
    type_streams: Bucket,
    type_shorts: Bucket,
    active_true: Bucket,
    active_false: Bucket,
  }),
  revalidates: true,
  handle: (_input, app: App) => app.stats.video(),
})

export const qualityStats = defineRoute({
  method: 'GET',
  path: '/api/stats/quality/',
  access: 'viewer',
  summary: 'Quality of the downloaded videos compared with what was offered, and the reasons why some are degraded',
  reply: Type.Object({
    best: Bucket,
    limited: Bucket,
    degraded: Bucket,
    unknown: Bucket,
    reasons: Type.Array(Type.Object({ reason: Type.String(), doc_count: count })),
  }),
  revalidates: true,
  handle: (_input, app: App) => app.stats.quality(),
})

export const channelStats = defineRoute({
  method: 'GET',
  path: '/api/stats/channel/',
  access: 'viewer',
  summary: 'Number of channels, by state and subscription',
  reply: Flags,
  revalidates: true,
  handle: (_input, app: App) => app.stats.channel(),
})

export const playlistStats = defineRoute({
  method: 'GET',
  path: '/api/stats/playlist/',
  access: 'viewer',
  summary: 'Number of playlists, by state and subscription',
  reply: Flags,
  revalidates: true,
  handle: (_input, app: App) => app.stats.playlist(),
})

export const downloadStats = defineRoute({
  method: 'GET',
  path: '/api/stats/download/',
  access: 'user',
  summary: 'Number of waiting and ignored queue items',
  reply: Type.Object({
    pending: count,
    ignore: count,
    pending_videos: count,
    pending_streams: count,
    pending_shorts: count,
  }),
  revalidates: true,
  handle: (_input, app: App) => app.stats.download(),
})

export const watchStats = defineRoute({
  method: 'GET',
  path: '/api/stats/watch/',
  access: 'viewer',
  summary: 'How much of the archive the caller has watched',
  reply: Type.Object({
    total: Type.Object({ duration: count, duration_str: Type.String(), items: count }),
    watched: Watched,
    unwatched: Watched,
  }),
  revalidates: true,
  handle: ({ actor }, app: App) => app.stats.watch(actor.id),
})

export const downloadHistory = defineRoute({
  method: 'GET',
  path: '/api/stats/downloadhist/',
  access: 'viewer',
  summary: 'Downloads of today and the seven days before, newest day first',
  reply: Type.Array(Type.Object({ date: Type.String(), count, media_size: count })),
  handle: (_input, app: App) => app.stats.downloadHistory(),
})

export const biggestChannels = defineRoute({
  method: 'GET',
  path: '/api/stats/biggestchannels/',
  access: 'viewer',
  summary: 'The channels with the most videos, hours or bytes',
  query: {
    order: Type.Enum(ORDERS, { default: 'doc_count' }),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  },
  reply: Type.Array(Type.Interface([Bucket], { id: Type.String(), name: Type.String() })),
  revalidates: true,
  handle: ({ query: { order, limit } }, app: App) => app.stats.biggestChannels(order, limit),
})

export const growth = defineRoute({
  method: 'GET',
  path: '/api/stats/growth/',
  access: 'viewer',
  summary: 'Videos added per day, week or month, oldest first',
  query: { by: Type.Enum(SPANS, { default: 'month' }) },
  reply: Type.Array(Type.Object({ date: Type.String(), count, media_size: count, duration: count })),
  handle: ({ query: { by } }, app: App) => app.stats.growth(by),
})
