/** The finding of `archivolt check` about an SQLite file. Only reads it: a server may have it open. */
import { saidBy } from '../base/error.ts'
import type { Finding } from '../plugin/define.ts'
import { openChecked } from './ledger-copies.ts'

/** @param remedy  what to do if the file is damaged */
export function lookAtDatabase(file: string, what: string, remedy: string): Finding {
  try {
    openChecked(file, { readonly: true }).close()
    return { what, isRight: true, said: 'no damage found' }
  } catch (error) {
    return { what, isRight: false, said: `${saidBy(error)}; ${remedy}` }
  }
}
