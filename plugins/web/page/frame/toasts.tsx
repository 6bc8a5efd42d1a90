/** Shows toasts and announces them to screen readers. Rendered once in the frame. */
import { X } from 'lucide'
import type { TargetedFocusEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { ActionButton, IconButton } from '../parts/button.tsx'
import { dismiss, toasts } from '../parts/toast.ts'
import { t } from '../texts/lookup.ts'

export function Toasts() {
  const before = useRef<EventTarget | null>(null)
  const noteFocus = ({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLElement>) => {
    if (!currentTarget.contains(relatedTarget as Node | null)) before.current = relatedTarget
  }
  /** The toast's button has the focus, so the focus returns to the previous element. */
  const close = (id: number) => {
    dismiss(id)
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true })
  }
  return (
    <div class="toasts" role="status" aria-live="polite" onFocusIn={noteFocus}>
      {toasts.value.map(({ id, text, isError, undo }) => (
        <div key={id} class={isError ? 'toast error' : 'toast'}>
          <p>{text}</p>
          {undo && (
            <ActionButton
              class="link"
              onClick={() => {
                close(id)
                return undo()
              }}
            >
              {t('action.undo')}
            </ActionButton>
          )}
          <IconButton icon={X} label={t('action.close')} onClick={() => close(id)} />
        </div>
      ))}
    </div>
  )
}
