/**
 * A video as a card or a row: picture in its fixed box, title in two lines, channel and age in one, actions on hover or
 * focus.
 */

import { Check, CircleCheck, Clock, ClockCheck, EllipsisVertical, ListPlus, TvMinimalPlay } from 'lucide'
import { useState } from 'preact/hooks'
import { navigate } from '../browser/router.ts'
import { sharp, under } from '../server/base.ts'
import type { Video } from '../server/records.ts'
import { channelHref } from '../stores/session.ts'
import { toAge, toClock, toDay } from '../texts/format.ts'
import { t } from '../texts/texts.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { Menu, type MenuItem } from './menu.tsx'
import { askForPlaylist } from './playlist-dialog.tsx'
import { toggleLater } from './watch-later.ts'

/** What a card shows: lists of many thousands keep no more of each. */
export interface VideoRow {
  id: string
  title: string
  picture: string
  channelId: string
  channelName: string
  published: string
  duration: number
  progress: number
  isWatched: boolean
  isLater: boolean
  isActive: boolean
  /** Where its file lies and is only read. */
  place?: Video['place']
}

export const toVideoRow = (video: Video): VideoRow => ({
  id: video.platform_id,
  title: video.title,
  picture: video.vid_thumb_url,
  channelId: video.channel.channel_id,
  channelName: video.channel.channel_name,
  published: video.published,
  duration: video.player.duration,
  progress: video.player.progress,
  isWatched: video.player.watched,
  isLater: video.watch_later === true,
  isActive: video.active,
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
}

/** Height of a card below its picture. */
const CARD_TEXT_PX = 74
export const ROW_PX = 104
export const CARD_MIN_PX = 228
export const cardHeight = (width: number): number => Math.round((width * 9) / 16) + CARD_TEXT_PX

/** Fingers do not hover: they get one button beside the text. */
const hasHover = matchMedia('(hover: hover)').matches

export function VideoCard({
  row,
  isList = false,
  query = '',
  onWatched,
  onLater = (one) => void toggleLater(one),
  actions = [],
}: CardProps) {
  // Hundreds of cards are scrolled by: each is as light as it can be until somebody comes to it.
  const [isNear, setNear] = useState(false)
  const later = row.isLater ? t('later.remove') : t('later.add')
  // All of them: fingers have only this one.
  const items: MenuItem[] = [
    {
      label: row.isWatched ? t('video.markUnwatched') : t('video.markWatched'),
      icon: CircleCheck,
      onSelect: () => onWatched(row),
    },
    { label: later, icon: row.isLater ? ClockCheck : Clock, onSelect: () => onLater(row) },
    { label: t('video.addToPlaylist'), icon: ListPlus, onSelect: () => askForPlaylist(row.id, row.title) },
    ...(channelHref(row.channelId)
      ? [{ label: t('video.toChannel'), icon: TvMinimalPlay, onSelect: () => navigate(`/channel/${row.channelId}/`) }]
      : []),
    ...actions,
  ]
  const href = under(`/video/${row.id}/${query}`)
  return (
    <article
      class={isList ? 'card row' : 'card'}
      onPointerEnter={() => setNear(true)}
      onFocusIn={() => setNear(true)}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'w') onWatched(row)
        else if (event.key === 'l') onLater(row)
        else if (event.key === 'q') askForPlaylist(row.id, row.title)
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
      <div class="card-text">
        <p class="card-title">
          <a href={href} dir="auto">
            {row.title}
          </a>
        </p>
        <p class="meta">
          <a href={channelHref(row.channelId)} dir="auto">
            {row.channelName}
          </a>
          <span title={toDay(row.published)}>{toAge(row.published)}</span>
          {row.isWatched && <span class="unseen">{t('video.watched')}</span>}
          {row.isLater && <span class="unseen">{t('later.is')}</span>}
          {row.progress > 0 && <span class="unseen">{t('video.progress', { count: Math.round(row.progress) })}</span>}
          {!row.isActive && (
            <span class="gone" title={t('video.gone')}>
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
            <IconButton
              icon={ListPlus}
              label={t('video.addToPlaylist')}
              onClick={() => askForPlaylist(row.id, row.title)}
            />
          )}
          <Menu label={t('action.moreFor', { title: row.title })} items={items}>
            <Icon node={EllipsisVertical} />
          </Menu>
        </div>
      )}
    </article>
  )
}
