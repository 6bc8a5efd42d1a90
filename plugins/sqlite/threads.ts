/**
 * Threads for index workers: each ends with its index. Tests, which open one index after another, may keep some for
 * reuse, because starting a thread takes longer than opening an index.
 */
import type { Worker } from 'node:worker_threads'
import { startWorker } from 'archivolt'

const WORKER = new URL('./worker.ts', import.meta.url)

const idle = new Set<Worker>()
let mostIdle = 0

/** @param most  how many idle threads to keep; they do not keep the process alive */
export function keepThreads(most: number): void {
  mostIdle = most
  for (const worker of [...idle].slice(most)) void end(worker)
}

export function takeThread(): Worker {
  const [thread] = idle
  if (!thread) return startWorker(WORKER, { name: 'index' })
  idle.delete(thread)
  thread.off('exit', forget).off('error', ignore)
  thread.ref()
  return thread
}

/** @param worker  its index is closed, and it has no listeners any more */
export async function releaseThread(worker: Worker): Promise<void> {
  if (idle.size >= mostIdle) return end(worker)
  idle.add(worker)
  worker.unref()
  worker.on('exit', forget).on('error', ignore)
}

function forget(this: Worker): void {
  idle.delete(this)
}

/** Ignores an error: the `exit` event that follows is handled. */
function ignore(): void {}

async function end(worker: Worker): Promise<void> {
  idle.delete(worker)
  await worker.terminate()
}
