/**
 * Checks documents in our own form from a backup or snapshot, which are not trusted: their paths and URLs are computed
 * from ids.
 */
import { errors, ID_PATTERN } from 'archivolt'
import type { App } from './app.ts'

type Doc = Record<string, unknown>

const ID = new RegExp(ID_PATTERN)

function mustBe(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw errors.unprocessable(what)
}
const mustBeId: (value: unknown, name: string) => asserts value is string = (value, name) =>
  mustBe(typeof value === 'string' && ID.test(value), `${name} is not a valid id`)

/** The document that may be restored. @throws AppError  why it is skipped; its schema is checked afterwards */
export type Accept = (collection: string, id: string, doc: Doc) => Doc

export function acceptDocuments(app: App): Accept {
  const { media } = app
  const toOwn: Record<string, (id: string, doc: Doc) => Doc> = {
    channel: (id, doc) => ({
      ...doc,
      channel_id: id,
      channel_thumb_url: media.artUrl('channel_thumb', id),
      channel_banner_url: media.artUrl('channel_banner', id),
      channel_tvart_url: media.artUrl('channel_tvart', id),
    }),
    video(id, doc) {
      const { channel_id: channelId, subtitles, media_url: said } = doc
      mustBeId(channelId, 'channel_id')
      mustBe(Array.isArray(subtitles), 'subtitles must be a list')
      return {
        ...doc,
        platform_id: id,
        vid_thumb_url: media.artUrl('video', id),
        media_url: media.mediaUrl(channelId, id, typeof said === 'string' ? said : undefined),
        // A subtitle with a wrong path is dropped, so that the video can still be restored.
        subtitles: subtitles.flatMap((subtitle: Doc | null) => {
          const lang = subtitle?.lang
          return typeof lang === 'string' && media.isLanguage(lang)
            ? [{ ...subtitle, media_url: media.subtitleUrl(channelId, id, lang) }]
            : []
        }),
      }
    },
    playlist: (id, doc) => ({ ...doc, playlist_id: id, playlist_thumbnail: media.artUrl('playlist', id) }),
    // Backups of earlier versions contain fields for the order of the queue.
    download: (id, { open: _open, ready: _ready, later: _later, ...doc }) => ({
      ...doc,
      platform_id: id,
      vid_thumb_url: media.artUrl('video', id),
    }),
    comment: (id, { searchable: _searchable, ...doc }) => ({ ...doc, platform_id: id }),
    subtitle(id, doc) {
      mustBeId(doc.platform_id, 'platform_id')
      mustBeId(doc.channel_id, 'channel_id')
      return { ...doc, subtitle_fragment_id: id }
    },
  }
  return (collection, id, doc) => toOwn[collection]?.(id, doc) ?? doc
}
