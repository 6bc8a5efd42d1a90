/** What many ask for at once is done once: all that comes within a turn of the loop goes to one call. */

const MOST = 500

/** @param work  for the items of a turn, in the order in which they came; what it throws is thrown to all of them */
export function gathered<Item>(work: (items: Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let next: { items: Item[]; done: Promise<void> } | undefined
  return (item) => {
    if (!next || next.items.length >= MOST) {
      const items: Item[] = []
      const done = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
        if (next?.items === items) next = undefined
        return work(items)
      })
      next = { items, done }
    }
    next.items.push(item)
    return next.done
  }
}
