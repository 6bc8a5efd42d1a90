/** What plays after a video: the next one of its playlist, else of its channel, else one that is like it. */
import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { navigate, place } from '../browser/router.ts'
import { toVideoRow, type VideoRow } from '../parts/video-row.ts'
import { get } from '../server/api.ts'
import type { Item, Page, Playlist, PlaylistEntry, Video } from '../server/records.ts'
import { type Load, useLoad } from '../stores/load.ts'
import type { Step } from './step.ts'

export interface Following {
  /** id of the playlist in the address. */
  list: string | undefined
  playlist: Load<Playlist | undefined>
  similar: Load<VideoRow[]>
  next: ReadonlySignal<Step | undefined>
  /** Only in a playlist. */
  previous: ReadonlySignal<Step | undefined>
}

/** What the address says of the playlist and how it is played. */
const KEPT = ['list', 'shuffle', 'repeat']

/** Another video of the same playlist, played in the same way. @param query  of the address of this one */
export const pathInList = (id: string, query = place.peek().query): string =>
  `/video/${id}/?${String(new URLSearchParams([...query].filter(([name]) => KEPT.includes(name))))}`

/** @param video  undefined: not loaded yet; `query`: of the address of its view */
export function useFollowing(id: string, video: Video | undefined, query: ReadonlySignal<URLSearchParams>): Following {
  const list = query.value.get('list') ?? undefined
  const playlist = useLoad(`playlist/${list ?? ''}/entries`, async (signal) =>
    list === undefined
      ? undefined
      : (await get<Item<Playlist>>(`/api/playlist/${encodeURIComponent(list)}/`, {}, signal)).data,
  )
  const similar = useLoad(`video/${id}/similar`, async (signal) =>
    (await get<Item<Video[]>>(`/api/video/${id}/similar/`, {}, signal)).data.map(toVideoRow),
  )
  const later = useLoad(`video/${id}/later in ${list === undefined && video ? video.published : ''}`, async (signal) =>
    list === undefined && video ? laterInChannel(video, signal) : undefined,
  )
  // Drawn once for a video: what is announced is what comes.
  const chance = useMemo(() => Math.random(), [id])

  const around = useComputed(() => {
    const entries = (playlist.now.value.value?.playlist_entries ?? []).filter(
      ({ downloaded, platform_id }) => downloaded || platform_id === id,
    )
    const order = { id, list: query.value.get('list'), isRepeated: query.value.has('repeat') }
    return stepsIn(entries, query.value.has('shuffle') ? { ...order, chance } : order)
  })
  const inList = (entry: PlaylistEntry | undefined): Step | undefined =>
    entry && toStep(entry.title, pathInList(entry.platform_id, query.value))
  return {
    list,
    playlist,
    similar,
    previous: useComputed(() => inList(around.value.previous)),
    next: useComputed(() => {
      if (query.value.has('list')) return inList(around.value.next)
      const alike = similar.now.value.value
      const row = later.now.value.value ?? alike?.find(({ isWatched }) => !isWatched) ?? alike?.[0]
      return row && toStep(row.title, `/video/${row.id}/`)
    }),
  }
}

const toStep = (title: string, path: string): Step => ({ title, path, go: () => navigate(path) })

/** The one that its channel published after it, of those this person has not watched. */
async function laterInChannel(video: Video, signal: AbortSignal): Promise<VideoRow | undefined> {
  const { channel, platform_id: id, published } = video
  const query = { channel: channel.channel_id, after: published.slice(0, 10), watch: 'unwatched', order: 'asc' }
  const { data } = await get<Page<Video>>('/api/video/', query, signal)
  return data.map(toVideoRow).find((row) => row.id !== id && row.published >= published)
}

/** Playlist → what was played of it in this visit, so that a shuffled one plays each once. */
const played = new Map<string, Set<string>>()

interface Order {
  id: string
  list: string | null
  isRepeated: boolean
  /** From 0 up to 1; left out: in its own order. */
  chance?: number
}

function stepsIn(entries: PlaylistEntry[], { id, list, isRepeated, chance }: Order) {
  const at = entries.findIndex(({ platform_id }) => platform_id === id)
  if (at < 0 || list === null) return {}
  const first = isRepeated && entries.length > 1 ? entries[0] : undefined
  if (chance === undefined) return { previous: entries[at - 1], next: entries[at + 1] ?? first }
  const before = played.get(list) ?? new Set()
  played.set(list, before.add(id))
  let left = entries.filter(({ platform_id }) => !before.has(platform_id))
  if (left.length === 0 && first) {
    before.clear()
    left = entries.filter(({ platform_id }) => platform_id !== id)
  }
  return { previous: entries[at - 1], next: left[Math.floor(chance * left.length)] }
}
