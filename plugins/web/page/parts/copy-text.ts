/** Copies a text to the clipboard, and reports success or failure. */
import { t } from '../texts/lookup.ts'
import { say } from './toast.ts'

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(t('settings.copied'))
  } catch {
    say(t('settings.notCopied'), { isError: true }) // browsers block the clipboard on pages without https
  }
}
