/** What the archive has of a video is written anew: as its file, the platform or people say now. */
import { epochSeconds, errors, isAppError } from 'archivolt'
import type { CommentMetadata, DownloadReceipt, VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { toThreads } from './comment-threads.ts'
import { fetchArt, type MediaFields, toFields, toMediaFields } from './ingest.ts'
import { type Degraded, toReceipt } from './receipt.ts'
import type { VideoDoc } from './schema.ts'
import { exclusive, tellChanged, type VideoState } from './state.ts'

/** As `Videos.measure` says. */
export async function measure(state: VideoState, id: string): Promise<string | undefined> {
  const { app, collection } = state
  const doc = await collection.get(id)
  const found = doc && (await lookAt(app, doc))
  if (found === undefined || typeof found === 'string') return found
  const { duration, duration_str, ...media } = found
  await collection.patch(id, { set: { ...media, player: { duration, duration_str } } }, { visible: true })
  await tellChanged(state, id, 'file')
  return undefined
}

/** As `Videos.refreshWith` says. */
export async function refreshWith(
  state: VideoState,
  metadata: VideoMetadata,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  const { app, collection } = state
  const { id } = metadata
  const doc = await collection.get(id)
  if (!doc) return false
  await fetchArt(app, metadata, signal)
  const found = await lookAt(app, doc)
  const { duration, duration_str, ...media } =
    typeof found === 'object' ? found : { duration: doc.player.duration, duration_str: doc.player.duration_str }
  const { stats, ...fields } = toFields(metadata, epochSeconds(app.clock))
  const set = {
    ...fields,
    ...media,
    stats: { ...stats, dislike_count: doc.stats.dislike_count },
    active: true,
    player: { duration, duration_str },
  }
  if (!(await collection.patch(id, { set }, { visible: true }))) return false
  await tellChanged(state, id, 'metadata')
  return true
}

/** As `Videos.renewReceipt` says. */
export async function renewReceipt(
  state: VideoState,
  id: string,
  told: DownloadReceipt,
  degraded: Degraded | undefined,
): Promise<void> {
  const { collection } = state
  const { receipt } = (await collection.get(id)) ?? {}
  if (!receipt) return
  const { offered, allowed_height = null, quality, downloader, warnings } = toReceipt(told, receipt.date, degraded)
  const none = { fps: null, hdr: null, original_language: null }
  const set = {
    receipt: { quality, downloader, warnings, allowed_height, offered: { ...none, ...offered } },
    degraded: degraded ? { next_try: null, ...degraded } : null,
  }
  await collection.patch(id, { set }, { visible: true })
  await tellChanged(state, id, 'metadata')
}

/** As `Videos.setActive` says. */
export async function setActive(state: VideoState, ids: readonly string[], isActive: boolean): Promise<number> {
  const { collection } = state
  let changed = 0
  for (const id of ids) {
    if (!(await collection.patch(id, { set: { active: isActive } }, { visible: true }))) continue
    changed++
    await tellChanged(state, id, 'metadata')
  }
  return changed
}

/** As `Videos.setKept` says. */
export async function setKept(state: VideoState, id: string, isKept: boolean): Promise<boolean> {
  const { collection } = state
  const doc = await collection.get(id)
  if (!doc || (doc.keep ?? false) === isKept) return false
  if (!(await collection.patch(id, { set: { keep: isKept ? true : null } }, { visible: true }))) return false
  await tellChanged(state, id, 'keep')
  return true
}

/** As `Videos.setComments` says. */
export function setComments(state: VideoState, id: string, list: readonly CommentMetadata[]): Promise<void> {
  const { app, collection, comments } = state
  return exclusive(state, id, async () => {
    if (!(await collection.known([id])).has(id)) throw errors.notFound('video', id)
    const { threads, count } = toThreads(list)
    await comments.put(id, {
      platform_id: id,
      comment_last_refresh: epochSeconds(app.clock),
      comment_comments: threads,
    })
    await collection.patch(id, { set: { comment_count: count } }, { visible: true })
    await tellChanged(state, id, 'comments')
  })
}

/** Undefined: it lies in a place and cannot be had now. */
async function filmPath({ media }: App, channelId: string, id: string): Promise<string | undefined> {
  try {
    return await media.filmPath(channelId, id)
  } catch (thrown) {
    if (isAppError(thrown, 'not_found') || isAppError(thrown, 'unavailable')) return undefined
    throw thrown
  }
}

/** What the file says of itself, or in words what is wrong with it; undefined: it is not there. */
async function lookAt(
  app: App,
  { platform_id: id, channel_id: channelId, media_size: knownSize, streams }: VideoDoc,
): Promise<MediaFields | string | undefined> {
  const path = await filmPath(app, channelId, id)
  const size = path === undefined ? undefined : await app.media.sizeOf(path)
  if (path === undefined || size === undefined) return undefined
  if (size === 0) return 'it is empty'
  // Looking into the files of other programs, which may be many and far away, is left for what has changed.
  if (size === knownSize && streams.length > 0 && !app.media.isOurs(id)) return undefined
  try {
    const probe = await app.media.probe(path)
    if (size < knownSize && (await app.media.isCutOff(path, probe.durationSeconds)))
      return `it is cut off after ${size} of ${knownSize} bytes`
    return toMediaFields(probe)
  } catch (thrown) {
    if (!isAppError(thrown, 'unprocessable')) throw thrown
    return 'it cannot be read as a film'
  }
}
