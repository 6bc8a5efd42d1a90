/** Temporary folders that are removed after the test. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastFirst, type Scope } from './last-first.ts'

/** A folder that is removed after the test. */
export async function temporaryFolder(scope: Scope, parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'archivolt-'))
  lastFirst(scope).after(() => rm(folder, { recursive: true, force: true }))
  return folder
}
