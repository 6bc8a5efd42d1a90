/** Beside a video: the playlist it was opened from with its place in it, then what is like it. */
import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Box, Failed } from '../../parts/states.tsx'
import { toVideoRow, type VideoRow } from '../../parts/video-card.tsx'
import { get } from '../../server/api.ts'
import { small, under } from '../../server/base.ts'
import type { Item, Playlist, PlaylistEntry, Video } from '../../server/records.ts'
import { type Load, useLoad } from '../../stores/load.ts'
import { toAge, toClock, toNumber } from '../../texts/format.ts'
import { t } from '../../texts/texts.ts'

interface OpenedFrom {
  load: Load<Playlist | undefined>
  next: ReadonlySignal<{ id: string; title: string } | undefined>
}

/** @param list  id of the playlist in the address */
export function usePlaylist(list: string | undefined, id: string): OpenedFrom {
  const load = useLoad(`playlist/${list ?? ''}/entries`, async (signal) =>
    list === undefined
      ? undefined
      : (await get<Item<Playlist>>(`/api/playlist/${encodeURIComponent(list)}/`, {}, signal)).data,
  )
  const next = useComputed(() => {
    const entries = load.now.value.value?.playlist_entries ?? []
    const at = entries.findIndex(({ platform_id }) => platform_id === id)
    const found = at < 0 ? undefined : entries.slice(at + 1).find(({ downloaded }) => downloaded)
    return found && { id: found.platform_id, title: found.title }
  })
  return { load, next }
}

export function Aside({ id, playlist, list }: { id: string; playlist: OpenedFrom; list: string | undefined }) {
  const opened = playlist.load.now.value.value
  return (
    <aside class="watch-aside">
      {opened && list !== undefined && <Opened playlist={opened} id={id} list={list} />}
      <Similar id={id} />
    </aside>
  )
}

/** So many around the video: playlists may have thousands. */
const AROUND = 100

function Opened({ playlist, id, list }: { playlist: Playlist; id: string; list: string }) {
  const here = useRef<HTMLLIElement>(null)
  const box = useRef<HTMLOListElement>(null)
  useEffect(() => {
    if (here.current && box.current) box.current.scrollTop = here.current.offsetTop - box.current.offsetTop - 56
  }, [id])
  const entries = playlist.playlist_entries
  const at = Math.max(
    0,
    entries.findIndex(({ platform_id }) => platform_id === id),
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
        <p class="meta">
          {toNumber(at + 1)} / {toNumber(entries.length)}
        </p>
      </header>
      <ol ref={box} tabIndex={0} aria-label={playlist.playlist_name}>
        {entries.slice(Math.max(0, at - AROUND), at + AROUND).map((entry) => (
          <li key={entry.platform_id} ref={entry.platform_id === id ? here : undefined}>
            <Entry entry={entry} isHere={entry.platform_id === id} list={list} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function Entry({ entry, isHere, list }: { entry: PlaylistEntry; isHere: boolean; list: string }) {
  const text = (
    <>
      <span class="entry-number">{toNumber(entry.idx + 1)}</span>
      <span>
        <bdi>{entry.title}</bdi>
        {!entry.downloaded && <span class="meta"> {t('video.notArchived')}</span>}
      </span>
    </>
  )
  if (!entry.downloaded) return <span class="entry missing">{text}</span>
  return (
    <a
      class="entry"
      href={under(`/video/${entry.platform_id}/?list=${list}`)}
      aria-current={isHere ? 'true' : undefined}
    >
      {text}
    </a>
  )
}

function Similar({ id }: { id: string }) {
  const { now, reload } = useLoad(`video/${id}/similar`, async (signal) =>
    (await get<Item<Video[]>>(`/api/video/${id}/similar/`, {}, signal)).data.map(toVideoRow),
  )
  const { state, value, failure } = now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={() => void reload()} />
  if (value?.length === 0) return null
  return (
    <section>
      <h2>{t('video.similar')}</h2>
      <ul class="similar">
        {value
          ? value.map((row) => <SimilarRow key={row.id} row={row} />)
          : Array.from({ length: 4 }, (_, position) => (
              <li key={position}>
                <Box height="88px" radius="10px" />
              </li>
            ))}
      </ul>
    </section>
  )
}

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
