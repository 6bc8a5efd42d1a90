/** Statistics as charts: the growth of the archive, its content by size, and what has been watched. */

import { ChartColumn } from 'lucide'
import { useMemo, useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Chips, Select } from '../parts/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Empty } from '../parts/states.tsx'
import { get } from '../server/api.ts'
import { under } from '../server/base.ts'
import type {
  BiggestChannel,
  ChannelStats,
  Page,
  PlaylistStats,
  QualityStats,
  QueueItem,
  VideoStats,
  WatchStats,
} from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { countOf, isSome } from '../stores/list.ts'
import { useLoad } from '../stores/load.ts'
import { channelHref, isAdmin } from '../stores/session.ts'
import { toBytes, toCompact, toDay, toMonth, toNumber, toSpan } from '../texts/format.ts'
import { type Count, type TextKey, t, toCount } from '../texts/lookup.ts'
import { growthOf, SPANS, type Span, type SpanName, toEpoch } from './statistics/growth.ts'
import { Plot } from './statistics/plot.tsx'
import { Share } from './statistics/share.tsx'
import { Storage } from './statistics/storage.tsx'

interface Figures {
  video: VideoStats
  channel: ChannelStats
  playlist: PlaylistStats
  watch: WatchStats
  quality: QualityStats
  lost: Count
  waiting: Count | undefined
}
const ORDERS = ['media_size', 'doc_count', 'duration'] as const
type Order = (typeof ORDERS)[number]
const FEW = 10
/** Maximum number of bars; a chart with more has steps instead, because bars would be too thin to distinguish. */
const MOST_BARS = 24
const MANY = 100

export default function Statistics() {
  const figures = useLoad<Figures>('statistics/figures', async (signal) => {
    const of = <Reply,>(name: string) => get<Reply>(`/api/stats/${name}/`, {}, signal)
    const [video, channel, playlist, watch, quality, lost, download] = await Promise.all([
      of<Figures['video']>('video'),
      of<Figures['channel']>('channel'),
      of<Figures['playlist']>('playlist'),
      of<Figures['watch']>('watch'),
      of<Figures['quality']>('quality'),
      get<Page<unknown>>('/api/video/', { lost: 'any' }, signal),
      // Failed items do not count as waiting.
      isAdmin.value ? get<Page<QueueItem>>('/api/download/', { filter: 'pending', error: false }, signal) : undefined,
    ])
    return {
      video,
      channel,
      playlist,
      watch,
      quality,
      lost: countOf(lost.paginate),
      waiting: download && countOf(download.paginate),
    }
  })
  if (figures.now.value.value?.video.doc_count === 0) {
    return (
      <>
        <h1 class="unseen">{t('nav.statistics')}</h1>
        <Empty icon={ChartColumn} title={t('statistics.empty')} text={t('statistics.empty.text')}>
          <a class="button main" href={under('/')}>
            {t('app.notFound.next')}
          </a>
        </Empty>
      </>
    )
  }
  return (
    <div class="statistics">
      <h1>{t('nav.statistics')}</h1>
      <Loaded from={figures} height="var(--numbers-height)">
        {(value) => <Numbers {...value} />}
      </Loaded>
      {isAdmin.value && isThere('storage') && <Storage />}
      <Growth />
      <div class="statistics-pair">
        <History />
        <section class="panel">
          <Loaded from={figures} height="260px">
            {(value) => <Shares {...value} />}
          </Loaded>
        </section>
      </div>
      <Channels />
    </div>
  )
}

