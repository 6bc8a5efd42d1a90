/** Stores each account's view of the archive in the ledger. */
import type { Ledger, View } from 'archivolt'

/** Maximum number of cached views; beyond it the cache is cleared. */
const MOST_CACHED = 1000

export function openViews(ledger: Ledger) {
  const selectAll = ledger.sql<{ id: number; view: string }>('SELECT id, view FROM users WHERE view IS NOT NULL')
  const update = ledger.sql('UPDATE users SET view = ? WHERE id = ?')
  const cache = new Map<string, View>()

  /** Parses a row. The same text gives the same object, so that an unchanged view can be recognised. */
  function parse(text: string | null): View | null {
    if (text === null) return null
    const known = cache.get(text)
    if (known) return known
    const view = Object.freeze(readView(text, ledger))
    if (cache.size >= MOST_CACHED) cache.clear()
    cache.set(text, view)
    return view
  }

  /** Inside a write. */
  const set = (userId: number, view: View | null) => void update.run(view && JSON.stringify(view), userId)

  return {
    parse,
    set,
    /** Removes an id from all views. Inside a write. */
    drop(kind: string, id: string): void {
      for (const row of selectAll.all()) {
        const view = parse(row.view)!
        if (view[kind]?.includes(id)) set(row.id, { ...view, [kind]: view[kind].filter((chosen) => chosen !== id) })
      }
    },
  }
}

/** A damaged view shows nothing. */
function readView(text: string, { json }: Ledger): View {
  const view = json<View>(text, 'users.view', {})
  return Object.values(view).every((ids) => Array.isArray(ids)) ? view : {}
}
