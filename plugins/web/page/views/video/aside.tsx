/** The side column: the playlist from which the video was opened, scrolled to the video, and similar videos. */
import { ChevronDown, type IconNode, Repeat, Shuffle } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { changeQuery, route } from '../../browser/router.ts'
import { IconButton } from '../../parts/button.tsx'
import { Switch } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Box, Failed } from '../../parts/states.tsx'
import { toVideoRow, type VideoRow } from '../../parts/video-row.ts'
import { type Following, pathInList } from '../../player/following.ts'
import { get } from '../../server/api.ts'
import { small, under } from '../../server/base.ts'
import type { Page, Playlist, PlaylistEntry, Video } from '../../server/records.ts'
import { type Load, useLoad } from '../../stores/load.ts'
import { shownTitle } from '../../stores/titles.ts'
import { toAge, toClock, toNumber } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

interface UpNextProps {
  id: string
  following: Following
  isAutoplay: boolean
  onAutoplay: (isOn: boolean) => void
  /** The playlist is only one line until somebody opens it, because it is above the rest of the page. */
  isFolded?: boolean
}

/** The switch for autoplay, and the playlist. */
export function UpNext({ id, following, isAutoplay, onAutoplay, isFolded = false }: UpNextProps) {
  const { list, playlist, next } = following
  const opened = playlist.now.value.value
  return (
    <>
      {/* Above a playlist from the start, so that no click misses because the playlist moves down. */}
      {(list !== undefined || next.value) && (
        <div>
          <div class="up-next-ways">
            <Switch label={t('video.autoplay')} isOn={isAutoplay} onChange={onAutoplay} />
            {list === undefined && <Way name="shuffle" icon={Shuffle} label={t('video.shuffleChannel')} />}
          </div>
          {/* An open playlist shows the next video itself. */}
          {list === undefined && next.value && (
            <p class="meta up-next-title">{t('player.next', { title: next.value.title })}</p>
          )}
        </div>
      )}
      {opened && list !== undefined && <Opened playlist={opened} id={id} list={list} isFolded={isFolded} />}
    </>
  )
}

/** How many entries before and after the video are shown, because playlists may have thousands. */
const AROUND = 100

function Opened({ playlist, id, list, isFolded }: { playlist: Playlist; id: string; list: string; isFolded: boolean }) {
  const here = useRef<HTMLLIElement>(null)
  const box = useRef<HTMLOListElement>(null)
  const showHere = () => {
    if (here.current && box.current) box.current.scrollTop = here.current.offsetTop - box.current.offsetTop - 56
  }
  useEffect(showHere, [id])
  const entries = playlist.playlist_entries
  const at = Math.max(
    0,
    entries.findIndex(({ platform_id }) => platform_id === id),
  )
  const first = Math.max(0, at - AROUND)
  const number = (
    <span class="meta">
      {toNumber(at + 1)} / {toNumber(entries.length)}
    </span>
  )
  const ways = (
    <>
      <Way name="shuffle" icon={Shuffle} label={t('video.shuffle')} />
      <Way name="repeat" icon={Repeat} label={t('video.repeatList')} />
    </>
  )
  const videos = (
    <ol ref={box} tabIndex={0} aria-label={playlist.playlist_name}>
      {entries.slice(first, at + AROUND).map((entry, position) => (
        <li key={entry.platform_id} ref={entry.platform_id === id ? here : undefined}>
          <Entry entry={entry} number={first + position + 1} isHere={entry.platform_id === id} />
        </li>
      ))}
    </ol>
  )
  if (isFolded)
    return (
      <details class="opened" onToggle={showHere}>
        <summary>
          <bdi>{playlist.playlist_name}</bdi>
          {number}
          <Icon node={ChevronDown} />
        </summary>
        <header class="opened-foot">
          <a class="button plain" href={under(`/playlist/${list}/`)}>
            {t('video.toPlaylist')}
          </a>
          {ways}
        </header>
        {videos}
      </details>
    )
  return (
    <section class="opened">
      <header>
        <p class="meta">{t('video.inPlaylist')}</p>
        <h2>
          <a href={under(`/playlist/${list}/`)} dir="auto">
            {playlist.playlist_name}
          </a>
        </h2>
        <div class="opened-foot">
          {number}
          {ways}
        </div>
      </header>
      {videos}
    </section>
  )
}

