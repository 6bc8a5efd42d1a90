/**
 * A disk that stops to answer, as a share does whose server dies: each call of the file system below a folder fails
 * with the code that the kernel has for it, in the server and in threads that it starts from now on. No mount that
 * every user may have does this.
 */
import fs from 'node:fs/promises'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { lastFirst } from './last-first.ts'
import { ROOT } from './sources.ts'
import { loadIntoThreads } from './thread-faults.ts'

const THREAD = join(ROOT, 'test/support/faulty-disk.cjs')
const NAMES = ['stat', 'lstat', 'realpath', 'readdir', 'opendir', 'open', 'readFile', 'copyFile', 'access'] as const
const THERE = -1

export interface FaultyDisk {
  /** It fails from now on, or once so many more calls have gone well. */
  fail(calls?: number): void
  /** Whether it has come to that. */
  hasFailed(): boolean
  mend(): void
}

/** @param path  of a folder, or of one file alone */
export function faultyDisk(t: TestContext, path: string, code: string): FaultyDisk {
  const counts = new Int32Array(new SharedArrayBuffer(4)).fill(THERE)
  const { failWith, below } = createRequire(import.meta.url)(THREAD)
  const own = Object.fromEntries(NAMES.map((name) => [name, fs[name]]))
  failWith(code, below({ path, counts }), NAMES, fs)
  loadIntoThreads(t, THREAD, 'faulty disk', { path, code, counts })
  lastFirst(t).after(() => {
    Object.assign(fs, own)
    syncBuiltinESMExports()
  })
  return {
    fail: (calls = 0) => void Atomics.store(counts, 0, calls),
    hasFailed: () => Atomics.load(counts, 0) === 0,
    mend: () => void Atomics.store(counts, 0, THERE),
  }
}
