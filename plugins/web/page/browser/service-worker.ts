/**
 * The service worker, a separate bundle: opens the page with the last Home while the server is unreachable, and plays
 * saved videos. The page creates its caches for an account and deletes them at sign-out (`browser/offline.ts`,
 * `parts/offline-videos.ts`); without them it caches nothing.
 */
import { filmAt, HERE, isFilmCache, type OfflineFilm, prefixOf } from './offline-names.ts'
import { answerWith } from './offline-pieces.ts'

/** Types of service workers, which the DOM types lack. */
interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Fetching extends Extendable {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface Told extends Extendable {
  readonly data: unknown
}
interface Scope {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(name: 'install' | 'activate', act: (event: Extendable) => void): void
  addEventListener(name: 'fetch', act: (event: Fetching) => void): void
  addEventListener(name: 'message', act: (event: Told) => void): void
}

/** The DOM types do not know service workers. */
const scope = self as unknown as Scope
const root = new URL(scope.registration.scope)
const base = root.pathname
const PREFIX = prefixOf(base)
/** Limits for each kind; the oldest entries are evicted. */
const MOST_LISTS = 8
const MOST_PICTURES = 150
const MOST_PICTURE_BYTES = 20_000_000
/** Statuses with which a proxy reports an unreachable server. */
const AWAY = [502, 503, 504]
/** Header that the server sets on its replies; a proxy's own replies lack it. */
const NAMED = 'x-request-id'
/** Paths of the record and the subtitles of a saved video. */
const OF_VIDEOS = /^(api\/video\/([^/]+)\/|media\/.+\.vtt)$/
const OF_PROGRAMS = /^(api|media|cache|assets|icons|health|plugin-page)(\/|$)/
const FOR_LISTS = { accept: 'application/json', 'x-api-form': 'v0.4' }

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()))
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()))

scope.addEventListener('message', (event) => {
  const { keep: urls } = Object(event.data) as { keep?: unknown }
  if (Array.isArray(urls)) event.waitUntil(fill(urls.filter((one) => typeof one === 'string')))
})

scope.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  const path = pathOf(request.url)
  if (path === undefined) return
  if (request.url.endsWith(HERE)) return event.respondWith(film(event))
  if (request.headers.has('range')) return
  if (request.mode === 'navigate') {
    if (request.destination === 'document' && !OF_PROGRAMS.test(path)) event.respondWith(open(event))
  } else if (path.startsWith('assets/')) event.respondWith(asset(event))
  else if (isOfHome(request.url) && isHome(request.referrer)) event.respondWith(newest(event, home))
  else if (isPicture(request.url) || OF_VIDEOS.test(path)) event.respondWith(newest(event, films))
})

/** The path below the base; undefined: the address belongs to another site. */
function pathOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { origin, pathname } = new URL(address)
  return origin === root.origin && pathname.startsWith(base) ? pathname.slice(base.length) : undefined
}

const isHome = (address: string): boolean => pathOf(address) === '' && new URL(address).search === ''
/** Whether this is the first page of a list of videos, or a picture. */
const isOfHome = (address: string): boolean => isList(address) || isPicture(address)
const isList = (address: string): boolean =>
  pathOf(address) === 'api/video/' && new URL(address).searchParams.get('page') === '1'
const isPicture = (address: string): boolean => pathOf(address)?.startsWith('cache/') ?? false

/** Finds an existing cache: `caches.open` would create a missing one, and so undo a sign-out. */
const cacheOf = (isOne: (name: string) => boolean): Promise<Cache | undefined> =>
  navigator.locks.request(PREFIX, { mode: 'shared' }, async () => {
    const name = (await caches.keys()).find((one) => one.startsWith(PREFIX) && isOne(one))
    return name === undefined ? undefined : await caches.open(name)
  })
const homeOf = () => cacheOf((name) => !isFilmCache(name))
const filmsOf = () => cacheOf(isFilmCache)

const found = (cache: Cache | undefined, address: string) => cache?.match(address, { ignoreVary: true })
/** Pictures exist in several sizes, of which only one is cached, so the size is ignored. */
const ofFilms = async (address: string) =>
  (await filmsOf())?.match(address, { ignoreVary: true, ignoreSearch: isPicture(address) })

/** The cache of a request: how to read it and how to write it. */
interface Shelf {
  find(address: string): Promise<Response | undefined>
  store(address: string, response: Response): Promise<void>
}
const home: Shelf = {
  find: async (address) => (await found(await homeOf(), address)) ?? ofFilms(address),
  store: cacheAnswer,
}
const films: Shelf = { find: ofFilms, store: cacheRecord }

/** Does not cache the response if the account has signed out meanwhile. */
async function put(address: string, response: Response): Promise<void> {
  await (await homeOf())?.put(address, response).catch(() => undefined) // no space: the response is missing offline
}

/**
 * The server's document; if the server is unreachable, the cached document of Home, whose router knows every address.
 */
async function open(event: Fetching): Promise<Response> {
  const { request } = event
  return fetchElse(request, {
    find: async () => found(await homeOf(), root.href),
    store: (response) => isHome(request.url) && event.waitUntil(cacheDocument(response)),
  })
}

/**
 * Whether the reply means that the server is unreachable. Replies of the API itself do not count, not even 503: a
 * cached list would hide the problem.
 */
