/**
 * Runs a plugin's work on untrusted input in a separate process. Unlike a thread, it can be killed at any moment and
 * uses none of the server's memory. It receives none of the server's settings.
 */
import { startChild } from '../../core/base/child.ts'
import { giveWay } from '../../core/base/give-way.ts'
import { rssBytesOf } from './process-memory.ts'
import { bundledCode, isBundled } from './worker.ts'

const CHECK_EVERY_MS = 250
const MOST_COMPLAINT = 2000

export interface OwnProcess {
  readonly pid: number | undefined
  send(message: object): void
  /** Kills the process at once; files that it wrote stay. */
  kill(): void
}

/**
 * @param entry  `new URL('./worker.ts', import.meta.url)`, which listens to `process.on('message')` and replies with
 * `process.send`; the process ends when it stops listening
 * @param on.end  called once with the reason why the process ended, such as exceeding its memory limit
 */
export function startProcess(
  entry: URL,
  { memoryMb, isBehind = false }: { memoryMb: number; isBehind?: boolean },
  on: { message(message: unknown): void; end(reason: Error): void },
): OwnProcess {
  const isFile = isBundled(entry)
  const heap = [`--max-old-space-size=${memoryMb}`, '--max-semi-space-size=1']
  const child = startChild(process.execPath, [...heap, isFile ? bundledCode(entry) : '-'], {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // A process that runs out of memory may write a core dump to its working folder.
    cwd: '/',
  })
  giveWay(child, isBehind)
  child.stdin!.on('error', () => undefined) // the process has ended, which `end` reports
  child.stdin!.end(isFile ? '' : bundledCode(entry))
  let complaint = ''
  let isTooLarge = false
  child.stderr!.on('data', (piece: Buffer) => {
    if (complaint.length < MOST_COMPLAINT) complaint += piece.toString()
  })
  // The heap limit does not cover all memory of the process.
  const check = setInterval(async () => {
    const bytes = await rssBytesOf(child.pid)
    if (bytes === undefined || bytes <= memoryMb * 1.5 * (1 << 20)) return
    isTooLarge = true
    child.kill('SIGKILL')
  }, CHECK_EVERY_MS)
  let isEnded = false
  const end = (reason: Error) => {
    clearInterval(check)
    if (isEnded) return
    isEnded = true
    on.end(reason)
  }
  child.on('message', (message) => on.message(message))
  child.on('error', end)
  child.once('close', (code, signal) =>
    end(new Error(isTooLarge ? 'it took too much memory' : `it ended with ${signal ?? code}: ${complaint}`)),
  )
  return {
    pid: child.pid,
    send: (message) => void child.send(message, () => undefined),
    kill: () => void child.kill('SIGKILL'),
  }
}
