/** Previews of pasted links: title, picture and size, from the archive or the platform. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { get, isAborted } from '../server/api.ts'
import { small } from '../server/base.ts'
import { inTurn } from '../server/in-turn.ts'
import type { Channel, Item, LinkLookup, Playlist, Target, Video } from '../server/records.ts'
import type { Count } from '../texts/lookup.ts'
import type { Understood } from './identify-links.ts'
import { mayDownload } from './session.ts'
import { titledAs } from './titles.ts'

/** What is shown of a target. */
export interface LinkPreview {
  title: string
  picture?: string | undefined
  /** The platform's answer, for a target that is not in the archive. */
  offered?: LinkLookup
}

/** Pause in typing before a request to the platform. */
const REST_MS = 600
const FRESH_MS = 600_000
const cached = signal<ReadonlyMap<string, { preview: LinkPreview | undefined; atMs: number }>>(new Map())
/** Requests to the platform are sent one at a time, because the server limits an account's concurrent ones. */
const PREVIEWS = 'previews of links'

const keyOf = ({ target: { id, type, known } }: Understood): string => `${type} ${id} ${known}`
const store = (key: string, preview: LinkPreview | undefined): void =>
  void (cached.value = new Map(cached.peek()).set(key, { preview, atMs: Date.now() }))

/**
 * Undefined until the preview is known, or if neither the archive nor the platform has one; the page then shows the id.
 */
export function useLinkPreview(understood: Understood): LinkPreview | undefined {
  const { word, target } = understood
  const { known } = target
  const key = keyOf(understood)
  useEffect(() => {
    const before = cached.peek().get(key)
    if (before && Date.now() - before.atMs < FRESH_MS) return
    if (!known && !mayDownload.peek()) return
    const ending = new AbortController()
    const ask = known
      ? () => readOwn(target, ending.signal)
      : () => inTurn(PREVIEWS, () => askPlatform(word, ending.signal))
    const read = () =>
      void ask().then(
        (found) => store(key, found),
        (error: unknown) => void (isAborted(error) || store(key, undefined)),
      )
    const timer = setTimeout(read, known ? 0 : REST_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [key])
  return cached.value.get(key)?.preview
}

/** The number of videos; undefined: not known yet, or nobody can tell. */
export function videosIn(understood: readonly Understood[]): Count | undefined {
  const counts = understood.map((one): { count: number; is_more?: boolean } | undefined =>
    one.target.type === 'video' ? { count: 1 } : cached.value.get(keyOf(one))?.preview?.offered,
  )
  if (counts.some((one) => one === undefined)) return undefined
  const sum = counts.reduce((total, one) => total + one!.count, 0)
  return counts.some((one) => one!.is_more) ? { moreThan: sum } : sum
}

/** Maximum number of lists whose videos are counted, because an account's requests to the platform are limited. */
const MOST_ASKED = 5
/** How long a pressed button waits for the platform. */
const LONGEST_WAIT_MS = 8000

/** The number of videos, after requesting unknown numbers from the platform. */
export async function askHowMany(understood: readonly Understood[]): Promise<Count | undefined> {
  const ending = AbortSignal.timeout(LONGEST_WAIT_MS)
  const unknown = understood.filter((one) => videosIn([one]) === undefined)
  if (unknown.length > MOST_ASKED) return undefined
  for (const one of unknown) {
    // on failure, the number stays unknown
    const found = await inTurn(PREVIEWS, () => askPlatform(one.word, ending)).catch(() => undefined)
    if (found) store(keyOf(one), found)
  }
  return videosIn(understood)
}

async function readOwn({ type, id }: Target, signal: AbortSignal): Promise<LinkPreview> {
  if (type === 'video') {
    const { data } = await get<Item<Video>>(`/api/video/${id}/`, {}, signal)
    const { title, picture } = titledAs(data)
    return { title, picture: small(picture) }
  }
  if (type === 'playlist') {
    const { data } = await get<Item<Playlist>>(`/api/playlist/${id}/`, {}, signal)
    return { title: data.playlist_name, picture: small(data.playlist_thumbnail) }
  }
  // The search for channels finds handles, among those that the server knows.
  const { data } = await get<Item<Channel>>('/api/channel/search/', { q: id }, signal)
  return { title: data.channel_name, picture: small(data.channel_thumb_url) }
}

async function askPlatform(word: string, signal: AbortSignal): Promise<LinkPreview> {
  signal.throwIfAborted()
  const offered = await get<LinkLookup>('/api/resolve/look/', { q: word }, signal)
  return { title: offered.title, picture: offered.picture, offered }
}
