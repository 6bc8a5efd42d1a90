/** Replaces the secret key of a ledger that nobody else has open, and seals its secrets with the new one. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { dropNextKey, makeNextKey, openSecretKey, readNextKey, takeNextKey } from '../secret-key.ts'
import { copiesOf, openChecked } from './ledger-copies.ts'
import { openSeal } from './seal.ts'
import { opensAny, sealAnew, unreadableIn } from './sealed-columns.ts'

/**
 * The new key is stored next to the old one until the ledger is sealed with it: after an interruption, the next start
 * finds the key that opens the ledger.
 * @returns the number of secrets sealed again, and by column the number that the old key could not open
 */
export async function rotateKey(file: string): Promise<{ sealed: number; unreadable: ReadonlyMap<string, number> }> {
  const folder = dirname(file)
  if (!existsSync(file) && copiesOf(file).length > 0)
    throw new Error(`The ledger ${file} is missing: start the server, which takes the newest copy, then run this again`)
  const db = existsSync(file) ? openChecked(file) : undefined
  try {
    const former = openSeal(db ? await openKeyOf(db, folder) : await openSecretKey(folder))
    const next = openSeal(await makeNextKey(folder))
    const sealed = db ? sealAnew(db, former, next) : 0
    await takeNextKey(folder)
    return { sealed, unreadable: db ? unreadableIn(db, next) : new Map() }
  } finally {
    db?.close()
  }
}

/** The key of this ledger, after completing or discarding an interrupted rotation. */
export async function openKeyOf(db: Database.Database, folder: string): Promise<Buffer> {
  const next = await readNextKey(folder)
  if (next) await (opensAny(db, openSeal(next)) ? takeNextKey(folder) : dropNextKey(folder))
  return openSecretKey(folder)
}
