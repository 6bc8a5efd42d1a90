/** For a child: videos that it may ask for, and its asks with their answers. An icon replaces missing thumbnails. */
import { Hand } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { get, post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { AskOffer } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { useOwnAsks } from '../../stores/own-asks.ts'
import { shownTitle } from '../../stores/titles.ts'
import { t } from '../../texts/lookup.ts'

/** Videos outside of the view, found by the words of their titles. */
export function Offered({ words }: { words: string }) {
  const offers = useLoad<AskOffer[]>(`ask/${words}`, (signal) => get('/api/ask/offer/', { query: words }, signal))
  const ask = async ({ video_id }: AskOffer) => {
    const answered = await askFor(video_id)
    offers.change((all) => all.map((one) => (one.video_id === video_id ? answered : one)))
  }
  return <List title={t('ask.offers')} asks={offers.now.value.value ?? []} onAsk={ask} />
}

export function OwnAsks() {
  const own = useOwnAsks()
  const again = async ({ video_id }: AskOffer) => {
    await askFor(video_id)
    await own.reload()
  }
  return <List title={t('ask.own')} asks={own.now.value.value ?? []} onAsk={again} />
}

const askFor = (id: string) => post<AskOffer>('/api/ask/', { video_id: id })

function List({
  title,
  asks,
  onAsk,
}: {
  title: string
  asks: readonly AskOffer[]
  onAsk: (offer: AskOffer) => Promise<void>
}) {
  if (asks.length === 0) return null
  return (
    <section class="asks">
      <h2>{title}</h2>
      <ul>
        {asks.map((one) => (
          <li key={one.video_id}>
            <span class="ask-picture" aria-hidden="true">
              {one.picture === undefined ? <Icon node={Hand} size={32} /> : <img src={one.picture} alt="" />}
            </span>
            <strong dir="auto">
              {one.state === 'allowed' ? (
                <a href={under(`/video/${one.video_id}/`)}>{shownTitle(one.video_id, one.title)}</a>
              ) : (
                one.title
              )}
            </strong>
            <span class="meta" dir="auto">
              {one.channel_name}
            </span>
            {one.state !== 'open' && (
              <span class="meta" role="status">
                {t(`ask.state.${one.state}`)}
              </span>
            )}
            {(one.state === 'open' || one.state === 'failed') && (
              <Button icon={Hand} of={one.title} onClick={() => onAsk(one)}>
                {t('ask.ask')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
