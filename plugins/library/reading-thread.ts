/** The event loop's end of the reading thread: asks by number, a time limit for each, ended where a disk hangs. */
import { abortable, errors, say, startWorker } from 'archivolt'
import type { Alive, Op, Requests, Response } from './worker.ts'

/**
 * From the last sign of life on: a disk that sleeps takes seconds, a folder of many thousand files on a slow share a
 * minute, and a catalog of many gigabytes as long as it goes on.
 */
const LIMIT_MS = 5 * 60_000

const MEMORY_MB = 512

export interface ReadingThread {
  /** @throws unavailable: the disk, or the thread, does not answer; unprocessable: what was asked for cannot be read */
  ask<Name extends Op>(op: Name, args: Requests[Name]['args'], signal?: AbortSignal): Promise<Requests[Name]['result']>
  /** It has ended by itself, as a file took too much memory. */
  isLost(): boolean
  end(): Promise<void>
}

export function startReading({ limitMs = LIMIT_MS, memoryMb = MEMORY_MB } = {}): ReadingThread {
  const worker = startWorker(new URL('./worker.ts', import.meta.url), {
    name: 'reading',
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 3, stackSizeMb: 4 },
  })
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (reason: unknown) => void }>()
  let count = 0
  let lost: Error | undefined
  let heardMs = performance.now()

  worker.on('message', (answer: Response | Alive) => {
    heardMs = performance.now()
    if ('isAlive' in answer) return
    const asked = waiting.get(answer.number)
    waiting.delete(answer.number)
    if ('error' in answer) {
      const cause = Object.assign(new Error(answer.error), { code: answer.code })
      asked?.reject(
        errors.unavailable(
          say`What lies there cannot be read (${{ code: answer.code || 'unknown error' }}): look after the disk`,
          {
            cause,
          },
        ),
      )
    } else asked?.resolve(answer.result)
  })
  const giveUp = (cause: Error) => {
    lost ??= cause
    for (const { reject } of waiting.values())
      reject(errors.unprocessable('A file in this folder cannot be read: it takes too much memory', { cause }))
    waiting.clear()
  }
  worker.on('error', giveUp)
  worker.on('exit', () => giveUp(new Error('the reading thread has ended')))

  return {
    async ask<Name extends Op>(op: Name, args: Requests[Name]['args'], signal?: AbortSignal) {
      signal?.throwIfAborted()
      if (lost) throw errors.unavailable('Reading the files broke off; try again', { cause: lost })
      const number = ++count
      const limit = new AbortController()
      const askedMs = performance.now()
      let timer: NodeJS.Timeout
      const giveUpAfter = (ms: number): void => {
        timer = setTimeout(() => {
          const left = Math.max(askedMs, heardMs) + limitMs - performance.now()
          if (left > 0) giveUpAfter(left)
          else limit.abort()
        }, ms)
      }
      giveUpAfter(limitMs)
      try {
        return await abortable<Requests[Name]['result']>(
          signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
          (resolve, reject) => {
            waiting.set(number, { resolve: resolve as (result: unknown) => void, reject })
            worker.postMessage({ number, op, args })
          },
        )
      } catch (thrown) {
        if (limit.signal.aborted)
          throw errors.unavailable('The disk does not answer; try again later', { cause: thrown })
        throw thrown
      } finally {
        clearTimeout(timer!)
        waiting.delete(number)
      }
    },
    isLost: () => lost !== undefined,
    async end() {
      await worker.terminate()
    },
  }
}
