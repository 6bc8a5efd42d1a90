/** Videos saved in this browser: downloaded piece by piece, listed, and removed. */
import { effect } from '@preact/signals'
import { notifyWorker, openFilms } from '../browser/offline.ts'
import { filmAt, idAt, type OfflineFilm, PIECE_BYTES, pieceAt } from '../browser/offline-names.ts'
import { get, isPassing, isSignedIn, toFailure } from '../server/api.ts'
import { under } from '../server/base.ts'
import { connection } from '../server/events.ts'
import type { Item, Video } from '../server/records.ts'
import { type OnDevice, offlineVideos } from '../stores/offline-videos.ts'
import { refilledTrip } from '../stores/refilled-trip.ts'
import { account } from '../stores/session.ts'
import { titledAs } from '../stores/titles.ts'
import { toBytes } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { say, sayFailure } from './toast.ts'
import { planRefill, toFilms } from './trip-plan.ts'
import { listSource } from './trip-source.ts'

const AGAIN_MS = 30_000
const root = new URL(under('/'), location.href).href
const whole = (path: string): string => new URL(under(path), root).href
const recordAt = (id: string): string => `/api/video/${id}/`
const stampOf = ({ media_size, date_downloaded }: Video): string => `${media_size} ${date_downloaded}`
const idOf = ({ video }: OnDevice): string => video.platform_id

/** The cache of the signed-in account. */
function cacheOf(isMade = false): Promise<Cache | undefined> {
  const id = account.peek()?.id
  if (id === undefined) return Promise.resolve(undefined)
  return openFilms(id, () => isSignedIn.peek() !== false && account.peek()?.id === id, isMade)
}

const json = (value: unknown): Response =>
  new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })

/** Reads the list of saved videos, continues incomplete downloads, and removes videos that the server no longer has. */
export async function readDevice(): Promise<void> {
  const cache = await cacheOf()
  if (!cache) return void (offlineVideos.value = [])
  const here: OnDevice[] = []
  for (const { url } of await cache.keys()) {
    const id = idAt(root, url)
    const one = id === undefined ? undefined : await readOne(cache, id)
    if (one) here.push(one)
  }
  offlineVideos.value = here
  void compare().then(refill)
  void work()
}

async function readOne(cache: Cache, id: string): Promise<OnDevice | undefined> {
  const film = await filmIn(cache, id)
  const record = (await (await cache.match(whole(recordAt(id)), { ignoreVary: true }))?.json()) as
    | Item<Video>
    | undefined
  if (!film || !record) return undefined
  const { bytes, isWhole, isForTrip = false } = film
  return {
    video: record.data,
    film: film.film,
    bytes,
    isWhole,
    isForTrip,
    done: isWhole ? bytes : await doneOf(cache, film),
  }
}

const filmIn = async (cache: Cache, id: string): Promise<OfflineFilm | undefined> =>
  (await (await cache.match(filmAt(root, id)))?.json()) as OfflineFilm | undefined

async function doneOf(cache: Cache, { film, bytes }: OfflineFilm): Promise<number> {
  let count = 0
  while (await cache.match(pieceAt(whole(film), count))) count++
  return Math.min(bytes, count * PIECE_BYTES)
}

const show = (id: string, change: Partial<OnDevice>): void =>
  void (offlineVideos.value = offlineVideos.peek().map((one) => (idOf(one) === id ? { ...one, ...change } : one)))

/** Free space in bytes, minus what unfinished downloads still need. */
export async function freeBytes(): Promise<number> {
  const { quota = Number.POSITIVE_INFINITY, usage = 0 } = await navigator.storage.estimate()
  const coming = offlineVideos.peek().reduce((sum, { bytes, done }) => sum + bytes - done, 0)
  return Math.max(0, quota - usage - coming)
}

/**
 * @param isForTrip  the video is removed once the account has watched it
 * @returns false: there is not enough space, which was reported
 * @throws Failure  the server cannot be reached
 */
