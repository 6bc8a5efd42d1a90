/**
 * The secret key in the data folder: what clients hold, tokens and sessions, is derived from it, and the key that seals
 * secrets in the ledger.
 */
import { randomBytes } from 'node:crypto'
import { chmod, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, writeWhole } from './whole-file.ts'

const KEY_BYTES = 32

const pathIn = (dataDir: string): string => join(dataDir, 'secret.key')
/** There only while the key is changed. */
const nextIn = (dataDir: string): string => join(dataDir, 'secret.key.next')

/** `<data>/secret.key`: made at the first start, complete or not at all, for its owner's eyes only. */
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

/** It is only looked at. undefined: there is none. */
export const readSecretKey = (dataDir: string): Promise<Buffer | undefined> => readKey(pathIn(dataDir))

/** The one that is to take the place of the key, where that was begun. */
export const readNextKey = (dataDir: string): Promise<Buffer | undefined> => readKey(nextIn(dataDir))

/** On disk when it resolves, so that what is sealed with it can be opened after a crash. */
export async function makeNextKey(dataDir: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  await writeWhole(nextIn(dataDir), key)
  syncFolder(dataDir)
  return key
}

/** From now on it is the key: every session and token ends with the old one. */
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
      `${path} is damaged: it must have ${KEY_BYTES} bytes. Put it back from a copy; or remove it to get a new one: then all sessions and tokens end, and authenticator apps, webhooks, addresses of messages and proxies have to be set anew`,
    )
  return key
}
