/** `archivolt rotate-key`: a new secret key, for a data folder that no server is using. */
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inEnglish } from '../../core/base/say.ts'
import { syncFolder, writeWhole } from '../../core/base/whole-file.ts'
import { openChecked } from '../../core/ledger/ledger-copies.ts'
import { lockFolder } from '../../core/ledger/lock.ts'
import { openSeal } from '../../core/ledger/seal.ts'
import { openKeyOf, unreadableIn, wayOutOf } from '../../core/ledger/sealed-columns.ts'
import { KEY_BYTES, nextIn, takeNextKey } from '../../core/secret-key.ts'
import { readSources } from '../load-settings.ts'
import { noArchiveIn, refuseUnusable } from './at-rest.ts'
import type { OwnCommand } from './own-command.ts'
import { sealAnew } from './seal-anew.ts'

export const rotateKey: OwnCommand = {
  name: 'rotate-key',
  summary: 'Create a new secret key, which ends all sessions and tokens (stop the server first)',
  async run({ say }) {
    const { dataDir } = readSources()
    const file = join(dataDir, 'ledger.sqlite')
    await refuseUnusable(dataDir)
    if (existsSync(dataDir) && !existsSync(file)) throw withoutLedger(file)
    const lock = lockFolder(dataDir)
    try {
      const { sealed, unreadable } = await rotate(file)
      say(
        `There is a new secret key: all sessions and tokens have ended${sealed > 0 ? `; secrets encrypted with the new key: ${sealed}` : ''}`,
      )
      if (unreadable.size > 0) say(`There are ${inEnglish(wayOutOf(unreadable))}`)
    } finally {
      lock.release()
    }
  },
}

/**
 * Seals the secrets of a ledger that nobody else has open with a new key. That key is stored next to the old one until
 * the ledger is sealed with it: after an interruption, the next start finds the key that opens the ledger.
 * @returns the number of secrets sealed again, and by column the number that the old key could not open
 */
export async function rotate(file: string): Promise<{ sealed: number; unreadable: ReadonlyMap<string, number> }> {
  const folder = dirname(file)
  const db = openChecked(file)
  try {
    const former = openSeal(await openKeyOf(db, folder))
    const next = openSeal(await makeNextKey(folder))
    const sealed = sealAnew(db, former, next)
    await takeNextKey(folder)
    return { sealed, unreadable: unreadableIn(db, next) }
  } finally {
    db.close()
  }
}

/** Synced to disk when it resolves, so that values sealed with it can be opened after a crash. */
export async function makeNextKey(dataDir: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  await writeWhole(nextIn(dataDir), key)
  syncFolder(dataDir)
  return key
}

/** Why a folder without a ledger is refused: it would get a key that no archive uses. */
const withoutLedger = (file: string): Error =>
  hasCopies(dirname(file))
    ? new Error(`The ledger ${file} is missing: start the server, which uses the newest copy, then run this again`)
    : noArchiveIn(dirname(file))

function hasCopies(dataDir: string): boolean {
  const folder = join(dataDir, 'ledger-copies')
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.sqlite'))
}
