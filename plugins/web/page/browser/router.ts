/**
 * The address is the state: what it says is shown, links change it without a new document, Back restores the
 * scroll position.
 */
import { computed, signal } from '@preact/signals'
import { ownPath, under } from '../server/base.ts'

export interface Route {
  /** From the page's own root, with its final slash. */
  path: string
  query: URLSearchParams
  /** Of this entry in the history: another visit of the same address has another. */
  key: string
}

const read = (): Route => {
  const path = ownPath(location.pathname) ?? '/'
  return {
    path: path.endsWith('/') ? path : `${path}/`,
    query: new URLSearchParams(location.search),
    key: entryNow().key ?? 'first',
  }
}

/** What an entry of the history stores. */
interface Entry {
  key?: string
  /** How many entries of ours lie before it. */
  depth?: number
}
const entryNow = (): Entry => (history.state as Entry | null) ?? {}

const keyOf = (): string => Math.random().toString(36).slice(2)

history.scrollRestoration = 'manual'
if (!entryNow().key) history.replaceState({ key: keyOf() }, '')
export const route = signal<Route>(read())

/** What each view is given. */
export interface ViewProps {
  /** The variables of its address. */
  params: Record<string, string>
}

/** `/video/abc/` → the values of `/video/:videoId/`; undefined: another address */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [position, part] of wanted.entries()) {
    const value = given[position]!
    if (part.startsWith(':')) {
      if (value === '') return undefined
      params[part.slice(1)] = safeDecode(value)
    } else if (part !== value) return undefined
  }
  return params
}

function safeDecode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value // a stray percent sign: shown as it was typed
  }
}

/** How an entry of the history was left. */
interface Left {
  top: number
  /** Address of the link that had the focus. */
  link?: string | undefined
}

/** In the tab, so that a reload finds them. */
const KEY = 'av_places'
const MOST_STORED = 60
const leftAt = new Map<string, Left>(readLeft())

function readLeft(): Array<[string, Left]> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Array<[string, Left]>
  } catch {
    return [] // shut, or not ours
  }
}

function leave(): void {
  const { key } = route.value
  leftAt.delete(key)
  leftAt.set(key, { top: scrollY, link: document.activeElement?.closest('a')?.href })
}

addEventListener('pagehide', () => {
  leave()
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...leftAt].slice(-MOST_STORED)))
  } catch {
    return // storage is full or shut: the next document begins at the top
  }
})
addEventListener('popstate', () => {
  leave()
  const next = read()
  // The link that led away from there gets the focus back, also from what stands around every view.
  if (leftAt.get(next.key)?.link) (document.activeElement as HTMLElement | null)?.blur()
  route.value = next
})

/** @param to  `/video/abc/?t=12`; `isReplacing`: the entry in the history is changed, as filters do */
export function navigate(to: string, { isReplacing = false }: { isReplacing?: boolean } = {}): void {
  if (isReplacing) history.replaceState(history.state, '', under(to))
  else {
    leave()
    history.pushState({ key: keyOf(), depth: (entryNow().depth ?? 0) + 1 }, '', under(to))
  }
  route.value = read()
}

/** Home, and nothing of ours lies before it. */
export const isBeginning = (): boolean => (entryNow().depth ?? 0) === 0 && route.value.path === '/'

/** To where one was; who came by an address of elsewhere comes to Home, and from Home leaves. */
export function goBack(): void {
  if ((entryNow().depth ?? 0) > 0 || route.value.path === '/') history.back()
  else navigate('/', { isReplacing: true })
}

/** Changes some values of the query, leaves the rest; `undefined` or an empty text takes a value away. */
export function changeQuery(
  change: Record<string, string | undefined>,
  options: { isReplacing?: boolean } = { isReplacing: true },
): void {
  const query = new URLSearchParams(route.value.query)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  navigate(route.value.path + (text && `?${text}`), options)
}

/** An entry of the history is still on its way to how it was left. */
let restoring = 0
export const isRestoring = (): boolean => restoring > 0

/** What is shown grows as it is read: so long without growing, and nothing more will come. */
const PATIENCE_MS = 3000

/**
 * Scrolls to where this entry of the history was left, and gives the focus back; to the top where it is new. A hand on
 * wheel, glass or key ends it. @returns ends it
 */
export function restoreScroll(key: string): () => void {
  const { top, link } = leftAt.get(key) ?? { top: 0 }
  let height = 0
  let until = 0
  let frame = 0
  const go = (nowMs: number) => {
    scrollTo({ top })
    if (Math.abs(scrollY - top) <= 2 && (!link || focusLink(link))) return end()
    const { scrollHeight } = document.documentElement
    if (scrollHeight !== height) [height, until] = [scrollHeight, nowMs + PATIENCE_MS]
    if (nowMs < until) frame = requestAnimationFrame(go)
    else end()
  }
  let isOver = false
  const end = () => {
    if (!isOver) restoring--
    isOver = true
  }
  const stop = () => {
    cancelAnimationFrame(frame)
    end()
  }
  restoring++
  for (const name of ['wheel', 'pointerdown', 'touchstart', 'keydown'])
    addEventListener(name, stop, { once: true, passive: true })
  go(performance.now())
  return stop
}

/** @returns whether there is nothing more to do: the focus is there, or somebody has taken it elsewhere */
function focusLink(address: string): boolean {
  if (document.activeElement !== document.body) return true
  const isInSight = (link: Element) =>
    link.getBoundingClientRect().bottom > 0 && link.getBoundingClientRect().top < innerHeight
  // The same video may stand there twice.
  const found = [...document.links].find((link) => link.href === address && link.tabIndex >= 0 && isInSight(link))
  found?.focus({ preventScroll: true })
  return found !== undefined
}

export const queryText = computed(() => route.value.query.toString())

/** Clicks on our own links stay in this document; those with a modifier, a target or a download go their way. */
export function listenToLinks(): void {
  addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = (event.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
    const path = ownPath(link.pathname)
    if (path === undefined || /^\/(api|media|cache|icons)\//.test(path)) return
    event.preventDefault()
    if (link.href !== location.href) navigate(path + link.search)
    else scrollTo({ top: 0 })
  })
}
