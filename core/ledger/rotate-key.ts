/** A new secret key for a ledger that nothing else has open: what is sealed with the former one is sealed anew. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { dropNextKey, makeNextKey, openSecretKey, readNextKey, takeNextKey } from '../secret-key.ts'
import { copiesOf, openChecked } from './ledger-copies.ts'
import { openSeal } from './seal.ts'
import { opensAny, sealAnew, unreadableIn } from './sealed-columns.ts'

/**
 * The new key lies beside the old one until the ledger is sealed with it: cut off anywhere, the next opening finds the
 * one that opens the ledger.
 * @returns  how many secrets are sealed anew; those that the former key did not open, by column
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

/** The key of this ledger, after a change of it was brought to its end or given up. */
export async function openKeyOf(db: Database.Database, folder: string): Promise<Buffer> {
  const next = await readNextKey(folder)
  if (next) await (opensAny(db, openSeal(next)) ? takeNextKey(folder) : dropNextKey(folder))
  return openSecretKey(folder)
}
