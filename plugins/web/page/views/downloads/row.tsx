/** An item of the queue: picture, title, origin, progress or reason of failure, and actions. */
import { ArrowDownToLine, Ban, EllipsisVertical, RotateCw, Trash, Undo2 } from 'lucide'
import { useState } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { platformOf } from '../../parts/platform-link.ts'
import { small, under } from '../../server/base.ts'
import type { QueueItem } from '../../server/records.ts'
import type { QueueStore } from '../../stores/queue.ts'
import { isAdmin } from '../../stores/session.ts'
import { toAge, toBytes, toPercent, toSpan } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { change, type Wanted } from './actions.ts'
import { nextTryOf, Why, whyOf } from './why.tsx'

export type Kind = 'running' | 'waiting' | 'later' | 'failed' | 'ignored'

export const QUEUE_ROW_PX = 88

interface Act {
  wanted: Wanted
  short: string
  long: string
  icon: MenuItem['icon'] & object
}

function actsOf(kind: Kind, { title, auto_start: isFirst }: QueueItem): Act[] {
  const now: Act = {
    wanted: 'priority',
    short: t('downloads.item.now'),
    long: t('downloads.item.nowOf', { title }),
    icon: ArrowDownToLine,
  }
  const retry: Act = {
    wanted: 'priority',
    short: t('downloads.item.retry'),
    long: t('downloads.item.retryOf', { title }),
    icon: RotateCw,
  }
  const take: Act = {
    wanted: 'pending',
    short: t('downloads.item.take'),
    long: t('downloads.item.takeOf', { title }),
    icon: Undo2,
  }
  const ignore: Act = {
    wanted: 'ignore',
    short: t('downloads.item.ignore'),
    long: t('downloads.item.ignoreOf', { title }),
    icon: Ban,
  }
  const forget: Act = {
    wanted: 'delete',
    short: kind === 'running' ? t('downloads.item.stop') : t('downloads.item.forget'),
    long: t('downloads.item.forgetOf', { title }),
    icon: Trash,
  }
  if (kind === 'running') return [ignore, forget]
  if (kind === 'waiting') return isFirst ? [ignore, forget] : [now, ignore, forget]
  return kind === 'failed' || kind === 'later' ? [retry, ignore, forget] : [take, forget]
}

const ageOf = (kind: Kind, { timestamp }: QueueItem): string =>
  kind === 'waiting' ? t('downloads.item.added', { age: toAge(timestamp) }) : toAge(timestamp)

interface RowProps {
  item: QueueItem
  kind: Kind
  queue: QueueStore
  /** The item is the first of the waiting ones. */
  isNext?: boolean
}

export function QueueRow({ item, kind, queue, isNext = false }: RowProps) {
  const acts = isAdmin.value ? actsOf(kind, item) : []
  const select = (wanted: Wanted) => change(queue, item, wanted)
  const [isAsked, setAsked] = useState(false)
  return (
    <article class={`queue-row ${kind}`}>
      <span class="picture">
        <img src={small(item.vid_thumb_url)} alt="" width={320} height={180} loading="lazy" decoding="async" />
      </span>
      <div class="queue-text">
        <p class="queue-title" dir="auto">
          {item.platform_url === undefined ? (
            item.title
          ) : (
            <a
              href={item.platform_url}
              title={t('share.original', { platform: platformOf(item) })}
              target="_blank"
              rel="noopener noreferrer"
            >
              {item.title}
            </a>
          )}
        </p>
        <p class="meta">
          {item.channel_name !== '' &&
            (item.channel_indexed ? (
              <a href={under(`/channel/${item.channel_id}/`)}>{item.channel_name}</a>
            ) : (
              <span>{item.channel_name}</span>
            ))}
          {item.duration !== '' && item.duration !== 'NA' && <span>{item.duration}</span>}
          {isNext && <span class="first">{t('downloads.item.first')}</span>}
          {kind !== 'running' && <span class="age">{ageOf(kind, item)}</span>}
        </p>
        {kind === 'running' && <Progress item={item} />}
        {(kind === 'failed' || kind === 'later') && (
          <button type="button" class="queue-why" aria-haspopup="dialog" onClick={() => setAsked(true)}>
            {kind === 'failed' ? whyOf(item) : (nextTryOf(item) ?? whyOf(item))}
          </button>
        )}
      </div>
      {isAsked && <Why item={item} onClose={() => setAsked(false)} />}
      <div class="queue-actions">
        {acts.map(({ wanted, long, icon }) => (
          <IconButton key={wanted} icon={icon} label={long} onClick={() => select(wanted)} />
        ))}
      </div>
      <div class="queue-menu" hidden={acts.length === 0}>
        <Menu
          label={t('action.moreFor', { title: item.title })}
          items={acts.map(({ wanted, short, icon }) => ({
            label: short,
            icon,
            isDangerous: wanted === 'delete',
            onSelect: () => select(wanted),
          }))}
        >
          <Icon node={EllipsisVertical} />
        </Menu>
      </div>
    </article>
  )
}

function Progress({ item: { title, progress } }: { item: QueueItem }) {
  const { fraction = 0, speed = 0, eta = 0 } = progress ?? {}
  const isDone = fraction >= 1
  return (
    <div class="queue-progress">
      <progress value={fraction} max={1} aria-label={t('downloads.item.progress', { title })} />
      <p class="meta">
        {isDone ? (
          <span>{t('downloads.item.finishing')}</span>
        ) : (
          <>
            <span>{fraction === 0 && speed === 0 ? t('downloads.item.begins') : toPercent(fraction)}</span>
            {speed > 0 && <span>{t('downloads.item.speed', { speed: toBytes(speed) })}</span>}
            {eta > 0 && <span>{t('downloads.item.left', { span: toSpan(eta) })}</span>}
          </>
        )}
      </p>
    </div>
  )
}
