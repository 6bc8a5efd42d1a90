/** Data of an account that this browser stores for offline use: prepared at a visit, removed at sign-out. */
import { under } from '../server/base.ts'
import { filmCache, homeCache, prefixOf } from './offline-names.ts'

const base = under('/')
const PREFIX = prefixOf(base)
/** Browsers support neither of the two over plain http. */
export const isOfflinePossible = 'serviceWorker' in navigator && 'caches' in globalThis

let turn: Promise<unknown> = Promise.resolve()
const inTurn = (act: () => Promise<unknown>): Promise<unknown> => (turn = turn.then(act).catch(() => undefined)) // storage is blocked: the page works without it

/** Removes the data of other accounts at once. */
export const dropOthers = (id: number): Promise<unknown> =>
  inTurn(() => drop((name) => name !== homeCache(base, id) && name !== filmCache(base, id)))

/** Removes the data of all accounts. */
export const dropAll = (): Promise<unknown> =>
  inTurn(async () => {
    await drop(() => true)
    await (isOfflinePossible ? navigator.serviceWorker.getRegistration(base) : undefined)?.then((one) =>
      one?.unregister(),
    )
  })

async function drop(isMeant: (name: string) => boolean): Promise<void> {
  if (!isOfflinePossible) return
  await navigator.locks.request(PREFIX, async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && isMeant(name))
    await Promise.all(names.map((name) => caches.delete(name)))
  })
}

/** @param isStill  returns whether this account is still signed in when its turn comes */
export const prepareOffline = (id: number, isStill: () => boolean): Promise<unknown> =>
  inTurn(async () => {
    if (!isOfflinePossible || !isStill()) return
    await navigator.serviceWorker.register(under('/service-worker.js'), { scope: base })
    const name = homeCache(base, id)
    const isNew = !(await caches.has(name))
    await caches.open(name)
    if (isNew) handOver(isStill)
  })

/** At the first visit, tells the worker to cache the requests that Home made before the worker was active. */
function handOver(isStill: () => boolean): void {
  notifyWorker([])
  const observer = new PerformanceObserver((list) => {
    if (!isStill()) return observer.disconnect()
    const isHome = location.pathname === base && location.search === ''
    const missed = (list.getEntries() as PerformanceResourceTiming[]).filter(({ workerStart }) => workerStart === 0)
    if (isHome && missed.length > 0) notifyWorker(missed.map(({ name: address }) => address))
  })
  observer.observe({ type: 'resource', buffered: true })
}

/**
 * Does not wait for the worker, because a sign-out may come first.
 * @param urls  requested by Home, to be cached
 */
export const notifyWorker = (urls: readonly string[]): void =>
  void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ keep: urls }))

/** Whether this account has saved videos in this browser. */
export const hasFilms = async (id: number): Promise<boolean> => isOfflinePossible && caches.has(filmCache(base, id))

/**
 * The cache with the account's saved videos.
 * @param isMade  create the cache if it does not exist
 */
export const openFilms = (id: number, isStill: () => boolean, isMade = false): Promise<Cache | undefined> =>
  navigator.locks.request(PREFIX, { mode: 'shared' }, async () => {
    const name = filmCache(base, id)
    return isStill() && (isMade || (await caches.has(name))) ? await caches.open(name) : undefined
  })
