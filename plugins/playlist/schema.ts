/** The playlist as stored and shown (contract 5.3). */
import {
  type Collection,
  type DocOf,
  defineIndex,
  type Filter,
  localDay,
  type NamesOf,
  type Static,
  Type,
} from 'archivolt'

export const PlaylistEntry = Type.Object({
  platform_id: Type.String(),
  title: Type.String(),
  uploader: Type.Union([Type.String(), Type.Null()]),
  idx: Type.Integer(),
  downloaded: Type.Boolean(),
})
export type PlaylistEntry = Static<typeof PlaylistEntry>

/**
 * The document as stored: the reply without the parts that are added to each reply: `_index`, `_score`. Entries also
 * have their second id key (see `twins.ts`).
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
  /** Internal: the picture's address on the platform. */
  art: Type.Optional(Type.String()),
})
export type PlaylistDoc = Static<typeof PlaylistDoc>

/** The fields with the ids of a playlist and its channel. */
export const SEEN = { by: { playlist: 'playlist_id' }, hiddenBy: { channel: 'playlist_channel_id' } } as const

export const playlistIndex = defineIndex({
  name: 'playlist',
  doc: PlaylistDoc,
  seen: {
    ...SEEN,
    // This includes entries that are not archived: they contain their channel's name only, so it is unknown whether it
    // is hidden.
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

type Names = NamesOf<typeof playlistIndex>
export type PlaylistFilter = Filter<Names>
export type PlaylistCollection = Collection<DocOf<typeof playlistIndex>, Names>
