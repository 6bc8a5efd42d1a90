/** The secret key in the data folder, from which tokens, sessions and the key of sealed secrets derive. */
import { randomBytes } from 'node:crypto'
import { chmod, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, writeWhole } from './base/whole-file.ts'

export const KEY_BYTES = 32

const pathIn = (dataDir: string): string => join(dataDir, 'secret.key')
/** Exists only during a key rotation. */
export const nextIn = (dataDir: string): string => join(dataDir, 'secret.key.next')

/** `<data>/secret.key`: created at the first start, complete or not at all, readable only by its owner. */
export async function openSecretKey(dataDir: string): Promise<Buffer> {
  const path = pathIn(dataDir)
  const known = await readKey(path)
  if (known) {
    await chmod(path, 0o600)
    return known
  }
  const key = randomBytes(KEY_BYTES)
  await writeWhole(path, key)
  return key
}

/** Reads the key without creating one. undefined: no key. */
export const readSecretKey = (dataDir: string): Promise<Buffer | undefined> => readKey(pathIn(dataDir))

/** The new key of an unfinished rotation. */
export const readNextKey = (dataDir: string): Promise<Buffer | undefined> => readKey(nextIn(dataDir))

/** Makes the new key the current one: all sessions and tokens of the old key become invalid. */
export async function takeNextKey(dataDir: string): Promise<void> {
  await rename(nextIn(dataDir), pathIn(dataDir))
  syncFolder(dataDir)
}

export const dropNextKey = (dataDir: string): Promise<void> => rm(nextIn(dataDir), { force: true })

async function readKey(path: string): Promise<Buffer | undefined> {
  const key = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (key && key.length !== KEY_BYTES)
    throw new Error(
      `${path} is damaged: it must have ${KEY_BYTES} bytes. Restore it from a copy, or remove it to get a new one; then all sessions and tokens end, and authenticator apps, webhooks, addresses of messages and proxies have to be set again`,
    )
  return key
}
