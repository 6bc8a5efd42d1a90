/**
 * A grid or list of any length that renders only the visible rows. Arrow keys also move to rows that are not rendered
 * yet.
 */
import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { along } from '../browser/keys.ts'

export interface VirtualGridProps {
  /** The number of items, as far as known. */
  count: number
  /** Minimum width of a cell; `list`: one column. */
  minWidth: number
  isList?: boolean
  /** Rendered as table rows, below a heading. */
  isTable?: boolean
  /** Height of a cell for its width; all cells of a grid have the same. */
  heightOf: (width: number) => number
  gap?: number
  label: string
  /** Renders a cell. Its first link, otherwise its first button, receives the focus from arrow keys. */
  render: (position: number) => ComponentChildren
  /**
   * Identifies the item at a position: when rows before it are added or removed, its cell moves with its focus and its
   * open menu. Default: the position.
   */
  keyOf?: (position: number) => string | undefined
  /** Called with the range of cells that are visible or will be soon. */
  onSight?: (first: number, last: number) => void
  /** Called with the first cell that is not above the window. */
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
  Home: () => Number.NEGATIVE_INFINITY,
  End: () => Number.POSITIVE_INFINITY,
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
  keyOf,
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
    // Skipped if the user has moved the focus meanwhile.
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
    // Beyond the ends, the key scrolls the page.
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
            key={keyOf?.(position) ?? `at ${position}`}
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

/**
 * Calls back at most once a frame on scrolling and resizing.
 * @returns the width and position of the grid
 */
function useMoves(box: RefObject<HTMLElement | null>, update: RefObject<() => void>) {
  const [width, setWidth] = useState(0)
  /**
   * The distance from the top of the document. Measured when the layout changes, not while scrolling, which would force
   * a layout each time.
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
    // Content above may load later and move the grid.
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

/** @returns false: no focusable element is rendered yet, so the cell itself holds the focus */
function focusIn(cell: HTMLElement): boolean {
  const target = cell.querySelector<HTMLElement>('a:not([tabindex="-1"])') ?? cell.querySelector('button')
  const isWaiting = document.activeElement === cell
  ;(target ?? cell).focus({ preventScroll: true })
  if (!isWaiting) cell.scrollIntoView({ block: 'nearest' })
  return target !== null
}
