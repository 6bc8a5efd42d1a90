/** Move in: the rows of a plan, by what becomes of them, and how many there are of each channel. */
import { ChevronDown } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { sayFailure } from '../../parts/toast.tsx'
import { get } from '../../server/api.ts'
import { getPage } from '../../server/paged.ts'
import type { AdoptionChannel, AdoptionItem } from '../../server/records.ts'
import { toBytes, toNumber } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'

/** Something that is read once somebody opens it. */
function Unfold({ title, read, children }: { title: string; read: () => Promise<void>; children: ComponentChildren }) {
  const [isRead, setRead] = useState(false)
  return (
    <details
      class="plan-part"
      onToggle={(event) => {
        if (!event.currentTarget.open || isRead) return
        setRead(true)
        void read().catch(sayFailure)
      }}
    >
      <summary class="unfold">{title}</summary>
      {children}
    </details>
  )
}

/** @param chosen  which rows of the plan */
export function Rows({ id, title, chosen }: { id: number; title: string; chosen: Record<string, string> }) {
  const [rows, setRows] = useState<AdoptionItem[]>([])
  const [next, setNext] = useState(1)
  const [total, setTotal] = useState(0)
  const read = async () => {
    const { data, paginate } = await getPage<AdoptionItem>(`/api/adoption/${id}/item/`, { ...chosen, page: next })
    setRows((before) => [...before, ...data])
    setNext(next + 1)
    setTotal(paginate.last_page === 0 ? 0 : paginate.total_hits)
  }
  return (
    <Unfold title={title} read={read}>
      <ul class="plain">
        {rows.map(({ file, platform_id: video, title: name, reason, said }, at) => (
          <li key={at}>
            <span dir="auto">{file || name || video}</span>
            {reason !== '' && (
              <>
                : <span class="meta">{inWords(reason, said)}</span>
              </>
            )}
          </li>
        ))}
      </ul>
      {total > rows.length && (
        <Button kind="quiet" icon={ChevronDown} onClick={() => void read().catch(sayFailure)}>
          {t('settings.moving.more', { shown: toNumber(rows.length), count: total })}
        </Button>
      )}
    </Unfold>
  )
}

export function Channels({ id }: { id: number }) {
  const [channels, setChannels] = useState<AdoptionChannel[]>([])
  const read = async () => setChannels(await get<AdoptionChannel[]>(`/api/adoption/${id}/channel/`))
  return (
    <Unfold title={t('settings.moving.channels')} read={read}>
      <ul class="plain">
        {channels.map(({ channel_id: channel, channel_name: name, count, size }) => (
          <li key={channel}>
            <span dir="auto">{name || channel || t('settings.moving.channels.none')}</span>{' '}
            <span class="meta">
              {t('settings.moving.videos', { count })}, {toBytes(size)}
            </span>
          </li>
        ))}
      </ul>
    </Unfold>
  )
}
