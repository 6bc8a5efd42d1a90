/**
 * A disk behind a slow line, or one that sleeps: in threads that the server starts from now on each file takes long to
 * open.
 */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { ROOT } from './sources.ts'
import { loadIntoThreads } from './thread-faults.ts'

const THREAD = join(ROOT, 'test/support/slow-disk.cjs')

/** @returns how many files were opened at once, at most */
export function slowDisk(t: TestContext, path: string, ms: number): () => number {
  const counts = new Int32Array(new SharedArrayBuffer(8))
  loadIntoThreads(t, THREAD, 'slow disk', { path, ms, counts })
  return () => Atomics.load(counts, 1)
}
