/** Closed for subtitles alone, where the platform refuses those: everything else goes on. */
import type { Clock, Log } from 'archivolt'

const MINUTE_MS = 60_000
/** After the first refusal, the second, and each further one in a row. */
const SUBTITLE_PAUSE_MINUTES = [15, 60, 240]

export class SubtitleClosure {
  #clock: Clock
  #log: Log
  /** By the steady clock. */
  #untilMs = Number.NEGATIVE_INFINITY
  /** How often in a row they were refused. */
  #refusals = 0

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  get isClosed(): boolean {
    return this.#clock.steady() < this.#untilMs
  }

  /** What came of asking for some. */
  hear(areRefused: boolean): void {
    if (this.isClosed) return // it was under way: no news
    if (!areRefused) {
      this.#refusals = 0
      return
    }
    const minutes = SUBTITLE_PAUSE_MINUTES[Math.min(this.#refusals++, SUBTITLE_PAUSE_MINUTES.length - 1)]!
    this.#untilMs = this.#clock.steady() + minutes * MINUTE_MS
    this.#log.warn({ minutes }, 'subtitles are refused, and asked for again later')
  }

  /** Resolves when they are asked for again. @throws the signal's reason */
  async open(signal: AbortSignal): Promise<void> {
    while (this.isClosed) await this.#clock.sleep(this.#untilMs - this.#clock.steady(), signal)
  }
}