function Numbers({ video, channel, playlist, quality, lost, waiting }: Figures) {
  const degraded = quality.degraded.doc_count
  const shown: Array<[label: TextKey & `statistics.${string}`, value: string, more?: string]> = [
    [
      'statistics.videos',
      toNumber(video.doc_count),
      video.active_false.doc_count > 0 ? t('statistics.gone', { count: video.active_false.doc_count }) : '',
    ],
    ['statistics.size', toBytes(video.media_size)],
    ['statistics.duration', toSpan(video.duration)],
    [
      'statistics.channels',
      toNumber(channel.doc_count),
      t('statistics.subscribed', { count: channel.subscribed_true }),
    ],
    [
      'statistics.playlists',
      toNumber(playlist.doc_count),
      t('statistics.subscribed', { count: playlist.subscribed_true }),
    ],
    ...(waiting && isSome(waiting)
      ? [['statistics.pending', toCount(waiting)] as [TextKey & `statistics.${string}`, string]]
      : []),
  ]
  return (
    <dl class="numbers">
      {shown.map(([label, value, more]) => (
        <div key={label}>
          <dt>{t(label as 'statistics.videos')}</dt>
          <dd>
            {value}
            {more && <span class="meta">{more}</span>}
          </dd>
        </div>
      ))}
      {isSome(lost) && (
        <div>
          <dt>{t('home.lost')}</dt>
          <dd>
            {toCount(lost)}
            <a class="meta" href={under('/?lost=any&sort=lost')}>
              {t('statistics.degraded.show')}
            </a>
          </dd>
        </div>
      )}
      {degraded > 0 && (
        <div>
          <dt>{t('statistics.degraded')}</dt>
          <dd>
            {toNumber(degraded)}
            <a class="meta" href={under('/?quality=degraded')}>
              {t('statistics.degraded.show')}
            </a>
          </dd>
        </div>
      )}
    </dl>
  )
}

const toISODay = (epoch: number): string => new Date(epoch * 1000).toISOString().slice(0, 10)
const toDayOf = (epoch: number): string => toDay(toISODay(epoch))
const today = (): string => new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
/** The name of a span; a month has no day, which would be too precise. */
const toSpanName = (date: string, by: SpanName): string => (by === 'month' ? toMonth(date) : toDay(date))

function Growth() {
  const [by, setBy] = useState<SpanName>('month')
  const growth = useLoad<Span[]>(`statistics/growth/${by}`, (signal) => get('/api/stats/growth/', { by }, signal))
  return (
    <section aria-labelledby="growth">
      <div class="page-head">
        <h2 id="growth">{t('statistics.growth')}</h2>
        <Chips
          label={t('statistics.by')}
          value={by}
          choices={SPANS.map((value) => ({ value, label: t(`statistics.by.${value}`) }))}
          onChange={setBy}
        />
      </div>
      <div class="statistics-pair growth">
        <Loaded from={growth} height="310px">
          {(spans) => <GrowthPlots spans={spans} by={by} />}
        </Loaded>
      </div>
    </section>
  )
}

function GrowthPlots({ spans, by }: { spans: Span[]; by: SpanName }) {
  const { starts, ends, counts, sizes } = useMemo(() => growthOf(spans, by, today()), [spans, by])
  const first = spans[0]?.date
  const since = first ? t('statistics.since', { day: toSpanName(first, by) }) : ''
  const rowsOf = (values: readonly number[], added: (span: Span) => string, toValue: (value: number) => string) => () =>
    spans.map((span, position) => [toSpanName(span.date, by), added(span), toValue(values[position]!)]).toReversed()
  const kind = spans.length > MOST_BARS ? 'steps' : 'bars'
  const times = kind === 'bars' ? starts : ends
  const toTime = (epoch: number) => (kind === 'bars' ? toSpanName(toISODay(epoch), by) : toDayOf(epoch))
  const heads = [t(`statistics.by.${by}`), t('statistics.added'), t('statistics.then')]
  return (
    <>
      <div class="panel">
        <Plot
          title={t('statistics.videos')}
          kind={kind}
          isWhole
          times={times}
          values={counts}
          toValue={toCompact}
          toTime={toTime}
          isMonthly={by === 'month'}
          summary={`${toNumber(counts.at(-1) ?? 0)} ${since}`}
          table={{ heads, rows: rowsOf(counts, ({ count }) => toNumber(count), toNumber) }}
        />
      </div>
      <div class="panel">
        <Plot
          title={t('statistics.size')}
          kind={kind}
          times={times}
          values={sizes}
          toValue={toBytes}
          toTime={toTime}
          isMonthly={by === 'month'}
          summary={`${toBytes(sizes.at(-1) ?? 0)} ${since}`}
          table={{ heads, rows: rowsOf(sizes, (span) => toBytes(span.media_size), toBytes) }}
        />
      </div>
    </>
  )
}

const NO_DAYS: Span[] = []

