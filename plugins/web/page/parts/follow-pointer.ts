/** Dragging within a list: an item follows the pointer until it is released; the keys that do the same. */

/** Distance from the edge of the window, in pixels, within which dragging scrolls the page. */
const EDGE_PX = 96
const SCROLL_PX = 12

/**
 * Drags until the pointer is released, or Escape is pressed.
 * @returns a function that cancels it
 */
export function followPointer(
  from: number,
  showAt: (y: number) => void,
  onEnd: (isDropped: boolean) => void,
): () => void {
  const ending = new AbortController()
  const { signal } = ending
  let pointer = from
  let frame = 0
  const scroll = () => {
    const step = pointer < EDGE_PX ? -SCROLL_PX : pointer > innerHeight - EDGE_PX ? SCROLL_PX : 0
    if (step !== 0) scrollBy(0, step)
    showAt(pointer)
    frame = requestAnimationFrame(scroll)
  }
  const end = (isDropped: boolean) => {
    cancelAnimationFrame(frame)
    ending.abort()
    onEnd(isDropped)
  }
  const onUp = ({ clientY }: PointerEvent) => {
    showAt(clientY)
    end(true)
  }
  const onKey = (key: KeyboardEvent) => {
    if (key.key !== 'Escape') return
    key.stopPropagation()
    end(false)
  }
  addEventListener('pointermove', (moving) => void (pointer = moving.clientY), { signal })
  addEventListener('pointerup', onUp, { signal })
  addEventListener('pointercancel', () => end(false), { signal })
  addEventListener('keydown', onKey, { signal, capture: true })
  frame = requestAnimationFrame(scroll)
  return () => end(false)
}

/** The new position of an item for each key of its handle. */
export const STEPS: Record<string, (position: number, all: number) => number> = {
  ArrowUp: (position) => position - 1,
  ArrowDown: (position) => position + 1,
  Home: () => 0,
  End: (_position, all) => all - 1,
}