const isAway = (address: string, { status, headers }: Response): boolean =>
  AWAY.includes(status) && !(headers.has(NAMED) && pathOf(address)?.startsWith('api/'))

/** Network first, cache as the fallback. */
async function fetchElse(
  request: Request,
  { find, store }: { find(): Promise<Response | undefined>; store(response: Response): unknown },
): Promise<Response> {
  try {
    const response = await fetch(request)
    if (response.status === 200) store(response.clone())
    return isAway(request.url, response) ? ((await find()) ?? response) : response
  } catch (error) {
    const cached = await find()
    if (cached) return cached
    throw error
  }
}

/** Cache first, because the names contain a hash of the content. */
async function asset(event: Fetching): Promise<Response> {
  const { request } = event
  const cached = await found(await homeOf(), request.url)
  if (cached) return cached
  const response = await fetch(request)
  if (response.ok) event.waitUntil(put(request.url, response.clone()))
  return response
}

const newest = (event: Fetching, shelf: Shelf): Promise<Response> =>
  fetchElse(event.request, {
    find: () => shelf.find(event.request.url),
    store: (response) => event.waitUntil(shelf.store(event.request.url, response)),
  })

async function cacheAnswer(address: string, response: Response): Promise<void> {
  const cache = await homeOf()
  if (!cache) return
  // Deleted and written again, so that it is the newest entry.
  await cache.delete(address, { ignoreVary: true })
  await put(address, response)
  if (isPicture(address)) bytesOf.set(address, Number(response.headers.get('content-length')))
  const isSame = isList(address) ? isList : isPicture
  const youngest = (await cache.keys()).filter(({ url }) => isSame(url)).toReversed()
  const most = isList(address) ? MOST_LISTS : MOST_PICTURES
  let bytes = 0
  for (const [number, one] of youngest.entries()) {
    if (isPicture(address)) bytes += bytesOf.get(one.url) ?? (await measured(cache, one.url))
    if (number < most && bytes <= MOST_PICTURE_BYTES) continue
    bytesOf.delete(one.url)
    await cache.delete(one, { ignoreVary: true })
  }
}

/** Sizes of cached pictures, as far as this worker has read them. */
const bytesOf = new Map<string, number>()

async function measured(cache: Cache, address: string): Promise<number> {
  const bytes = Number((await found(cache, address))?.headers.get('content-length'))
  bytesOf.set(address, bytes)
  return bytes
}

/**
 * Caches scripts and styles before the document, so that the cached document can always open. After an update, removes
 * those that the server no longer has; others are still used, even if no document names them.
 */
async function cacheDocument(response: Response): Promise<void> {
  const cache = await homeOf()
  if (!cache) return
  const older = (await cache.keys()).filter(({ url }) => pathOf(url)?.startsWith('assets/'))
  const text = await response.clone().text()
  const named = new Set([...assetsIn(text), ...((await filmsOf()) ? assetsIn(await documentOfVideo()) : [])])
  const before = await (await found(cache, root.href))?.text()
  for (const address of named) {
    if (await found(cache, address)) continue
    const answer = await fetch(address)
    if (!answer.ok) return
    await put(address, answer)
  }
  await put(root.href, response)
  if (before === undefined || scriptOf(before) === scriptOf(text)) return
  for (const { url } of older)
    if (!named.has(url) && (await fetch(url, { method: 'HEAD' })).status === 404)
      await cache.delete(url, { ignoreVary: true })
}

const assetsIn = (text: string): string[] =>
  [...text.matchAll(/"([^"]*\/assets\/[\w.-]+)"/g)]
    .map(([, path]) => new URL(path!, root).href)
    .filter((address) => pathOf(address)?.startsWith('assets/'))

/** The document of any video: it names the chunks of the view. */
const documentOfVideo = async (): Promise<string> => (await fetch(`${root.href}video/any/`)).text()

const scriptOf = (text: string): string | undefined => /<script[^<>]* src="([^"]+)"/.exec(text)?.[1]

/**
 * Fills the cache after a first visit, during which the worker was not active.
 * @param asked  URLs that Home has requested until then
 */
async function fill(asked: string[]): Promise<void> {
  const page = await fetch(root.href, { credentials: 'same-origin' })
  if (page.ok) await cacheDocument(page)
  for (const address of new Set(asked.filter(isOfHome))) {
    const answer = await fetch(address, { credentials: 'same-origin', ...(isList(address) && { headers: FOR_LISTS }) })
    if (answer.status === 200) await cacheAnswer(address, answer)
  }
}

/** Responds with a saved film from its pieces; missing pieces come from the server. */
async function film({ request }: Fetching): Promise<Response> {
  const address = request.url.slice(0, -HERE.length)
  const cache = await filmsOf()
  const name = address.slice(address.lastIndexOf('/') + 1)
  const cached = (await (await cache?.match(filmAt(root.href, name.slice(0, name.lastIndexOf('.')))))?.json()) as
    | OfflineFilm
    | undefined
  if (!cache || !cached?.isWhole || new URL(cached.film.slice(1), root).href !== address) return fetch(request)
  return answerWith(cache, address, cached, request.headers.get('range'))
}

/** Updates the cached record of a saved video from the server's reply. */
async function cacheRecord(address: string, response: Response): Promise<void> {
  const cache = await filmsOf()
  // no space: the older record stays
  if (cache && (await found(cache, address))) await cache.put(address, response).catch(() => undefined)
}
