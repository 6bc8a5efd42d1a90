/** Below a field for links: download them once, or subscribe. What is usually meant by them stands out. */
import { Download, Rss } from 'lucide'
import { isAdmin } from '../stores/session.ts'
import type { Understood } from '../stores/understand.ts'
import { t } from '../texts/lookup.ts'
import { downloadLabel, isList } from './adding.ts'
import { Button } from './button.tsx'

interface Props {
  isBusy: boolean
  isUseless: boolean
  understood: readonly Understood[]
}

export function AddButtons({ isBusy, isUseless, understood }: Props) {
  const isForSubscribing = isAdmin.value && understood.some(isList)
  return (
    <>
      <Button
        type="submit"
        value="download"
        kind={isForSubscribing ? 'plain' : 'main'}
        icon={Download}
        isBusy={isBusy}
        disabled={isUseless}
      >
        {downloadLabel(understood)}
      </Button>
      {isAdmin.value && (
        <Button
          type="submit"
          value="subscribe"
          kind={isForSubscribing ? 'main' : 'plain'}
          icon={Rss}
          isBusy={isBusy}
          disabled={isUseless}
        >
          {t('paste.subscribe')}
        </Button>
      )}
    </>
  )
}
