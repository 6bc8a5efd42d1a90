/** Detects a truncated listing: videos that it does not contain may still be in the playlist. */
import type { PlaylistMetadata } from '../platform/types.ts'

/** The platform's page size: a truncated listing ends at a multiple of it. */
const PAGE = 100
/** Some videos in the announced number are hidden, so a few missing ones do not count as truncation. */
const FEW = 2
const FEW_SHARE = 0.1

/** @param known  the current entries of the playlist */
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
