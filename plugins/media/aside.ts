/**
 * Decides when trash may be emptied: the rest of a removal at once, trash that the bin holds never. This is stored in
 * the ledger, because it must outlive the job.
 */
import { createHash, randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { DAY_MS, type Timer } from 'archivolt'
import type { App } from './app.ts'
import { isMissing } from './files.ts'
import type { Library } from './library.ts'
import type { Media } from './types.ts'

const AGAIN_MS = 3_600_000
/** The time of a held trash: only `emptyNow` empties it. */
const HELD = Number.MAX_SAFE_INTEGER

const LEFT = 'files in the trash could not be removed: tried again in an hour'

export type Aside = ReturnType<typeof openAside>

/** @param whileThere  limits work to times when the library is available: otherwise its trash would look empty */
export function openAside(
  library: Library,
  pathOf: Media['pathOf'],
  whileThere: (work: (trashId: string) => Promise<void>) => (trashId: string) => Promise<void>,
  { ledger, clock, log }: Pick<App, 'ledger' | 'clock' | 'log'>,
) {
  const emptyWhileThere = whileThere(library.emptyTrash)
  let timer: Timer | undefined
  let working = Promise.resolve()

  /** Sets the timer for the next trash, but not earlier than `earliestMs` from now. */
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

  /** Whether this trash has a row here: then it is never put back. */
  const has = (id: string): boolean => ledger.sql('SELECT 1 FROM media_aside WHERE id = ?').get(id) !== undefined
  /** Whether the trash will be emptied at some time, because nobody holds it. */
  const isReleased = (id: string): boolean =>
    ledger.sql('SELECT 1 FROM media_aside WHERE id = ? AND until < ?').get(id, HELD) !== undefined

  /** The trash may be emptied after this time; `begin` empties it if the time has passed. */
  const note = (id: string, afterMs: number): Promise<void> => setUntil(id, clock.now() + afterMs)

  const setUntil = (id: string, until: number): Promise<void> =>
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
    const isDue = ledger.sql('SELECT 1 FROM media_aside WHERE id = ? AND until <= ?')
    for (const { id } of due) {
      // It may have been used again meanwhile.
      if (!isDue.get(id, clock.now())) continue
      try {
        await emptyOne(id, emptyTrash)
      } catch (err) {
        isFailed = true
        log.warn({ err, trash: id }, LEFT)
      }
    }
    wakeUp(isFailed ? AGAIN_MS : 0)
  }

  return {
    /**
     * Puts a film into a trash as a hard link or a copy; the film itself stays. The trash is emptied after a day unless
     * it is held.
     * @returns the id of the trash, the same while the film is unchanged; undefined: the film is missing, or `next` is
     * the same file
     */
    async setAside(channelId: string, videoId: string, next: string): Promise<string | undefined> {
      const film = pathOf(channelId, videoId)
      const id = await trashOf(film, next)
      if (id === undefined) return undefined
      // The row comes first: a trash without a row would be put back.
      if (!has(id) || isReleased(id)) await note(id, DAY_MS)
      await library.setAside(id, channelId, film)
      wakeUp()
      return id
    },

    /** Removes a video's files from the folder of its former channel. */
    async leave(channelId: string, videoId: string): Promise<void> {
      const id = randomUUID()
      await note(id, 0)
      await library.trash(id, { channelId, videoId })
      await emptyOne(id, emptyWhileThere).catch((err: unknown) => {
        log.warn({ err, trash: id }, LEFT)
        wakeUp(AGAIN_MS)
      })
    },

    has,
    isReleased,
    /** The trash stays until `emptyNow`. */
    hold: (trashId: string): Promise<void> => setUntil(trashId, HELD),
    /** The ids of all trash that stays until `emptyNow`. */
    held: (): string[] =>
      ledger
        .sql<{ id: string }>('SELECT id FROM media_aside WHERE until = ?')
        .all(HELD)
        .map(({ id }) => id),
    note,

    /** The trash is never put back from now on, and is emptied as soon as possible, with a retry every hour. */
    async release(trashId: string): Promise<void> {
      await note(trashId, 0)
      wakeUp(AGAIN_MS)
    },

    /** @throws the error of the disk; unavailable: the library is unavailable */
    emptyNow: (trashId: string): Promise<void> => emptyOne(trashId, emptyWhileThere),
    /** Empties all trash whose time has come, now and from now on. Called as soon as the library is available. */
    begin: (): Promise<void> => empty(library.emptyTrash),
    async close(): Promise<void> {
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
