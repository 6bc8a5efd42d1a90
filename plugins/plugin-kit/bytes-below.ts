/** The size of a folder. */
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** @returns the total size of all files below a folder, in bytes; files that are removed meanwhile do not count */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0
  const open = await opendir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for await (const entry of open) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bytesBelow(path)
    else if (entry.isFile()) bytes += (await lstat(path).catch(() => ({ size: 0 }))).size
  }
  return bytes
}