/** A button for a mode. The address contains the mode, so the next video keeps it. */
function Way({ name, icon, label }: { name: 'shuffle' | 'repeat'; icon: IconNode; label: string }) {
  const isOn = route.value.query.has(name)
  return (
    <IconButton
      icon={icon}
      label={label}
      aria-pressed={isOn}
      onClick={() => changeQuery({ [name]: isOn ? undefined : '1' })}
    />
  )
}

/** @param number  the entry's position among visible ones, so that hidden ones leave no gap */
function Entry({ entry, number, isHere }: { entry: PlaylistEntry; number: number; isHere: boolean }) {
  const text = (
    <>
      <span class="entry-number">{toNumber(number)}</span>
      <span>
        <bdi>{shownTitle(entry.platform_id, entry.title)}</bdi>
        {!entry.downloaded && <span class="meta"> {t('video.notArchived')}</span>}
      </span>
    </>
  )
  if (!entry.downloaded) return <span class="entry missing">{text}</span>
  return (
    <a class="entry" href={under(pathInList(entry.platform_id))} aria-current={isHere ? 'true' : undefined}>
      {text}
    </a>
  )
}

/**
 * Similar videos; if there are none, the newest of the channel.
 * @param video  undefined: not loaded yet
 */
export function Similar({ load: { now, reload }, video }: { load: Load<VideoRow[]>; video: Video | undefined }) {
  const { state, value, failure } = now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={reload} />
  if (value?.length === 0) return video ? <MoreFromChannel key={video.platform_id} video={video} /> : null
  return (
    <section>
      <h2>{t('video.similar')}</h2>
      {value ? (
        <SimilarRows rows={value} />
      ) : (
        <ul class="similar">
          {Array.from({ length: 4 }, (_, position) => (
            <li key={position}>
              <Box height="88px" radius="10px" />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** The number of videos of the channel that are shown if there are no similar ones. */
const OF_CHANNEL = 12

function MoreFromChannel({ video: { platform_id: id, channel } }: { video: Video }) {
  const videos = useLoad(`video/${id}/channel`, async (signal) => {
    const { data } = await get<Page<Video>>('/api/video/', { channel: channel.channel_id }, signal)
    return data
      .filter(({ platform_id }) => platform_id !== id)
      .slice(0, OF_CHANNEL)
      .map(toVideoRow)
  })
  const rows = videos.now.value.value ?? []
  if (rows.length === 0) return null
  return (
    <section>
      <h2>{t('video.moreOf', { channel: channel.channel_name })}</h2>
      <SimilarRows rows={rows} />
    </section>
  )
}

const SimilarRows = ({ rows }: { rows: readonly VideoRow[] }) => (
  <ul class="similar">
    {rows.map((row) => (
      <SimilarRow key={row.id} row={row} />
    ))}
  </ul>
)

function SimilarRow({ row }: { row: VideoRow }) {
  return (
    <li>
      <a class="similar-row" href={under(`/video/${row.id}/`)}>
        <span class="picture">
          <img src={small(row.picture)} alt="" width={160} height={90} loading="lazy" decoding="async" />
          <span class="duration">{toClock(row.duration)}</span>
        </span>
        <span class="similar-text">
          <span class="similar-title" dir="auto">
            {row.title}
          </span>
          <span class="meta">
            <bdi>{row.channelName}</bdi> · {toAge(row.published)}
          </span>
        </span>
      </a>
    </li>
  )
}
