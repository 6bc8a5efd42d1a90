/** Shows toasts and announces them to screen readers. Rendered once in the frame. */
import { X } from 'lucide'
import { ActionButton, IconButton } from '../parts/button.tsx'
import { dismiss, toasts } from '../parts/toast.ts'
import { t } from '../texts/lookup.ts'

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isError, undo }) => (
        <div key={id} class={isError ? 'toast error' : 'toast'}>
          <p>{text}</p>
          {undo && (
            <ActionButton
              class="link"
              onClick={() => {
                dismiss(id)
                return undo()
              }}
            >
              {t('action.undo')}
            </ActionButton>
          )}
          <IconButton icon={X} label={t('action.close')} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
