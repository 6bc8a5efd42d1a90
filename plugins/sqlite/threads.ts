/**
 * Threads for index workers: each ends with its index. Whoever opens one index after another, as tests do, may have
 * some kept for the next: to start one takes longer than to open an index.
 */
import type { Worker } from 'node:worker_threads'
import { startWorker } from 'archivolt'

const WORKER = new URL('./worker.ts', import.meta.url)

const idle = new Set<Worker>()
let mostIdle = 0

/** @param most  so many may wait for the next index; they do not hold up the end of the process */
export function keepThreads(most: number): void {
  mostIdle = most
  for (const worker of [...idle].slice(most)) void end(worker)
}

export function takeThread(): Worker {
  const [kept] = idle
  if (!kept) return startWorker(WORKER, { name: 'index' })
  idle.delete(kept)
  kept.off('exit', forget).off('error', ignore)
  kept.ref()
  return kept
}

/** @param worker  its index is closed, and nobody listens to it any more */
export async function giveBackThread(worker: Worker): Promise<void> {
  if (idle.size >= mostIdle) return end(worker)
  idle.add(worker)
  worker.unref()
  worker.on('exit', forget).on('error', ignore)
}

function forget(this: Worker): void {
  idle.delete(this)
}

/** Its end follows, which is what counts. */
function ignore(): void {}

async function end(worker: Worker): Promise<void> {
  idle.delete(worker)
  await worker.terminate()
}
