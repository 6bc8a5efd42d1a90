/** A closure for subtitles only: while the platform refuses them, everything else continues. */
import type { Clock, Log } from 'archivolt'

const MINUTE_MS = 60_000
/** Pauses after the first, the second and each further refusal in a row. */
const SUBTITLE_PAUSE_MINUTES = [15, 60, 240]

export function openSubtitleClosure(clock: Clock, log: Log) {
  /** By the steady clock. */
  let untilMs = Number.NEGATIVE_INFINITY
  /** Number of refusals in a row. */
  let refusals = 0

  const isClosed = () => clock.steady() < untilMs

  /** Reports the outcome of a request for subtitles. */
  function hear(areRefused: boolean): void {
    if (isClosed()) return // it was already running: no new information
    if (!areRefused) {
      refusals = 0
      return
    }
    const minutes = SUBTITLE_PAUSE_MINUTES[Math.min(refusals++, SUBTITLE_PAUSE_MINUTES.length - 1)]!
    untilMs = clock.steady() + minutes * MINUTE_MS
    log.warn({ minutes }, 'subtitles are refused; they are requested again later')
  }

  /** Resolves when subtitles may be requested again. @throws the signal's reason */
  async function open(signal: AbortSignal): Promise<void> {
    while (isClosed()) await clock.sleep(untilMs - clock.steady(), signal)
  }

  return { isClosed, hear, open }
}
