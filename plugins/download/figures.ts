/** Counts for each channel: queued and ignored items (contract B). */
import { defineRoute, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

const MOST_CHANNELS = 30

export const countByChannel = defineRoute({
  method: 'GET',
  path: '/api/download/aggs/',
  access: 'admin',
  summary: 'Number of queue items per channel, largest first',
  query: { filter: Type.Optional(Type.Enum(['pending', 'ignore'])) },
  reply: Type.Object({
    doc_count_error_upper_bound: Type.Integer(),
    sum_other_doc_count: Type.Integer(),
    buckets: Type.Array(
      Type.Object({ key: Type.Array(Type.String()), key_as_string: Type.String(), doc_count: Type.Integer() }),
    ),
  }),
  async handle({ query }, app: App) {
    const { queue } = app
    const rows = queue.byChannel({ filter: query.filter })
    const buckets = []
    for (const { channel, count } of rows.slice(0, MOST_CHANNELS)) {
      const { items } = await queue.list({ channel, from: 0, size: 1 })
      const name = items[0]?.channel_name ?? ''
      buckets.push({ key: [name, channel], key_as_string: `${name}|${channel}`, doc_count: count })
    }
    const others = rows.slice(MOST_CHANNELS).reduce((sum, { count }) => sum + count, 0)
    return { doc_count_error_upper_bound: 0, sum_other_doc_count: others, buckets }
  },
})

export const showParts = defineRoute({
  method: 'GET',
  path: '/api/channel/:channelId/nav/',
  access: 'viewer',
  summary: 'Whether a channel has videos of each type, playlists, and queued or ignored items',
  params: Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) }),
  reply: Type.Object({
    has_pending: Type.Boolean(),
    has_ignored: Type.Boolean(),
    has_playlists: Type.Boolean(),
    has_videos: Type.Boolean(),
    has_streams: Type.Boolean(),
    has_shorts: Type.Boolean(),
  }),
  async handle({ params: { channelId: channel }, actor }, app: App) {
    // The queue is not restricted by views, so accounts with a view get no counts of it.
    const isQueued = (filter: 'pending' | 'ignore') => !actor.view && app.queue.count({ filter, channel }, 1) > 0
    const isArchived = async (type: 'videos' | 'streams' | 'shorts') =>
      (await app.videos.collection.count({ and: [{ eq: ['channel_id', channel] }, { eq: ['vid_type', type] }] }, 1)) > 0
    return {
      has_pending: isQueued('pending'),
      has_ignored: isQueued('ignore'),
      has_playlists: (await app.playlists.collection.count({ eq: ['playlist_channel_id', channel] }, 1)) > 0,
      has_videos: await isArchived('videos'),
      has_streams: await isArchived('streams'),
      has_shorts: await isArchived('shorts'),
    }
  },
})
