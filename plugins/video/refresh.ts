/** Updates a video's data from its file, the platform, or people. */
import { epochSeconds, errors, isAppError } from 'archivolt'
import type { App } from './app.ts'
import { indexCommentsOf } from './comment-texts.ts'
import { toThreads } from './comment-threads.ts'
import { fetchArt, type MediaFields, toFields, toMediaFields } from './ingest.ts'
import { receiptChange, toReceipt } from './receipt.ts'
import type { VideoDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import type { Videos } from './types.ts'

export function openRefresh(state: VideoState) {
  const { app, collection, tellChanged, exclusive, comments } = state
  return {
    async measure(id) {
      const doc = await collection.get(id)
      const found = doc && (await inspectFile(app, doc, app.media.isOurs(id)))
      if (found === undefined || typeof found === 'string') return found
      await collection.patch(id, { set: measured(found) }, { visible: true })
      await tellChanged(id, 'file')
      return undefined
    },

    async refreshWith(metadata, { signal } = {}) {
      const { id } = metadata
      if (!(await collection.known([id])).has(id)) return false
      await fetchArt(app, metadata, signal)
      let isOtherFile = false
      // Within the lock: if a download has replaced the film meanwhile, the new file must be measured.
      const isThere = await exclusive(id, async () => {
        const doc = await collection.get(id)
        const found = doc && (await inspectFile(app, doc, false))
        isOtherFile = typeof found === 'object' && found.media_size !== doc!.media_size
        const fields = toFields(metadata, epochSeconds(app.clock))
        const set = { ...fields, ...(typeof found === 'object' && measured(found)), active: true }
        return collection.patch(id, { set }, { visible: true })
      })
      if (isThere) await tellChanged(id, 'metadata')
      if (isThere && isOtherFile) await tellChanged(id, 'file')
      return isThere
    },

    async renewReceipt(id, told, degraded) {
      const { receipt } = (await collection.get(id)) ?? {}
      if (!receipt) return
      const change = receiptChange({ receipt: toReceipt(told, receipt.date, degraded), ...(degraded && { degraded }) })
      const { date: _date, got: _got, ...offer } = change.receipt!
      const set = { receipt: offer, degraded: change.degraded }
      await collection.patch(id, { set }, { visible: true })
      await tellChanged(id, 'metadata')
    },

    async setActive(ids, isActive) {
      let changed = 0
      for (const id of ids) {
        if (!(await collection.patch(id, { set: { active: isActive } }, { visible: true }))) continue
        changed++
        await tellChanged(id, 'metadata')
      }
      return changed
    },

    async setKept(id, isKept) {
      const doc = await collection.get(id)
      if (!doc || (doc.keep ?? false) === isKept) return false
      if (!(await collection.patch(id, { set: { keep: isKept ? true : null } }, { visible: true }))) return false
      await tellChanged(id, 'keep')
      return true
    },

    setComments(id, list) {
      return exclusive(id, async () => {
        const doc = await collection.get(id)
        if (!doc) throw errors.notFound('video', id)
        // Comments that were disabled, or withheld from us, do not remove archived ones.
        if (list.length === 0 && (doc.comment_count ?? 0) > 0) return
        const { threads, count } = toThreads(list)
        await comments.put(id, {
          platform_id: id,
          comment_last_refresh: epochSeconds(app.clock),
          comment_comments: threads,
        })
        await indexCommentsOf(state, id)
        await collection.patch(id, { set: { comment_count: count } }, { visible: true })
        await tellChanged(id, 'comments')
      })
    },
  } satisfies Partial<Videos>
}

const measured = ({ duration, duration_str, ...media }: MediaFields) => ({
  ...media,
  player: { duration, duration_str },
})

/** undefined: the film is in a place that is currently unavailable. */
async function filmPath({ media }: App, channelId: string, id: string): Promise<string | undefined> {
  try {
    return await media.filmPath(channelId, id)
  } catch (thrown) {
    if (isAppError(thrown, 'not_found') || isAppError(thrown, 'unavailable')) return undefined
    throw thrown
  }
}

/**
 * @param isAlways  also reads a file of the known size
 * @returns the data of the file, or a sentence about its fault; undefined: it is missing, or was not read
 */
async function inspectFile(
  app: App,
  { platform_id: id, channel_id: channelId, media_size: knownSize, streams, player }: VideoDoc,
  isAlways: boolean,
): Promise<MediaFields | string | undefined> {
  const path = await filmPath(app, channelId, id)
  const size = path === undefined ? undefined : await app.media.sizeOf(path)
  if (path === undefined || size === undefined) return undefined
  if (size === 0) return 'it is empty'
  // Files that have not changed are not read again: there may be many, on slow disks.
  const isMeasured = streams.length > 0 && player.duration > 0
  if (size === knownSize && isMeasured && !isAlways) return undefined
  try {
    const probe = await app.media.probe(path)
    if (size < knownSize && (await app.media.isCutOff(path, probe.durationSeconds)))
      return `it is cut off after ${size} of ${knownSize} bytes`
    return toMediaFields(probe)
  } catch (thrown) {
    if (!isAppError(thrown, 'unprocessable')) throw thrown
    return 'it is not a readable video file'
  }
}
