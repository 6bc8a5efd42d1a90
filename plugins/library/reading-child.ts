/**
 * The server's end of the reading child: asks by number and limits the time of each. The child is killed when it does
 * not answer in time, and ends by itself when it takes too much memory: what it reads may be made to hurt.
 */
import { type AppError, abortable, errors, say, startProcess } from 'archivolt'
import type { Alive, Op, Requests, Response } from './worker.ts'

/**
 * From the last sign of life on: a disk that sleeps takes seconds, a folder of many thousand files on a slow share a
 * minute, and a catalog of many gigabytes as long as it goes on.
 */
const LIMIT_MS = 5 * 60_000

const MEMORY_MB = 512

export interface ReadingChild {
  readonly pid: number | undefined
  /** @throws unavailable: the disk, or the child, does not answer; unprocessable: what was asked for cannot be read */
  ask<Name extends Op>(op: Name, args: Requests[Name]['args'], signal?: AbortSignal): Promise<Requests[Name]['result']>
  /** It has ended, or was killed because it did not answer in time. */
  isLost(): boolean
  /** Kills it, whatever it does, and resolves once it is gone; one that was lost is not waited for. */
  end(): Promise<void>
}

export function startReading({ limitMs = LIMIT_MS, memoryMb = MEMORY_MB } = {}): ReadingChild {
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (reason: unknown) => void }>()
  let count = 0
  let lost: Error | undefined
  let heardMs = performance.now()
  let tellEnded: () => void
  const ended = new Promise<void>((resolve) => (tellEnded = resolve))

  const giveUp = (reason: AppError): void => {
    lost ??= reason
    for (const { reject } of waiting.values()) reject(reason)
    waiting.clear()
  }
  const child = startProcess(
    new URL('./worker.ts', import.meta.url),
    { memoryMb },
    {
      message(message) {
        heardMs = performance.now()
        const answer = message as Response | Alive
        if ('isAlive' in answer) return
        const asked = waiting.get(answer.number)
        waiting.delete(answer.number)
        if ('error' in answer) {
          const cause = Object.assign(new Error(answer.error), { code: answer.code })
          asked?.reject(
            errors.unavailable(
              say`What lies there cannot be read (${{ code: answer.code || 'unknown error' }}): look after the disk`,
              { cause },
            ),
          )
        } else asked?.resolve(answer.result)
      },
      end(cause) {
        giveUp(errors.unprocessable('A file in this folder cannot be read: it takes too much memory', { cause }))
        tellEnded()
      },
    },
  )

  return {
    pid: child.pid,
    async ask<Name extends Op>(op: Name, args: Requests[Name]['args'], signal?: AbortSignal) {
      signal?.throwIfAborted()
      if (lost) throw errors.unavailable('Reading the files broke off; try again', { cause: lost })
      const number = ++count
      const askedMs = performance.now()
      let timer: NodeJS.Timeout
      const giveUpAfter = (ms: number): void => {
        timer = setTimeout(() => {
          const left = Math.max(askedMs, heardMs) + limitMs - performance.now()
          if (left > 0) return giveUpAfter(left)
          giveUp(errors.unavailable('The disk does not answer; try again later'))
          child.kill()
        }, ms)
      }
      giveUpAfter(limitMs)
      try {
        return await abortable<Requests[Name]['result']>(signal, (resolve, reject) => {
          waiting.set(number, { resolve: resolve as (result: unknown) => void, reject })
          child.send({ number, op, args })
        })
      } finally {
        clearTimeout(timer!)
        waiting.delete(number)
      }
    },
    isLost: () => lost !== undefined,
    end() {
      child.kill()
      return lost ? Promise.resolve() : ended
    },
  }
}
