/** Keeps in the ledger what each account is shown of the archive. */
import type { View } from '../index/view.ts'
import type { Ledger } from '../ledger/sqlite.ts'

/** Kept views; past this they are thrown away and read anew. */
const MOST_KEPT = 1000

export interface ViewRows {
  /** As a row has it. The same text is the same object: so one that has changed is told from one that has not. */
  parse(text: string | null): View | null
  /** Inside a write. */
  set(userId: number, view: View | null): void
  /** Takes an id out of all views. Inside a write. */
  drop(kind: string, id: string): void
}

export function openViews(ledger: Ledger): ViewRows {
  const selectAll = ledger.sql<{ id: number; view: string }>('SELECT id, view FROM users WHERE view IS NOT NULL')
  const update = ledger.sql('UPDATE users SET view = ? WHERE id = ?')
  const kept = new Map<string, View>()

  const rows: ViewRows = {
    parse(text) {
      if (text === null) return null
      const known = kept.get(text)
      if (known) return known
      const view = Object.freeze(readView(text, ledger))
      if (kept.size >= MOST_KEPT) kept.clear()
      kept.set(text, view)
      return view
    },
    set: (userId, view) => void update.run(view && JSON.stringify(view), userId),
    drop(kind, id) {
      for (const row of selectAll.all()) {
        const view = rows.parse(row.view)!
        if (view[kind]?.includes(id))
          rows.set(row.id, { ...view, [kind]: view[kind].filter((chosen) => chosen !== id) })
      }
    },
  }
  return rows
}

/** A damaged view shows nothing. */
function readView(text: string, { json }: Ledger): View {
  const view = json<View>(text, 'users.view', {})
  return Object.values(view).every((ids) => Array.isArray(ids)) ? view : {}
}
