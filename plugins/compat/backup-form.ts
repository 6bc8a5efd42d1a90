/**
 * Converts backups to the reference's form; data from other collections that its documents contain is read for each
 * batch.
 */

import type { BackupForm, Stored } from '../backup/form.ts'
import type { ChannelDoc } from '../channel/schema.ts'
import type { DownloadDoc } from '../download/schema.ts'
import type { PlaylistDoc } from '../playlist/schema.ts'
import type { CommentDoc, SubtitleDoc, VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { toOurs, toStored } from './stored-form.ts'

interface Item<Doc> {
  id: string
  doc: Doc
}
type StoredItem = { id: string; stored: Stored }

export function referenceForm(app: App): BackupForm {
  async function videos(batch: Item<VideoDoc>[]): Promise<StoredItem[]> {
    const channels = await app.channels.collection.getMany(unique(batch.map(({ doc }) => doc.channel_id)))
    const stored = new Map([...channels].map(([id, doc]) => [id, toStored.channel(doc)]))
    const watched = app.watch.watchedAmong(
      app.accounts.firstAdmin()?.id ?? 0,
      batch.map(({ id }) => id),
    )
    return batch.map(({ id, doc }) => ({
      id,
      stored: toStored.video(app, doc, stored.get(doc.channel_id), watched.get(id)),
    }))
  }

  async function comments(batch: Item<CommentDoc>[]): Promise<StoredItem[]> {
    const found = await app.videos.collection.getMany(batch.map(({ id }) => id))
    return batch.map(({ id, doc }) => ({ id, stored: toStored.comment(app, doc, found.get(id)?.channel_id) }))
  }

  async function subtitles(batch: Item<SubtitleDoc>[]): Promise<StoredItem[]> {
    const found = await app.videos.collection.getMany(unique(batch.map(({ doc }) => doc.platform_id)))
    const channels = await app.channels.collection.getMany(
      unique([...found.values()].map(({ channel_id }) => channel_id)),
    )
    return batch.map(({ id, doc }) => {
      const video = found.get(doc.platform_id)
      const shown = video && {
        title: video.title,
        channelName: channels.get(video.channel_id)?.channel_name ?? '',
      }
      return { id, stored: toStored.subtitle(app, doc, shown) }
    })
  }

  const each =
    <Doc>(convert: (doc: Doc) => Stored) =>
    async (batch: Item<Doc>[]): Promise<StoredItem[]> =>
      batch.map(({ id, doc }) => ({ id, stored: convert(doc) }))

  // Collections by name: their documents have passed the schemas of these names.
  const converters: Record<string, (batch: Item<never>[]) => Promise<StoredItem[]>> = {
    channel: each<ChannelDoc>(toStored.channel),
    video: videos,
    playlist: each<PlaylistDoc>((doc) => toStored.playlist(app, doc)),
    download: each<DownloadDoc>((doc) => toStored.download(app, doc)),
    comment: comments,
    subtitle: subtitles,
  }

  return {
    mark: 'es',
    insideOthers: ['channel'],
    toStored: (collection, documents) =>
      (converters[collection] ?? each((doc: Stored) => doc))(documents as Item<never>[]),
    toOurs: (...given) => toOurs(app, ...given),
  }
}

const unique = (ids: string[]): string[] => [...new Set(ids)]