export async function saveOffline({ platform_id: id }: Video, { isForTrip = false } = {}): Promise<boolean> {
  const record = await get<Item<Video>>(recordAt(id))
  const video = record.data
  const free = await freeBytes()
  if (video.media_size > free) return sayNoRoom(video, free)
  await navigator.storage.persist?.()
  const cache = await cacheOf(true)
  if (!cache || offlineVideos.peek().some((one) => idOf(one) === id)) return false
  const film: OfflineFilm = {
    film: video.copy_url ?? video.media_url,
    type: '',
    bytes: video.media_size,
    tag: '',
    beside: [
      ...video.subtitles.map(({ media_url }) => media_url),
      video.vid_thumb_url,
      `${video.channel.channel_thumb_url}?size=small`,
    ],
    stamp: stampOf(video),
    isWhole: false,
    ...(isForTrip && { isForTrip }),
  }
  await cache.put(whole(recordAt(id)), json(record))
  await cache.put(filmAt(root, id), json(film))
  offlineVideos.value = [
    ...offlineVideos.peek(),
    { video, film: film.film, bytes: film.bytes, done: 0, isWhole: false, isForTrip },
  ]
  // The video's page must open offline, too.
  notifyWorker([])
  void work()
  return true
}

function sayNoRoom(video: Video, free: number): false {
  say(t('device.noRoom', { size: toBytes(video.media_size), free: toBytes(Math.max(0, free)) }), { isError: true })
  return false
}

export async function removeOffline(id: string): Promise<void> {
  offlineVideos.value = offlineVideos.peek().filter((one) => idOf(one) !== id)
  const cache = await cacheOf()
  const film = cache && (await filmIn(cache, id))
  if (!cache || !film) return
  // The player stops using it at once; its pieces are deleted afterwards.
  await cache.delete(filmAt(root, id))
  const others = new Set(await besideOthers(cache))
  const pieces = (await cache.keys())
    .map(({ url }) => url)
    .filter((url) => url.startsWith(`${whole(film.film)}?piece=`))
  const beside = film.beside.filter((path) => !others.has(path)).map(whole)
  for (const address of [...pieces, ...beside, whole(recordAt(id))]) await cache.delete(address, { ignoreVary: true })
}

/** Videos of one channel share its picture. */
const besideOthers = async (cache: Cache): Promise<string[]> =>
  (await Promise.all(offlineVideos.peek().map((one) => filmIn(cache, idOf(one))))).flatMap((film) => film?.beside ?? [])

let isWorking = false
let again: ReturnType<typeof setTimeout> | undefined
/** Downloads one film at a time. If another tab of this browser is downloading, it waits until that has finished. */
async function work(): Promise<void> {
  if (isWorking) return
  isWorking = true
  clearTimeout(again)
  try {
    await navigator.locks.request(`${root} device`, fetchAll)
  } finally {
    isWorking = false
  }
}

async function fetchAll(): Promise<void> {
  for (;;) {
    const next = offlineVideos.peek().find(({ isWhole }) => !isWhole)
    if (!next) return
    if (await fetchOne(next)) continue
    // Without a connection, no timer is needed: reconnecting starts the work again.
    if (connection.peek() === 'connected') again = setTimeout(() => void work(), AGAIN_MS)
    return
  }
}

/** @returns false: it is retried later */
async function fetchOne({ video }: OnDevice): Promise<boolean> {
  const id = video.platform_id
  const cache = await cacheOf()
  const film = cache && (await filmIn(cache, id))
  if (!cache) return false
  if (!film) {
    // Another tab has removed it.
    offlineVideos.value = offlineVideos.peek().filter((one) => idOf(one) !== id)
    return true
  }
  try {
    await fetchAlongside(cache, film)
    await fetchPieces(cache, film, id)
    say(t('device.saved', { title: titledAs(video).title }))
  } catch (error) {
    if (isFull(error)) sayNoRoom(video, 0)
    else if (!(error instanceof Gone)) return false
    await removeOffline(id)
    if (error instanceof Changed) return saveOffline(video, film).catch(() => false)
  }
  return true
}

