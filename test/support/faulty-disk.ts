/**
 * A disk that stops answering, like a network share whose server dies: each file system call below a folder fails with
 * the kernel's error code, in the server and in the children that it starts from now on. No mount that every user may
 * create does this.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadIntoChildren } from './child-faults.ts'
import { lastFirst } from './last-first.ts'
import { ROOT } from './sources.ts'

const PROGRAM = join(ROOT, 'test/support/faulty-disk.cjs')
const NAMES = ['stat', 'lstat', 'realpath', 'readdir', 'opendir', 'open', 'readFile', 'copyFile', 'access'] as const

export interface FaultyDisk {
  /** Makes it fail from now on, or after this many more successful calls. */
  fail(calls?: number): void
  /** Whether a call has failed. */
  hasFailed(): boolean
  mend(): void
}

/** @param path  a folder, or a single file */
export function faultyDisk(t: TestContext, path: string, code: string): FaultyDisk {
  const state = mkdtempSync(join(tmpdir(), 'archivolt-'))
  lastFirst(t).after(() => rmSync(state, { recursive: true }))
  const { failWith, below, leftIn } = createRequire(import.meta.url)(PROGRAM)
  const own = Object.fromEntries(NAMES.map((name) => [name, fs[name]]))
  failWith(code, below({ path, state }), NAMES, fs)
  loadIntoChildren(t, PROGRAM, 'AV_TEST_FAULTY_DISK', { path, code, state })
  lastFirst(t).after(() => {
    Object.assign(fs, own)
    syncBuiltinESMExports()
  })
  return {
    fail(calls = 0) {
      writeFileSync(join(state, 'done'), '')
      writeFileSync(join(state, 'calls'), String(calls))
    },
    hasFailed: () => leftIn(state) === 0,
    mend: () => rmSync(join(state, 'calls')),
  }
}
