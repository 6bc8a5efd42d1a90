/** Checks whether the library is available: before each ask, and each minute while it is unavailable. */
import { type Clock, epochSeconds, inEnglish, type Log, type Timer, type Words } from 'archivolt'

const POLL_MS = 60_000

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
  /** Why the library is unavailable, for people; undefined: it is available. */
  absence: () => Promise<Words | undefined>
  onBack: () => void
}

export function openLibraryWatch({ clock, log, absence, onBack }: LibraryWatchParts) {
  let away: Away | undefined
  let timer: Timer | undefined
  let isEnded = false

  /** @returns whether the library is available */
  async function poll(): Promise<boolean> {
    const reason = await absence()
    if (isEnded) return reason === undefined
    const before = away
    timer?.cancel()
    if (reason === undefined) {
      away = undefined
      if (before) {
        log.info('the library is available again')
        onBack()
      }
      return true
    }
    if (before === undefined || inEnglish(before.reason) !== inEnglish(reason))
      log.warn({ reason: inEnglish(reason) }, 'the platform gate is closed')
    away = {
      reason,
      since: before?.since ?? epochSeconds(clock),
      nextAttemptMs: clock.steady() + POLL_MS,
    }
    timer = clock.after(POLL_MS, () => {
      poll().catch((error: unknown) => log.error({ err: error }, 'the check of the library has failed'))
    })
    return false
  }

  function end(): void {
    isEnded = true
    timer?.cancel()
  }

  return { away: () => away, poll, end }
}
