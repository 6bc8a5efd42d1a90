/** The reason why an item of the queue has failed, in plain words; the downloader's own message is one click away. */
import { Copy } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { Dialog } from '../../parts/dialog.tsx'
import type { QueueItem } from '../../server/records.ts'
import { toAge } from '../../texts/format.ts'
import { inWords, sentenceIn, t } from '../../texts/lookup.ts'

/** An unknown failure is shown as received. */
export const whyOf = ({ reason, message = '' }: QueueItem): string => (reason ? sentenceIn(reason) : inWords(message))

/** The time of the automatic retry. */
export const nextTryOf = ({ retry_at: at }: QueueItem): string | undefined =>
  at !== undefined && at * 1000 > Date.now() ? t('downloads.item.at', { when: toAge(at) }) : undefined

export function Why({ item, onClose }: { item: QueueItem; onClose: () => void }) {
  const { title, error_class: failure, message = '' } = item
  const nextTry = nextTryOf(item)
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        <strong>{whyOf(item)}</strong>
      </p>
      {failure && <p class="hint">{t(`downloads.class.${failure}.text`)}</p>}
      {nextTry !== undefined && <p class="hint">{nextTry}</p>}
      <h3 class="why-said">{t('downloads.why.said')}</h3>
      <p class="code-block" dir="auto" lang="en">
        {message}
      </p>
      <footer>
        <Button icon={Copy} onClick={() => copyText(message)}>
          {t('settings.copy')}
        </Button>
      </footer>
    </Dialog>
  )
}
