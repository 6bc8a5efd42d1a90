/** The queue as it changes: its lists, what runs now, and what the platform says, kept right by the event stream. */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { type Failure, get, toFailure } from '../server/api.ts'
import { listen, notifications, type QueueChange } from '../server/events.ts'
import type { ErrorClass, Notification, PlatformState, QueueItem } from '../server/records.ts'
import type { Count } from '../texts/lookup.ts'
import { coalesce } from './coalesce.ts'
import { LATER } from './failures.ts'
import { type List, openList } from './list.ts'
import { platformState } from './platform.ts'
import { isAdmin } from './session.ts'

export type ItemList = List<QueueItem>

const listOf = (query: Record<string, string | boolean>): ItemList =>
  openList<QueueItem, QueueItem>({
    path: '/api/download/',
    query,
    idOf: ({ platform_id }) => platform_id,
    toRow: (item) => item,
  })

/** Many changes in a row are one question. */
const TOGETHER_MS = 400
const PLATFORM_MS = 1500
const SOONEST_ATTEMPT_MS = 5000

/** How many could not be downloaded. */
export const failedIn = (state: PlatformState | undefined): number =>
  Object.entries(state?.waiting ?? {}).reduce((sum, [kind, count]) => (kind === LATER ? sum : sum + count), 0)

export interface QueueStore {
  waiting: ItemList
  ignored: ItemList
  failedOf(kind: ErrorClass): ItemList
  running: ReadonlySignal<ReadonlyMap<string, QueueItem>>
  /** How many, since the page looks on. */
  finished: ReadonlySignal<number>
  platform: ReadonlySignal<PlatformState | undefined>
  platformFailure: ReadonlySignal<Failure | undefined>
  /** The notification of the download that runs. */
  run: ReadonlySignal<Notification | undefined>
  /** Those of what is being added. */
  adding: ReadonlySignal<Notification[]>
  failedCount: ReadonlySignal<number>
  laterCount: ReadonlySignal<number>
  waitingCount: ReadonlySignal<Count>
  /** All of it, such as after a change to many. */
  readAll(): Promise<void>
  readPlatform(): Promise<void>
  /** Takes an item out of the lists before the server has said so. */
  drop(id: string): void
  /** @returns ends it */
  begin(): () => void
}

function openQueueStore(): QueueStore {
  const waiting = listOf({ filter: 'pending', error: false })
  const ignored = listOf({ filter: 'ignore' })
  const failed = new Map<ErrorClass, ItemList>()
  const running = signal<ReadonlyMap<string, QueueItem>>(new Map())
  const finished = signal(0)
  const platform = signal<PlatformState | undefined>(undefined)
  const platformFailure = signal<Failure | undefined>(undefined)
  /** The newest answer counts, whichever comes last. */
  let asked = 0

  const run = computed(() =>
    notifications.value.find(({ group, level }) => group === 'download:run' && level === 'info'),
  )
  const adding = computed(() => notifications.value.filter(({ group }) => group === 'download:add'))
  const failedCount = computed(() => failedIn(platform.value))
  const laterCount = computed(() => platform.value?.waiting[LATER] ?? 0)
  const waitingCount = computed((): Count => waiting.total.value ?? 0)

  async function readPlatform(): Promise<void> {
    if (!isAdmin.peek()) return
    const mine = ++asked
    try {
      const state = await get<PlatformState>('/api/platform/')
      if (mine !== asked) return
      platform.value = platformState.value = state
      platformFailure.value = undefined
    } catch (error) {
      if (mine === asked) platformFailure.value = toFailure(error)
    }
  }

  const platformSoon = coalesce(() => void readPlatform(), PLATFORM_MS)
  const lookAtPlatform = () => platformSoon.soon()
  const nextAttempt = coalesce(() => void readPlatform(), SOONEST_ATTEMPT_MS)
  const allSoon = coalesce(() => void readAll(), TOGETHER_MS)
  const listsSoon = new Map<ItemList, ReturnType<typeof coalesce>>()
  function readAgain(list: ItemList): void {
    const known = listsSoon.get(list) ?? coalesce(() => void list.reload(), TOGETHER_MS)
    listsSoon.set(list, known)
    known.soon()
  }
  const loaded = (): ItemList[] => [waiting, ignored, ...failed.values()]

  function failedOf(kind: ErrorClass): ItemList {
    const list = failed.get(kind) ?? listOf({ filter: 'pending', error_class: kind })
    failed.set(kind, list)
    return list
  }

  async function readAll(): Promise<void> {
    running.value = new Map()
    await Promise.all([
      readPlatform(),
      waiting.reload(),
      ...(isAdmin.peek() ? [ignored.reload()] : []),
      ...[...failed.values()].map((list) => list.reload()),
    ])
    for (const item of waiting.rows.value) note(item)
  }

  function note(item: QueueItem): void {
    const isRunning = item.progress !== undefined && item.message === undefined && item.status !== 'ignore'
    if (!isRunning && !running.value.has(item.platform_id)) return
    const next = new Map(running.value)
    if (isRunning) next.set(item.platform_id, item)
    else next.delete(item.platform_id)
    running.value = next
  }

  function take(change: QueueChange): void {
    if ('reset' in change && change.reset) return allSoon.soon()
    const { platform_id: id, removed } = change as { platform_id: string; removed?: true }
    if (removed) {
      if (running.value.has(id)) {
        finished.value++
        running.value = new Map([...running.value].filter(([key]) => key !== id))
      }
      for (const list of loaded()) list.drop(id)
      return lookAtPlatform()
    }
    const item = change as QueueItem
    note(item)
    const home =
      item.status === 'ignore'
        ? ignored
        : item.message !== undefined
          ? failedOf(item.error_class ?? 'unknown')
          : waiting
    const isThere = home.rows.value.some(({ platform_id }) => platform_id === id)
    for (const list of loaded()) if (list !== home) list.drop(id)
    if (isThere) return home.change(id, () => item)
    if (item.progress && home === waiting) return // in a part of the list that nobody looks at
    // What is new comes last; what was elsewhere goes back to its place, and that only the server knows.
    const last = home.rows.value.at(-1)
    if (home.isWhole.value && !item.auto_start && (!last || item.timestamp > last.timestamp)) home.append(item)
    else readAgain(home)
    if (home !== waiting) lookAtPlatform()
  }

  return {
    waiting,
    ignored,
    failedOf,
    running,
    finished,
    platform,
    platformFailure,
    run,
    adding,
    failedCount,
    laterCount,
    waitingCount,
    readAll,
    readPlatform,
    drop(id) {
      for (const list of loaded()) list.drop(id)
      running.value = new Map([...running.value].filter(([key]) => key !== id))
    },
    begin() {
      void readAll()
      const ends = [
        listen('queue', take),
        listen('job', ({ name }) => /^(download_pending|extract_download)$/.test(name) && lookAtPlatform()),
        notifications.subscribe(lookAtPlatform),
        // The time of the next try passes without anybody saying so.
        platform.subscribe((state) => {
          if (state && state.next_attempt > 0)
            nextAttempt.soon(Math.max(SOONEST_ATTEMPT_MS, state.next_attempt * 1000 - Date.now() + 1000))
        }),
      ]
      return () => {
        for (const end of ends) end()
        for (const { end } of [platformSoon, nextAttempt, allSoon, ...listsSoon.values()]) end()
      }
    },
  }
}

export function useQueue(): QueueStore {
  const queue = useMemo(openQueueStore, [])
  useEffect(() => queue.begin(), [queue])
  return queue
}
