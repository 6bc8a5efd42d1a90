/**
 * One server per library: a lock in its folder, held by this process while the library is there. A copy of the data
 * folder has the same mark, so the mark alone does not tell two servers apart.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type FolderLock, holdFile, LockError, type Log } from 'archivolt'
import { isMissing } from './files.ts'

const NAME = '.archivolt-lock'
/** As for other files of the library: less those of the umask. */
const MODE = 0o666

type Outcome = 'held' | 'taken'

export class LibraryLock {
  readonly #path: string
  readonly #log: Pick<Log, 'warn'>
  #held: { lock: FolderLock | undefined; id: string } | undefined

  constructor(folder: string, log: Pick<Log, 'warn'>) {
    this.#path = join(folder, NAME)
    this.#log = log
  }

  /** Once per disk: another one in its place has no lock of ours yet. Where no lock can be had, it goes on without. */
  async take(): Promise<Outcome> {
    if (this.#held && this.#held.id === (await this.#id())) return 'held'
    try {
      const lock = holdFile(this.#path, MODE)
      this.release()
      this.#held = { lock, id: await this.#id() }
    } catch (err) {
      if (err instanceof LockError && err.refusal === 'taken') return (await this.#isOurs()) ? 'held' : 'taken'
      this.#log.warn({ err }, 'the library gives no lock: a second server that uses it is not noticed')
      this.#held = { lock: undefined, id: await this.#id() }
    }
    return 'held'
  }

  release(): void {
    this.#held?.lock?.release()
    this.#held = undefined
  }

  /** Two that ask at once: the first one has it. */
  async #isOurs(): Promise<boolean> {
    return this.#held !== undefined && this.#held.id === (await this.#id())
  }

  async #id(): Promise<string> {
    try {
      const { dev, ino } = await stat(this.#path)
      return `${dev} ${ino}`
    } catch (thrown) {
      if (isMissing(thrown)) return 'none'
      throw thrown
    }
  }
}
