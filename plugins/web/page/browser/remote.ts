/**
 * The keys of a television's remote: arrows move the focus to the nearest element in that direction, Back returns to
 * the previous view. No library is used, because libraries need their own registry of elements, which would duplicate
 * the page's.
 */
type Way = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'
type Box = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>

/** The names of Back on remotes. On a keyboard, Escape does the same. */
const BACK = new Set(['GoBack', 'XF86Back', 'BrowserBack', 'Escape'])
/** Key codes of Back on Samsung and LG remotes, which send no name. */
const BACK_CODES = new Set([10009, 461])

const REACHABLE =
  'a[href]:not([tabindex="-1"]), button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'
/** Elements that arrows skip: a card gets the focus as a whole, and its menu is also on the page of its video. */
const PASSED_BY = '.card .meta a, .card-actions *, .card-choose, .skip'
/** Weight of the sideways distance, so that elements straight ahead are preferred. */
const ASIDE = 3
const TYPED = new Set(['text', 'search', 'password', 'url', 'email', 'number', 'tel'])

/** The part that can have the focus: an open dialog or popover, the fullscreen player, otherwise the page. */
const scope = (): Element =>
  [...document.querySelectorAll('dialog[open], [popover]:popover-open')].at(-1) ??
  document.fullscreenElement ??
  document.body

function reachable(within: Element): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>(REACHABLE)].filter(
    (one) => !one.matches(PASSED_BY) && one.checkVisibility({ visibilityProperty: true }) && !one.closest('[inert]'),
  )
}

/** The distance in this direction; undefined: the element is not in this direction. */
function distance(way: Way, from: Box, to: Box): number | undefined {
  const isAcross = way === 'ArrowLeft' || way === 'ArrowRight'
  const ahead = {
    ArrowLeft: from.left - to.right,
    ArrowRight: to.left - from.right,
    ArrowUp: from.top - to.bottom,
    ArrowDown: to.top - from.bottom,
  }[way]
  // Neighbors may overlap slightly.
  if (ahead < -4) return undefined
  const aside = isAcross
    ? Math.max(0, from.top - to.bottom, to.top - from.bottom)
    : Math.max(0, from.left - to.right, to.left - from.right)
  const off = isAcross ? Math.abs(from.top - to.top) : Math.abs(from.left - to.left)
  return Math.max(0, ahead) + aside * ASIDE + off / 20
}

/** A slider may be horizontal on a narrow screen and vertical on a wide one. */
const isUpright = (slider: Element): boolean => slider.clientHeight > slider.clientWidth

/** A vertical slider is beside many rows, so movement starts at its middle. */
function startOf(from: Element): Box {
  const { left, right, top, bottom } = from.getBoundingClientRect()
  if (!from.matches('input[type=range]') || !isUpright(from)) return { left, right, top, bottom }
  const middle = (top + bottom) / 2
  return { left, right, top: middle, bottom: middle }
}

/** @returns the nearest element in this direction; undefined: there is none */
function nearest(way: Way, from: Element, among: readonly HTMLElement[]): HTMLElement | undefined {
  const box = startOf(from)
  let best: { one: HTMLElement; at: number } | undefined
  for (const one of among) {
    if (one === from || from.contains(one)) continue
    const at = distance(way, box, one.getBoundingClientRect())
    if (at !== undefined && (!best || at < best.at)) best = { one, at }
  }
  return best?.one
}

