/** Detects a long press. */

const HOLD_MS = 450
const STILL_PX = 10

/** @returns handlers for the element */
export function onLongPress(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let from = { x: 0, y: 0 }
  let hasActed = false
  const end = () => void clearTimeout(timer)
  return {
    onPointerDown(event: PointerEvent) {
      end()
      hasActed = false
      if (event.pointerType !== 'touch' || !event.isPrimary) return
      from = { x: event.clientX, y: event.clientY }
      timer = setTimeout(() => {
        hasActed = true
        act()
      }, HOLD_MS)
    },
    onPointerMove(event: PointerEvent) {
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL_PX) end()
    },
    onPointerUp: end,
    onPointerCancel: end,
    /** Without this, the browser's menu for links would appear as well. */
    onContextMenu(event: MouseEvent) {
      if ((event as PointerEvent).pointerType === 'touch') event.preventDefault()
    },
    /** @returns whether the click ends the long press */
    isOver(): boolean {
      const was = hasActed
      hasActed = false
      return was
    },
  }
}
