/** The order of entries: what can be done with one, numbers, and the position one up or down. */
import type { PlaylistEntry } from './schema.ts'

export const ACTIONS = ['create', 'remove', 'up', 'down', 'top', 'bottom', 'move'] as const
export type Action = (typeof ACTIONS)[number]

/** Numbers entries from 0 without gaps. */
export const numbered = (entries: readonly PlaylistEntry[]): PlaylistEntry[] =>
  entries.map((entry, idx) => (entry.idx === idx ? entry : { ...entry, idx }))

/**
 * The position for "one up" or "one down".
 * @param firstSeen  the first of these videos that the caller sees: hidden ones are skipped
 * @returns undefined: the caller sees it at that end already
 */
export async function neighbour(
  ids: readonly string[],
  from: number,
  step: -1 | 1,
  firstSeen: (ids: readonly string[]) => Promise<string | undefined> | string | undefined,
): Promise<number | undefined> {
  const ahead = step < 0 ? ids.slice(0, from).reverse() : ids.slice(from + 1)
  const seen = await firstSeen(ahead)
  const distance = seen === undefined ? -1 : ahead.indexOf(seen)
  return distance < 0 ? undefined : from + step * (distance + 1)
}
