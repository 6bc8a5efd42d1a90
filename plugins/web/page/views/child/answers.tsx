/** Tells a child about the answers to its asks, and when a film has been downloaded. */
import { Check, Hand } from 'lucide'
import { useEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import { useOwnAsks } from '../../stores/own-asks.ts'
import { t } from '../../texts/lookup.ts'

const AGAIN_MS = 30_000
const MOST_SHOWN = 5

export function Answers() {
  const own = useOwnAsks()
  const asks = own.now.value.value ?? []
  const isOpen = asks.some(({ state }) => state === 'waiting' || state === 'coming')
  useEffect(() => {
    if (!isOpen) return
    const timer = setInterval(() => document.hidden || void own.reload(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [isOpen])
  const news = asks.filter(({ is_new }) => is_new).slice(0, MOST_SHOWN)
  if (news.length === 0) return null
  const see = async () => {
    own.change((all) => all.map((one) => ({ ...one, is_new: false })))
    await post('/api/ask/own/')
  }
  return (
    <section class="notice answers" role="status" aria-label={t('ask.answers')}>
      <Icon node={Hand} />
      <ul>
        {news.map(({ video_id, title, state }) => (
          <li key={video_id}>
            {t(`ask.news.${state as 'allowed' | 'coming' | 'failed' | 'refused'}`, { title })}{' '}
            {state === 'allowed' && (
              <a class="link" href={under(`/video/${video_id}/`)} onClick={() => void see()}>
                {t('ask.watch')}
              </a>
            )}
          </li>
        ))}
      </ul>
      <Button icon={Check} onClick={see}>
        {t('ask.seen')}
      </Button>
    </section>
  )
}
