/** What a pasted link is called, how it looks and how much it is: of the archive, or told by the platform. */
import { useEffect, useState } from 'preact/hooks'
import { get, isAborted } from '../server/api.ts'
import { small } from '../server/base.ts'
import type { Channel, Item, Looked, Playlist, Target, Video } from '../server/records.ts'
import { mayDownload } from './session.ts'
import type { Understood } from './understand.ts'

/** What one sees of a target. */
export interface Look {
  title: string
  picture?: string | undefined
  /** Of what is not in the archive. */
  offered?: Looked
}

/** The platform is asked only for what somebody has typed to its end. */
const REST_MS = 600
const KEPT_MS = 600_000
const kept = new Map<string, { look: Look | undefined; atMs: number }>()
let turn: Promise<unknown> = Promise.resolve()

/** One after another: an account may have few of them open. */
function inTurn<Value>(ask: () => Promise<Value>): Promise<Value> {
  const mine = turn.then(ask)
  turn = mine.catch(() => undefined) // whoever asked says what went wrong
  return mine
}

/** Undefined until it is known, and where nobody can tell: then its id says enough. */
export function useLook({ word, target }: Understood): Look | undefined {
  const { id, type, known } = target
  const key = `${type} ${id} ${known}`
  const [look, setLook] = useState<Look>()
  useEffect(() => {
    const before = kept.get(key)
    if (before && Date.now() - before.atMs < KEPT_MS) return setLook(before.look)
    setLook(undefined)
    if (!known && !mayDownload.peek()) return
    const ending = new AbortController()
    const ask = known ? () => lookHere(target, ending.signal) : () => inTurn(() => lookThere(word, ending.signal))
    const read = () =>
      void ask().then(
        (found) => (kept.set(key, { look: found, atMs: Date.now() }), setLook(found)),
        (error: unknown) => void (isAborted(error) || kept.set(key, { look: undefined, atMs: Date.now() })),
      )
    const timer = setTimeout(read, known ? 0 : REST_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [key])
  return look
}

async function lookHere({ type, id }: Target, signal: AbortSignal): Promise<Look> {
  if (type === 'video') {
    const { data } = await get<Item<Video>>(`/api/video/${id}/`, {}, signal)
    return { title: data.title, picture: small(data.vid_thumb_url) }
  }
  if (type === 'playlist') {
    const { data } = await get<Item<Playlist>>(`/api/playlist/${id}/`, {}, signal)
    return { title: data.playlist_name, picture: small(data.playlist_thumbnail) }
  }
  // Handles are looked up by the search of channels, from what the server knows.
  const { data } = await get<Item<Channel>>('/api/channel/search/', { q: id }, signal)
  return { title: data.channel_name, picture: small(data.channel_thumb_url) }
}

async function lookThere(word: string, signal: AbortSignal): Promise<Look> {
  signal.throwIfAborted()
  const offered = await get<Looked>('/api/resolve/look/', { q: word }, signal)
  return { title: offered.title, picture: offered.picture, offered }
}
