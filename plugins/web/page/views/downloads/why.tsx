/** Why an item of the queue has failed: in the words of the page, and one click away in those of the downloader. */
import { Copy } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import type { QueueItem } from '../../server/records.ts'
import { inWords, sentenceIn, t } from '../../texts/lookup.ts'
import { copyText } from '../settings/copy-text.ts'

/** What nobody has words for is told as it came. */
export const whyOf = ({ reason, message = '' }: QueueItem): string => (reason ? sentenceIn(reason) : inWords(message))

export function Why({ item, onClose }: { item: QueueItem; onClose: () => void }) {
  const { title, error_class: failure, message = '' } = item
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        <strong>{whyOf(item)}</strong>
      </p>
      {failure && <p class="hint">{t(`downloads.class.${failure}.text`)}</p>}
      <h3 class="why-said">{t('downloads.why.said')}</h3>
      <p class="code-block" dir="auto" lang="en">
        {message}
      </p>
      <footer>
        <Button icon={Copy} onClick={() => void copyText(message)}>
          {t('settings.copy')}
        </Button>
      </footer>
    </Dialog>
  )
}
