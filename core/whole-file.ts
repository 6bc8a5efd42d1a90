/** Small files of the data folder that are there whole or as they were before, whenever the power goes. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'

/** Written beside, synced, renamed; for its owner's eyes only (0600). */
export async function writeWhole(path: string, content: Buffer | string): Promise<void> {
  const part = `${path}.part`
  const file = await open(part, 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
}

/** A name in a folder is on disk once the folder is. */
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
