/** The secret key in the data folder: what clients hold, tokens and sessions, is derived from it. */
import { randomBytes } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeWhole } from '../whole-file.ts'

const KEY_BYTES = 32

/** `<data>/secret.key`: made at the first start, complete or not at all, for its owner's eyes only. */
export async function openSecretKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'secret.key')
  const known = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!known) return rotateSecretKey(dataDir)
  if (known.length !== KEY_BYTES)
    throw new Error(
      `${path} is damaged: it must have ${KEY_BYTES} bytes. Remove it to get a new one; all sessions and tokens end then`,
    )
  await chmod(path, 0o600)
  return known
}

/** A new key: every session and token ends with the old one. */
export async function rotateSecretKey(dataDir: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  await writeWhole(join(dataDir, 'secret.key'), key)
  return key
}
