/** A button that opens a list of actions in the top layer, so that nothing cuts it off. */
import type { IconNode } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isFromRight } from '../browser/keys.ts'
import { useActions } from './action.ts'
import { Icon } from './icon.tsx'

export interface MenuItem {
  label: string
  icon?: IconNode
  isDangerous?: boolean
  /** A radio item: one of several choices. */
  isChosen?: boolean
  /** A checkbox item. */
  isOn?: boolean
  /** The menu stays open after a click. */
  staysOpen?: boolean
  /** If the function returns a promise, the item is busy until the promise settles; a failure is shown in a toast. */
  onSelect: () => unknown
}

const roleOf = ({ isChosen, isOn }: MenuItem) =>
  isChosen !== undefined ? 'menuitemradio' : isOn !== undefined ? 'menuitemcheckbox' : 'menuitem'

const GAP = 4
const EDGE = 8

export function Menu({
  label,
  items,
  children,
  class: given = 'icon-button',
}: {
  label: string
  /** If it is a function, it is called when the menu opens. */
  items: ReadonlyArray<MenuItem> | (() => ReadonlyArray<MenuItem>)
  children: ComponentChildren
  class?: string
}) {
  const [isOpen, setOpen] = useState(false)
  const { busy, run } = useActions()
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)

  // Not an effect after the paint: keys pressed until then would reach the page behind.
  useLayoutEffect(() => void (isOpen && showBeside(button.current!, list.current!)), [isOpen])
  // After the paint: until then, the event of an earlier scrolling may still arrive.
  useEffect(() => {
    if (!isOpen) return
    const close = () => setOpen(false)
    addEventListener('scroll', close, { passive: true, once: true })
    return () => removeEventListener('scroll', close)
  }, [isOpen])

  const onKeyDown = (event: KeyboardEvent) => {
    const entries = [...list.current!.querySelectorAll<HTMLElement>('[role^="menuitem"]')]
    const at = entries.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') return setOpen(false)
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    entries.at(to % entries.length)?.focus()
  }

  const close = () => {
    setOpen(false)
    button.current?.focus({ preventScroll: true })
  }
  /**
   * Called when the browser has closed the menu. If a click outside has moved the focus to a field, the focus stays
   * there.
   */
  const closed = () => {
    const { activeElement: focused, body } = document
    if (focused === null || focused === body || list.current?.contains(focused)) close()
    else setOpen(false)
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        class={given}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-busy={busy.size > 0 || undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div
          ref={list}
          id={id}
          class="menu"
          popover="auto"
          role="menu"
          aria-label={label}
          onKeyDown={onKeyDown}
          onToggle={({ newState }) => newState === 'closed' && closed()}
        >
          {(typeof items === 'function' ? items() : items).map((item, position) => (
            <button
              type="button"
              key={position} // two chapters may have the same name
              role={roleOf(item)}
              aria-checked={item.isChosen ?? item.isOn}
              class={item.isDangerous ? 'danger' : ''}
              tabIndex={-1}
              aria-disabled={busy.has(item.label) || undefined}
              onClick={() => {
                if (!item.staysOpen) close()
                void run(item.label, item.onSelect)
              }}
            >
              {item.icon ? <Icon node={item.icon} /> : <span class="icon-space" />}
              <span class="menu-label">{item.label}</span>
            </button>
          ))}
        </div>
      )}
    </>
  )
}

/** The focus starts at the chosen item if the menu begins with a choice, otherwise at the first item. */
function showBeside(button: HTMLElement, box: HTMLElement): void {
  box.showPopover()
  const from = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = box
  const isBelow = from.bottom + GAP + height + EDGE <= innerHeight || from.top < height
  const top = isBelow ? from.bottom + GAP : from.top - GAP - height
  // If there is too little space below and above, the menu covers its button.
  box.style.top = `${Math.max(EDGE, Math.min(top, innerHeight - height - EDGE))}px`
  const left = isFromRight(box) ? from.left : from.right - width
  box.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`
  const [first] = box.children
  const chosen = first?.hasAttribute('aria-checked') ? box.querySelector('[aria-checked="true"]') : null
  ;((chosen ?? first) as HTMLElement | undefined)?.focus({ preventScroll: true })
}
