/**
 * Trash that may be emptied, and from when on: at once what a removal has left, and never what the bin holds. A row says
 * so, which outlives the job.
 */
import { createHash, randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { DAY_MS, type Timer } from 'archivolt'
import type { App } from './app.ts'
import { isMissing } from './files.ts'
import type { Library } from './library.ts'
import type { Media } from './types.ts'

const AGAIN_MS = 3_600_000
/** Of a trash that is held: it stays until it is emptied by name. */
const HELD = Number.MAX_SAFE_INTEGER

export interface Aside {
  /**
   * Keeps a film by a second name, or a copy; the film stays where it is. It is emptied after a day unless it is held.
   * @returns the id of the trash, which is the same as long as the film is; undefined: the film is missing, or `next`
   * is another name of it
   */
  keep(channelId: string, videoId: string, next: string): Promise<string | undefined>
  /** Removes a video's files from the folder of a channel that is not its own any more. */
  leave(channelId: string, videoId: string): Promise<void>
  /** Whether a trash is one of these: it is never put back. */
  has(trashId: string): boolean
  /** Whether it may be emptied from a time on, and is held by nobody. */
  isReleased(trashId: string): boolean
  /** It stays until `emptyNow`. */
  hold(trashId: string): Promise<void>
  /** A trash may be emptied after so long; `begin` does it where that is over already. */
  note(trashId: string, afterMs: number): Promise<void>
  /** A trash is never put back from now on, and emptied as soon as it can be: tried each hour. */
  release(trashId: string): Promise<void>
  /** @throws what the disk says, or unavailable: the library is away */
  emptyNow(trashId: string): Promise<void>
  /** Empties those whose day is over, then and from now on. Called once the library is there. */
  begin(): Promise<void>
  close(): Promise<void>
}

/** @param whileThere  the same work, only while the library is there: else its trash would look empty */
export function openAside(
  library: Library,
  pathOf: Media['pathOf'],
  whileThere: (work: (trashId: string) => Promise<void>) => (trashId: string) => Promise<void>,
  { ledger, clock, log }: Pick<App, 'ledger' | 'clock' | 'log'>,
): Aside {
  const emptyWhileThere = whileThere(library.emptyTrash)
  let timer: Timer | undefined
  let working = Promise.resolve()

  /** At the next one's time, and not before so long. */
  function wakeUp(earliestMs = 0): void {
    const next = ledger
      .sql<{ until: number }>('SELECT until FROM media_aside WHERE until < ? ORDER BY until LIMIT 1')
      .get(HELD)
    timer?.cancel()
    timer =
      next &&
      clock.at(Math.max(clock.now() + earliestMs, next.until), () => {
        working = empty(emptyWhileThere)
      })
  }

  const has = (id: string) => ledger.sql('SELECT 1 FROM media_aside WHERE id = ?').get(id) !== undefined
  const isReleased = (id: string) =>
    ledger.sql('SELECT 1 FROM media_aside WHERE id = ? AND until < ?').get(id, HELD) !== undefined

  const note = (id: string, afterMs: number) => keepUntil(id, clock.now() + afterMs)

  const keepUntil = (id: string, until: number) =>
    ledger.write(
      () =>
        void ledger
          .sql(
            'INSERT INTO media_aside (id, until) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET until = excluded.until',
          )
          .run(id, until),
    )

  async function emptyOne(id: string, emptyTrash: (trashId: string) => Promise<void>): Promise<void> {
    await emptyTrash(id)
    await ledger.write(() => ledger.sql('DELETE FROM media_aside WHERE id = ?').run(id))
  }

  async function empty(emptyTrash: (trashId: string) => Promise<void>): Promise<void> {
    let isFailed = false
    const due = ledger.sql<{ id: string }>('SELECT id FROM media_aside WHERE until <= ?').all(clock.now())
    for (const { id } of due) {
      try {
        await emptyOne(id, emptyTrash)
      } catch (err) {
        isFailed = true
        log.warn({ err, trash: id }, 'files in the trash could not be removed: tried again in an hour')
      }
    }
    wakeUp(isFailed ? AGAIN_MS : 0)
  }

  return {
    async keep(channelId, videoId, next) {
      const film = pathOf(channelId, videoId)
      const id = await trashOf(film, next)
      if (id === undefined) return undefined
      // The row first: a trash that nobody knows would be put back.
      if (!has(id) || isReleased(id)) await note(id, DAY_MS)
      await library.setAside(id, channelId, film)
      wakeUp()
      return id
    },
    async leave(channelId, videoId) {
      const id = randomUUID()
      await note(id, 0)
      await library.trash(id, { channelId, videoId })
      await emptyOne(id, emptyWhileThere).catch((err: unknown) => {
        log.warn({ err, trash: id }, 'files in the trash could not be removed: tried again in an hour')
        wakeUp(AGAIN_MS)
      })
    },
    has,
    isReleased,
    hold: (trashId) => keepUntil(trashId, HELD),
    note,
    async release(trashId) {
      await note(trashId, 0)
      wakeUp(AGAIN_MS)
    },
    emptyNow: (trashId) => emptyOne(trashId, emptyWhileThere),
    begin: () => empty(library.emptyTrash),
    async close() {
      timer?.cancel()
      await working
      timer?.cancel()
    },
  }
}

/** undefined: the film is missing, or both are the same file. */
async function trashOf(film: string, next: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs } = await stat(film)
    const other = await stat(next)
    if (other.dev === dev && other.ino === ino) return undefined
    const name = createHash('sha256')
      .update(JSON.stringify([film, ino, size, mtimeMs]))
      .digest('hex')
    return `film_${name.slice(0, 32)}`
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
}

export const asideTables = {
  number: 3,
  sql: 'CREATE TABLE media_aside (id TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT',
}
