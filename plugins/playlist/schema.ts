/** The playlist as it is kept and shown (contract 5.3). */
import { defineIndex, localDay, type Static, Type } from 'archivolt'

export const PlaylistEntry = Type.Object({
  platform_id: Type.String(),
  title: Type.String(),
  uploader: Type.Union([Type.String(), Type.Null()]),
  idx: Type.Integer(),
  downloaded: Type.Boolean(),
})
export type PlaylistEntry = Static<typeof PlaylistEntry>

/**
 * As stored: the form of the reply without what is joined when it is answered: `_index`, `_score`. Entries have their
 * second id key, too (see `twins.ts`).
 */
export const PlaylistDoc = Type.Object({
  playlist_id: Type.String(),
  playlist_type: Type.Enum(['regular', 'custom']),
  playlist_name: Type.String(),
  playlist_description: Type.String(),
  playlist_channel: Type.Union([Type.String(), Type.Null()]),
  playlist_channel_id: Type.Union([Type.String(), Type.Null()]),
  playlist_subscribed: Type.Boolean(),
  playlist_active: Type.Boolean(),
  playlist_last_refresh: Type.String(),
  playlist_thumbnail: Type.String(),
  playlist_sort_order: Type.Enum(['top', 'bottom']),
  playlist_entries: Type.Array(PlaylistEntry),
  /** Internal: epoch seconds. */
  refreshed_at: Type.Integer(),
  /** Internal: where the platform has the picture. */
  art: Type.Optional(Type.String()),
})
export type PlaylistDoc = Static<typeof PlaylistDoc>

/** Where a playlist has its own id, and that of its channel. */
export const SEEN = { by: { playlist: 'playlist_id' }, hiddenBy: { channel: 'playlist_channel_id' } } as const

export const playlistIndex = defineIndex({
  name: 'playlist',
  doc: PlaylistDoc,
  seen: {
    ...SEEN,
    // Also entries that are not archived: they name their channel only by words, so nobody knows whether it is hidden.
    lists: { entry: 'video' },
  },
  form: Intl.DateTimeFormat().resolvedOptions().timeZone,
  reform: (doc) => ({ ...doc, playlist_last_refresh: localDay(doc.refreshed_at) }),
  fields: {
    playlist_id: { type: 'keyword', filter: true },
    playlist_name: { type: 'text', sort: true, search: 2 },
    playlist_description: { type: 'text', search: 1 },
    playlist_type: { type: 'keyword', filter: true },
    playlist_channel_id: { type: 'keyword', filter: true },
    playlist_subscribed: { type: 'boolean', filter: true },
    playlist_active: { type: 'boolean', filter: true },
    entry: { type: 'keyword', path: 'playlist_entries.platform_id', multi: true, filter: true },
    refreshed_at: { type: 'date', filter: true, sort: true, internal: true },
    art: { type: 'keyword', internal: true },
  },
  lists: [['playlist_name']],
  covers: [['playlist_active', 'playlist_subscribed']],
})
