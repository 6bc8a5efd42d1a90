/**
 * The router. The address is the state: it determines what is shown, links change it without a new document, and Back
 * restores the scroll position.
 */
import { computed, signal } from '@preact/signals'
import { ownPath, under } from '../server/base.ts'

export interface Route {
  /** Relative to the page's root, with a final slash. */
  path: string
  query: URLSearchParams
  /** Identifies this history entry: another visit to the same address has another key. */
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

/** The state of a history entry. */
interface Entry {
  key?: string
  /** The number of earlier entries that belong to the page. */
  depth?: number
}
const entryNow = (): Entry => (history.state as Entry | null) ?? {}

const keyOf = (): string => Math.random().toString(36).slice(2)

history.scrollRestoration = 'manual'
if (!entryNow().key) history.replaceState({ key: keyOf() }, '')
export const route = signal<Route>(read())

/** Props of each view. */
export interface ViewProps {
  /** The variables of its address. */
  params: Record<string, string>
}

/** `/video/abc/` → the values of `/video/:videoId/`; undefined: no match */
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
    return value // a malformed percent escape: unchanged
  }
}

/** State saved when a history entry is left. */
interface Left {
  top: number
  /** The address of the link that had the focus. */
  link?: string | undefined
}

/** Key in the tab's session storage, so that positions survive a reload. */
const KEY = 'av_places'
const MOST_STORED = 60
const leftAt = new Map<string, Left>(readLeft())

function readLeft(): Array<[string, Left]> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Array<[string, Left]>
  } catch {
    return [] // blocked, or not written by this page
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
    return // storage is full or blocked: the next document starts at the top
  }
})
addEventListener('popstate', () => {
  leave()
  const next = read()
  // Restores the focus to the link that was followed, including links outside the view.
  if (leftAt.get(next.key)?.link) (document.activeElement as HTMLElement | null)?.blur()
  route.value = next
})

/**
 * @param to  `/video/abc/?t=12`
 * @param options  `isReplacing`: replaces the history entry, as filters do
 */
export function navigate(to: string, { isReplacing = false }: { isReplacing?: boolean } = {}): void {
  if (isReplacing) history.replaceState(history.state, '', under(to))
  else {
    leave()
    history.pushState({ key: keyOf(), depth: (entryNow().depth ?? 0) + 1 }, '', under(to))
  }
  route.value = read()
}

/** For the end of a request. @returns whether nobody has gone to another view since */
export function hereNow(): () => boolean {
  const { key } = route.peek()
  return () => route.peek().key === key
}

/** Home is shown, and no earlier entry belongs to the page. */
export const isBeginning = (): boolean => (entryNow().depth ?? 0) === 0 && route.value.path === '/'

/** Goes to the previous view; if there is none, to Home; from Home, out of the page. */
export function goBack(): void {
  if ((entryNow().depth ?? 0) > 0 || route.value.path === '/') history.back()
  else navigate('/', { isReplacing: true })
}

/** Changes some values of the query and keeps the others; `undefined` or '' removes one. */
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

/** Number of scroll positions that are being restored. */
let restoring = 0
export const isRestoring = (): boolean => restoring > 0

/** How long the view may stay at the same height before it counts as loaded. */
const PATIENCE_MS = 3000

/**
 * Restores the scroll position and focus of this history entry; a new entry starts at the top. Any input of the user
 * stops it.
 * @returns a function that stops it
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

/** @returns whether nothing is left to do: the focus is restored, or the user has moved it */
function focusLink(address: string): boolean {
  if (document.activeElement !== document.body) return true
  const isInSight = (link: Element) =>
    link.getBoundingClientRect().bottom > 0 && link.getBoundingClientRect().top < innerHeight
  // The page may have several links to the same video.
  const found = [...document.links].find((link) => link.href === address && link.tabIndex >= 0 && isInSight(link))
  found?.focus({ preventScroll: true })
  return found !== undefined
}

export const queryText = computed(() => route.value.query.toString())

/** Handles clicks on the page's own links; clicks with a modifier, a target or `download` are left to the browser. */
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
