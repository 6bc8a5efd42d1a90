/**
 * Chooses the video that plays next: from its playlist, otherwise from its channel, otherwise a similar one, otherwise
 * any.
 */
import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { navigate, route } from '../browser/router.ts'
import { toVideoRow, type VideoRow } from '../parts/video-row.ts'
import { get } from '../server/api.ts'
import type { Item, Playlist, PlaylistEntry, Video } from '../server/records.ts'
import { type Load, useLoad } from '../stores/load.ts'
import { shownTitle } from '../stores/titles.ts'
import { bestOf, laterInChannel, newestBut, noteSeen, someInChannel } from './chain.ts'
import type { Step } from './step.ts'

export type Following = ReturnType<typeof useFollowing>

/** Names of the query values that determine the playlist and the mode. */
const FOLLOWED = ['list', 'shuffle', 'repeat']

/**
 * The path of another video of the same playlist, in the same mode.
 * @param query  of the current address
 */
export const pathInList = (id: string, query = route.peek().query): string =>
  `/video/${id}/?${String(new URLSearchParams([...query].filter(([name]) => FOLLOWED.includes(name))))}`

/** The path of a video outside of a playlist; shuffle stays on. */
const pathBeyond = (id: string, query: URLSearchParams): string =>
  `/video/${id}/${query.has('shuffle') ? '?shuffle=1' : ''}`

/**
 * @param video  undefined: not loaded yet
 * @param query  of the view's address
 */
export function useFollowing(id: string, video: Video | undefined, query: ReadonlySignal<URLSearchParams>) {
  const list = query.value.get('list') ?? undefined
  const playlist = useLoad(`playlist/${list ?? ''}/entries`, async (signal) =>
    list === undefined
      ? undefined
      : (await get<Item<Playlist>>(`/api/playlist/${encodeURIComponent(list)}/`, {}, signal)).data,
  )
  const similar = useLoad(`video/${id}/similar`, async (signal) =>
    (await get<Item<Video[]>>(`/api/video/${id}/similar/`, {}, signal)).data.map(toVideoRow),
  )
  // Drawn once per video, so that the video that follows is the announced one.
  const chance = useMemo(() => Math.random(), [id])
  useEffect(() => noteSeen(id), [id])

  const around = useComputed(() => {
    const entries = (playlist.now.value.value?.playlist_entries ?? []).filter(
      ({ downloaded, platform_id }) => downloaded || platform_id === id,
    )
    const order = { id, list: query.value.get('list'), isRepeated: query.value.has('repeat') }
    return stepsIn(entries, query.value.has('shuffle') ? { ...order, chance } : order)
  })
  /** Whether the playlist has ended and does not repeat, or there is none. */
  const isBeyond = useComputed(() => {
    if (!query.value.has('list')) return true
    return playlist.now.value.state !== 'loading' && !around.value.next && !query.value.has('repeat')
  })
  const beyond = useBeyond(id, isBeyond.value ? video : undefined, query, { similar, chance })
  const inList = (entry: PlaylistEntry | undefined): Step | undefined =>
    entry && toStep(shownTitle(entry.platform_id, entry.title), pathInList(entry.platform_id, query.value))
  return {
    /** The playlist's id in the address. */
    list,
    playlist,
    similar,
    /** Only in a playlist. */
    previous: useComputed(() => inList(around.value.previous)),
    next: useComputed(() => {
      if (!isBeyond.value) return inList(around.value.next)
      const row = beyond.value
      return row && toStep(row.title, pathBeyond(row.id, query.value))
    }),
  }
}

interface Beyond {
  similar: Load<VideoRow[]>
  /** A random number from 0 to below 1. */
  chance: number
}

/**
 * The next video outside of a playlist.
 * @param of  undefined: a playlist determines the next video, or the video is not loaded yet
 */
function useBeyond(
  id: string,
  of: Video | undefined,
  query: ReadonlySignal<URLSearchParams>,
  { similar, chance }: Beyond,
): ReadonlySignal<VideoRow | undefined> {
  const isShuffled = query.value.has('shuffle')
  const inChannel = useLoad(
    `video/${of ? id : ''}/in channel ${isShuffled}`,
    async (signal) => of && (isShuffled ? someInChannel(of, chance, signal) : laterInChannel(of, signal)),
  )
  const isOver = inChannel.now.value.state !== 'loading' && similar.now.value.state !== 'loading'
  const isAlone = of && isOver && !inChannel.now.value.value && !similar.now.value.value?.length
  const elsewhere = useLoad(`video/${isAlone ? id : ''}/elsewhere`, async (signal) =>
    isAlone ? newestBut(id, signal) : undefined,
  )
  return useComputed(() => {
    // Waits for better candidates, so that the announced video does not change while somebody reads it.
    const { state, value } = inChannel.now.value
    if (!of || state === 'loading') return undefined
    return value ?? bestOf(similar.now.value.value) ?? elsewhere.now.value.value
  })
}

const toStep = (title: string, path: string): Step => ({ title, path, go: () => navigate(path) })

/** Playlist → videos of it that were played in this visit, so that shuffle plays each one once. */
const played = new Map<string, Set<string>>()

interface Order {
  id: string
  list: string | null
  isRepeated: boolean
  /** A random number from 0 to below 1; omitted: in order. */
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
