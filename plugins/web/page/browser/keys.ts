/** Keyboard shortcuts: one key, or `g` followed by another. Inactive in text fields. */
import { useLayoutEffect, useRef } from 'preact/hooks'

/** An action that returns false leaves the key to others. */
export type Keys = Record<string, (event: KeyboardEvent) => void | boolean>

const CHORD_MS = 1200
const layers: Array<() => Keys> = []
let prefix: { key: string; atMs: number } | undefined

/** Keys that move a slider. */
const SLIDES = /^(Arrow.+|Home|End|Page.+)$/

function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  const { type } = target as HTMLInputElement
  if (type === 'checkbox') return false
  if (type === 'range') return SLIDES.test(key)
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return
  // While a dialog is open, only its own shortcuts work.
  if (document.querySelector('dialog[open]')) return
  // Escape closes an open menu, and nothing behind the menu.
  if (event.key === 'Escape' && document.querySelector('[popover]:popover-open')) return
  const chord = prefix && Date.now() - prefix.atMs < CHORD_MS ? `${prefix.key} ${event.key}` : event.key
  prefix = undefined
  for (const keys of [...layers].reverse()) {
    const own = keys()
    const action = own[chord]
    if (action && action(event) !== false) return event.preventDefault()
    if (Object.keys(own).some((one) => one.startsWith(`${event.key} `))) prefix = { key: event.key, atMs: Date.now() }
  }
})

/**
 * Active while the component is mounted; the newest registration wins. Names as in `KeyboardEvent.key`: `/`, `?`,
 * `ArrowLeft`; `g h` means two keys in a row.
 */
export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  current.current = keys
  useLayoutEffect(() => {
    const layer = () => current.current
    layers.push(layer)
    return () => void layers.splice(layers.indexOf(layer), 1)
  }, [])
}

/** Whether the text direction of the box is right to left. */
export const isFromRight = (box: Element): boolean => getComputedStyle(box).direction === 'rtl'
const OTHERS: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }
/** The key as in a left-to-right layout: `ArrowRight` means forward. */
export const along = (key: string, box: Element): string => (isFromRight(box) ? (OTHERS[key] ?? key) : key)
