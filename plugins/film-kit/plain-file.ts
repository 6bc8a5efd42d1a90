/** A file that lies where it is looked for, and behind no link. */
import { lstat } from 'node:fs/promises'
import { codeOf } from './disk-fault.ts'

export const isAbsent = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR'

/** A regular file's size and time of change, not looked for behind a link; undefined: none. */
export async function plainFile(path: string): Promise<{ sizeBytes: number; changedMs: number } | undefined> {
  try {
    const found = await lstat(path)
    return found.isFile() ? { sizeBytes: found.size, changedMs: found.mtimeMs } : undefined
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined
    throw thrown
  }
}
