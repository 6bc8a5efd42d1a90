/** Closed for subtitles alone, where the platform refuses those: everything else goes on. */
import type { Clock, Log } from 'archivolt'

const MINUTE_MS = 60_000
/** After the first refusal, the second, and each further one in a row. */
const SUBTITLE_PAUSE_MINUTES = [15, 60, 240]

export type SubtitleClosure = ReturnType<typeof openSubtitleClosure>

export function openSubtitleClosure(clock: Clock, log: Log) {
  /** By the steady clock. */
  let untilMs = Number.NEGATIVE_INFINITY
  /** How often in a row they were refused. */
  let refusals = 0

  const isClosed = () => clock.steady() < untilMs

  /** What came of asking for some. */
  function hear(areRefused: boolean): void {
    if (isClosed()) return // it was under way: no news
    if (!areRefused) {
      refusals = 0
      return
    }
    const minutes = SUBTITLE_PAUSE_MINUTES[Math.min(refusals++, SUBTITLE_PAUSE_MINUTES.length - 1)]!
    untilMs = clock.steady() + minutes * MINUTE_MS
    log.warn({ minutes }, 'subtitles are refused, and asked for again later')
  }

  /** Resolves when they are asked for again. @throws the signal's reason */
  async function open(signal: AbortSignal): Promise<void> {
    while (isClosed()) await clock.sleep(untilMs - clock.steady(), signal)
  }

  return { isClosed, hear, open }
}
