/** Writes files for tests, and creates their folders. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** @returns writes a file below the root and returns its path */
export const lay =
  (root: string) =>
  async (path: string, content: string | Uint8Array = 'a film'): Promise<string> => {
    const whole = join(root, path)
    await mkdir(dirname(whole), { recursive: true })
    await writeFile(whole, content)
    return whole
  }
