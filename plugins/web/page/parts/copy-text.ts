/** Puts a text into the clipboard, and says whether that went well. */

import { t } from '../texts/lookup.ts'
import { say } from './toast.ts'

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(t('settings.copied'))
  } catch {
    say(t('settings.notCopied'), { isError: true }) // without https browsers keep their clipboard shut
  }
}
