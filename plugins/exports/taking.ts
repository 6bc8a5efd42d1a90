/** Finds the watched videos and playlists of an export that are in the archive, and imports them for an account. */
import { type Actor, chunksOf } from 'archivolt'
import type { App } from './app.ts'
import type { Found, FoundSeen } from './found.ts'

/** Number of videos that are compared with the archive at a time, so that other requests can run in between. */
const AT_ONCE = 500
/** A video counts as watched from this fraction on, even if the export does not say so. */
const SEEN_PART = 0.9

interface SeenHere {
  id: string
  /** Epoch seconds; only of watched videos. */
  at?: number
  /** Position; only of started videos. */
  seconds?: number
}

export interface ListHere {
  name: string
  count: number
  /** Ids of its videos in the archive, in the order of the playlist. */
  here: string[]
  missing: string[]
}

type Lookup = Pick<App, 'platform' | 'videos'>

function videoIn(text: string, { platform }: Pick<App, 'platform'>): string | undefined {
  if (/\s/.test(text)) return undefined
  const [target, ...others] = platform.targetsIn(text)
  return target?.type === 'video' && others.length === 0 ? target.id : undefined
}

/** @returns the videos that are in the archive, oldest first, and the total number of videos */
export async function seenHere(
  { seen }: Pick<Found, 'seen'>,
  now: number,
  app: Lookup,
): Promise<{ count: number; here: SeenHere[] }> {
  const byId = new Map<string, FoundSeen>()
  const here: SeenHere[] = []
  for (const some of chunksOf(seen, AT_ONCE)) {
    for (const one of some) {
      const id = videoIn(one.text, app)
      if (id !== undefined && (one.at ?? 0) >= (byId.get(id)?.at ?? 0)) byId.set(id, one)
    }
    await new Promise(setImmediate)
  }
  for (const ids of chunksOf([...byId.keys()], AT_ONCE)) {
    const docs = await app.videos.collection.getMany(ids)
    for (const [id, { player }] of docs) {
      const { at = now, seconds } = byId.get(id)!
      const isBegun = seconds !== undefined && seconds < player.duration * SEEN_PART
      here.push(isBegun ? { id, seconds } : { id, at: Math.min(at, now) })
    }
  }
  return { count: byId.size, here: here.sort((a, b) => (a.at ?? 0) - (b.at ?? 0)) }
}

export async function listsHere({ lists }: Pick<Found, 'lists'>, app: Lookup): Promise<ListHere[]> {
  const found: ListHere[] = []
  for (const { name, videos } of lists) {
    const ids = [...new Set(videos.flatMap((text) => videoIn(text, app) ?? []))]
    const known = await app.videos.known(ids)
    const isHere = (id: string) => known.has(id)
    found.push({ name, count: ids.length, here: ids.filter(isHere), missing: ids.filter((id) => !isHere(id)) })
  }
  return found
}

/**
 * Imports marks and positions. Existing ones of the account stay unchanged, so it may be repeated. @returns the number
 * of new marks, and of new positions
 */
export async function takeSeen(
  userId: number,
  here: readonly SeenHere[],
  app: Pick<App, 'watch'>,
  signal: AbortSignal,
): Promise<{ watched: number; positions: number }> {
  const sum = { watched: 0, positions: 0 }
  for (const some of chunksOf(here, AT_ONCE)) {
    const free = app.watch.untouchedBy(
      userId,
      some.map(({ id }) => id),
    )
    const fresh = some.filter(({ id }) => free.has(id))
    await app.watch.takeOver(userId, fresh, signal)
    for (const { seconds } of fresh) sum[seconds === undefined ? 'watched' : 'positions']++
  }
  return sum
}

/**
 * Imports playlists as private ones. An existing playlist of the same name gets the missing videos, each once, so it
 * may be repeated. @returns the number of playlists that have changed
 */
export async function takeLists(
  actor: Actor,
  lists: readonly ListHere[],
  { playlists }: Pick<App, 'playlists'>,
): Promise<number> {
  const own = await ownLists(actor, playlists)
  let taken = 0
  for (const { name, here } of lists) {
    if (here.length === 0) continue
    const { id, has } = takeLikest(own, name, here) ?? {
      id: await playlists.create(name, 'private', actor),
      has: new Set<string>(),
    }
    const fresh = here.filter((videoId) => !has.has(videoId))
    if (fresh.length > 0 && (await playlists.actOnChosen(id, 'create', fresh, actor)) > 0) taken++
  }
  return taken
}

interface OwnList {
  id: string
  name: string
  has: Set<string>
}

/**
 * Removes from the list, and returns, the playlist with this name and the most of these videos; of equal ones the
 * shortest.
 */
function takeLikest(own: OwnList[], name: string, videoIds: readonly string[]): OwnList | undefined {
  const common = ({ has }: OwnList) => videoIds.filter((id) => has.has(id)).length
  const [likest] = own
    .filter((list) => list.name === name)
    .toSorted((a, b) => common(b) - common(a) || a.has.size - b.has.size)
  if (likest) own.splice(own.indexOf(likest), 1)
  return likest
}

async function ownLists(actor: Actor, playlists: App['playlists']): Promise<OwnList[]> {
  const { texts } = await playlists.find({ visibility: 'private', from: 0, size: 500 }, actor)
  const own: OwnList[] = []
  for (const text of texts) {
    const { playlist_name: name, playlist_id: id } = JSON.parse(text) as { playlist_name: string; playlist_id: string }
    own.push({ id, name, has: new Set((await playlists.videosOf(id, actor)) ?? []) })
  }
  return own
}
