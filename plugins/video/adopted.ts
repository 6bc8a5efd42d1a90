/**
 * Videos whose films lie in places: many come into the archive at once, and leave it again. Nothing is asked of anybody
 * for one of them, and no file is opened.
 */
import { isDeepStrictEqual } from 'node:util'
import { type BulkResult, localDay, type Step } from 'archivolt'
import type { App } from './app.ts'
import { toMediaFields, toWholeFields } from './ingest.ts'
import { dropAll, removeAllWith } from './removal.ts'
import type { VideoDoc } from './schema.ts'
import { exclusiveAll, type VideoState } from './state.ts'
import type { Adopted } from './types.ts'

/** As `Videos.adopt` says. */
export async function adoptAll({ app, collection }: VideoState, list: readonly Adopted[]): Promise<BulkResult> {
  const docs = new Map(list.map((one) => [one.metadata.id, toAdoptedDoc(one, app)]))
  const offered = [...docs].map(([id, doc]) => ({ id, doc }))
  const { kept = [], ...result } = await collection.putMany(offered, { visible: true, onlyNew: true })
  const there = await collection.getMany(kept)
  // A write that met a full disk was done once more: what it then found is its own.
  return { ...result, kept: kept.filter((id) => !isDeepStrictEqual(there.get(id), docs.get(id))) }
}

/** As ingest writes it; what it says of the platform is as old as the download. */
function toAdoptedDoc(adopted: Adopted, { media }: App): VideoDoc {
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
    playlist: [],
    subtitles: [],
    channel_id: channelId,
    player: { duration, duration_str },
  }
}

/** Subtitles and pictures are ours and go; the film is not, and stays. May be done twice. @returns how many left */
export async function leaveAll(
  state: VideoState,
  ids: readonly string[],
  job: { id: string; step: Step },
): Promise<number> {
  const { app, collection } = state
  const docs = await collection.getMany(ids)
  const leaving = [...docs].map(([id, { channel_id: channelId }]) => ({ id, channelId }))
  await exclusiveAll(state, leaving, async () => {
    // One after the other: each makes room for itself in the trash.
    for (const [id, { channel_id: channelId, subtitles }] of docs)
      if (subtitles.length > 0) await app.media.trash(job.id, { channelId, videoId: id, film: 'stays' })
    await removeAllWith(state, leaving, job.step)
    await dropAll(
      state,
      leaving.map(({ id }) => id),
    )
  })
  await app.media.release(job.id)
  try {
    await app.media.emptyTrash(job.id)
  } catch (err) {
    app.log.warn({ err, job: job.id }, 'subtitles of videos that left could not be unlinked: tried again in an hour')
  }
  return docs.size
}
