/** Removes videos for rules, and restores them: the only file that knows where removed videos go. */
import { inEnglish, isAppError, say } from 'archivolt'
import type { App } from './app.ts'

/**
 * Removes videos; after an interruption it can be repeated.
 * @param removal  the id that the bin stores
 * @returns ids of videos that stay because their files cannot be moved now
 */
export async function removeByRule(app: App, ids: readonly string[], removal: string): Promise<Set<string>> {
  const outlines = await outlinesOf(app, ids)
  // First, so that no scan fetches what a rule has removed.
  const ignored = new Set(await app.queue.add(outlines, 'ignore', { force: true }))
  const away = new Set<string>()
  for (const some of [ids, ...ids.map((id) => [id])]) {
    try {
      await app.videos.removeMany(some, { why: 'rule' }, removal)
      if (some === ids) return away
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      if (some !== ids) away.add(some[0]!)
    }
  }
  for (const id of away) if (ignored.has(id)) await app.queue.remove(id)
  return away
}

export const outlinesOf = async (app: App, ids: readonly string[]) =>
  (await Promise.all(ids.map((id) => app.videos.outline(id)))).flatMap((outline) => outline ?? [])

const NOWHERE = inEnglish(say`It is no longer in the bin, and not on the ignore list either`)

/** Why the video cannot be restored; `again`: it is not in the bin, so it is queued for download. */
export type Back = { state: 'back' | 'again' } | { state: 'refused'; reason: string }

/** Restores videos that were removed together. Can be repeated. */
export async function bringBack(app: App, ids: readonly string[], removal: string): Promise<Map<string, Back>> {
  const { refused } = await app.bin.restore({ removal })
  const reasons = new Map(refused.map(({ videoId, reason }) => [videoId, reason]))
  const there = await app.videos.known(ids)
  const queued = app.queue.known(ids)
  const found = new Map<string, Back>()
  for (const id of ids) {
    const reason = reasons.get(id)
    if (reason !== undefined) found.set(id, { state: 'refused', reason })
    else if (there.has(id)) {
      await app.queue.remove(id)
      found.set(id, { state: 'back' })
    } else if (queued.has(id)) {
      await app.queue.setStatus(id, 'pending')
      found.set(id, { state: 'again' })
    } else found.set(id, { state: 'refused', reason: NOWHERE })
  }
  return found
}
