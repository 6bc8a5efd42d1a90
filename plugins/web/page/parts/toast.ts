/** Short messages about what has just happened, with Undo if possible. `frame/toasts.tsx` shows them. */
import { signal } from '@preact/signals'
import { toFailure, whenOver } from '../server/api.ts'
import { reloadFailed } from '../stores/load.ts'

interface Toast {
  id: number
  text: string
  isError: boolean
  /** May return a promise; a failure is shown in another toast. */
  undo?: (() => unknown) | undefined
}

const SHOWN_MS = 5000
const WITH_UNDO_MS = 8000
const MOST = 3
export const toasts = signal<readonly Toast[]>([])
whenOver(() => void (toasts.value = []))
let count = 0

export function say(text: string, { isError = false, undo }: { isError?: boolean; undo?: () => unknown } = {}): void {
  const id = ++count
  toasts.value = [...toasts.value, { id, text, isError, undo }].slice(-MOST)
  setTimeout(() => dismiss(id), isError || undo ? WITH_UNDO_MS : SHOWN_MS)
}

/** Actions of buttons, menus and forms do this already (`action.ts`). */
export const sayFailure = (error: unknown): void => say(toFailure(error).message, { isError: true })

/** Shows one toast if several parts of a view fail for the same reason. */
reloadFailed.now = (failure) => {
  if (!toasts.peek().some(({ text }) => text === failure.message)) sayFailure(failure)
}

export const dismiss = (id: number): void => void (toasts.value = toasts.value.filter((toast) => toast.id !== id))
