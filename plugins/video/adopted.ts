/**
 * Videos whose films lie in places: many come into the archive at once, and leave it again. Nothing is asked of anybody
 * for one of them, and no file is opened.
 */
import { localDay, type Step } from 'archivolt'
import type { StreamProbe } from '../media/types.ts'
import type { VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { toFields, toMediaFields } from './ingest.ts'
import type { Removed } from './removal.ts'
import type { VideoDoc } from './schema.ts'

export interface Adopted {
  metadata: VideoMetadata
  sizeBytes: number
  /** As announced; empty: nothing tells, and the film has to be asked. */
  streams: StreamProbe[]
  /** Epoch seconds. */
  dateDownloaded: number
  /** The platform had it no more when its film was kept. */
  isGone: boolean
}

/** As ingest writes it; what it says of the platform is as old as the download. */
export function toAdoptedDoc(
  { metadata, sizeBytes, streams, dateDownloaded, isGone }: Adopted,
  { media }: App,
): VideoDoc {
  const { id, channelId, durationSeconds } = metadata
  const { duration, duration_str, ...film } = toMediaFields({ sizeBytes, durationSeconds, streams })
  return {
    platform_id: id,
    active: !isGone,
    ...toFields(metadata, dateDownloaded),
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

interface LeavingParts {
  app: App
  get(ids: readonly string[]): Promise<Map<string, VideoDoc>>
  removeAllWith(videos: readonly Removed[], step: Step): Promise<void>
  dropAll(ids: readonly string[]): Promise<void>
  exclusiveAll<Result>(videos: readonly Removed[], work: () => Promise<Result>): Promise<Result>
}

/** Subtitles and pictures are ours and go; the film is not, and stays. May be done twice. @returns how many left */
export async function leaveAll(
  ids: readonly string[],
  job: { id: string; step: Step },
  { app, get, removeAllWith, dropAll, exclusiveAll }: LeavingParts,
): Promise<number> {
  const docs = await get(ids)
  const leaving = [...docs].map(([id, { channel_id: channelId }]) => ({ id, channelId }))
  await exclusiveAll(leaving, async () => {
    // One after the other: each makes room for itself in the trash.
    for (const [id, { channel_id: channelId, subtitles }] of docs)
      if (subtitles.length > 0) await app.media.trash(job.id, { channelId, videoId: id, film: 'stays' })
    await removeAllWith(leaving, job.step)
    await dropAll(leaving.map(({ id }) => id))
  })
  await app.media.emptyTrash(job.id)
  return docs.size
}
