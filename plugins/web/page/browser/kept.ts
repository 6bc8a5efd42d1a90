/** What this browser keeps of an account for when the server cannot be reached: begun at a visit, gone with a sign-out. */
import { under } from '../server/base.ts'

const PREFIX = `archivolt ${under('/')} `
/** Over plain http browsers have neither. */
const isPossible = 'serviceWorker' in navigator && 'caches' in globalThis

let turn: Promise<unknown> = Promise.resolve()
const inTurn = (act: () => Promise<unknown>): Promise<unknown> => (turn = turn.then(act).catch(() => undefined)) // storage is shut: the page works without

/** What is not this account's goes at once. */
export const dropOthers = (id: number): Promise<unknown> => inTurn(() => drop((name) => name !== PREFIX + id))

/** Nothing of anybody stays. */
export const dropAll = (): Promise<unknown> =>
  inTurn(async () => {
    await drop(() => true)
    await (isPossible ? navigator.serviceWorker.getRegistration(under('/')) : undefined)?.then((one) =>
      one?.unregister(),
    )
  })

async function drop(isMeant: (name: string) => boolean): Promise<void> {
  if (!isPossible) return
  await navigator.locks.request(PREFIX, async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && isMeant(name))
    await Promise.all(names.map((name) => caches.delete(name)))
  })
}

/** @param isStill  whether this account is signed in when its turn comes */
export const keepFor = (id: number, isStill: () => boolean): Promise<unknown> =>
  inTurn(async () => {
    if (!isPossible || !isStill()) return
    await navigator.serviceWorker.register(under('/service-worker.js'), { scope: under('/') })
    const isNew = !(await caches.has(PREFIX + id))
    await caches.open(PREFIX + id)
    if (!isNew) return
    const isHome = location.pathname === under('/') && location.search === ''
    const keep = isHome ? performance.getEntriesByType('resource').map(({ name }) => name) : []
    // Not waited for: a sign-out may come before.
    void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ keep }))
  })
