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

export type LastingLink = ReturnType<typeof openLastingLink>

export function openLastingLink({ opening, log, onDamage, onFull }: LastingLinkOptions) {
  let current = start()
  let restarts = 0
  /** Before, whoever starts the server hears that the worker has ended. */
  let isReady = false
  let isClosing = false

  function ready(): void {
    isReady = true
  }

  async function close(): Promise<void> {
    isClosing = true
    await current.close()
  }

  function start(): Link {
    const link = openLink(lost)
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

  function lost(error: Error): void {
    if (isClosing || !isReady) return
    const isOver = ++restarts > MOST_RESTARTS
    log.error(
      { err: error },
      `the index worker has ended; ${isOver ? 'the server must be started again' : 'starting another'}`,
    )
    if (isOver) return
    current = start()
    current
      .call('open', opening)
      .catch((failure: unknown) => log.error({ err: failure }, 'the index cannot be opened again'))
  }

  return {
    ready,
    close,
    /** The link to the worker of now: asked for anew after every await. */
    get current() {
      return current
    },
    get isClosing() {
      return isClosing
    },
  }
}
