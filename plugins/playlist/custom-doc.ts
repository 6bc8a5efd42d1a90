/** Makes the document of a custom playlist, and converts it from and to rows. */
import { localDay } from 'archivolt'
import type { CustomEntry } from './custom-rows.ts'
import type { PlaylistDoc } from './schema.ts'

interface CustomContent {
  name: string | null
  entries: readonly CustomEntry[]
  /** Epoch seconds. */
  changedAt: number
}

/** The keys of the document that are made from the rows. */
export const contentOf = ({ name, entries, changedAt }: CustomContent) => ({
  playlist_name: name ?? '',
  playlist_last_refresh: localDay(changedAt),
  playlist_entries: entries.map(({ videoId, title, uploader }, idx) => ({
    platform_id: videoId,
    title,
    uploader,
    idx,
    downloaded: true,
  })),
  refreshed_at: changedAt,
})

/** A custom playlist of archived videos, private or shared. */
export const customDoc = ({
  id,
  thumbnail,
  ...content
}: CustomContent & { id: string; thumbnail: string }): PlaylistDoc => ({
  playlist_id: id,
  playlist_type: 'custom',
  playlist_description: '',
  playlist_channel: null,
  playlist_channel_id: null,
  playlist_subscribed: false,
  playlist_active: false,
  playlist_thumbnail: thumbnail,
  playlist_sort_order: 'top',
  ...contentOf(content),
})

/** The archived videos of a document, each once. */
export function entriesOf({ playlist_entries: entries }: PlaylistDoc): CustomEntry[] {
  const byId = new Map(
    entries
      .filter(({ downloaded }) => downloaded)
      .map(({ platform_id: videoId, title, uploader }) => [videoId, { videoId, title, uploader }]),
  )
  return [...byId.values()]
}
