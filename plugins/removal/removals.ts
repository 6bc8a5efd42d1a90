/** The service `removals`: the only code that knows which videos a removal must spare, and where removed videos go. */
import { randomUUID } from 'node:crypto'
import { chunksOf, inEnglish, isAppError, say } from 'archivolt'
import type { App } from './app.ts'

/**
 * Why a video stays: a person has protected it (`kept`); its film is in a folder of another program (`place`); its film
 * cannot be moved now, for example because the disk is offline (`unavailable`).
 */
export type Stays = 'kept' | 'place' | 'unavailable'

/** `again`: it was not in the bin, so it is queued for download. */
export type Back = { state: 'back' | 'again' } | { state: 'refused'; reason: string }

interface RemovalOptions {
  /** The reason for people, shown in the bin, such as `Keep the newest 5`. */
  note?: string
  /** The id of the removal, for a repetition after an interruption; default: a new one. */
  removal?: string
  /** Stops the work between two batches of 100 videos. */
  signal?: AbortSignal
}

export interface Removed {
  /** The id of the removal, for `undo`. */
  removal: string
  /** Ids of the videos that this call has removed. */
  removed: string[]
  /** All other archived ids, with the reason. The next run may try unavailable ones again. */
  stays: Map<string, Stays>
}

export interface Removals {
  /**
   * Moves videos that a task or plugin has selected to the bin, and adds them to the ignore list, so that no scan
   * downloads them again. Videos that must not be removed stay. May be repeated after an interruption, with the same
   * ids and the same `removal`; ids without a video are skipped.
   */
  remove(ids: readonly string[], options?: RemovalOptions): Promise<Removed>
  /**
   * Restores videos of a removal, and removes them from the ignore list. May be repeated. @returns the outcome for each
   * video
   */
  undo(ids: readonly string[], removal: string): Promise<Map<string, Back>>
}

/** Number of videos that are removed together: the bin moves this many into one folder. */
const TOGETHER = 100
const NOWHERE = inEnglish(say`The video is neither in the bin nor on the ignore list any more`)

export function openRemovals(app: App): Removals {
  const { bin, media, queue, videos } = app

  async function remove(ids: readonly string[], { note, removal = randomUUID(), signal }: RemovalOptions = {}) {
    const done: Removed = { removal, removed: [], stays: new Map() }
    for (const some of chunksOf([...new Set(ids)], TOGETHER)) {
      signal?.throwIfAborted()
      const docs = await videos.collection.getMany(some)
      const spared = await sparedAmong(docs)
      for (const [id, why] of spared) done.stays.set(id, why)
      // Includes videos that an interrupted call has already removed: this waits until the bin has them.
      const going = some.filter((id) => !spared.has(id))
      if (going.length === 0) continue
      for (const id of await removeTogether(going, removal, note)) done.stays.set(id, 'unavailable')
      done.removed.push(...going.filter((id) => docs.has(id) && !done.stays.has(id)))
    }
    return done
  }

  async function sparedAmong(docs: ReadonlyMap<string, { keep?: boolean }>): Promise<Map<string, Stays>> {
    const isAway = docs.size > 0 && (await media.absence()) !== undefined
    return new Map(
      [...docs].flatMap(([id, doc]): Array<[string, Stays]> => {
        if (doc.keep) return [[id, 'kept']]
        // A film in a place is removed only by its own program.
        if (!media.isOurs(id)) return [[id, 'place']]
        return isAway ? [[id, 'unavailable']] : []
      }),
    )
  }

  /** @returns videos that stay, because their files cannot be moved now */
  async function removeTogether(ids: readonly string[], removal: string, note?: string): Promise<Set<string>> {
    const outlines = await videos.outlinesOf(ids)
    // This comes first, so that no scan downloads a removed video.
    const ignored = new Set(await queue.add(outlines, 'ignore', { force: true }))
    // A check of its file, for example, may have queued a video to be downloaded again.
    const queued = outlines.map(({ id }) => id).filter(queue.isWanted)
    for (const id of queued) await queue.setStatus(id, 'ignore')
    const away = new Set<string>()
    for (const some of [ids, ...ids.map((id) => [id])]) {
      try {
        await videos.removeMany(some, { why: 'rule', note }, removal)
        if (some === ids) return away
      } catch (error) {
        if (!isAppError(error, 'unavailable')) throw error
        if (some !== ids) away.add(some[0]!)
      }
    }
    for (const id of away) if (ignored.has(id)) await queue.remove(id)
    for (const id of queued) if (away.has(id)) await queue.setStatus(id, 'pending')
    return away
  }

  async function undo(ids: readonly string[], removal: string): Promise<Map<string, Back>> {
    const { refused } = await bin.restore({ removal })
    const reasons = new Map(refused.map(({ videoId, reason }) => [videoId, reason]))
    const there = await videos.known(ids)
    const queued = queue.known(ids)
    const found = new Map<string, Back>()
    for (const id of ids) {
      const reason = reasons.get(id)
      if (reason !== undefined) found.set(id, { state: 'refused', reason })
      else if (there.has(id)) {
        await queue.remove(id)
        found.set(id, { state: 'back' })
      } else if (queued.has(id)) {
        await queue.setStatus(id, 'pending')
        found.set(id, { state: 'again' })
      } else found.set(id, { state: 'refused', reason: NOWHERE })
    }
    return found
  }

  return { remove, undo }
}
