/** The link to the index worker that lasts: where the worker ends by itself, another one takes its place. */
import type { Log } from 'archivolt'
import { isDiskFull } from 'archivolt/index'
import { DamagedError, type Link, openLink } from './link.ts'
import { type Arguments, RULES } from './protocol.ts'

interface LastingLinkOptions {
  /** What each worker is told first. */
  opening: Arguments<'open'>
  log: Log
  onDamage: (error: DamagedError) => void
  /** Called when the disk takes nothing more. @returns true: it does again, try once more */
  onFull?: (() => boolean) | undefined
}

const MOST_RESTARTS = 5

export class LastingLink {
  readonly #of: LastingLinkOptions
  #link: Link
  #restarts = 0
  /** Before, whoever starts the server hears that the worker has ended. */
  #isReady = false
  #isClosing = false

  constructor(options: LastingLinkOptions) {
    this.#of = options
    this.#link = this.#start()
  }

  /** The link to the worker of now: asked for anew after every await. */
  get current(): Link {
    return this.#link
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  ready(): void {
    this.#isReady = true
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#link.close()
  }

  #start(): Link {
    const link = openLink((error) => this.#lost(error))
    const { onDamage, onFull } = this.#of
    return {
      close: () => link.close(),
      async call(op, args, callOptions) {
        try {
          return await link.call(op, args, callOptions)
        } catch (error) {
          if (error instanceof DamagedError) onDamage(error)
          if (isDiskFull(error) && 'isRepeatable' in RULES[op] && onFull?.()) return link.call(op, args, callOptions)
          throw error
        }
      },
    }
  }

  #lost(error: Error): void {
    if (this.#isClosing || !this.#isReady) return
    const { opening, log } = this.#of
    const isOver = ++this.#restarts > MOST_RESTARTS
    log.error(
      { err: error },
      `the index worker has ended; ${isOver ? 'the server must be started again' : 'starting another'}`,
    )
    if (isOver) return
    this.#link = this.#start()
    this.#link
      .call('open', opening)
      .catch((failure: unknown) => log.error({ err: failure }, 'the index cannot be opened again'))
  }
}
