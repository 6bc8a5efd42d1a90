/**
 * The main thread's end of the index worker: requests by number, answers, progress, cancelling, and what its failures
 * mean.
 */
import { AppError, errors } from 'archivolt'
import { isDiskFull } from 'archivolt/index'
import type { Arguments, Failure, Operation, Request, Response, Result } from './protocol.ts'
import { giveBackThread, takeThread } from './threads.ts'

export interface CallOptions {
  signal?: AbortSignal | undefined
  progress?: ((done: number, total: number) => void) | undefined
}

export interface Link {
  call<Op extends Operation>(op: Op, args: Arguments<Op>, options?: CallOptions): Promise<Result<Op>>
  /** Ends the worker, after what it has been given. */
  close(): Promise<void>
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: unknown): void
  progress: CallOptions['progress']
}

/**
 * @param onLost  called when the worker has ended by itself: what waited for it has been refused, a new one may be
 * started
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

  /** What is asked for together, such as the groups of a search, goes in one message. */
  function send(request: Request): void {
    if (unsent.push(request) === 1) queueMicrotask(() => post(unsent.splice(0)))
  }

  function post(requests: Request[]): void {
    try {
      worker.postMessage(requests)
    } catch (error) {
      // Something in it cannot be handed to a thread: whoever asked for that is told, the others are not concerned.
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

  // Who has waited works on the answer at once: one in a turn of the loop, or those of many searches would be one long
  // turn.
  const onMessage = (responses: Response[]) => {
    if (answers.push(responses) === 1) setImmediate(next)
  }
  const onError = (error: Error) => void (cause = error)
  const onExit = () => {
    isEnded = true
    for (const answer of answers.splice(0).flat()) take(answer)
    const error = cause ?? new Error('The index worker has ended')
    for (const asked of waiting.values())
      asked.reject(errors.unavailable('The archive is starting again', { cause: error, retryAfterSeconds: 5 }))
    waiting.clear()
    if (!isClosing) onLost(error)
  }
  worker.on('message', onMessage).on('error', onError).on('exit', onExit)

  /** An abort only asks the worker to stop: the wait ends with its answer, when nothing is being written any more. */
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
          // The operation's name tells the type of its result; the message does not.
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
      await giveBackThread(worker)
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

/** The file is malformed: moved aside at the next start. */
export class DamagedError extends AppError {
  constructor(cause: unknown) {
    super('unavailable', 'The index file is damaged', { cause })
  }
}
