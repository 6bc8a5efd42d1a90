/** Cards of the videos that are downloaded first, with their progress; placeholders until the videos are known. */
import { useEffect, useState } from 'preact/hooks'
import { get } from '../server/api.ts'
import { small } from '../server/base.ts'
import { listen, type QueueChange } from '../server/events.ts'
import type { Page, QueueItem } from '../server/records.ts'
import { mayDownload } from '../stores/session.ts'
import { toPercent } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { cardMinWidth } from './video-card.tsx'
import { GhostCard } from './video-list.tsx'

const MOST = 12
const GHOSTS = 4

/** Accounts that may not read the queue see only placeholders. */
export default function ComingCards() {
  const items = useComing()
  return (
    <ul
      class="coming"
      aria-label={t('home.coming')}
      style={{ gridTemplateColumns: `repeat(auto-fill, minmax(min(100%, ${cardMinWidth()}px), 1fr))` }}
    >
      {items.length === 0
        ? Array.from({ length: GHOSTS }, (_, at) => (
            <li key={at} aria-hidden="true">
              <GhostCard />
            </li>
          ))
        : items.map((item) => (
            <li key={item.platform_id}>
              <Card item={item} />
            </li>
          ))}
    </ul>
  )
}

function Card({ item: { title, channel_name: channel, vid_thumb_url: picture, progress } }: { item: QueueItem }) {
  return (
    <article class="card">
      <span class="picture">
        <img src={small(picture)} alt="" width={320} height={180} decoding="async" />
        {progress && (
          <span class="progress">
            <span style={{ width: `${progress.fraction * 100}%` }} />
          </span>
        )}
      </span>
      <div class="card-text">
        <p class="card-title" dir="auto">
          {title}
        </p>
        <p class="meta">
          <span dir="auto">{channel}</span>
          <span>{progress ? toPercent(progress.fraction) : t('downloads.waiting')}</span>
        </p>
      </div>
    </article>
  )
}

function useComing(): QueueItem[] {
  const [items, setItems] = useState<QueueItem[]>([])
  useEffect(() => {
    if (!mayDownload.peek()) return
    const ending = new AbortController()
    const read = () =>
      get<Page<QueueItem>>('/api/download/', { filter: 'pending', error: false }, ending.signal).then(
        ({ data }) => setItems(data.slice(0, MOST)),
        () => undefined, // the placeholders stay
      )
    const take = (change: QueueChange) => {
      if ('reset' in change && change.reset) return void read()
      setItems((now) => {
        const others = now.filter(({ platform_id: id }) => id !== change.platform_id)
        if (change.removed || change.status !== 'pending' || change.message !== undefined) return others
        const at = now.findIndex(({ platform_id: id }) => id === change.platform_id)
        return others.toSpliced(at === -1 ? others.length : at, 0, change).slice(0, MOST)
      })
    }
    void read()
    const end = listen('queue', take)
    return () => {
      end()
      ending.abort()
    }
  }, [])
  return items
}
