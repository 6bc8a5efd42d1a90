/** The finding of `archivolt check` about an SQLite file. Only reads it: a server may have it open. */
import { saidBy } from '../../core/base/error.ts'
import { isDiskFull } from '../../core/full-disk.ts'
import { openChecked } from '../../core/ledger/ledger-copies.ts'
import { isDamage, isUnreadable } from '../../core/ledger/whole-check.ts'
import type { Finding } from '../../core/plugin/define.ts'

/** @param remedy  what to do if the file is damaged; one that only cannot be opened must not be replaced */
export function lookAtDatabase(file: string, what: string, remedy: string): Finding {
  try {
    openChecked(file, { readonly: true }).close()
    return { what, isRight: true, said: 'no damage found' }
  } catch (error) {
    const way = isDamage(error) || isUnreadable(error) ? remedy : remedyOf(error)
    return { what, isRight: false, said: `${saidBy(error)}; ${way}` }
  }
}

const remedyOf = (error: unknown): string =>
  isDiskFull(error)
    ? 'its disk is full: free some space, then check again'
    : 'it could not be checked: make sure that its disk has free space and can be written, and that its folder belongs to the user who runs this; then check again'
