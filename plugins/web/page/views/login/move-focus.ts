/** Moves the focus between buttons by arrow keys, as a remote control does. */
import { along } from '../../browser/keys.ts'

/** @param columns  the number of buttons per row, by which up and down move */
export function moveFocus(event: KeyboardEvent, box: HTMLElement, columns: number): void {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[along(event.key, box)]
  if (step === undefined) return
  event.preventDefault()
  const buttons = [...box.querySelectorAll('button')]
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
  buttons[Math.max(0, Math.min(at + step, buttons.length - 1))]!.focus()
}
