/** The queue: its lists, the running items, and the state of the platform, kept up to date by the event stream. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { type Failure, get, toFailure } from '../server/api.ts'
import { listen, notifications, type QueueChange } from '../server/events.ts'
import type { ErrorClass, Notification, PlatformState, QueueItem } from '../server/records.ts'
import type { Count } from '../texts/lookup.ts'
import { coalesce } from './coalesce.ts'
import { LATER } from './failures.ts'
import { type List, openList } from './list.ts'
import { beginReading, platformState } from './platform.ts'
import { isAdmin } from './session.ts'

export type ItemList = List<QueueItem>

const listOf = (query: Record<string, string | boolean>): ItemList =>
  openList<QueueItem, QueueItem>({
    path: '/api/download/',
    query,
    idOf: ({ platform_id }) => platform_id,
    toRow: (item) => item,
  })

/** Delay of a reload, so that a burst of changes causes one request. */
const TOGETHER_MS = 400
const PLATFORM_MS = 1500
const SOONEST_ATTEMPT_MS = 5000

/** The number of failed items. */
export const failedIn = (state: PlatformState | undefined): number =>
  Object.entries(state?.waiting ?? {}).reduce((sum, [kind, count]) => (kind === LATER ? sum : sum + count), 0)

export interface QueueStore {
  waiting: ItemList
  ignored: ItemList
  failedOf(kind: ErrorClass): ItemList
  running: ReadonlySignal<ReadonlyMap<string, QueueItem>>
  /** The number of running items that have left the queue since the view was opened. */
  finished: ReadonlySignal<number>
  platform: ReadonlySignal<PlatformState | undefined>
  platformFailure: ReadonlySignal<Failure | undefined>
  /** The notification of the running download. */
  run: ReadonlySignal<Notification | undefined>
  /** The notifications of scans and additions. */
  adding: ReadonlySignal<Notification[]>
  failedCount: ReadonlySignal<number>
  laterCount: ReadonlySignal<number>
  waitingCount: ReadonlySignal<Count>
  /** Reloads everything, for example after changing many items. */
  readAll(): Promise<void>
  readPlatform(): Promise<void>
  /** Removes an item from the lists before the server confirms it. */
  drop(id: string): void
  /** @returns a function that unsubscribes */
  begin(): () => void
}

/** Lists that no view shows are not requested. */
function openLists() {
  const waiting = listOf({ filter: 'pending', error: false })
  const ignored = listOf({ filter: 'ignore' })
  const failed = new Map<ErrorClass, ItemList>()
  const soon = new Map<ItemList, ReturnType<typeof coalesce>>()
  const shown = () => [waiting, ...(isAdmin.peek() ? [ignored] : []), ...failed.values()]

  function failedOf(kind: ErrorClass): ItemList {
    const list = failed.get(kind) ?? listOf({ filter: 'pending', error_class: kind })
    failed.set(kind, list)
    return list
  }

  return {
    waiting,
    ignored,
    failedOf,
    homeOf({ status, message, error_class: kind = 'unknown' }: QueueItem): ItemList {
      if (status === 'ignore') return ignored
      return message === undefined ? waiting : failedOf(kind)
    },
    async readFirst(): Promise<void> {
      await Promise.all(shown().map((list) => list.reach(1)))
    },
    async reload(): Promise<void> {
      await Promise.all(shown().map((list) => list.reload()))
    },
    readSoon(list: ItemList): void {
      const known = soon.get(list) ?? coalesce(() => list.reload(), TOGETHER_MS)
      soon.set(list, known)
      known.soon()
    },
    drop(id: string, home?: ItemList): void {
      for (const list of [waiting, ignored, ...failed.values()]) if (list !== home) list.drop(id)
    },
    end(): void {
      for (const { end } of soon.values()) end()
    },
  }
}

