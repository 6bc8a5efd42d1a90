/**
 * Downloads: the current state and its reason, a field for links, then the running, waiting, failed and ignored items.
 */

import { ArrowDownToLine, Ban, Clock, EllipsisVertical, Inbox, ListChecks, Lock, RotateCw, Undo2 } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { changeQuery, route } from '../browser/router.ts'
import { download } from '../parts/adding.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { LinkField } from '../parts/link-field.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { Box, Empty, Failed } from '../parts/states.tsx'
import { VirtualGrid } from '../parts/virtual-grid.tsx'
import { under } from '../server/base.ts'
import type { ErrorClass } from '../server/records.ts'
import { CLASSES, FOR_COOKIE, LATER } from '../stores/failures.ts'
import { isSome, without } from '../stores/list.ts'
import { type ItemList, type QueueStore, useQueue } from '../stores/queue.ts'
import { isAdmin, mayDownload } from '../stores/session.ts'
import { toNumber } from '../texts/format.ts'
import { type Count, t, toCount } from '../texts/lookup.ts'
import { changeAll, type Wanted, type Which } from './downloads/actions.ts'
import { type Kind, QUEUE_ROW_PX, QueueRow } from './downloads/row.tsx'
import { Sentence } from './downloads/sentence.tsx'

const SHOWN = ['waiting', 'later', 'failed', 'ignored'] as const
type Shown = (typeof SHOWN)[number]

export default function Downloads() {
  if (!mayDownload.value)
    return <Empty isWhole icon={Lock} title={t('downloads.denied')} text={t('downloads.denied.text')} />
  return <Queue />
}

/** Only admins manage the queue; accounts that may download can add items and see the waiting ones. */
function Queue() {
  const queue = useQueue()
  return (
    <div class="downloads">
      <h1 class="unseen">{t('nav.downloads')}</h1>
      {isAdmin.value && <Sentence queue={queue} />}
      <LinkField
        label={t('downloads.paste')}
        hint={t('downloads.paste.placeholder')}
        missing={t('downloads.missing')}
        isCalm
        onSend={(understood, how) => download(understood, { isNow: how === 'now' })}
        buttons={({ isUseless, understood: { length: count } }) => (
          <>
            {count > 0 && <span class="meta">{t('downloads.found', { count })}</span>}
            <Button type="submit" value="queue" disabled={isUseless}>
              {t('downloads.queue')}
            </Button>
            <Button type="submit" value="now" kind="main" icon={ArrowDownToLine} disabled={isUseless}>
              {t('downloads.now')}
            </Button>
          </>
        )}
      />
      <Running queue={queue} />
      {isAdmin.value ? <Lists queue={queue} /> : <Items queue={queue} list={queue.waiting} kind="waiting" />}
    </div>
  )
}

function Running({ queue }: { queue: QueueStore }) {
  const items = [...queue.running.value.values()]
  if (items.length === 0) return null
  return (
    <section class="running" aria-label={t('downloads.running')}>
      <h2>{t('downloads.running')}</h2>
      {items.map((item) => (
        <QueueRow key={item.platform_id} item={item} kind="running" queue={queue} />
      ))}
    </section>
  )
}

function Lists({ queue }: { queue: QueueStore }) {
  const counts: Record<Shown, Count> = {
    waiting: without(queue.waitingCount.value, queue.running.value.size),
    later: queue.laterCount.value,
    failed: queue.failedCount.value,
    ignored: queue.ignored.total.value ?? 0,
  }
  const isKnown =
    queue.platform.value !== undefined &&
    queue.waiting.total.value !== undefined &&
    queue.ignored.total.value !== undefined
  // Shows the first list that has items; the shown list stays when it becomes empty.
  const first = useRef<Shown | undefined>(undefined)
  if (isKnown) first.current ??= SHOWN.find((one) => isSome(counts[one])) ?? 'waiting'
  const asked = route.value.query.get('show')
  const shown = SHOWN.find((one) => one === asked) ?? first.current ?? 'waiting'
  return (
    <section class="queue" aria-label={t(`downloads.${shown}`)}>
      <div class="queue-head">
        <div class="chips" role="group" aria-label={t('downloads.show')}>
          {SHOWN.filter((one) => one !== 'later' || isSome(counts.later) || shown === 'later').map((one) => (
            <button
              type="button"
              key={one}
              class="chip"
              aria-pressed={one === shown}
              onClick={() => changeQuery({ show: one })}
            >
              {t(`downloads.${one}`)}
              {isSome(counts[one]) && (
                <span class={one === 'failed' ? 'chip-count failed' : 'chip-count'}>{toCount(counts[one])}</span>
              )}
            </button>
          ))}
        </div>
        {shown === 'waiting' && isSome(counts.waiting) && (
          <Bulk
            queue={queue}
            which={{ filter: 'pending', error: false }}
            count={counts.waiting}
            acts={['priority', 'ignore', 'delete']}
          />
        )}
        {shown === 'later' && isSome(counts.later) && (
          <Bulk
            queue={queue}
            which={{ filter: 'pending', error_class: LATER }}
            count={counts.later}
            acts={['ignore', 'delete']}
          />
        )}
        {shown === 'ignored' && isSome(counts.ignored) && (
          <Bulk queue={queue} which={{ filter: 'ignore' }} count={counts.ignored} acts={['pending', 'delete']} />
        )}
      </div>
      {shown === 'failed' ? (
        <FailedItems queue={queue} />
      ) : (
        <Items key={shown} queue={queue} list={shown === 'later' ? queue.failedOf(LATER) : queue[shown]} kind={shown} />
      )}
    </section>
  )
}

