/** Writes small files of the data folder atomically: after a power cut they have the old or the new content. */
import { closeSync, constants, fsyncSync, openSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants

/** Writes a temporary file, syncs and renames it; readable only by its owner (0600). Follows no link. */
export async function writeWhole(path: string, content: Buffer | string): Promise<void> {
  const part = `${path}.part`
  const file = await open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
}

/** Syncs a folder, so that new names in it are on disk. */
export const syncFolder = (path: string): void => syncPath(path, 'r')

export const syncFile = (path: string): void => syncPath(path, 'r+')

function syncPath(path: string, flags: string): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
