/** Serializes changes of playlists; changes of one playlist that wait at the same time are written together. */
import { beyondView } from 'archivolt'
import type { App } from './app.ts'
import type { PlaylistCollection, PlaylistDoc } from './schema.ts'

/** Computes a playlist's change; undefined: none. An error reaches only the caller of this edit. */
type Edit = (doc: PlaylistDoc) => Promise<Partial<PlaylistDoc> | undefined> | Partial<PlaylistDoc> | undefined

/** @param options.isTold  whether an event is emitted; default: true @returns false: there is no such playlist */
export type EditPlaylist = (id: string, edit: Edit, options?: { isTold?: boolean }) => Promise<boolean>

interface Waiting {
  edit: Edit
  isTold: boolean
  resolve(isThere: boolean): void
  reject(reason: unknown): void
}

export function openEdits(
  collection: PlaylistCollection,
  { index, log, emit }: Pick<App, 'index' | 'log' | 'emit'>,
): EditPlaylist {
  const queues = new Map<string, Waiting[]>()
  const busy = new Set<string>()

  async function turn(id: string, edits: Waiting[]): Promise<void> {
    const doc = await collection.get(id)
    if (!doc) return edits.forEach(({ resolve }) => resolve(false))
    let changes: Partial<PlaylistDoc> = {}
    const done: Waiting[] = []
    for (const waiting of edits) {
      try {
        changes = { ...changes, ...(await waiting.edit({ ...doc, ...changes })) }
        done.push(waiting)
      } catch (reason) {
        waiting.reject(reason)
      }
    }
    try {
      const isThere =
        Object.keys(changes).length === 0 || (await collection.patch(id, { set: changes }, { visible: true }))
      if (isThere && Object.keys(changes).length > 0 && done.some(({ isTold }) => isTold))
        await emit('playlist.renewed', { id })
      for (const { resolve } of done) resolve(isThere)
    } catch (reason) {
      for (const { reject } of done) reject(reason)
    }
  }

  async function work(id: string): Promise<void> {
    busy.add(id)
    for (let edits = queues.get(id); edits; edits = queues.get(id)) {
      queues.delete(id)
      await turn(id, edits).catch((reason: unknown) => edits!.forEach(({ reject }) => reject(reason)))
    }
    busy.delete(id)
  }

  return async (id, edit, { isTold = true } = {}) => {
    // Checked here, not in the batch: batches are shared by jobs, which wait for a restore, and requests, which are
    // refused.
    await index.writable()
    return new Promise((resolve, reject) => {
      queues.set(id, [...(queues.get(id) ?? []), { edit, isTold, resolve, reject }])
      // The document is written for all accounts, with content that the caller may not see.
      if (!busy.has(id))
        beyondView(() => work(id)).catch((err: unknown) =>
          log.error({ err, playlist: id }, 'changes of a playlist could not be completed'),
        )
    })
  }
}
