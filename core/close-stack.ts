/** Remembers what was opened, and closes it in reverse order. */
import type { Log } from './log.ts'

interface Part {
  close(): unknown
}

/** If one part fails to close, the others are closed nevertheless. */
export class CloseStack {
  readonly #parts: Part[] = []
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  add<Opened extends Part>(part: Opened): Opened {
    this.#parts.push(part)
    return part
  }

  async close(): Promise<void> {
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      try {
        await part.close()
      } catch (error) {
        this.#log.error({ err: error }, 'a part could not be closed')
      }
    }
  }
}
