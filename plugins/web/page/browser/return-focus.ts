/** When the focused element is removed, the focus moves to the next row, or to the heading above it. */
import { computed } from '@preact/signals'
import { route } from './router.ts'

const ROW = 'li, tr, [role="listitem"], [role="row"]'

/** @returns a function that ends it */
export function returnFocus(): () => void {
  let focused: Element | undefined
  const forget = () => void (focused = undefined)
  const onFocusIn = ({ target }: FocusEvent) => void (focused = target as Element)
  // The element is still there: the user has clicked beside it.
  const onFocusOut = ({ target }: FocusEvent) =>
    queueMicrotask(() => document.activeElement === document.body && (target as Element).isConnected && forget())
  const observer = new MutationObserver((records) => {
    const gone = focused
    if (!gone || gone.isConnected) return
    forget()
    if (document.activeElement !== document.body) return
    for (const { target, removedNodes, nextSibling, previousSibling } of records) {
      const removed = [...removedNodes].find((node) => node.contains(gone))
      if (!removed || !target.isConnected) continue
      return focusOn(successorOf(removed as Element, target as Element, nextSibling, previousSibling))
    }
  })
  addEventListener('focusin', onFocusIn)
  addEventListener('focusout', onFocusOut)
  // Another view begins at its top. Filters keep the key.
  const end = computed(() => route.value.key).subscribe(forget)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    end()
    observer.disconnect()
    removeEventListener('focusin', onFocusIn)
    removeEventListener('focusout', onFocusOut)
  }
}

/** The row after a removed row, or before the last one. For anything else, the last row above it, or the heading. */
function successorOf(removed: Element, parent: Element, ...siblings: Array<Node | null>): Element | null | undefined {
  const [after, before] = siblings.map((one) => (one instanceof Element && one.isConnected ? one : undefined))
  const position = removed.getAttribute('data-position')
  // A virtual grid also removes rows that scroll out of the window. Then no other row takes their place.
  if (position !== null)
    return [after, before].find(
      (row) => row?.getAttribute('data-position') === position || (row && row.ariaPosInSet === row.ariaSetSize),
    )
  const row = removed.matches(ROW) ? (after ?? before) : [...(before?.querySelectorAll(ROW) ?? [])].at(-1)
  return row ?? parent.closest(ROW) ?? headingOf(parent.closest('section, dialog, main'))
}

const headingOf = (part: Element | null): Element | null => part?.querySelector('h1, h2, h3') ?? part

/** A row or heading and not the next button, which a held Enter key would press. */
function focusOn(element: Element | null | undefined): void {
  if (!(element instanceof HTMLElement)) return
  if (element.tabIndex < 0 && !element.hasAttribute('tabindex')) {
    element.tabIndex = -1
    element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true })
  }
  element.focus({ preventScroll: true })
}
