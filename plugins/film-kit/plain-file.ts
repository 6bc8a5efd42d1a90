/** Reads size and time of a regular file, without following links. */
import { lstat } from 'node:fs/promises'
import { codeOf } from './disk-fault.ts'

export const isAbsent = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR'

/** Size and time of change; undefined: there is no regular file at this path. */
export async function plainFile(path: string): Promise<{ sizeBytes: number; changedMs: number } | undefined> {
  try {
    const found = await lstat(path)
    return found.isFile() ? { sizeBytes: found.size, changedMs: found.mtimeMs } : undefined
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined
    throw thrown
  }
}
