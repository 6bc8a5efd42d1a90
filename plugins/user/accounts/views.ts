/** Stores each account's view of the archive in the ledger. */
import { isHiding, kindIn, type Ledger, type View } from 'archivolt'

/** The members of a group; undefined: there is no such group. */
export type GroupOf = (id: number) => ReadonlyArray<{ kind: string; id: string }> | undefined

/** Maximum number of cached views; beyond it the cache is cleared. */
const MOST_CACHED = 1000

export function openViews(ledger: Ledger) {
  const selectAll = ledger.sql<{ id: number; view: string }>('SELECT id, view FROM users WHERE view IS NOT NULL')
  const update = ledger.sql('UPDATE users SET view = ? WHERE id = ?')
  const cache = new Map<string, View>()
  let whole = new WeakMap<View, View>()
  let groupOf: GroupOf = () => undefined

  /** Adds the members of the groups that a view names. A view that hides an unknown group shows nothing. */
  function withGroups(view: View): View {
    const isExcept = isHiding(view)
    const { [kindIn(view, 'group')]: groups, ...ids } = view
    if (!groups) return view
    const members = groups.map((id) => groupOf(Number(id)))
    if (isExcept && members.includes(undefined)) return {}
    const all: Record<string, Set<string>> = {}
    for (const [kind, chosen] of Object.entries(ids)) all[kind] = new Set(chosen)
    for (const { kind, id } of members.flatMap((some) => some ?? [])) (all[kindIn(view, kind)] ??= new Set()).add(id)
    // A group without members must not turn a view that hides into one that shows.
    if (isExcept) all[kindIn(view, 'group')] = new Set()
    return Object.fromEntries(Object.entries(all).map(([kind, chosen]) => [kind, [...chosen]]))
  }

  /** Parses a row. The same text gives the same object, so that an unchanged view can be recognized. */
  function parse(text: string | null): View | null {
    if (text === null) return null
    const known = cache.get(text)
    if (known) return known
    const view = Object.freeze(readView(text, ledger))
    if (cache.size >= MOST_CACHED) cache.clear()
    cache.set(text, view)
    return view
  }

  /** Call inside a write. */
  const set = (userId: number, view: View | null) => void update.run(view && JSON.stringify(view), userId)

  return {
    parse,
    set,
    /** The view with the members of its groups; the same object until they change. */
    whole(view: View): View {
      const known = whole.get(view) ?? Object.freeze(withGroups(view))
      whole.set(view, known)
      return known
    },
    isGroup: (id: string): boolean => groupOf(Number(id)) !== undefined,
    namesGroup: (id: number): boolean =>
      selectAll.all().some((row) => {
        const view = parse(row.view)!
        return view[kindIn(view, 'group')]?.includes(String(id))
      }),
    setGroups(of: GroupOf): void {
      groupOf = of
      whole = new WeakMap()
    },
    regroup: () => void (whole = new WeakMap()),
    /** Removes an id from all views. Call inside a write. */
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
