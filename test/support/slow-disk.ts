/**
 * A disk behind a slow connection, or one that sleeps: children that the server starts from now on take long to open
 * each file.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loadIntoChildren } from './child-faults.ts'
import { lastFirst } from './last-first.ts'
import { ROOT } from './sources.ts'

/** @returns returns the maximum number of files that were opened at the same time */
export function slowDisk(t: TestContext, path: string, ms: number): () => number {
  const folder = mkdtempSync(join(tmpdir(), 'archivolt-'))
  lastFirst(t).after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'log')
  writeFileSync(log, '')
  loadIntoChildren(t, join(ROOT, 'test/support/slow-disk.cjs'), 'AV_TEST_SLOW_DISK', { path, ms, log })
  return () => {
    let now = 0
    let most = 0
    for (const sign of readFileSync(log, 'latin1')) most = Math.max(most, (now += sign === '+' ? 1 : -1))
    return most
  }
}
