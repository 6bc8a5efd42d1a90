/** Short words on what has just happened, with a way back where there is one. Read aloud too. */
import { signal } from '@preact/signals'
import { X } from 'lucide'
import { toFailure } from '../server/api.ts'
import { t } from '../texts/lookup.ts'
import { IconButton } from './button.tsx'

interface Saying {
  id: number
  text: string
  isError: boolean
  undo?: (() => void) | undefined
}

const STAYS_MS = 5000
const WITH_UNDO_MS = 8000
const MOST = 3
const sayings = signal<Saying[]>([])
let count = 0

export function say(text: string, { isError = false, undo }: { isError?: boolean; undo?: () => void } = {}): void {
  const id = ++count
  sayings.value = [...sayings.value, { id, text, isError, undo }].slice(-MOST)
  setTimeout(() => take(id), isError || undo ? WITH_UNDO_MS : STAYS_MS)
}

/** `post(…).catch(sayFailure)`: what went wrong, in words. */
export const sayFailure = (error: unknown): void => say(toFailure(error).message, { isError: true })

const take = (id: number): void => void (sayings.value = sayings.value.filter((saying) => saying.id !== id))

/** Stands once in the frame. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {sayings.value.map(({ id, text, isError, undo }) => (
        <div key={id} class={isError ? 'toast error' : 'toast'}>
          <p>{text}</p>
          {undo && (
            <button
              type="button"
              class="link"
              onClick={() => {
                take(id)
                undo()
              }}
            >
              {t('action.undo')}
            </button>
          )}
          <IconButton icon={X} label={t('action.close')} onClick={() => take(id)} />
        </div>
      ))}
    </div>
  )
}
