/**
 * A video as a card or a row: picture in its fixed box, title in two lines, channel and age in one, actions on hover or
 * focus.
 */

import { Check, Circle, CircleCheck, Clock, ClockCheck, EllipsisVertical, ListPlus, TvMinimalPlay } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { isSofa } from '../browser/layout.ts'
import { onLongPress } from '../browser/long-press.ts'
import { navigate } from '../browser/router.ts'
import { sharp, under } from '../server/base.ts'
import type { Video } from '../server/records.ts'
import { channelHref } from '../stores/session.ts'
import { toAge, toClock, toDay } from '../texts/format.ts'
import { t } from '../texts/texts.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { Menu, type MenuItem } from './menu.tsx'
import { platformOf } from './original.ts'
import { askForPlaylist } from './playlist-dialog.tsx'
import { Portrait } from './portrait.tsx'
import { toggleLater } from './watch-later.ts'

/** What a card shows: lists of many thousands keep no more of each. */
export interface VideoRow {
  id: string
  title: string
  picture: string
  channelId: string
  channelName: string
  channelPicture: string
  published: string
  duration: number
  progress: number
  isWatched: boolean
  isLater: boolean
  isActive: boolean
  /** Where it comes from. */
  platform: string
  /** Where its file lies and is only read. */
  place?: Video['place']
}

export const toVideoRow = (video: Video): VideoRow => ({
  id: video.platform_id,
  title: video.title,
  picture: video.vid_thumb_url,
  channelId: video.channel.channel_id,
  channelName: video.channel.channel_name,
  channelPicture: video.channel.channel_thumb_url,
  published: video.published,
  duration: video.player.duration,
  progress: video.player.progress,
  isWatched: video.player.watched,
  isLater: video.watch_later === true,
  isActive: video.active,
  platform: platformOf(video),
  ...(video.place && { place: video.place }),
})

interface CardProps {
  row: VideoRow
  isList?: boolean
  /** What follows the address of the video, such as `?list=PL1`. */
  query?: string
  onWatched: (row: VideoRow) => void
  /** Left out: it is put into Watch later, or taken out. */
  onLater?: (row: VideoRow) => void
  /** Further entries of the menu. */
  actions?: MenuItem[]
  /** Where several can be chosen. */
  choosing?: Choosing | undefined
}

export interface Choosing {
  /** Some are chosen: a click chooses, and does not open. */
  isActive: boolean
  isChosen: boolean
  toggle: () => void
  /** All from the last one to this. */
  extend: () => void
}

/** Of a card: its height below the picture, its narrowest width; of a row: its height. The second from afar. */
const TEXT_PX = [74, 108] as const
const MIN_PX = [228, 360] as const
const ROWS_PX = [104, 136] as const
const ofLayout = ([near, afar]: readonly [number, number]): number => (isSofa.value ? afar : near)
export const rowHeight = (): number => ofLayout(ROWS_PX)
export const cardMinWidth = (): number => ofLayout(MIN_PX)
export const cardHeight = (width: number): number => Math.round((width * 9) / 16) + ofLayout(TEXT_PX)

/** Fingers do not hover: they get one button beside the text. */
const hasHover = matchMedia('(hover: hover)').matches

/** Chooses where the click says so. On the title a modifier opens another tab, as everywhere. @returns whether it did */
function takesClick(event: MouseEvent, { isActive, toggle, extend }: Choosing, isHeld: boolean): boolean {
  if (isHeld) return true
  const on = event.target as Element
  const isButton = on.closest('.card-choose') !== null
  if (!isButton && on.closest('.card-actions')) return false
  const isModified = event.ctrlKey || event.metaKey || event.shiftKey
  if (!isButton && !isActive && !(isModified && !on.closest('.card-text a'))) return false
  if (event.shiftKey) extend()
  else toggle()
  return true
}

