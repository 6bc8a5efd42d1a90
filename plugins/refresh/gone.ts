/** Removes queue entries whose documents are missing after a restore. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'
import { knownOf } from './item.ts'
import { KINDS } from './queue.ts'

export const forgetGone = defineTask({
  name: 'refresh.forgetGone',
  title: 'Remove refreshes of missing documents',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  async run({ signal, log }, app: App) {
    for (const kind of KINDS) {
      for (
        let ids = app.refreshQueue.idsAfter(kind, '');
        ids.length;
        ids = app.refreshQueue.idsAfter(kind, ids.at(-1)!)
      ) {
        signal.throwIfAborted()
        const known = await knownOf(kind, ids, app)
        const gone = ids.filter((id) => !known.has(id))
        if (!gone.length) continue
        await app.refreshQueue.forget(kind, gone)
        log.info(
          { kind, count: gone.length },
          'queued refreshes were removed, because their documents are missing after a restore',
        )
      }
    }
  },
})