function openPlatformWatch() {
  const platform = signal<PlatformState | undefined>(undefined)
  const platformFailure = signal<Failure | undefined>(undefined)
  /** Numbers of the newest request, and of the request whose reply is shown: no older one replaces it. */
  let [asked, shown] = [0, 0]
  const soon = coalesce(read, PLATFORM_MS)
  const nextAttempt = coalesce(read, SOONEST_ATTEMPT_MS)

  async function read(): Promise<void> {
    if (!isAdmin.peek()) return
    const mine = ++asked
    const isNewest = beginReading()
    try {
      const state = await get<PlatformState>('/api/platform/')
      if (mine < shown || !isAdmin.peek()) return
      shown = mine
      platform.value = state
      if (isNewest()) platformState.value = state
      platformFailure.value = undefined
    } catch (error) {
      if (mine === asked) platformFailure.value = toFailure(error)
    }
  }

  return {
    platform,
    platformFailure,
    read,
    readSoon: () => soon.soon(),
    /** @returns a function that unsubscribes */
    begin(): () => void {
      // No event tells when the next retry starts, so a timer reads the state then.
      const end = platform.subscribe((state) => {
        if (state && state.next_attempt > 0)
          nextAttempt.soon(Math.max(SOONEST_ATTEMPT_MS, state.next_attempt * 1000 - Date.now() + 1000))
      })
      return () => {
        for (const each of [end, soon.end, nextAttempt.end]) each()
      }
    },
  }
}

function openQueueStore(): QueueStore {
  const lists = openLists()
  const { platform, platformFailure, ...watch } = openPlatformWatch()
  const running = signal<ReadonlyMap<string, QueueItem>>(new Map())
  const finished = signal(0)
  const allSoon = coalesce(readAll, TOGETHER_MS)

  async function readAll(): Promise<void> {
    running.value = new Map()
    await read(lists.reload)
  }

  async function read(readLists: () => Promise<void>): Promise<void> {
    await Promise.all([watch.read(), readLists()])
    for (const item of lists.waiting.rows.value) note(item)
  }

  function note(item: QueueItem): void {
    const isRunning = item.progress !== undefined && item.message === undefined && item.status !== 'ignore'
    if (isRunning) running.value = new Map(running.value).set(item.platform_id, item)
    else stop(item.platform_id)
  }

  /** @returns whether the item was running */
  function stop(id: string): boolean {
    if (!running.value.has(id)) return false
    running.value = new Map([...running.value].filter(([key]) => key !== id))
    return true
  }

  function take(change: QueueChange): void {
    if ('reset' in change && change.reset) return allSoon.soon()
    if ('removed' in change && change.removed) {
      if (stop(change.platform_id)) finished.value++
      lists.drop(change.platform_id)
      return watch.readSoon()
    }
    insert(change)
  }

  function insert(item: QueueItem): void {
    note(item)
    const id = item.platform_id
    const home = lists.homeOf(item)
    const isThere = home.rows.value.some(({ platform_id }) => platform_id === id)
    lists.drop(id, home)
    if (isThere) return home.change(id, () => item)
    if (item.progress && home === lists.waiting) return // it is in a part of the list that is not loaded
    // New items are last; an item from another list returns to a position that only the server knows.
    const last = home.rows.value.at(-1)
    const isLast = !item.auto_start && (!last || item.timestamp > last.timestamp)
    if (!isLast || !home.append(item)) lists.readSoon(home)
    if (home !== lists.waiting) watch.readSoon()
  }

  return {
    waiting: lists.waiting,
    ignored: lists.ignored,
    failedOf: lists.failedOf,
    running,
    finished,
    platform,
    platformFailure,
    run: computed(() => notifications.value.find(({ group, level }) => group === 'download:run' && level === 'info')),
    adding: computed(() => notifications.value.filter(({ group }) => group === 'download:add')),
    failedCount: computed(() => failedIn(platform.value)),
    laterCount: computed(() => platform.value?.waiting[LATER] ?? 0),
    waitingCount: computed((): Count => lists.waiting.total.value ?? 0),
    readAll,
    readPlatform: watch.read,
    drop(id) {
      lists.drop(id)
      stop(id)
    },
    begin() {
      void read(lists.readFirst)
      const ends = [
        listen('queue', take),
        listen('job', ({ name }) => /^(download_pending|extract_download)$/.test(name) && watch.readSoon()),
        notifications.subscribe(watch.readSoon),
        watch.begin(),
        allSoon.end,
        lists.end,
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

export function useQueue(): QueueStore {
  const queue = useMemo(openQueueStore, [])
  useEffect(() => queue.begin(), [queue])
  return queue
}
