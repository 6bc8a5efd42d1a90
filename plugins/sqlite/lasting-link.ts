/** A lasting link to the index worker: starts a new worker when the current one ends by itself. */
import type { Log } from 'archivolt'
import { isDiskFull } from 'archivolt/index'
import { DamagedError, type Link, openLink } from './link.ts'
import { type Arguments, RULES } from './protocol.ts'

interface LastingLinkOptions {
  /** The first request to each worker. */
  opening: Arguments<'open'>
  log: Log
  onDamage: (error: DamagedError) => void
  /** Called when the disk is full. @returns true if space was freed: try once more */
  onFull?: (() => boolean) | undefined
}

const MOST_RESTARTS = 5

export type LastingLink = ReturnType<typeof openLastingLink>

export function openLastingLink({ opening, log, onDamage, onFull }: LastingLinkOptions) {
  let current = start()
  let restarts = 0
  /** false: the end of the worker fails the start. */
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
    /** The link to the current worker: read it again after every await. */
    get current() {
      return current
    },
    get isClosing() {
      return isClosing
    },
  }
}
