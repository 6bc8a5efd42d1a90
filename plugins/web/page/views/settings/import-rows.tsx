/** Import: the rows of a plan by outcome, with thumbnails, and the number of films of each channel. */
import { ChevronDown } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Unfold } from '../../parts/unfold.tsx'
import { get } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import { getPage } from '../../server/paged.ts'
import type { AdoptionChannel, AdoptionItem } from '../../server/records.ts'
import { toBytes, toNumber } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Correct } from './import-correct.tsx'

const pictureOf = (id: number, number: number): string => under(`/api/adoption/${id}/item/${number}/picture/`)

interface RowsProps {
  id: number
  title: string
  /** The filter of the rows. */
  chosen: Record<string, string>
  /** Called after a person has corrected a row. */
  reload: () => Promise<void>
}

export function Rows({ id, title, chosen, reload }: RowsProps) {
  const [rows, setRows] = useState<AdoptionItem[]>([])
  const [next, setNext] = useState(1)
  const [total, setTotal] = useState(0)
  const read = async (page: number) => {
    const { data, paginate } = await getPage<AdoptionItem>(`/api/adoption/${id}/item/`, { ...chosen, page })
    setRows((before) => (page === 1 ? data : [...before, ...data]))
    setNext(page + 1)
    setTotal(paginate.last_page === 0 ? 0 : paginate.total_hits)
  }
  const corrected = async () => {
    await read(1)
    await reload()
  }
  return (
    <Unfold class="plan-part" title={title} onOpen={async () => (rows.length === 0 ? read(1) : undefined)}>
      <ul class="plain plan-rows">
        {rows.map((row) => (
          <li key={row.number}>
            <Row id={id} row={row} />
            <Correct id={id} item={row} onDone={corrected} />
          </li>
        ))}
      </ul>
      {total > rows.length && (
        <Button kind="quiet" icon={ChevronDown} onClick={() => read(next)}>
          {t('settings.import.more', { shown: toNumber(rows.length), count: total })}
        </Button>
      )}
    </Unfold>
  )
}

function Row({ id, row }: { id: number; row: AdoptionItem }) {
  const { number, file, platform_id: video, title, channel_name: channel, reason, said, picture } = row
  return (
    <>
      {picture && <img src={pictureOf(id, number)} alt="" loading="lazy" width={96} height={54} />}
      <p>
        <span dir="auto">{file || title || video}</span>
        {reason !== '' && (
          <>
            : <span class="meta">{inWords(reason, said)}</span>
          </>
        )}
        {file !== '' && (video !== '' || channel !== '') && (
          <>
            <br />
            <span class="meta" dir="auto">
              {[video && t('settings.import.id', { id: video }), channel].filter(Boolean).join(' · ')}
            </span>
          </>
        )}
      </p>
    </>
  )
}

const MOST_PICTURES = 8

/** Thumbnails of the first films that will be imported. */
export function Pictures({ id }: { id: number }) {
  const [rows, setRows] = useState<AdoptionItem[]>([])
  useEffect(() => {
    const ending = new AbortController()
    getPage<AdoptionItem>(`/api/adoption/${id}/item/`, { outcome: 'new' }, ending.signal)
      .then(({ data }) => setRows(data.filter(({ picture }) => picture).slice(0, MOST_PICTURES)))
      // They only decorate the plan, so a failure is not reported.
      .catch(() => undefined)
    return () => ending.abort()
  }, [id])
  if (rows.length === 0) return null
  return (
    <ul class="plain plan-pictures">
      {rows.map(({ number, title, file }) => (
        <li key={number}>
          <img src={pictureOf(id, number)} alt={title || file} loading="lazy" width={128} height={72} />
        </li>
      ))}
    </ul>
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
