/** Small files of the data folder that are there whole or as they were before, whenever the power goes. */
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
