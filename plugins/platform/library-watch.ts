/** Whether the library, where all files go, is there: looked for before each ask, and each minute while it is away. */
import { type Clock, epochSeconds, inEnglish, type Log, type Timer, type Words } from 'archivolt'

const LOOK_AGAIN_MS = 60_000

interface Away {
  /** For people. */
  readonly reason: Words
  /** Epoch seconds. */
  readonly since: number
  /** By the steady clock. */
  readonly nextAttemptMs: number
}

interface LibraryWatchParts {
  clock: Clock
  log: Log
  /** Why the library is not there, for people; undefined: it is. */
  absence: () => Promise<Words | undefined>
  onBack: () => void
}

export class LibraryWatch {
  #parts: LibraryWatchParts
  #away: Away | undefined
  #timer: Timer | undefined
  #isEnded = false

  constructor(parts: LibraryWatchParts) {
    this.#parts = parts
  }

  get away(): Away | undefined {
    return this.#away
  }

  /** @returns whether it is away */
  async look(): Promise<boolean> {
    const { clock, log, absence, onBack } = this.#parts
    const reason = await absence()
    if (this.#isEnded) return reason !== undefined
    const before = this.#away
    this.#timer?.cancel()
    if (reason === undefined) {
      this.#away = undefined
      if (before) {
        log.info('the library is there again')
        onBack()
      }
      return false
    }
    if (before === undefined || inEnglish(before.reason) !== inEnglish(reason))
      log.warn({ reason: inEnglish(reason) }, 'the platform gate is closed')
    this.#away = {
      reason,
      since: before?.since ?? epochSeconds(clock),
      nextAttemptMs: clock.steady() + LOOK_AGAIN_MS,
    }
    this.#timer = clock.after(LOOK_AGAIN_MS, () => {
      this.look().catch((error: unknown) => log.error({ err: error }, 'the library could not be looked for'))
    })
    return true
  }

  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
  }
}
