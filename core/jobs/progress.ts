/** Writes the progress of a job to its row, no more often than people can read it. */
import type { Clock, Timer } from '../base/clock.ts'
import { changed, type Words } from '../base/say.ts'

const SHORTEST_PAUSE_MS = 400
const MOST_MESSAGES = 10
const LONGEST_MESSAGE = 500

export type Progress = ReturnType<typeof openProgress>

/** Writes the first report at once, then at most one per pause; the last one always, unless the job ends first. */
export function openProgress(clock: Clock, write: (messages: readonly Words[], fraction: number) => void) {
  let latest: { messages: readonly Words[]; fraction: number } = { messages: [], fraction: 0 }
  let isUnwritten = false
  let pause: Timer | undefined
  let isClosed = false

  const writeLatest = () => {
    isUnwritten = false
    pause = clock.after(SHORTEST_PAUSE_MS, () => {
      pause = undefined
      if (isUnwritten) writeLatest()
    })
    write(latest.messages, latest.fraction)
  }

  return {
    report(fraction: number, messages: readonly Words[]): void {
      if (isClosed) return
      latest = {
        fraction: Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0,
        messages:
          messages.length > 0
            ? messages.slice(0, MOST_MESSAGES).map((words) => changed(words, (text) => text.slice(0, LONGEST_MESSAGE)))
            : latest.messages,
      }
      isUnwritten = true
      if (!pause) writeLatest()
    },
    /** Drops unwritten and later reports. */
    close(): void {
      isClosed = true
      pause?.cancel()
    },
  }
}
