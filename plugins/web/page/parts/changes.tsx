/** The changes of a timeline. This module is loaded when somebody opens one. */
import { useState } from 'preact/hooks'
import { get } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Change, Page } from '../server/records.ts'
import { useLoad } from '../stores/load.ts'
import { toClock, toLanguage, toMoment } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { wordDiff } from '../texts/word-diff.ts'
import { Loaded } from './loaded.tsx'
import { Pages } from './pages.tsx'

export interface TimelineProps {
  kind: Change['kind']
  id: string
  /** The platform's name. */
  platform: string
}

export default function Changes({ kind, id, platform }: TimelineProps) {
  const [page, setPage] = useState(1)
  const changes = useLoad<Page<Change>>(`changes/${kind}/${id}/${page}`, (signal) =>
    get('/api/change/', { kind, id, page }, signal),
  )
  return (
    <Loaded from={changes} height="80px">
      {({ data, paginate: { current_page: now, last_page: last } }) => (
        <>
          {data.length === 0 && <p class="hint">{t('history.none', { platform })}</p>}
          <ol>
            {data.map((change) => (
              <li key={change.id}>
                <p class="hint">
                  <strong>{t(`history.part.${change.part}`)}</strong>{' '}
                  <time dateTime={new Date(change.seen * 1000).toISOString()}>
                    {t('history.seen', { when: toMoment(change.seen) })}
                  </time>
                </p>
                <Difference {...change} />
              </li>
            ))}
          </ol>
          <Pages page={page} isMore={Number(last) > Math.max(1, Number(now))} onPage={setPage} />
        </>
      )}
    </Loaded>
  )
}

function Difference({ part, before, after }: Change) {
  switch (part) {
    case 'title':
    case 'description':
    case 'name':
    case 'handle':
      return <Words before={String(before)} after={String(after)} />
    case 'thumbnail':
    case 'picture':
      return (
        <div class="timeline-pictures">
          <Picture address={String(before)} label={t('history.before')} />
          <Picture address={String(after)} label={t('history.after')} />
        </div>
      )
    case 'length':
      return <Pair before={toClock(Number(before))} after={toClock(Number(after))} />
    case 'availability':
      return <Pair before={availabilityOf(before)} after={availabilityOf(after)} />
    case 'chapters':
      return <Words before={chaptersIn(before)} after={chaptersIn(after)} />
    case 'entries':
      return <Lists gone={titlesIn(before)} added={titlesIn(after)} />
    case 'captions':
      return <Lists {...listsOf(before, after, toLanguage)} />
    default:
      return <Lists {...listsOf(before, after)} />
  }
}

const Words = ({ before, after }: { before: string; after: string }) => (
  <p class="timeline-text" dir="auto">
    {wordDiff(before, after).map(({ is, text }, position) =>
      is === 'same' ? text : is === 'gone' ? <del key={position}>{text}</del> : <ins key={position}>{text}</ins>,
    )}
  </p>
)

const Pair = ({ before, after }: { before: string; after: string }) => (
  <p class="timeline-text">
    <del>{before}</del> <ins>{after}</ins>
  </p>
)

const Lists = ({ gone, added }: { gone: string[]; added: string[] }) => (
  <ul class="timeline-list">
    {gone.map((text) => (
      <li key={`- ${text}`}>
        <del dir="auto">{text}</del>
      </li>
    ))}
    {added.map((text) => (
      <li key={`+ ${text}`}>
        <ins dir="auto">{text}</ins>
      </li>
    ))}
  </ul>
)

const Picture = ({ address, label }: { address: string; label: string }) => (
  <figure>
    <img src={under(address)} alt="" width={320} height={180} loading="lazy" decoding="async" />
    <figcaption class="hint">{label}</figcaption>
  </figure>
)

const textsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function listsOf(before: unknown, after: unknown, nameOf: (text: string) => string = String) {
  const [old, now] = [textsIn(before), textsIn(after)]
  return {
    gone: old.filter((text) => !now.includes(text)).map(nameOf),
    added: now.filter((text) => !old.includes(text)).map(nameOf),
  }
}

const objectsIn = (value: unknown): Array<Record<string, unknown>> =>
  Array.isArray(value) ? (value as Array<Record<string, unknown>>) : []
const titlesIn = (value: unknown): string[] => objectsIn(value).map(({ title }) => String(title))
const chaptersIn = (value: unknown): string =>
  objectsIn(value)
    .map(({ start, title }) => `${toClock(Number(start))} ${String(title)}`)
    .join('\n')

const LOSSES = ['removed', 'violation', 'copyright', 'account', 'unavailable'] as const
const AVAILABILITIES = [
  'public',
  'unlisted',
  'private',
  'subscriber_only',
  'needs_auth',
  'premium_only',
  'blocked',
  ...LOSSES,
] as const
const availabilityOf = (value: unknown): string => {
  const known = AVAILABILITIES.find((one) => one === value)
  return known ? t(`history.availability.${known}`) : String(value)
}