function go(to: HTMLElement): void {
  to.focus({ preventScroll: true, focusVisible: true } as FocusOptions)
  const shown = to.closest('[data-position], .strip > li') ?? to
  shown.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

/** Whether the element uses the key itself: a text field, a slider, a menu, the player. */
function isItsOwn(way: Way, on: Element): boolean {
  const isAcross = way === 'ArrowLeft' || way === 'ArrowRight'
  if (on.closest('[role="menu"]')) return !isAcross
  if (on.matches('.player')) return isAcross
  if (on instanceof HTMLTextAreaElement) return !isAtEnd(on, way === 'ArrowLeft' || way === 'ArrowUp')
  if (!(on instanceof HTMLInputElement)) return false
  if (on.type === 'range') return isAcross !== isUpright(on)
  if (!isAcross) return false
  return TYPED.has(on.type) && !isAtEnd(on, way === 'ArrowLeft')
}

/** Whether the caret is at the end of the field. The key then leaves the field; a remote has no other key for that. */
function isAtEnd({ value, selectionStart, selectionEnd }: HTMLInputElement | HTMLTextAreaElement, isBack: boolean) {
  const end = isBack ? 0 : value.length
  return value === '' || (selectionStart === end && selectionEnd === end)
}

/**
 * Whether a grid handles the key: a grid can move the focus to items that are not rendered yet, but not beyond its
 * edges.
 */
function isInGrid(way: Way, on: Element): boolean {
  const cell = on.closest('.virtual [data-position]')
  if (!cell) return false
  const cells = [...cell.parentElement!.querySelectorAll<HTMLElement>('[data-position]')]
  const isAcross = way === 'ArrowLeft' || way === 'ArrowRight'
  const box = cell.getBoundingClientRect()
  return cells.some((other) => {
    const to = other.getBoundingClientRect()
    return distance(way, box, to) !== undefined && (!isAcross || Math.abs(to.top - box.top) < 4)
  })
}

/** The main element of a view. */
const PURPOSE = '.card-title, .player'

/** The first focus of a view: its main element, otherwise the open section, otherwise the first element. */
function first(): HTMLElement | undefined {
  const within = scope()
  const main = within.querySelector('main') ?? within
  const among = reachable(main)
  return among.find((one) => one.closest(PURPOSE)) ?? among.find(isOpenSection) ?? among[0]
}

const isOpenSection = (one: Element): boolean => one.getAttribute('aria-current') === 'page'

/** Whether the focused element has been removed. */
const isLost = (): boolean => document.activeElement === document.body || document.activeElement?.id === 'content'

/** The element that got the focus automatically; undefined: a key has been pressed since then. */
let given: HTMLElement | undefined

/** Whether the main element has appeared after another element got the automatic focus. */
const isOvertaken = (): boolean =>
  given !== undefined &&
  document.activeElement === given &&
  !given.closest(PURPOSE) &&
  document.querySelector(`main :is(${PURPOSE})`) !== null

/**
 * Fixed targets, because most of a view is far from the top bar: Up in the first section leads to the search field, and
 * Left from there to the logo.
 */
const LEADS = [
  ['ArrowUp', '.rail a:first-child', '#search'],
  ['ArrowLeft', '#search', '.brand'],
] as const

function onKeyDown(event: KeyboardEvent): void {
  given = undefined
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  const on = document.activeElement ?? document.body
  if (BACK.has(event.key) || BACK_CODES.has(event.keyCode)) return back(event)
  if (event.key === 'Enter' && on instanceof HTMLSelectElement) {
    event.preventDefault()
    return on.showPicker()
  }
  if (!event.key.startsWith('Arrow')) return
  const way = event.key as Way
  if (isLost()) {
    const begin = first() ?? reachable(scope())[0]
    if (begin) go(begin)
    return event.preventDefault()
  }
  if (isItsOwn(way, on) || isInGrid(way, on)) return
  event.preventDefault()
  event.stopPropagation()
  // The player gets the focus as a whole; Down enters its buttons.
  const isEntering = way === 'ArrowDown' && on.matches('.player')
  const lead = LEADS.find(([along, from]) => along === way && on.matches(from))
  const to = lead
    ? document.querySelector<HTMLElement>(lead[2])
    : isEntering
      ? reachable(on)[0]
      : nearest(way, on, reachableBy(way, on))
  if (to) go(inRail(to) && !inRail(on) ? (openSection() ?? to) : to)
  else if (way === 'ArrowDown' || way === 'ArrowUp')
    scrollBy({ top: (way === 'ArrowDown' ? 1 : -1) * (innerHeight / 2) })
}

const inRail = (one: Element): boolean => one.closest('.rail') !== null
const openSection = (): HTMLElement | null => document.querySelector<HTMLElement>('.rail [aria-current]')

/** The navigation is beside the whole view, so Up and Down do not lead into it; only Left and Right do. */
function reachableBy(way: Way, from: Element): HTMLElement[] {
  const all = reachable(scope())
  const isUpright = way === 'ArrowUp' || way === 'ArrowDown'
  return isUpright && !inRail(from) ? all.filter((one) => !inRail(one)) : all
}

/** What the remote needs to know about the browser's history. */
interface History {
  /** The focus is being restored to its earlier element. */
  isRestoring(): boolean
  /** This is the first view of the page in the history. */
  isBeginning(): boolean
  /** Leaves the view. */
  goBack(): void
}
let past: History = { isRestoring: () => false, isBeginning: () => false, goBack: () => history.back() }

/** Closes a dialog or popover, leaves fullscreen, or goes back. */
function back(event: KeyboardEvent): void {
  const above = scope()
  if (above === document.body) return leave(event)
  // The browser closes these itself.
  if (event.key === 'Escape') return
  event.preventDefault()
  if (document.fullscreenElement === above) return void document.exitFullscreen()
  if (above instanceof HTMLDialogElement) above.dispatchEvent(new Event('cancel', { cancelable: true }))
  else (above as HTMLElement).hidePopover()
}

/**
 * In the first view, Back moves the focus to the navigation first, so that nobody leaves the archive by accident. In
 * the navigation, the browser handles the key and leaves the page, because otherwise nobody could leave. Browsers do
 * nothing on Escape, so the page goes back itself.
 */
function leave(event: KeyboardEvent): void {
  const isBeginning = past.isBeginning()
  const section = isBeginning ? sectionToGoTo() : undefined
  if (isBeginning && !section && event.key !== 'Escape') return
  event.preventDefault()
  event.stopPropagation()
  if (!section) return past.goBack()
  scrollTo({ top: 0 })
  go(section)
}

/** The open section; undefined: the focus is in the navigation already, or no section is open. */
function sectionToGoTo(): HTMLElement | undefined {
  const here = openSection()
  return here && !here.closest('.rail')!.contains(document.activeElement) ? here : undefined
}

/**
 * This module imports nothing, so that it adds no shared files to pages without a remote.
 * @returns a function that stops listening
 */
export function listenToRemote(router: History): () => void {
  past = router
  addEventListener('keydown', onKeyDown, true)
  // Each new view gets a focus, because people need to see where they are.
  const focusFirst = () => {
    // Wait while a player is still loading.
    if (past.isRestoring() || document.querySelector('main .player:not([tabindex])')) return
    if (!isLost() && !isOvertaken()) return
    given = first()
    given?.focus({ preventScroll: true, focusVisible: true } as FocusOptions)
  }
  // The view may exist before this module is loaded.
  focusFirst()
  const observer = new MutationObserver(focusFirst)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    removeEventListener('keydown', onKeyDown, true)
    observer.disconnect()
  }
}