/** The server has no such file, this account may not see it, or the video was removed from the list. */
class Gone extends Error {}
/** The server has a new version of the file. */
class Changed extends Gone {}
const isFull = (error: unknown): boolean => error instanceof DOMException && error.name === 'QuotaExceededError'

async function ask(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(whole(path), { headers, cache: 'no-store' })
  if (headers['range'] && response.status === 200) {
    await response.body?.cancel()
    throw new Changed(path)
  }
  if (response.ok) return response
  throw response.status < 500 ? new Gone(path) : new Error(`${path}: ${response.status}`)
}

async function fetchAlongside(cache: Cache, { beside }: OfflineFilm): Promise<void> {
  for (const path of beside) {
    if (await cache.match(whole(path), { ignoreVary: true })) continue
    const response = await ask(path).catch((error: unknown) => {
      if (!(error instanceof Gone)) throw error
      return undefined // a missing picture does not stop the download
    })
    if (response) await cache.put(whole(path), response)
  }
}

async function fetchPieces(cache: Cache, film: OfflineFilm, id: string): Promise<void> {
  let now = film
  for (let at = await doneOf(cache, film); at < now.bytes || now.tag === ''; ) {
    const response = await ask(now.film, {
      range: `bytes=${at}-${at + PIECE_BYTES - 1}`,
      ...(now.tag && { 'if-range': now.tag }),
    })
    const bytes = Number(/\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1])
    const piece = await response.blob()
    if (!offlineVideos.peek().some((one) => idOf(one) === id)) throw new Gone(id)
    if (!(bytes > 0) || piece.size !== Math.min(PIECE_BYTES, bytes - at)) throw new Error(`${film.film}: cut off`)
    if (now.tag === '') {
      const [tag, type] = [response.headers.get('etag') ?? '', response.headers.get('content-type') ?? '']
      if (tag === '') throw new Gone(id)
      now = { ...now, bytes, tag, type }
      await cache.put(filmAt(root, id), json(now))
    }
    await cache.put(pieceAt(whole(film.film), at / PIECE_BYTES), new Response(piece))
    at += piece.size
    show(id, { bytes, done: at })
  }
  await cache.put(filmAt(root, id), json({ ...now, isWhole: true }))
  show(id, { isWhole: true, done: now.bytes })
}

/**
 * Removes saved videos that were deleted on the server, and those for a trip that were watched. Downloads a video again
 * if the server has a new file.
 */
async function compare(): Promise<void> {
  // Running downloads are left out: each of their pieces is compared.
  for (const one of offlineVideos.peek().filter(({ isWhole }) => isWhole)) {
    const id = idOf(one)
    const cache = await cacheOf()
    const film = cache && (await filmIn(cache, id))
    if (!film) continue
    try {
      const { data } = await get<Item<Video>>(recordAt(id))
      const isSeen = film.isForTrip === true && data.player.watched
      if (stampOf(data) === film.stamp && !isSeen) continue
      await removeOffline(id)
      if (!isSeen) await saveOffline(data, film)
    } catch (error) {
      if (isPassing(error)) return
      if (toFailure(error).status === 404) await removeOffline(id)
    }
  }
}

/** Refills the trip pack, but never over a metered connection. */
async function refill(): Promise<void> {
  const trip = refilledTrip.peek()
  const { connection: way } = navigator as { connection?: { saveData?: boolean; type?: string } }
  if (!trip || way?.saveData || way?.type === 'cellular') return
  try {
    const videos = await listSource(trip.name, trip.path, trip.query).read()
    const here = offlineVideos.peek()
    const { taken } = planRefill(toFilms(videos, here), here, { hours: trip.hours, free: await freeBytes() })
    for (const { video } of taken) if (!(await saveOffline(video, { isForTrip: true }))) return
  } catch (error) {
    if (!isPassing(error)) sayFailure(error) // otherwise the next start tries again
  }
}

effect(() => void (connection.value === 'connected' && work()))
effect(() => void (isSignedIn.value === false && (offlineVideos.value = [])))
