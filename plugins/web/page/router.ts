/** The address is the state: what it says is shown, links change it without a new document, Back returns to the same place. */
import { computed, signal } from '@preact/signals'
import { ownPath, under } from './base.ts'

export interface Place {
  /** From the page's own root, with its final slash. */
  path: string
  query: URLSearchParams
  /** Of this entry in the history: another visit of the same address has another. */
  key: string
}

const read = (): Place => {
  const path = ownPath(location.pathname) ?? '/'
  return { path: path.endsWith('/') ? path : `${path}/`, query: new URLSearchParams(location.search), key: (history.state as { key?: string } | null)?.key ?? 'first' }
}

export const place = signal<Place>(read())

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

const scrolls = new Map<string, number>()
const keyOf = (): string => Math.random().toString(36).slice(2)

history.scrollRestoration = 'manual'
if (!(history.state as { key?: string } | null)?.key) history.replaceState({ key: 'first' }, '')
addEventListener('popstate', () => {
  const before = place.value
  scrolls.set(before.key, scrollY)
  place.value = read()
})

/** @param to  `/video/abc/?t=12`; `isReplacing`: the entry in the history is changed, as filters do */
export function navigate(to: string, { isReplacing = false }: { isReplacing?: boolean } = {}): void {
  if (isReplacing) history.replaceState(history.state, '', under(to))
  else {
    scrolls.set(place.value.key, scrollY)
    history.pushState({ key: keyOf() }, '', under(to))
  }
  place.value = read()
}

/** Changes some values of the query, keeps the rest; `undefined` or an empty text takes a value away. */
export function changeQuery(change: Record<string, string | undefined>, options: { isReplacing?: boolean } = { isReplacing: true }): void {
  const query = new URLSearchParams(place.value.query)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  navigate(place.value.path + (text && `?${text}`), options)
}

/** What is shown grows to its height within a few frames. */
const MOST_FRAMES = 40

/** Scrolls to where this entry of the history was left, to the top where it is new. @returns ends it */
export function restoreScroll(key: string): () => void {
  const top = scrolls.get(key) ?? 0
  let frames = 0
  let frame = 0
  const go = () => {
    scrollTo({ top })
    if (Math.abs(scrollY - top) > 2 && frames++ < MOST_FRAMES) frame = requestAnimationFrame(go)
  }
  const stop = () => cancelAnimationFrame(frame)
  for (const name of ['wheel', 'touchstart', 'keydown']) addEventListener(name, stop, { once: true, passive: true })
  go()
  return stop
}

export const queryText = computed(() => place.value.query.toString())

/** Clicks on our own links stay in this document; those with a modifier, a target or a download go their way. */
export function listenToLinks(): void {
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
    const path = ownPath(link.pathname)
    if (path === undefined || /^\/(api|media|cache|icons)\//.test(path)) return
    event.preventDefault()
    if (link.href !== location.href) navigate(path + link.search)
    else scrollTo({ top: 0 })
  })
}
