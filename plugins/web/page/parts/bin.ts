/** Undoes a deletion by restoring from the bin, if the server has one. */
import { post } from '../server/api.ts'
import type { BinRestored } from '../server/records.ts'
import { noteBack } from '../stores/deleted.ts'
import { forget } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import { say } from './toast.ts'

/** For `say`. @param removals  ids from the replies; none: the deletion cannot be undone */
export function undoOf(
  removals: ReadonlyArray<string | undefined>,
  ids: readonly string[] = [],
): { undo?: () => Promise<void> } {
  const known = removals.filter((one) => one !== undefined)
  return known.length === 0 ? {} : { undo: () => restore(known, ids) }
}

async function restore(removals: readonly string[], ids: readonly string[]): Promise<void> {
  let count = 0
  for (const removal of removals) {
    const { restored, refused } = await post<BinRestored>('/api/bin/restore/', { removal })
    count += restored
    const [first] = refused
    if (first) say(first.reason, { isError: true })
  }
  for (const id of ids) noteBack(id)
  forget()
  if (count > 0) say(t('bin.restored'))
}
