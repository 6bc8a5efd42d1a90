/** Import: the rows of a plan, by what becomes of them, and how many there are of each channel. */
import { ChevronDown } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Unfold } from '../../parts/unfold.tsx'
import { get } from '../../server/api.ts'
import { getPage } from '../../server/paged.ts'
import type { AdoptionChannel, AdoptionItem } from '../../server/records.ts'
import { toBytes, toNumber } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'

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
    <Unfold class="plan-part" title={title} onOpen={async () => (rows.length === 0 ? read() : undefined)}>
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
        <Button kind="quiet" icon={ChevronDown} onClick={read}>
          {t('settings.import.more', { shown: toNumber(rows.length), count: total })}
        </Button>
      )}
    </Unfold>
  )
}

export function Channels({ id }: { id: number }) {
  const [channels, setChannels] = useState<AdoptionChannel[]>([])
  const read = async () => setChannels(await get<AdoptionChannel[]>(`/api/adoption/${id}/channel/`))
  return (
    <Unfold class="plan-part" title={t('settings.import.channels')} onOpen={read}>
      <ul class="plain">
        {channels.map(({ channel_id: channel, channel_name: name, count, size }) => (
          <li key={channel}>
            <span dir="auto">{name || channel || t('settings.import.channels.none')}</span>{' '}
            <span class="meta">
              {t('settings.import.videos', { count })}, {toBytes(size)}
            </span>
          </li>
        ))}
      </ul>
    </Unfold>
  )
}
