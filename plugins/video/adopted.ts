/** Videos whose films are in places: imports or removes many at once, without asking the platform or opening a file. */
import { isDeepStrictEqual } from 'node:util'
import { localDay } from 'archivolt'
import type { App } from './app.ts'
import { listsOf, toMediaFields, toWholeFields } from './ingest.ts'
import { removeAllWith } from './removal-hooks.ts'
import type { VideoDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import type { Adopted, Videos } from './types.ts'

export function openAdopted({ app, collection, exclusiveAll }: VideoState, { dropAll }: Pick<Videos, 'dropAll'>) {
  return {
    async adopt(list) {
      const lists = await listsOf(
        list.map(({ metadata }) => metadata.id),
        app,
      )
      const docs = new Map(list.map((one) => [one.metadata.id, toAdoptedDoc(one, lists.get(one.metadata.id)!, app)]))
      const offered = [...docs].map(([id, doc]) => ({ id, doc }))
      const { kept = [], ...result } = await collection.putMany(offered, { visible: true, onlyNew: true })
      const there = await collection.getMany(kept)
      // A write that failed on a full disk was repeated, and may find the documents of the first attempt.
      return { ...result, kept: kept.filter((id) => !isDeepStrictEqual(there.get(id), docs.get(id))) }
    },

    /** May be repeated. */
    async leave(ids, job) {
      const found = await collection.getMany(ids)
      const asked = [...found].map(([id, { channel_id: channelId }]) => ({ id, channelId }))
      const count = await exclusiveAll(asked, async () => {
        // Keep videos whose film was downloaded into the library meanwhile. In a repeated run, other videos may already
        // be forgotten.
        const forgotten = app.media.places.wasForgotten(ids)
        const placed = asked.map(({ id }) => id).filter((id) => !app.media.isOurs(id) || forgotten.has(id))
        const docs = await collection.getMany(placed)
        const leaving = [...docs].map(([id, { channel_id: channelId }]) => ({ id, channelId }))
        // One after the other, because each needs space in the trash.
        for (const [id, { channel_id: channelId, subtitles }] of docs)
          if (subtitles.length > 0) await app.media.trash(job.id, { channelId, videoId: id, film: 'stays' })
        await removeAllWith(app, leaving, job.step)
        await dropAll(leaving.map(({ id }) => id))
        return leaving.length
      })
      await app.media.release(job.id)
      try {
        await app.media.emptyTrash(job.id)
      } catch (err) {
        app.log.warn(
          { err, job: job.id },
          'subtitles of videos that left the archive could not be deleted; another attempt follows in an hour',
        )
      }
      return count
    },
  } satisfies Partial<Videos>
}

/** The document as an ingest would write it. The platform's data counts as old as the download. */
function toAdoptedDoc(adopted: Adopted, playlist: string[], { media }: App): VideoDoc {
  const { metadata, sizeBytes, streams, dateDownloaded, publishedElse, isGone } = adopted
  const { id, channelId, durationSeconds } = metadata
  const { duration, duration_str, ...film } = toMediaFields({ sizeBytes, durationSeconds, streams })
  return {
    platform_id: id,
    active: !isGone,
    ...toWholeFields(metadata, dateDownloaded, publishedElse ?? localDay(dateDownloaded)),
    ...film,
    vid_last_refresh: localDay(dateDownloaded),
    vid_type: metadata.vidType,
    date_downloaded: dateDownloaded,
    vid_thumb_url: media.artUrl('video', id),
    vid_thumb_base64: false,
    media_url: media.mediaUrl(channelId, id),
    playlist,
    subtitles: [],
    channel_id: channelId,
    player: { duration, duration_str },
  }
}
