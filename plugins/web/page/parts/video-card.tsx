/**
 * A video as a card or a row: picture of a fixed ratio, title in two lines, channel and age in one, actions on hover or
 * focus.
 */

import { ArrowLeftRight, Check, CircleCheck, Clock, ClockCheck, EllipsisVertical, ListPlus } from 'lucide'
import { isSofa } from '../browser/layout.ts'
import { sharp, under } from '../server/base.ts'
import { channelHref } from '../stores/session.ts'
import { toAge, toClock, toDay } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import { Menu } from './menu.tsx'
import { askForPlaylist } from './playlist-dialog.tsx'
import { Portrait } from './portrait.tsx'
import { ChooseButton, Gone, type Hands, useHands } from './video-hands.tsx'

interface CardProps extends Hands {
  isList?: boolean
  /** Appended to the video's address, such as `?list=PL1`. */
  query?: string
}

/**
 * Sizes for the normal layout and for televisions: height of a card below its picture, minimum width of a card, height
 * of a row.
 */
const TEXT_PX = [74, 108] as const
const MIN_PX = [228, 360] as const
const ROWS_PX = [104, 136] as const
const ofLayout = ([near, afar]: readonly [number, number]): number => (isSofa.value ? afar : near)
export const rowHeight = (): number => ofLayout(ROWS_PX)
export const cardMinWidth = (): number => ofLayout(MIN_PX)
export const cardHeight = (width: number): number => Math.round((width * 9) / 16) + ofLayout(TEXT_PX)

/** Touch devices have no hover, so they get one button beside the text. */
const hasHover = matchMedia('(hover: hover)').matches

export function VideoCard({ isList = false, query = '', ...hands }: CardProps) {
  const { onWatched, choosing } = hands
  const { row, onOther, items, later, onLater, isNear, handlers } = useHands(hands)
  const href = under(`/video/${row.id}/${query}`)
  return (
    <article
      class={`card${isList ? ' row' : ''}${choosing?.isActive ? ' choosing' : ''}${choosing?.isChosen ? ' chosen' : ''}`}
      {...handlers}
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
      {choosing && (isNear || choosing.isActive) && <ChooseButton title={row.title} choosing={choosing} />}
      <div class="card-text">
        <p class="card-title">
          <a href={href} dir="auto">
            {row.title}
          </a>
        </p>
        <p class="meta">
          <a class="card-channel" href={channelHref(row.channelId)} dir="auto">
            {/* A child may see the name of a channel, but not its picture. */}
            {channelHref(row.channelId) && <Portrait url={row.channelPicture} name={row.channelName} size={20} />}
            <span>{row.channelName}</span>
          </a>
          <span title={toDay(row.published)}>{toAge(row.published)}</span>
          {row.isWatched && <span class="unseen">{t('video.watched')}</span>}
          {row.isLater && <span class="unseen">{t('later.is')}</span>}
          {row.progress > 0 && <span class="unseen">{t('video.progress', { count: Math.round(row.progress) })}</span>}
          <Gone row={row} />
        </p>
      </div>
      {(isNear || !hasHover) && (
        <div class="card-actions">
          {onOther && (
            <IconButton
              icon={ArrowLeftRight}
              label={t('video.otherTitle')}
              title={(row === hands.row ? row.other : hands.row)?.title}
              onClick={onOther}
            />
          )}
          {hasHover && (
            <IconButton
              icon={CircleCheck}
              label={row.isWatched ? t('video.markUnwatched') : t('video.markWatched')}
              of={row.title}
              aria-pressed={row.isWatched}
              onClick={() => onWatched(row)}
            />
          )}
          {hasHover && (
            <IconButton
              icon={row.isLater ? ClockCheck : Clock}
              label={later}
              of={row.title}
              aria-pressed={row.isLater}
              onClick={onLater}
            />
          )}
          {hasHover && (
            <IconButton
              icon={ListPlus}
              label={t('video.addToPlaylist')}
              of={row.title}
              onClick={() => askForPlaylist([row])}
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
