/** The buttons below a field for links: download once, or subscribe. The more likely one is emphasized. */
import { Download, Rss } from 'lucide'
import type { Understood } from '../stores/identify-links.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { downloadLabel, mainAction } from './adding.ts'
import { Button } from './button.tsx'

interface Props {
  isUseless: boolean
  understood: readonly Understood[]
}

export function AddButtons({ isUseless, understood }: Props) {
  const main = mainAction(understood)
  return (
    <>
      <Button
        type="submit"
        value="download"
        kind={main === 'download' ? 'main' : 'plain'}
        icon={Download}
        disabled={isUseless}
      >
        {downloadLabel(understood)}
      </Button>
      {isAdmin.value && (
        <Button
          type="submit"
          value="subscribe"
          kind={main === 'subscribe' ? 'main' : 'plain'}
          icon={Rss}
          disabled={isUseless}
        >
          {t('paste.subscribe')}
        </Button>
      )}
    </>
  )
}
