/** Reads files one at a time, in a separate process with the lowest priority, so that a hanging disk blocks nothing else. */
import { abortable, startProcess } from 'archivolt'
import type { Answer, Asked } from './worker.ts'

const MEMORY_MB = 64
/** Time limit without progress; a disk that spins up takes about ten seconds. */
const QUIET_MS = 120_000

export type Sum = Exclude<Answer, { readBytes: number }>

export type Reader = ReturnType<typeof openReader>

export function openReader() {
  let process: ReturnType<typeof startProcess> | undefined
  let hear: ((answer: Answer) => void) | undefined

  /** Ends the process, which frees its memory. */
  function end(): void {
    process?.kill()
    process = undefined
  }

  function running() {
    if (process) return process
    const started = startProcess(
      new URL('./worker.ts', import.meta.url),
      { memoryMb: MEMORY_MB, isBehind: true },
      {
        // A process that was ended may hang in a read for a while, so its late messages do not concern a later file.
        message(answer) {
          if (process === started) hear?.(answer as Answer)
        },
        end() {
          if (process !== started) return
          process = undefined
          hear?.({ code: 'EIO' })
        },
      },
    )
    return (process = started)
  }

  return {
    /**
     * @param bytesPerSecond  0: as fast as possible
     * @returns its checksum, or why it cannot be read
     * @throws the signal's reason
     */
    async read(
      path: string,
      { bytesPerSecond, signal }: { bytesPerSecond: number; signal: AbortSignal },
    ): Promise<Sum> {
      let timer: NodeJS.Timeout | undefined
      try {
        return await abortable<Sum>(signal, (resolve) => {
          const wait = () => {
            clearTimeout(timer)
            timer = setTimeout(() => resolve({ code: 'ETIMEDOUT' }), QUIET_MS)
          }
          hear = (answer) => {
            if (!('readBytes' in answer)) return resolve(answer)
            wait()
          }
          wait()
          running().send({ path, bytesPerSecond } satisfies Asked)
        }).then((sum) => {
          if ('code' in sum && sum.code === 'ETIMEDOUT') end()
          return sum
        })
      } catch (thrown) {
        end()
        throw thrown
      } finally {
        hear = undefined
        clearTimeout(timer)
      }
    },
    end,
  }
}
