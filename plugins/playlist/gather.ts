/** Batches calls: all items of one turn of the event loop are passed to one call. */

const MOST = 500

/** @param work  called with the items of a turn, in order; its error is thrown to all callers */
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
