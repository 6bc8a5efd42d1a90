/** Whether a listing ended before its end: then what it does not name may still be in the playlist. */
import type { PlaylistMetadata } from '../platform/types.ts'

/** As many rows as the platform gives at a time: a listing breaks off after one of these. */
const PAGE = 100
/** Some of those that are announced are hidden, so it is no cut where a few more are missing. */
const FEW = 2
const FEW_SHARE = 0.1

/** @param known  what was in the playlist until now */
export function isCut(
  { count, entries }: Pick<PlaylistMetadata, 'count' | 'entries'>,
  known: Iterable<string>,
): boolean {
  const present = new Set(entries.map(({ id }) => id))
  const missing = [...new Set(known)].filter((id) => !present.has(id)).length
  const isWholePage = entries.length % PAGE === 0
  if (count === undefined) return isWholePage && missing > 0
  if (entries.length >= count) return false
  return isWholePage || (missing > Math.max(FEW, count * FEW_SHARE) && entries.length + missing <= count)
}