const EMPTY_ICONS = { waiting: Inbox, later: Clock, failed: ListChecks, ignored: Ban }
const Nothing = ({ what }: { what: Shown }) => (
  <Empty icon={EMPTY_ICONS[what]} title={t(`downloads.${what}.none`)} text={t(`downloads.${what}.none.text`)} />
)

function FailedItems({ queue }: { queue: QueueStore }) {
  const platform = queue.platform.value
  if (!platform) return queue.platformFailure.value ? null : <Box height="88px" radius="10px" />
  const groups = CLASSES.filter((kind) => (platform.waiting[kind] ?? 0) > 0)
  if (groups.length === 0) return <Nothing what="failed" />
  return (
    <>
      {groups.map((kind) => (
        <Group key={kind} kind={kind} count={platform.waiting[kind]!} queue={queue} />
      ))}
    </>
  )
}

function Group({ kind, count, queue }: { kind: ErrorClass; count: number; queue: QueueStore }) {
  return (
    <section class="failed-group" aria-labelledby={`failed-${kind}`}>
      <header>
        <div>
          <h2 id={`failed-${kind}`}>
            {t(`downloads.class.${kind}`)} <span class="count-of">{toNumber(count)}</span>
          </h2>
          <p class="hint">
            {t(`downloads.class.${kind}.text`)}{' '}
            {FOR_COOKIE.includes(kind) && <a href={under('/settings/cookie/')}>{t('downloads.toCookie')}</a>}
          </p>
        </div>
        <Bulk
          queue={queue}
          which={{ filter: 'pending', error_class: kind }}
          count={count}
          acts={['priority', 'ignore', 'delete']}
          of={t(`downloads.class.${kind}`)}
          isRetry
        />
      </header>
      <Items queue={queue} list={queue.failedOf(kind)} kind="failed" />
    </section>
  )
}

const NAMES = {
  priority: 'downloads.allNow',
  pending: 'downloads.takeAll',
  ignore: 'downloads.ignoreAll',
  delete: 'downloads.forgetAll',
} as const
const ICONS = { priority: ArrowDownToLine, pending: Undo2, ignore: Ban, delete: undefined }

/** The first action as a button (the first two for retries), and the others in the menu. */
function Bulk({
  queue,
  which,
  count,
  acts,
  of,
  isRetry = false,
}: {
  queue: QueueStore
  which: Which
  count: Count
  acts: Wanted[]
  /** What the items have in common, if there are several groups. */
  of?: string
  isRetry?: boolean
}) {
  const act = (wanted: Wanted) => changeAll(queue, which, wanted, count)
  const nameOf = (wanted: Wanted) => (isRetry && wanted === 'priority' ? t('downloads.tryAll') : t(NAMES[wanted]))
  const shown = isRetry ? acts.slice(0, 2) : acts.slice(0, 1)
  const items = acts.slice(shown.length).map(
    (wanted): MenuItem => ({
      label: nameOf(wanted),
      isDangerous: wanted === 'delete',
      onSelect: () => act(wanted),
      ...(ICONS[wanted] && { icon: ICONS[wanted] }),
    }),
  )
  return (
    <div class="bulk">
      {shown.map((wanted) => (
        <Button
          key={wanted}
          of={of}
          {...(ICONS[wanted] && { icon: isRetry && wanted === 'priority' ? RotateCw : ICONS[wanted] })}
          onClick={() => act(wanted)}
        >
          {nameOf(wanted)}
        </Button>
      ))}
      <Menu label={of === undefined ? t('downloads.allFor') : t('action.moreFor', { title: of })} items={items}>
        <Icon node={EllipsisVertical} />
      </Menu>
    </div>
  )
}

const FIRST = 24

function Items({ queue, list, kind }: { queue: QueueStore; list: ItemList; kind: Exclude<Kind, 'running'> }) {
  useEffect(() => void list.reach(FIRST), [list])
  const rows =
    kind === 'waiting'
      ? list.rows.value.filter(({ platform_id }) => !queue.running.value.has(platform_id))
      : list.rows.value
  const isWhole = list.isWhole.value
  const isFailed = list.state.value === 'failed'
  if (rows.length === 0 && isFailed) return <Failed failure={list.failure.value} onRetry={() => list.reload()} />
  if (rows.length === 0 && isWhole) return kind === 'failed' ? null : <Nothing what={kind} />
  const ghosts =
    isWhole || isFailed || (rows.length > 0 && typeof list.total.value === 'number' && rows.length >= list.total.value)
      ? 0
      : rows.length === 0
        ? 3
        : 2
  return (
    <>
      <VirtualGrid
        label={t(`downloads.${kind}`)}
        count={rows.length + ghosts}
        isList
        minWidth={0}
        gap={0}
        heightOf={() => QUEUE_ROW_PX}
        onSight={(_first, last) => void list.reach(Math.max(FIRST, last + FIRST))}
        keyOf={(position) => rows[position]?.platform_id}
        render={(position) => {
          const item = rows[position]
          const isNext = kind === 'waiting' && position === 0
          return item ? <QueueRow item={item} kind={kind} queue={queue} isNext={isNext} /> : <GhostRow />
        }}
      />
      {isFailed && <Failed failure={list.failure.value} onRetry={() => list.retry()} />}
      {list.isCut.value && <p class="end-of-list">{t('list.cut')}</p>}
    </>
  )
}

const GhostRow = () => (
  <div class="queue-row ghost">
    <span class="picture box" />
    <div class="queue-text">
      <Box width="60%" height="16px" />
      <Box width="35%" height="12px" />
    </div>
  </div>
)
