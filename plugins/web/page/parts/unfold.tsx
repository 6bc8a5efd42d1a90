/** A part of a page that is read when somebody opens it. */
import type { ComponentChildren } from 'preact'
import { useAction } from './action.ts'

interface UnfoldProps {
  class: string
  title: string
  /** Each time; what fails is shown in a toast. */
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
