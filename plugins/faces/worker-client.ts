/** The main thread's side of the worker for disks: starts it with the first request, and ends it with the run. */
import { abortable, errors, say, startWorker, type Words } from 'archivolt'
import type { Requests } from './worker.ts'

const WORKER = new URL('./worker.ts', import.meta.url)

export type Hand = ReturnType<typeof openHand>

interface Answer {
  number: number
  result?: unknown
  code?: string
  error?: string
}

/** Faults of the disk as a whole, by error code. */
const ENDS_ALL: Record<string, Words> = {
  ENOSPC: say`The disk is full`,
  EDQUOT: say`The disk is full`,
  EROFS: say`The disk is read-only`,
  ETIMEDOUT: say`The disk is not responding`,
  EIO: say`The disk is not responding`,
  ENODEV: say`The disk is not responding`,
  ENOTCONN: say`The disk is not responding`,
  ESTALE: say`The disk is not responding`,
}

/** The fault of the disk as a whole; undefined: the failure concerns only one file. */
export const endsAll = (code: string): Words | undefined => ENDS_ALL[code]

export const diskFault = (code: string): Words =>
  endsAll(code) ??
  say`The disk of the folder for media servers cannot be read or written (${{ code: code || 'unknown error' }}): check the disk and the permissions of its folders`

export function openHand(signal: AbortSignal) {
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (reason: unknown) => void }>()
  let count = 0
  let worker: ReturnType<typeof startWorker> | undefined

  function started() {
    if (worker) return worker
    worker = startWorker(WORKER, { name: 'faces' })
    worker.on('message', ({ number, result, code = '', error }: Answer) => {
      const asked = waiting.get(number)
      waiting.delete(number)
      if (error === undefined) asked?.resolve(result)
      else asked?.reject(errors.unavailable(diskFault(code), { cause: Object.assign(new Error(error), { code }) }))
    })
    worker.on('error', (cause) => {
      for (const { reject } of waiting.values()) reject(errors.unavailable(diskFault(''), { cause }))
      waiting.clear()
    })
    return worker
  }

  return {
    /** @throws unavailable: the disk failed; or the reason of `signal`, even if the disk hangs */
    ask: <Name extends keyof Requests>(op: Name, args: Requests[Name]['args']) =>
      abortable<Requests[Name]['result']>(signal, (resolve, reject) => {
        const number = ++count
        waiting.set(number, { resolve: resolve as (result: unknown) => void, reject })
        started().postMessage({ number, op, args })
        return () => void waiting.delete(number)
      }),
    async end(): Promise<void> {
      await worker?.terminate()
    },
  }
}
