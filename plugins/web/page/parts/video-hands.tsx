/** Interactions with a video of a list, as a card, a row or a table row: click, long press, keys, menu. */
import { Circle, CircleCheck, Clock, ClockCheck, ListPlus, TvMinimalPlay } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { onLongPress } from '../browser/long-press.ts'
import { navigate } from '../browser/router.ts'
import { channelHref } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'
import type { MenuItem } from './menu.tsx'
import { askForPlaylist } from './playlist-dialog.tsx'
import { positionAction } from './position.ts'
import { tripAction } from './trip.tsx'
import { listSource } from './trip-source.ts'
import type { VideoRow } from './video-row.ts'
import { toggleLater } from './watch-later.ts'

export interface Hands {
  row: VideoRow
  onWatched: (row: VideoRow) => void
  /** Default: toggles Watch later. */
  onLater?: (row: VideoRow) => void
  /** Further menu entries. */
  actions?: MenuItem[]
  /** Only if the list supports selection. */
  choosing?: Choosing | undefined
}

export interface Choosing {
  /** While videos are selected, a click selects instead of opening. */
  isActive: boolean
  isChosen: boolean
  toggle: () => void
  /** Selects the range from the last selected video to this one. */
  extend: () => void
}

/**
 * Selects the video if the click is meant for that. A modifier on the title opens a new tab, as everywhere.
 * @returns whether the click was handled
 */
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

export function useHands({
  row: given,
  onWatched,
  onLater: toLater = (one) => void toggleLater(one),
  actions = [],
  choosing,
}: Hands) {
  const [isOther, setOther] = useState(false)
  const row = isOther ? { ...given, ...given.other } : given
  const onOther = given.other && (() => setOther(!isOther))
  // The menu is rendered only on hover or focus, because hundreds of cards may be scrolled past.
  const [isNear, setNear] = useState(false)
  const press = useRef<ReturnType<typeof onLongPress> | undefined>(undefined)
  const held = useRef(choosing)
  held.current = choosing
  if (choosing) press.current ??= onLongPress(() => held.current?.toggle())
  const { isOver, ...hold } = press.current ?? {}
  const onLater = () => toLater(row)
  const later = row.isLater ? t('later.remove') : t('later.add')
  // The menu has all actions, because touch devices have no other button.
  const items: MenuItem[] = [
    {
      label: row.isWatched ? t('video.markUnwatched') : t('video.markWatched'),
      icon: CircleCheck,
      onSelect: () => onWatched(row),
    },
    ...positionAction(row),
    { label: later, icon: row.isLater ? ClockCheck : Clock, onSelect: onLater },
    { label: t('video.addToPlaylist'), icon: ListPlus, onSelect: () => askForPlaylist([row]) },
    ...(channelHref(row.channelId)
      ? [{ label: t('video.toChannel'), icon: TvMinimalPlay, onSelect: () => navigate(`/channel/${row.channelId}/`) }]
      : []),
    ...tripAction(
      t('trip.ofChannel', { name: row.channelName }),
      listSource(row.channelName, '/api/video/', { channel: row.channelId }),
    ),
    ...actions,
  ]
  const handlers = {
    ...hold,
    onClickCapture(event: MouseEvent) {
      if (!choosing || !takesClick(event, choosing, isOver?.() ?? false)) return
      event.preventDefault()
      event.stopPropagation()
    },
    onPointerEnter: () => setNear(true),
    onFocusIn: () => setNear(true),
    onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'w') onWatched(row)
      else if (event.key === 'l') onLater()
      else if (event.key === 'x' && choosing) choosing.toggle()
      else if (event.key === 'X' && choosing) choosing.extend()
      else if (event.key === 'q') askForPlaylist([row])
      else return
      event.stopPropagation()
      event.preventDefault()
    },
  }
  return { row, onOther, items, later, onLater, isNear, handlers }
}

/** The surrounding card or row handles the click. */
export const ChooseButton = ({ title, choosing: { isChosen } }: { title: string; choosing: Choosing }) => (
  <button type="button" class="card-choose" aria-pressed={isChosen} aria-label={t('select.one', { title })}>
    <Icon node={isChosen ? CircleCheck : Circle} />
  </button>
)

/** Tells that the video is gone from the platform, that its file is missing, or that its disk is offline. */
export const Gone = ({ row: { isActive, isMissing, lost, platform, place } }: { row: VideoRow }) => (
  <>
    {lost && (
      <span class="gone" title={t(`video.lost.${lost}`, { platform })}>
        {t('video.lostShort')}
      </span>
    )}
    {!isActive && !lost && (
      <span class="gone" title={t('video.gone', { platform })}>
        {t('video.goneShort')}
      </span>
    )}
    {isMissing && (
      <span class="gone" title={t('video.missing')}>
        {t('video.missingShort')}
      </span>
    )}
    {place?.state === 'away' && (
      <span class="gone" title={t('video.away', { place: place.label })}>
        {t('video.awayShort')}
      </span>
    )}
  </>
)
