/**
 * A process of a plugin's own, for what anybody may have written: unlike a thread it can be ended whatever it does, and
 * takes no memory of the server's. It knows none of the server's settings.
 */
import { startChild } from './child.ts'
import { giveWay } from './give-way.ts'
import { rssBytesOf } from './process-memory.ts'
import { bundledCode, isBundled } from './worker.ts'

const LOOK_EVERY_MS = 250
const MOST_COMPLAINT = 2000

export interface OwnProcess {
  readonly pid: number | undefined
  send(message: object): void
  /** Ends it at once; what it wrote stays. */
  kill(): void
}

/**
 * @param entry  `new URL('./worker.ts', import.meta.url)`, which hears `process.on('message')` and answers by
 *        `process.send`; it ends once nobody hears it any more
 * @param on.end  once, with the reason: its own, or that it took more memory than it may
 */
export function startProcess(
  entry: URL,
  { memoryMb }: { memoryMb: number },
  on: { message(message: unknown): void; end(reason: Error): void },
): OwnProcess {
  const isFile = isBundled(entry)
  const heap = [`--max-old-space-size=${memoryMb}`, '--max-semi-space-size=1']
  const child = startChild(process.execPath, [...heap, isFile ? bundledCode(entry) : '-'], {
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // One that has run out of memory may leave its picture where it stands.
    cwd: '/',
  })
  giveWay(child)
  child.stdin!.on('error', () => undefined) // it has ended: `end` tells
  child.stdin!.end(isFile ? '' : bundledCode(entry))
  let complaint = ''
  let isTooLarge = false
  child.stderr!.on('data', (piece: Buffer) => {
    if (complaint.length < MOST_COMPLAINT) complaint += piece.toString()
  })
  // Its heap is not all that it takes.
  const look = setInterval(async () => {
    const bytes = await rssBytesOf(child.pid)
    if (bytes === undefined || bytes <= memoryMb * 1.5 * (1 << 20)) return
    isTooLarge = true
    child.kill('SIGKILL')
  }, LOOK_EVERY_MS)
  let isEnded = false
  const end = (reason: Error) => {
    clearInterval(look)
    if (isEnded) return
    isEnded = true
    on.end(reason)
  }
  child.on('message', (message) => on.message(message))
  child.on('error', end)
  child.once('exit', (code, signal) =>
    end(new Error(isTooLarge ? 'it took too much memory' : `it ended with ${signal ?? code}: ${complaint}`)),
  )
  return {
    pid: child.pid,
    send: (message) => void child.send(message, () => undefined),
    kill: () => void child.kill('SIGKILL'),
  }
}
