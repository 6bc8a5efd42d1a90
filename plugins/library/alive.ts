/** Signs of life of the reading thread: what takes long and goes on is told from a disk that hangs. */
import { parentPort } from 'node:worker_threads'

const EVERY_MS = 500
let toldMs = 0

/** To be called by what reads on, however often. */
export function tellAlive(): void {
  const now = performance.now()
  if (now - toldMs < EVERY_MS) return
  toldMs = now
  parentPort?.postMessage({ isAlive: true })
}
