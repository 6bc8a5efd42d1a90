/** The parts of a list, in order, each at most `size` long. */
export function* chunksOf<Item>(list: readonly Item[], size: number): Generator<Item[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}