function History() {
  const history = useLoad<Span[]>('statistics/history', (signal) => get('/api/stats/downloadhist/', {}, signal))
  const { state, value = NO_DAYS } = history.now.value
  const days = useMemo(() => value.toReversed(), [value])
  const times = useMemo(() => days.map(({ date }) => toEpoch(date)), [days])
  const counts = useMemo(() => days.map(({ count }) => count), [days])
  const [count, size] = [
    counts.reduce((sum, one) => sum + one, 0),
    days.reduce((sum, { media_size }) => sum + media_size, 0),
  ]
  return (
    <section class="panel">
      <Loaded from={history} height="260px">
        {() =>
          state === 'ready' && value.length === 0 ? (
            <div class="plot">
              <h3>{t('statistics.history')}</h3>
              <p class="hint">{t('statistics.history.none')}</p>
            </div>
          ) : (
            <Plot
              title={t('statistics.history')}
              kind="bars"
              isWhole
              times={times}
              values={counts}
              toValue={(value) => toCompact(value)}
              toTime={toDayOf}
              summary={t('statistics.history.sum', { count, size: toBytes(size) })}
              table={{
                heads: [t('statistics.by.day'), t('statistics.videos'), t('statistics.size')],
                rows: () => value.map((day) => [toDay(day.date), toNumber(day.count), toBytes(day.media_size)]),
              }}
            />
          )
        }
      </Loaded>
    </section>
  )
}

/** Bars for watched and unwatched videos, each with parts that together are the whole archive. */
function Shares({ video, watch }: Figures) {
  const all = watch.watched.duration + watch.unwatched.duration
  return (
    <div class="shares">
      <Share
        title={t('statistics.watched')}
        parts={[
          {
            label: t('statistics.watched.yes'),
            share: watch.watched.progress,
            text: t('statistics.watched.part', { count: watch.watched.items, span: toSpan(watch.watched.duration) }),
          },
          {
            label: t('statistics.watched.no'),
            share: all === 0 ? 1 : watch.unwatched.progress,
            text: t('statistics.watched.part', {
              count: watch.unwatched.items,
              span: toSpan(watch.unwatched.duration),
            }),
          },
        ]}
      />
      <Share
        title={t('statistics.types')}
        parts={(['videos', 'streams', 'shorts'] as const).map((type) => {
          const { doc_count: count, media_size: size } = video[`type_${type}`]
          return {
            label: t(`home.type.${type}`),
            share: count / video.doc_count,
            text: t('statistics.types.part', { count, size: toBytes(size) }),
          }
        })}
      />
    </div>
  )
}

const SHOWN: Record<Order, (one: BiggestChannel) => string> = {
  media_size: (one) => toBytes(one.media_size),
  doc_count: (one) => toNumber(one.doc_count),
  duration: (one) => toSpan(one.duration),
}

function Channels() {
  const [order, setOrder] = useState<Order>('media_size')
  const [limit, setLimit] = useState(FEW)
  const biggest = useLoad<BiggestChannel[]>(`statistics/channels/${order}/${limit}`, (signal) =>
    get('/api/stats/biggestchannels/', { order, limit }, signal),
  )
  return (
    <section aria-labelledby="biggest">
      <div class="page-head">
        <h2 id="biggest">{t('statistics.biggest')}</h2>
        <Select
          label={t('statistics.order')}
          isLabelHidden
          value={order}
          choices={ORDERS.map((value) => ({ value, label: t(`statistics.order.${value}`) }))}
          onChange={setOrder}
        />
      </div>
      <Loaded from={biggest} height="440px">
        {(channels) => (
          <>
            <ol class="bars">
              {channels.map((one) => (
                <li key={one.id}>
                  <a href={channelHref(one.id)}>
                    <span class="bar-name">{one.name || one.id}</span>
                    <span class="bar-track" aria-hidden="true">
                      <span style={{ width: `${(one[order] / Math.max(1, channels[0]![order])) * 100}%` }} />
                    </span>
                    <span class="bar-value">{SHOWN[order](one)}</span>
                  </a>
                </li>
              ))}
            </ol>
            {limit === FEW && channels.length === FEW && (
              <Button kind="quiet" onClick={() => setLimit(MANY)}>
                {t('statistics.more')}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}
