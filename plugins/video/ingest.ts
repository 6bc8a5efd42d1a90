/**
 * The only way to bring a video into the library: files, pictures, subtitles, document, event. Steps may be repeated.
 * Videos whose films stay in places are added by adopted.ts.
 */
import { epochSeconds, isSameCut, localDay, type MergePatch, patchOrCreate, type Step, told } from 'archivolt'
import type { MediaProbe } from '../media/types.ts'
import type { VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { durationText } from './durations.ts'
import { receiptChange, toReceipt } from './receipt.ts'
import { binOf } from './removal-hooks.ts'
import type { VideoDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import { indexSubtitles, keptSubtitles, toSubtitles } from './subtitles.ts'
import type { Ingest, Videos } from './types.ts'

/** Number of pictures that are tried: the largest in the list may not exist. */
const PICTURES_TRIED = 3

/** The addresses of the pictures, largest first. */
function picturesOf({ thumbnails }: Pick<VideoMetadata, 'thumbnails'>): string[] {
  const ranked = thumbnails
    .map(({ url, width = 0 }, at) => ({ url, width, at }))
    .sort((a, b) => b.width - a.width || b.at - a.at)
  return ranked.map(({ url }) => url)
}

/** The platform's values as a patch; values that it does not give stay unchanged. */
export function toFields(metadata: VideoMetadata, refreshedAt: number) {
  const { title, description, categories: category, tags, chapters, published } = metadata
  const [art] = picturesOf(metadata)
  const { viewCount: view_count, likeCount: like_count, averageRating: average_rating } = metadata
  return {
    ...told({ title, description, category, tags, chapters, published, art }),
    ...told({ stats: told({ view_count, like_count, average_rating }) }),
    vid_last_refresh: localDay(refreshedAt),
    refreshed_at: refreshedAt,
  }
}

/** All fields of a new video. @param published  used if the platform gives no day; it never changes later */
export function toWholeFields(metadata: VideoMetadata, refreshedAt: number, published: string) {
  const { stats, ...fields } = toFields(metadata, refreshedAt)
  return {
    ...{ title: metadata.id, description: '', category: [], tags: [], published },
    ...fields,
    stats: { view_count: 0, like_count: 0, dislike_count: 0, average_rating: 0, ...stats },
  }
}

const largestFrameSize = (streams: ReadonlyArray<{ type?: unknown; width?: number; height?: number }>) =>
  streams
    .filter(({ type }) => type === 'video')
    .reduce<{ width: number; height: number }>(
      (best, { width = 0, height = 0 }) => (width * height > best.width * best.height ? { width, height } : best),
      { width: 0, height: 0 },
    )

/** The fields that are read from the file. */
export type MediaFields = ReturnType<typeof toMediaFields>

export function toMediaFields(probe: MediaProbe) {
  const duration = Math.round(probe.durationSeconds)
  return {
    media_size: probe.sizeBytes,
    streams: probe.streams,
    ...largestFrameSize(probe.streams),
    duration,
    duration_str: durationText(duration),
  }
}

/** The playlists that contain these videos, which are about to be archived, by video. */
export async function listsOf(ids: readonly string[], { hook }: Pick<App, 'hook'>): Promise<Map<string, string[]>> {
  const lists = new Map(ids.map((id): [string, string[]] => [id, []]))
  for (const ask of hook('video.lists')) for (const [id, own] of await ask(ids)) lists.get(id)?.push(...own)
  return lists
}

/** Without a job, steps cannot be recorded. */
const plainStep: Step = async (_name, work) => work()

export function openIngest(state: VideoState) {
  return {
    largestFrameSize,

    ingest(input, step = plainStep) {
      const { id, channelId } = input.downloaded.metadata
      return state.exclusive(id, () => bringIn(state, input, step), channelId)
    },
  } satisfies Partial<Videos>
}

async function bringIn(state: VideoState, input: Ingest, step: Step): Promise<boolean> {
  const { app, collection } = state
  const { downloaded, isSubtitleIndexed = true } = input
  const { metadata, mediaPath } = downloaded
  const { id, channelId } = metadata
  const known = await collection.get(id)
  if (input.onlyIf?.(known) === false) return false
  // When a run is repeated after an interruption, the file may already be in the library.
  const path = (await app.media.isThere(mediaPath)) ? mediaPath : app.media.homeOf(channelId, id, mediaPath)
  const probe = input.probe ?? (await step('video.probe', () => app.media.probe(path)))
  await step('video.channel', () => app.channels.recordName(channelId, metadata.channelName))
  await step('video.art', () => storeArt(app, downloaded, metadata))
  // In a repeated run, the film in the library may already be the new one.
  const replacesFilm = path === mediaPath && known && path !== app.media.recordedPath(known.channel_id, id)
  if (replacesFilm) await step('video.aside', async () => binOf(app)?.keepFilm(id, path))
  await step('video.adopt', () => app.media.adopt(channelId, id, { mediaPath, subtitles: downloaded.subtitles }))
  // If the old film is in a place, it stays there, and the video uses the new file.
  await app.media.places.drop([id])
  const fresh = new Set(downloaded.subtitles.map(({ lang }) => lang))
  const before = await collection.get(id)
  if (before && before.channel_id !== channelId) {
    await step('video.leave', () => leaveHome(app, before, { channelId, fresh }))
    await step('video.commentTexts', () =>
      state.commentTexts.patchWhere({ eq: ['platform_id', id] }, { set: { channel_id: channelId } }),
    )
  }
  const doc = await toDoc(app, input, probe, fresh, before)
  await step('video.subtitles', () => indexSubtitles(state, doc, fresh, isSubtitleIndexed))
  // The former film had another length than the platform's; this one has not.
  const isCutGone = before?.cut && isSameCut(before.cut.duration, doc.player.duration)
  const change = { set: { ...ownPart(doc, input), ...(isCutGone && { cut: null }) } }
  await step('video.document', () => patchOrCreate(collection, id, { change, doc }, { visible: true }))
  // Only downloads have a receipt.
  const why = before ? 'again' : downloaded.receipt ? 'new' : 'imported'
  await step('video.added', () => app.emit('video.added', { id, channelId, why }))
  const { storyboard } = downloaded
  if (storyboard)
    await step('video.storyboard', async () => {
      for (const store of app.hook('video.storyboard')) await store(id, storyboard)
    })
  return true
}

/**
 * Finishes the move of a video to another channel on the platform, after the new film is complete in that channel's
 * folder: moves subtitles that were not downloaded again, and removes the old film. The document is written afterwards,
 * because the folder of the old channel can be found only while the document names it.
 */
async function leaveHome(
  { media, log }: App,
  { platform_id: id, channel_id: old, subtitles }: VideoDoc,
  { channelId, fresh }: { channelId: string; fresh: ReadonlySet<string> },
): Promise<void> {
  for (const { lang } of subtitles) {
    if (fresh.has(lang) || !media.isLanguage(lang)) continue
    const [from, to] = [old, channelId].map((one) => media.subtitlePathOf(one, id, lang)) as [string, string]
    if ((await media.isThere(from)) && !(await media.isThere(to))) await media.moveInto(channelId, from)
  }
  try {
    await media.leaveHome(old, id)
  } catch (err) {
    log.warn({ err, id, channelId: old }, "the old film of a video could not be removed from its old channel's folder")
  }
}

/** The fields that an ingest changes in an existing document; people and other plugins may change all others. */
function ownPart(doc: VideoDoc, { downloaded: { metadata }, dateDownloaded }: Ingest): MergePatch<VideoDoc> {
  const { platform_id, active, streams, width, height, media_size, media_url, player, channel_id, subtitles } = doc
  const { vid_thumb_url, vid_thumb_base64, receipt, degraded } = doc
  return {
    ...{ platform_id, active, streams, width, height, media_size, media_url, player, channel_id, subtitles },
    ...{ vid_thumb_url, vid_thumb_base64 },
    ...toFields(metadata, doc.refreshed_at),
    // An answer without a type counts as `videos`, so only the other types are certain.
    ...(metadata.vidType !== 'videos' && { vid_type: metadata.vidType }),
    ...receiptChange({ ...(receipt && { receipt }), ...(degraded && { degraded }) }),
    ...(dateDownloaded !== undefined && { date_downloaded: dateDownloaded }),
  }
}

/** The whole document, as for a new video; only its `ownPart` is used if a document exists. */
async function toDoc(
  app: App,
  input: Ingest,
  probe: MediaProbe,
  fresh: ReadonlySet<string>,
  before: VideoDoc | undefined,
): Promise<VideoDoc> {
  const { metadata, receipt: told } = input.downloaded
  const { id, channelId } = metadata
  const now = epochSeconds(app.clock)
  const receipt = told && toReceipt(told, now, input.degraded)
  const { duration, duration_str, ...media } = toMediaFields(probe)
  const dateDownloaded = input.dateDownloaded ?? before?.date_downloaded ?? now
  return {
    platform_id: id,
    active: true,
    ...toWholeFields(metadata, now, input.publishedElse ?? localDay(dateDownloaded)),
    ...media,
    vid_type: metadata.vidType,
    date_downloaded: dateDownloaded,
    vid_thumb_url: app.media.artUrl('video', id),
    vid_thumb_base64: false,
    media_url: app.media.mediaUrl(channelId, id),
    playlist: (await listsOf([id], app)).get(id)!,
    subtitles: [
      ...(before ? await keptSubtitles(app, channelId, before, fresh) : []),
      ...toSubtitles(app, channelId, id, input.downloaded.subtitles),
    ],
    ...(receipt && { receipt }),
    ...(receipt && input.degraded && { degraded: input.degraded }),
    channel_id: channelId,
    player: { duration, duration_str },
  }
}

async function storeArt(app: App, { thumbnailPath }: Ingest['downloaded'], metadata: VideoMetadata): Promise<void> {
  if (thumbnailPath !== undefined && (await app.media.isThere(thumbnailPath))) {
    try {
      return await app.media.keepArt('video', metadata.id, thumbnailPath)
    } catch (err) {
      app.log.warn({ err, id: metadata.id }, 'the downloaded thumbnail is not a picture')
    }
  }
  await fetchArt(app, metadata)
}

export async function fetchArt({ media }: App, metadata: VideoMetadata, signal?: AbortSignal): Promise<boolean> {
  for (const url of picturesOf(metadata).slice(0, PICTURES_TRIED))
    if (await media.fetchArt('video', metadata.id, url, signal)) return true
  return false
}
