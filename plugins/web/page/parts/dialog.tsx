/** Dialogs based on the native element: focus stays inside, Escape closes, the page behind is inert. */
import { signal } from '@preact/signals'
import { X } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isSignedIn, whenOver } from '../server/api.ts'
import { t } from '../texts/lookup.ts'
import { Button, IconButton } from './button.tsx'
import { Field } from './field.tsx'

/** The dialog is open while it is rendered. `onClose`: Escape, the close button, or a click outside. */
export function Dialog({
  title,
  onClose,
  children,
  isWide = false,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
  isWide?: boolean
}) {
  const element = useRef<HTMLDialogElement>(null)
  /**
   * Whether the press began outside the dialog: a press that begins inside may end outside when somebody selects text.
   */
  const isOutside = useRef(false)
  // Not an effect after the paint: keys pressed until then would reach the page behind, or lose the focus at the end.
  useLayoutEffect(() => {
    const before = document.activeElement
    const box = element.current!
    box.showModal()
    // Focuses the first field. Not on touch devices, where the keyboard would cover the dialog.
    const first = matchMedia('(hover: hover)').matches ? 'input, textarea, select, footer button' : 'footer button'
    box.querySelector<HTMLElement>(first)?.focus()
    return () => {
      // While the dialog is open, nothing outside it can receive the focus.
      box.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // Closes on click, not on press: after a press, the click of a finger would reach the element behind the dialog.
      onPointerDown={(event) => void (isOutside.current = event.target === element.current)}
      onClick={(event) => event.target === element.current && isOutside.current && onClose()}
    >
      <div class="dialog-inside">
        <header>
          <h2>{title}</h2>
          <IconButton icon={X} label={t('action.close')} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  )
}

/**
 * For what a dialog does after a request, such as closing itself: does nothing if the dialog was closed meanwhile,
 * because another one may be open.
 */
export function useWhileOpen<Given extends unknown[]>(act: (...given: Given) => void): (...given: Given) => void {
  const isOpen = useRef(true)
  useLayoutEffect(() => () => void (isOpen.current = false), [])
  return (...given) => void (isOpen.current && act(...given))
}

interface Question {
  title: string
  /** Full sentences: what is deleted and what stays. */
  text: ComponentChildren
  /** The label of the button. */
  action: string
  isDangerous?: boolean
  /** Text that people must type first; only if files are deleted. */
  typed?: { label: string; value: string }
}

const asked = signal<(Question & { answer: (isYes: boolean) => void }) | undefined>(undefined)
whenOver(() => asked.peek()?.answer(false))

/** `if (await confirm({ … })) await remove(…)`; false if nobody is signed in any more. */
export async function confirm(question: Question): Promise<boolean> {
  if (isSignedIn.peek() === false) return false
  return new Promise((resolve) => {
    asked.value?.answer(false)
    asked.value = {
      ...question,
      answer(isYes) {
        asked.value = undefined
        resolve(isYes)
      },
    }
  })
}

/** Rendered once in the frame. */
export function Confirmation() {
  const question = asked.value
  return question ? <Asked key={question.title} {...question} /> : null
}

function Asked({
  title,
  text,
  action,
  isDangerous = false,
  typed,
  answer,
}: Question & { answer: (isYes: boolean) => void }) {
  const [given, setGiven] = useState('')
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          answer(true)
        }}
      >
        <div class="prose">{text}</div>
        {typed && <Field label={typed.label} value={given} onInput={setGiven} autocomplete="off" />}
        <footer>
          <Button onClick={() => answer(false)}>{t('action.cancel')}</Button>
          <Button
            kind={isDangerous ? 'danger' : 'main'}
            type="submit"
            disabled={typed !== undefined && given.trim() !== typed.value}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
