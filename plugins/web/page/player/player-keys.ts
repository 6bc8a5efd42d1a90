/** The keys of the player, in the corner and in a view. The list of keys for people: `frame/help.tsx`. */
import type { RefObject } from 'preact'
import { useKeys } from '../browser/keys.ts'
import type { Machine } from './machine.ts'
import type { Step } from './step.ts'

interface Around {
  isSmall?: boolean
  onTheatre: () => void
  next: Step | undefined
  previous: Step | undefined
}

/** @param wake  shows the controls */
export function usePlayerKeys(
  machine: Machine,
  frame: RefObject<HTMLElement | null>,
  wake: () => void,
  { isSmall, onTheatre, next, previous }: Around,
): void {
  const on = (action: () => void) => (event: KeyboardEvent) => {
    // A focused button or link handles these keys itself.
    if (
      (event.target as Element).closest?.('button, a, [role=menu], summary, .virtual, .strip') &&
      /^( |Enter|Arrow)/.test(event.key)
    )
      return false
    wake()
    action()
    return true
  }
  const inPlayer = (action: () => void) => (event: KeyboardEvent) =>
    frame.current!.contains(event.target as Node) ? on(action)(event) : false
  const always = { k: on(machine.toggle), m: on(machine.toggleMute) }
  const whenLarge = {
    ' ': on(machine.toggle),
    j: on(() => machine.move(-10)),
    l: on(() => machine.move(10)),
    ArrowLeft: on(() => machine.move(-5)),
    ArrowRight: on(() => machine.move(5)),
    // Remotes have no space bar.
    Enter: () => document.activeElement === frame.current && machine.toggle(),
    ArrowUp: inPlayer(() => machine.louder(0.05)),
    ArrowDown: inPlayer(() => machine.louder(-0.05)),
    f: on(machine.toggleFull),
    t: on(onTheatre),
    i: on(machine.togglePip),
    c: on(machine.toggleSubtitles),
    '<': on(() => machine.faster(-1)),
    '>': on(() => machine.faster(1)),
    ',': on(() => machine.frame(-1)),
    '.': on(() => machine.frame(1)),
    N: on(() => next?.go()),
    P: on(() => previous?.go()),
    ...Object.fromEntries(
      Array.from({ length: 10 }, (_, tenth) => [
        String(tenth),
        on(() => machine.jump((machine.duration.value * tenth) / 10)),
      ]),
    ),
  }
  useKeys(isSmall ? always : { ...always, ...whenLarge })
}
