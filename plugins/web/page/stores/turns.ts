/** Numbers requests that may overlap, so that an older reply does not overwrite a newer state. */

/**
 * @returns a function that begins a turn, and returns whether that turn is still the newest one of its key
 */
export function countTurns(): (key?: string) => () => boolean {
  const newest = new Map<string, number>()
  return (key = '') => {
    const mine = (newest.get(key) ?? 0) + 1
    newest.set(key, mine)
    return () => newest.get(key) === mine
  }
}
