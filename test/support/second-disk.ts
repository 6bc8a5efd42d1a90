/** A folder on another file system, to which files cannot be renamed, only copied. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from './last-first.ts'

/** A writable folder on another file system than that of the temporary folder. */
async function anotherDisk(): Promise<string | undefined> {
  const { dev } = await stat(tmpdir())
  for (const folder of ['/dev/shm', '/run/shm', '/var/tmp', process.cwd()])
    if (existsSync(folder) && (await stat(folder)).dev !== dev) return folder
  return undefined
}
const second = await anotherDisk()
/** The reason why tests are skipped. */
export const noDisk = second === undefined && 'there is no second file system here that could be written to'

export async function secondDisk(t: Scope): Promise<string> {
  const disk = await mkdtemp(join(second!, 'av-disk-'))
  t.after(() => rm(disk, { recursive: true, force: true }))
  return disk
}