export function VideoCard({
  row,
  isList = false,
  query = '',
  onWatched,
  onLater = (one) => void toggleLater(one),
  actions = [],
  choosing,
}: CardProps) {
  // Hundreds of cards are scrolled by: each is as light as it can be until somebody comes to it.
  const [isNear, setNear] = useState(false)
  const press = useRef<ReturnType<typeof onLongPress> | undefined>(undefined)
  const held = useRef(choosing)
  held.current = choosing
  if (choosing) press.current ??= onLongPress(() => held.current?.toggle())
  const { isOver, ...hold } = press.current ?? {}
  const later = row.isLater ? t('later.remove') : t('later.add')
  // All of them: fingers have only this one.
  const items: MenuItem[] = [
    {
      label: row.isWatched ? t('video.markUnwatched') : t('video.markWatched'),
      icon: CircleCheck,
      onSelect: () => onWatched(row),
    },
    { label: later, icon: row.isLater ? ClockCheck : Clock, onSelect: () => onLater(row) },
    { label: t('video.addToPlaylist'), icon: ListPlus, onSelect: () => askForPlaylist([row]) },
    ...(channelHref(row.channelId)
      ? [{ label: t('video.toChannel'), icon: TvMinimalPlay, onSelect: () => navigate(`/channel/${row.channelId}/`) }]
      : []),
    ...actions,
  ]
  const href = under(`/video/${row.id}/${query}`)
  return (
    <article
      class={`card${isList ? ' row' : ''}${choosing?.isActive ? ' choosing' : ''}${choosing?.isChosen ? ' chosen' : ''}`}
      {...hold}
      onClickCapture={(event: MouseEvent) => {
        if (!choosing || !takesClick(event, choosing, isOver?.() ?? false)) return
        event.preventDefault()
        event.stopPropagation()
      }}
      onPointerEnter={() => setNear(true)}
      onFocusIn={() => setNear(true)}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'w') onWatched(row)
        else if (event.key === 'l') onLater(row)
        else if (event.key === 'x' && choosing) choosing.toggle()
        else if (event.key === 'X' && choosing) choosing.extend()
        else if (event.key === 'q') askForPlaylist([row])
        else return
        event.stopPropagation()
        event.preventDefault()
      }}
    >
      <a class="picture" href={href} tabIndex={-1} aria-hidden="true">
        <img {...sharp(row.picture)} alt="" width={320} height={180} decoding="async" />
        {(row.isWatched || row.isLater) && (
          <span class="marks">
            {row.isWatched && (
              <span class="watched-mark">
                <Icon node={Check} size={16} />
              </span>
            )}
            {row.isLater && (
              <span class="later-mark">
                <Icon node={Clock} size={16} />
              </span>
            )}
          </span>
        )}
        {row.duration > 0 && <span class="duration">{toClock(row.duration)}</span>}
        {row.progress > 0 && (
          <span class="progress">
            <span style={{ width: `${Math.min(100, row.progress)}%` }} />
          </span>
        )}
      </a>
      {choosing && (isNear || choosing.isActive) && (
        <button
          type="button"
          class="card-choose"
          aria-pressed={choosing.isChosen}
          aria-label={t('select.one', { title: row.title })}
        >
          <Icon node={choosing.isChosen ? CircleCheck : Circle} />
        </button>
      )}
      <div class="card-text">
        <p class="card-title">
          <a href={href} dir="auto">
            {row.title}
          </a>
        </p>
        <p class="meta">
          <a class="card-channel" href={channelHref(row.channelId)} dir="auto">
            {/* A child may see the name of a channel, not its picture. */}
            {channelHref(row.channelId) && <Portrait url={row.channelPicture} name={row.channelName} size={20} />}
            <span>{row.channelName}</span>
          </a>
          <span title={toDay(row.published)}>{toAge(row.published)}</span>
          {row.isWatched && <span class="unseen">{t('video.watched')}</span>}
          {row.isLater && <span class="unseen">{t('later.is')}</span>}
          {row.progress > 0 && <span class="unseen">{t('video.progress', { count: Math.round(row.progress) })}</span>}
          {!row.isActive && (
            <span class="gone" title={t('video.gone', { platform: row.platform })}>
              {t('video.goneShort')}
            </span>
          )}
          {row.place?.state === 'away' && (
            <span class="gone" title={t('video.away', { place: row.place.label })}>
              {t('video.awayShort')}
            </span>
          )}
        </p>
      </div>
      {(isNear || !hasHover) && (
        <div class="card-actions">
          {hasHover && (
            <IconButton
              icon={CircleCheck}
              label={row.isWatched ? t('video.markUnwatched') : t('video.markWatched')}
              aria-pressed={row.isWatched}
              onClick={() => onWatched(row)}
            />
          )}
          {hasHover && (
            <IconButton
              icon={row.isLater ? ClockCheck : Clock}
              label={later}
              aria-pressed={row.isLater}
              onClick={() => onLater(row)}
            />
          )}
          {hasHover && (
            <IconButton icon={ListPlus} label={t('video.addToPlaylist')} onClick={() => askForPlaylist([row])} />
          )}
          <Menu label={t('action.moreFor', { title: row.title })} items={items}>
            <Icon node={EllipsisVertical} />
          </Menu>
        </div>
      )}
    </article>
  )
}
