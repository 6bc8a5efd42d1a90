/** A disk behind a slow line, or one that sleeps: in threads that the server starts from now on each file takes long to open. */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import threads, { setEnvironmentData, type Worker, type WorkerOptions } from 'node:worker_threads'
import { lastFirst } from './last-first.ts'
import { ROOT } from './sources.ts'
import { threadFlags } from './thread-flags.ts'

const THREAD = join(ROOT, 'test/support/slow-disk.cjs')

/** @returns how many files were opened at once, at most */
export function slowDisk(t: TestContext, path: string, ms: number): () => number {
  const counts = new Int32Array(new SharedArrayBuffer(8))
  const thread = threads as { Worker: typeof Worker }
  const Real = thread.Worker
  createRequire(import.meta.url).resolve(THREAD)
  setEnvironmentData('slow disk', { path, ms, counts } as never)
  thread.Worker = class extends Real {
    constructor(file: string | URL, options: WorkerOptions = {}) {
      super(file, { ...options, execArgv: [...threadFlags(), '--require', THREAD] })
    }
  }
  syncBuiltinESMExports()
  lastFirst(t).after(() => {
    setEnvironmentData('slow disk', undefined as never)
    thread.Worker = Real
    syncBuiltinESMExports()
  })
  return () => Atomics.load(counts, 1)
}
