/**
 * The keys of a television's remote: arrows go to the nearest thing that way, Back goes back. A module of our own: what
 * libraries have beyond these lines is their own registry of elements, which would have to be kept beside the page's.
 */
type Way = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'
type Box = Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>

/** As remotes name them; a keyboard that plays remote has Escape. */
const BACK = new Set(['GoBack', 'XF86Back', 'BrowserBack', 'Escape'])
/** Samsung and LG send codes without a name. */
const BACK_CODES = new Set([10009, 461])

const REACHABLE =
  'a[href]:not([tabindex="-1"]), button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'
/** The menu of a card is on the page of its video; the card is one thing to aim at. */
const PASSED_BY = '.card .meta a, .card-actions *, .card-choose, .skip'
/** Sideways is worse than far. */
const ASIDE = 3
const TYPED = new Set(['text', 'search', 'password', 'url', 'email', 'number', 'tel'])

/** A dialog, a list that lies above all, or the player that fills the screen: nothing else is there meanwhile. */
const scope = (): Element =>
  [...document.querySelectorAll('dialog[open], [popover]:popover-open')].at(-1) ??
  document.fullscreenElement ??
  document.body

function reachable(within: Element): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>(REACHABLE)].filter(
    (one) => !one.matches(PASSED_BY) && one.checkVisibility({ visibilityProperty: true }) && !one.closest('[inert]'),
  )
}

/** How far it is that way; undefined: it lies elsewhere. */
function distance(way: Way, from: Box, to: Box): number | undefined {
  const isAcross = way === 'ArrowLeft' || way === 'ArrowRight'
  const ahead = {
    ArrowLeft: from.left - to.right,
    ArrowRight: to.left - from.right,
    ArrowUp: from.top - to.bottom,
    ArrowDown: to.top - from.bottom,
  }[way]
  // Neighbours may overlap by a line.
  if (ahead < -4) return undefined
  const aside = isAcross
    ? Math.max(0, from.top - to.bottom, to.top - from.bottom)
    : Math.max(0, from.left - to.right, to.left - from.right)
  const off = isAcross ? Math.abs(from.top - to.top) : Math.abs(from.left - to.left)
  return Math.max(0, ahead) + aside * ASIDE + off / 20
}

/** A slider may lie on a narrow screen and stand on a wide one. */
const isUpright = (slider: Element): boolean => slider.clientHeight > slider.clientWidth

/** From what stands beside all rows one goes to those in the middle. */
function startOf(from: Element): Box {
  const { left, right, top, bottom } = from.getBoundingClientRect()
  if (!from.matches('input[type=range]') || !isUpright(from)) return { left, right, top, bottom }
  const middle = (top + bottom) / 2
  return { left, right, top: middle, bottom: middle }
}

/** @returns the nearest that way, undefined: nothing lies there */
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

/** What an element does with the key itself: the caret of a field, the place of a slider, a menu, the player. */
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

/** The caret has nowhere to go that way: otherwise nobody with a remote would come out of a field again. */
function isAtEnd({ value, selectionStart, selectionEnd }: HTMLInputElement | HTMLTextAreaElement, isBack: boolean) {
  const end = isBack ? 0 : value.length
  return value === '' || (selectionStart === end && selectionEnd === end)
}

/** A grid moves by itself also to what is not there yet, but knows no way out at its edges. */
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

/** What a view is for, where it is for one thing. */
const PURPOSE = '.card-title, .player'

/** Where one begins: what the view says it is for, else what comes first in it. */
function first(): HTMLElement | undefined {
  const within = scope()
  const main = within.querySelector('main') ?? within
  const among = reachable(main)
  return among.find((one) => one.closest(PURPOSE)) ?? among.find(isOpenSection) ?? among[0]
}

const isOpenSection = (one: Element): boolean => one.getAttribute('aria-current') === 'page'

/** The focus was on something that is gone. */
const isLost = (): boolean => document.activeElement === document.body || document.activeElement?.id === 'content'

/** What was given the focus for want of another; undefined: somebody has taken a key in hand since. */
let given: HTMLElement | undefined

/** It stands above what the view is for, which has come meanwhile. */
const isOvertaken = (): boolean =>
  given !== undefined &&
  document.activeElement === given &&
  !given.closest(PURPOSE) &&
  document.querySelector(`main :is(${PURPOSE})`) !== null

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
  // The player is one thing to aim at; its buttons lie within.
  const isEntering = way === 'ArrowDown' && on.matches('.player')
  const to = isEntering ? reachable(on)[0] : nearest(way, on, reachable(scope()))
  if (to) go(to)
  else if (way === 'ArrowDown' || way === 'ArrowUp')
    scrollBy({ top: (way === 'ArrowDown' ? 1 : -1) * (innerHeight / 2) })
}

/** What a remote has to know of the way that led here. */
interface History {
  /** The focus will come to where it was. */
  isRestoring(): boolean
  /** Nothing of ours lies before this view. */
  isBeginning(): boolean
  /** Leaves the view. */
  goBack(): void
}
let past: History = { isRestoring: () => false, isBeginning: () => false, goBack: () => history.back() }

/** Closes what lies above, leaves what fills the screen, or goes to where one was. */
function back(event: KeyboardEvent): void {
  const above = scope()
  if (above === document.body) return leave(event)
  // The browser does it by itself.
  if (event.key === 'Escape') return
  event.preventDefault()
  if (document.fullscreenElement === above) return void document.exitFullscreen()
  if (above instanceof HTMLDialogElement) above.dispatchEvent(new Event('cancel', { cancelable: true }))
  else (above as HTMLElement).hidePopover()
}

/**
 * Where one has begun, however far down, Back leads up to the sections first: so nobody falls out of the archive by one
 * key too many. From there the key is the browser's, which leaves: a page that kept it would be a trap. Escape means
 * nothing to a browser, so that one is done for it.
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

/** The section that is open; undefined: the focus is among them, or there are none. */
function sectionToGoTo(): HTMLElement | undefined {
  const here = document.querySelector<HTMLElement>('.rail [aria-current]')
  return here && !here.closest('.rail')!.contains(document.activeElement) ? here : undefined
}

/**
 * Imports nothing, so that the page in other hands is no more files for it.
 * @returns ends it
 */
export function listenToRemote(router: History): () => void {
  past = router
  addEventListener('keydown', onKeyDown, true)
  // Nobody sees where they are without a focus: a view that comes has one.
  const focusFirst = () => {
    // A player that is on its way is waited for.
    if (past.isRestoring() || document.querySelector('main .player:not([tabindex])')) return
    if (!isLost() && !isOvertaken()) return
    given = first()
    given?.focus({ preventScroll: true, focusVisible: true } as FocusOptions)
  }
  // The view may be there before this is.
  focusFirst()
  const observer = new MutationObserver(focusFirst)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    removeEventListener('keydown', onKeyDown, true)
    observer.disconnect()
  }
}
