/**
 * The server's side of the reading child. Each request has a number and a time limit, after which the child is killed.
 * A child that needs too much memory crashes, because files may be malicious.
 */
import { type AppError, abortable, errors, say, startProcess } from 'archivolt'
import type { Alive, Requests, Response } from './serve.ts'

/**
 * Time limit since the last sign of life: a sleeping disk takes seconds, a folder with thousands of files on a slow
 * share a minute, and a catalog of many gigabytes far longer.
 */
const LIMIT_MS = 5 * 60_000

const MEMORY_MB = 512

type ArgsOf<Asked, Name extends keyof Asked> = Asked[Name] extends { args: infer Args } ? Args : never
type ResultOf<Asked, Name extends keyof Asked> = Asked[Name] extends { result: infer Result } ? Result : never

/** @typeParam Asked  the requests that its worker answers */
export interface ReadingChild<Asked extends Requests = Requests> {
  readonly pid: number | undefined
  /** @throws unavailable: the disk or the child does not respond; unprocessable: the file cannot be read */
  ask<Name extends keyof Asked & string>(
    op: Name,
    args: ArgsOf<Asked, Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Asked, Name>>
  /** Whether the child has ended, or was killed for not responding in time. */
  isLost(): boolean
  /** Kills the child and resolves once it has ended; does not wait for a child that was lost. */
  end(): Promise<void>
}

export interface ReadingLimits {
  limitMs?: number
  memoryMb?: number
}

/** @param worker  `new URL('./worker.ts', import.meta.url)`, which calls `serve` */
export function startReading<Asked extends Requests = Requests>(
  worker: URL,
  { limitMs = LIMIT_MS, memoryMb = MEMORY_MB }: ReadingLimits = {},
): ReadingChild<Asked> {
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
    worker,
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
              say`The folder cannot be read (${{ code: answer.code || 'unknown error' }}): check the disk`,
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
    async ask<Name extends keyof Asked & string>(op: Name, args: ArgsOf<Asked, Name>, signal?: AbortSignal) {
      signal?.throwIfAborted()
      if (lost) throw errors.unavailable('Reading the files was interrupted; try again', { cause: lost })
      const number = ++count
      const askedMs = performance.now()
      let timer: NodeJS.Timeout
      const giveUpAfter = (ms: number): void => {
        timer = setTimeout(() => {
          const left = Math.max(askedMs, heardMs) + limitMs - performance.now()
          if (left > 0) return giveUpAfter(left)
          giveUp(errors.unavailable('The disk is not responding; try again later'))
          child.kill()
        }, ms)
      }
      giveUpAfter(limitMs)
      try {
        return await abortable<ResultOf<Asked, Name>>(signal, (resolve, reject) => {
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
