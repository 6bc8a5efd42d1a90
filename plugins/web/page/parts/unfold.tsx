/** A collapsible part that loads its content when it is opened. */
import type { ComponentChildren } from 'preact'
import { useAction } from './action.ts'

interface UnfoldProps {
  class: string
  title: string
  /** Called each time it is opened; a failure is shown in a toast. */
  onOpen: () => Promise<void>
  children: ComponentChildren
}

export function Unfold({ class: given, title, onOpen, children }: UnfoldProps) {
  const { run } = useAction()
  return (
    <details class={given} onToggle={({ currentTarget }) => currentTarget.open && void run(onOpen)}>
      <summary class="unfold">{title}</summary>
      {children}
    </details>
  )
}
