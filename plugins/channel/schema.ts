/** The schema of a channel as stored and shown (contract 5.2). */
import { defineIndex, localDay, type Static, Type } from 'archivolt'
import { quality } from './quality.ts'

export const ChannelOverwrites = Type.Object(
  {
    download_format: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    ...Type.Partial(Type.Object(quality)).properties,
    autodelete_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 36500 })),
    index_playlists: Type.Optional(Type.Boolean()),
    integrate_sponsorblock: Type.Optional(Type.Boolean()),
    subscriptions_channel_size: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    subscriptions_live_channel_size: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    subscriptions_shorts_channel_size: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  },
  { additionalProperties: false },
)
export type ChannelOverwrites = Static<typeof ChannelOverwrites>

/**
 * The stored channel, in the form of the reply, without `_index` and `_score`; `refreshed_at` and `art` are internal.
 */
export const ChannelDoc = Type.Object({
  channel_id: Type.String(),
  channel_name: Type.String(),
  channel_subscribed: Type.Boolean(),
  channel_active: Type.Boolean(),
  channel_description: Type.String(),
  channel_subs: Type.Integer(),
  channel_views: Type.Integer(),
  channel_tags: Type.Array(Type.String()),
  channel_tabs: Type.Array(Type.String()),
  channel_last_refresh: Type.String(),
  channel_thumb_url: Type.String(),
  channel_banner_url: Type.String(),
  channel_tvart_url: Type.String(),
  channel_overwrites: ChannelOverwrites,
  /** Internal: epoch seconds of the last refresh. */
  refreshed_at: Type.Integer(),
  /**
   * Internal: the URLs of the pictures on the platform, as JSON `{ thumb, banner, tvart }`; for backups and the
   * thumbnail check.
   */
  art: Type.Optional(Type.String()),
})
export type ChannelDoc = Static<typeof ChannelDoc>

export const channelIndex = defineIndex({
  name: 'channel',
  doc: ChannelDoc,
  seen: { by: { channel: 'channel_id' } },
  joined: true,
  // Stored days are those of this time zone, so a change of the zone rebuilds the index.
  form: Intl.DateTimeFormat().resolvedOptions().timeZone,
  reform: (doc) => ({ ...doc, channel_last_refresh: localDay(doc.refreshed_at) }),
  fields: {
    channel_id: { type: 'keyword', filter: true },
    channel_name: { type: 'text', sort: true, search: 2 },
    channel_description: { type: 'text', search: 1 },
    channel_tags: { type: 'keyword', multi: true, search: 1 },
    channel_subscribed: { type: 'boolean', filter: true },
    channel_active: { type: 'boolean', filter: true },
    own_segments: { type: 'boolean', path: 'channel_overwrites.integrate_sponsorblock', filter: true },
    refreshed_at: { type: 'date', filter: true, sort: true, internal: true },
    art: { type: 'keyword', internal: true },
  },
  lists: [['channel_name'], ['channel_subscribed', 'channel_name']],
  covers: [['channel_active', 'channel_subscribed']],
})
