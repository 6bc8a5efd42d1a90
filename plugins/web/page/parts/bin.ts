/** Undoes a deletion by restoring from the bin, if the server has one. */
import { post } from '../server/api.ts'
import type { BinRestored } from '../server/records.ts'
import { noteRestored } from '../stores/deleted.ts'
import { inWords, t } from '../texts/lookup.ts'
import { say } from './toast.ts'

/**
 * Options for `say`.
 * @param removals  ids from the replies; none: the deletion cannot be undone
 * @param shows  show the restored documents immediately; lists that were read after the deletion are read again
 */
export function undoOf(
  removals: ReadonlyArray<string | undefined>,
  shows: ReadonlyArray<() => unknown> = [],
): { undo?: () => Promise<void> } {
  const since = Date.now()
  const known = removals.filter((one) => one !== undefined)
  return known.length === 0 ? {} : { undo: () => restore(known, since, shows) }
}

async function restore(removals: readonly string[], since: number, shows: ReadonlyArray<() => unknown>): Promise<void> {
  let count = 0
  let isRefused = false
  for (const removal of removals) {
    const { restored, refused, said } = await post<BinRestored>('/api/bin/restore/', { removal })
    count += restored
    const [first] = refused
    if (!first) continue
    isRefused = true
    say(inWords(first.reason, said), { isError: true })
  }
  for (const show of shows) show()
  noteRestored(isRefused ? 0 : since)
  if (count > 0) say(t('bin.restored'))
}
