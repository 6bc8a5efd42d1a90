/**
 * The main thread's side of the index worker: numbered requests, answers, progress, cancelling, and conversion of
 * errors.
 */
import { AppError, errors } from 'archivolt'
import { isDiskFull } from 'archivolt/index'
import type { Arguments, Failure, Operation, Request, Response, Result } from './protocol.ts'
import { releaseThread, takeThread } from './threads.ts'

export interface CallOptions {
  signal?: AbortSignal | undefined
  progress?: ((done: number, total: number) => void) | undefined
}

export interface Link {
  call<Op extends Operation>(op: Op, args: Arguments<Op>, options?: CallOptions): Promise<Result<Op>>
  /** Ends the worker after all pending requests. */
  close(): Promise<void>
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: unknown): void
  progress: CallOptions['progress']
}

/**
 * @param onLost  called when the worker has ended by itself: pending requests have been rejected, and a new worker may
 * be started
 */
export function openLink(onLost: (error: Error) => void): Link {
  const worker = takeThread()
  const waiting = new Map<number, Waiting>()
  let last = 0
  let isClosing = false
  let isEnded = false
  let cause: Error | undefined

  const answers: Response[][] = []
  const unsent: Request[] = []

  /** Sends requests of the same tick, such as the groups of a search, in one message. */
  function send(request: Request): void {
    if (unsent.push(request) === 1) queueMicrotask(() => post(unsent.splice(0)))
  }

  function post(requests: Request[]): void {
    try {
      worker.postMessage(requests)
    } catch (error) {
      // One request cannot be cloned: it is rejected, and the others are sent one by one.
      const [only, ...others] = requests
      if (others.length > 0) for (const request of requests) post([request])
      else if (only && 'op' in only) fail(only.id, error)
    }
  }

  function next(): void {
    answers.shift()?.forEach(take)
    if (answers.length > 0) setImmediate(next)
  }

  function take(response: Response): void {
    const asked = waiting.get(response.id)
    if (!asked) return
    if ('done' in response) return asked.progress?.(response.done, response.total)
    waiting.delete(response.id)
    if ('failure' in response) asked.reject(toError(response.failure))
    else asked.resolve(response.result)
  }

  function fail(id: number, error: unknown): void {
    const asked = waiting.get(id)
    waiting.delete(id)
    asked?.reject(error)
  }

  // Callers process an answer immediately: deliver one per turn of the event loop, so that many answers do not block
  // it.
  const onMessage = (responses: Response[]) => {
    if (answers.push(responses) === 1) setImmediate(next)
  }
  const onError = (error: Error) => void (cause = error)
  const onExit = () => {
    isEnded = true
    for (const answer of answers.splice(0).flat()) take(answer)
    const error = cause ?? new Error('The index worker has ended')
    for (const asked of waiting.values())
      asked.reject(errors.unavailable('The archive is restarting', { cause: error, retryAfterSeconds: 5 }))
    waiting.clear()
    if (!isClosing) onLost(error)
  }
  worker.on('message', onMessage).on('error', onError).on('exit', onExit)

  /**
   * On an abort, asks the worker to stop; the promise settles with the worker's answer, when no write is running any
   * more.
   */
  const call: Link['call'] = (op, args, { signal, progress } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (isEnded || isClosing !== (op === 'close')) return reject(errors.unavailable('The archive is closing'))
      const id = ++last
      const onAbort = () => send({ abort: id })
      const settle = () => signal?.removeEventListener('abort', onAbort)
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.set(id, {
        progress,
        resolve(result) {
          settle()
          // The type of the result follows from the operation's name.
          resolve(result as never)
        },
        reject(error) {
          settle()
          reject(signal?.aborted ? signal.reason : error)
        },
      })
      send({ id, op, args } as Request)
    })

  return {
    call,
    async close() {
      if (isEnded || isClosing) return
      isClosing = true
      await call('close', null)
      isEnded = true
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      await releaseThread(worker)
    },
  }
}

function toError({ code, message, stack }: Failure): Error {
  const cause = Object.assign(new Error(message), { stack, code })
  if (code === 'unprocessable') return errors.unprocessable(message, { cause })
  if (code === 'conflict') return errors.conflict(message, { cause })
  if (isDiskFull(cause)) return errors.unavailable('The disk is full: the index cannot be written', { cause })
  if (code?.startsWith('SQLITE_IOERR') || code === 'SQLITE_READONLY' || code === 'SQLITE_BUSY') {
    return errors.unavailable('The index file cannot be read or written', { cause })
  }
  if (code === 'damaged') return new DamagedError(cause)
  return cause
}

/** The file is damaged; the next start moves it aside. */
export class DamagedError extends AppError {
  constructor(cause: unknown) {
    super('unavailable', 'The index file is damaged', { cause })
  }
}
