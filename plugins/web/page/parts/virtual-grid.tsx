/**
 * A grid or list of any length: only the rows in sight are there. Arrow keys move through it, also to rows that are not
 * there yet.
 */
import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { along } from '../browser/keys.ts'

export interface VirtualGridProps {
  /** How many there are, as far as is known. */
  count: number
  /** Narrowest width of a cell; `list`: one column. */
  minWidth: number
  isList?: boolean
  /** Each is a row of a table, below its head. */
  isTable?: boolean
  /** Of a cell, for its width: every cell of a grid is the same. */
  heightOf: (width: number) => number
  gap?: number
  label: string
  /** A cell. Its first link, else its first button, takes the focus when arrows reach it. */
  render: (position: number) => ComponentChildren
  /** Which cells are in sight or, once one scrolls, will be soon. */
  onSight?: (first: number, last: number) => void
  /** Which one is the first that is not above the window. */
  onFirst?: ((position: number) => void) | undefined
}

const AHEAD_PX = 500
const KEYS: Record<string, (columns: number, page: number) => number> = {
  ArrowRight: () => 1,
  ArrowLeft: () => -1,
  ArrowDown: (columns) => columns,
  ArrowUp: (columns) => -columns,
  PageDown: (columns, page) => columns * page,
  PageUp: (columns, page) => -columns * page,
}

export function VirtualGrid({
  count,
  minWidth,
  isList = false,
  isTable = false,
  heightOf,
  gap = 24,
  label,
  render,
  onSight,
  onFirst,
}: VirtualGridProps) {
  const box = useRef<HTMLDivElement>(null)
  const update = useRef(() => {})
  const { width, offset } = useMoves(box, update)
  const [range, setRange] = useState<[number, number]>([0, 0])
  const wanted = useRef<number | undefined>(undefined)

  const columns = isList || width === 0 ? 1 : Math.max(1, Math.floor((width + gap) / (minWidth + gap)))
  const rowHeight = heightOf((width - gap * (columns - 1)) / columns) + gap
  const rows = Math.ceil(count / columns)

  update.current = () => {
    const element = box.current
    if (!element || width === 0) return
    const top = scrollY - offset.current
    const first = Math.max(0, Math.floor((top - AHEAD_PX) / rowHeight))
    const last = Math.min(rows, Math.ceil((top + innerHeight + AHEAD_PX) / rowHeight))
    const next: [number, number] = [Math.min(first, rows), Math.max(first, last)]
    setRange((before) => (before[0] === next[0] && before[1] === next[1] ? before : next))
    onFirst?.(Math.max(0, Math.floor(top / rowHeight)) * columns)
    const seen = scrollY > 0 ? next[1] : Math.min(next[1], Math.ceil((top + innerHeight) / rowHeight))
    onSight?.(next[0] * columns, Math.min(count, Math.max(0, seen) * columns))
  }

  useLayoutEffect(() => update.current(), [count, width, columns, rowHeight])
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    // Who has gone elsewhere meanwhile is left there.
    if (document.activeElement === document.body || box.current!.contains(document.activeElement))
      focusOn(wanted.current)
    else wanted.current = undefined
  })

  function focusOn(position: number): void {
    const cell = box.current!.querySelector<HTMLElement>(`[data-position="${position}"]`)
    if (cell && focusIn(cell)) wanted.current = undefined
  }

  function onKeyDown(event: KeyboardEvent): void {
    const cell = (event.target as Element).closest<HTMLElement>('[data-position]')
    const step = KEYS[along(event.key, event.currentTarget as Element)]
    if (!cell || !step || event.defaultPrevented) return
    const at = Number(cell.dataset['position'])
    const to = Math.max(0, Math.min(count - 1, at + step(columns, Math.max(1, Math.floor(innerHeight / rowHeight)))))
    // Past the ends the page scrolls as it always does.
    if (to === at) return
    event.preventDefault()
    wanted.current = to
    if (box.current!.querySelector(`[data-position="${to}"]`)) focusOn(to)
    else scrollTo({ top: offset.current + Math.floor(to / columns) * rowHeight - innerHeight / 3 })
  }

  const shown = width === 0 ? 0 : Math.max(0, Math.min(count, range[1] * columns) - range[0] * columns)
  const positions = Array.from({ length: shown }, (_, index) => range[0] * columns + index)
  return (
    <div
      ref={box}
      class="virtual"
      {...(isTable ? { role: 'rowgroup' } : { role: 'list', 'aria-label': label })}
      style={{ height: `${Math.max(0, rows * rowHeight - gap)}px` }}
      onKeyDown={onKeyDown}
    >
      <div
        class="virtual-rows"
        role="presentation"
        style={{
          transform: `translateY(${range[0] * rowHeight}px)`,
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          gap: `${gap}px`,
          gridAutoRows: `${rowHeight - gap}px`,
        }}
      >
        {positions.map((position) => (
          <div
            key={position}
            class="cell"
            {...(isTable
              ? { role: 'row', 'aria-rowindex': position + 2 }
              : { role: 'listitem', 'aria-setsize': count, 'aria-posinset': position + 1 })}
            tabIndex={-1}
            data-position={position}
          >
            {render(position)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Has it looked, once a frame, when something moves; and says how wide it is and where it lies. */
function useMoves(box: RefObject<HTMLElement | null>, update: RefObject<() => void>) {
  const [width, setWidth] = useState(0)
  /**
   * From the document's top. Measured when something moves, not while scrolling: that would lay out the page each time.
   */
  const offset = useRef(0)
  useLayoutEffect(() => {
    const element = box.current!
    let frame = 0
    const soon = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        update.current!()
      })
    }
    const measure = () => {
      offset.current = scrollY + element.getBoundingClientRect().top
      setWidth(element.clientWidth)
    }
    const observer = new ResizeObserver(() => {
      measure()
      soon()
    })
    observer.observe(element)
    // What stands above it comes later, and pushes it down.
    observer.observe(document.body)
    measure()
    addEventListener('scroll', soon, { passive: true })
    addEventListener('resize', soon)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      removeEventListener('scroll', soon)
      removeEventListener('resize', soon)
    }
  }, [])
  return { width, offset }
}

/** @returns false: there is nothing yet that takes the focus; the cell itself keeps its place until there is */
function focusIn(cell: HTMLElement): boolean {
  const target = cell.querySelector<HTMLElement>('a:not([tabindex="-1"])') ?? cell.querySelector('button')
  const isWaiting = document.activeElement === cell
  ;(target ?? cell).focus({ preventScroll: true })
  if (!isWaiting) cell.scrollIntoView({ block: 'nearest' })
  return target !== null
}
