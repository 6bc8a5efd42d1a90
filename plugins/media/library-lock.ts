/**
 * Allows one server per library: a lock in its folder, held while the library is available. A copied data folder has
 * the same mark, so the mark alone does not distinguish two servers.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type FolderLock, holdFile, LockError, type Log } from 'archivolt'
import { isMissing } from './files.ts'

const NAME = '.archivolt-lock'
/** The mode of other files of the library; the umask applies. */
const MODE = 0o666

type Outcome = 'held' | 'taken'

export type LibraryLock = ReturnType<typeof openLibraryLock>

export function openLibraryLock(folder: string, log: Pick<Log, 'warn'>) {
  const path = join(folder, NAME)
  let held: { lock: FolderLock | undefined; id: string } | undefined

  /**
   * Locks each disk once: a replaced disk is not locked by us yet. If locking is not possible, the server continues
   * without a lock.
   */
  async function take(): Promise<Outcome> {
    if (held && held.id === (await id())) return 'held'
    try {
      const lock = holdFile(path, MODE)
      release()
      held = { lock, id: await id() }
    } catch (err) {
      if (err instanceof LockError && err.refusal === 'taken') return (await isOurs()) ? 'held' : 'taken'
      log.warn({ err }, 'the library cannot be locked: a second server that uses it would not be noticed')
      held = { lock: undefined, id: await id() }
    }
    return 'held'
  }

  function release(): void {
    held?.lock?.release()
    held = undefined
  }

  /** Concurrent calls share the first one's result. */
  async function isOurs(): Promise<boolean> {
    return held !== undefined && held.id === (await id())
  }

  async function id(): Promise<string> {
    try {
      const { dev, ino } = await stat(path)
      return `${dev} ${ino}`
    } catch (thrown) {
      if (isMissing(thrown)) return 'none'
      throw thrown
    }
  }

  return { take, release }
}
