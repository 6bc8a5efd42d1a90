/**
 * The event stream: notifications, queue and jobs as they change. While the stream is interrupted, the page polls
 * instead.
 */
import { signal } from '@preact/signals'
import { parse } from '../texts/direction.ts'
import { inWords, LANGUAGE, moreTexts, textOf } from '../texts/lookup.ts'
import { get, isAborted, isAway, toFailure } from './api.ts'
import { under } from './base.ts'
import type { Notification, QueueItem, TaskRecord } from './records.ts'

/**
 * `item`: the current state of an item. `removed`: the item was removed. `reset`: much has changed, so the list must be
 * read again.
 */
export type QueueChange =
  | { reset: true }
  | { platform_id: string; removed: true }
  | (QueueItem & { removed?: undefined; reset?: undefined })

interface Told {
  queue: QueueChange
  job: TaskRecord
  /** Events may have been missed, so listeners read the current state again. */
  missed: undefined
}

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
const POLL_MS = 5000
/** Browsers limit the connections per host, so a page closes its stream after it was hidden for this long. */
const HIDDEN_AFTER_MS = 60_000

/** Notifications in the language of the page. */
export const notifications = signal<Notification[]>([])
/** `lost`: the server does not reply, and the frame reports this. */
export const connection = signal<'connecting' | 'connected' | 'polling' | 'lost'>('connecting')

const listeners: { [Name in keyof Told]: Set<(told: Told[Name]) => void> } = {
  queue: new Set(),
  job: new Set(),
  missed: new Set(),
}
let source: EventSource | undefined
let retryMs = FIRST_RETRY_MS
let wasDown = false
let newest: Notification[] = []
let timers: Array<ReturnType<typeof setTimeout>> = []

/**
 * While the page polls, listeners of `queue` receive `{ reset: true }` repeatedly.
 * @returns a function that unregisters the listener
 */
export function listen<Name extends keyof Told>(name: Name, listener: (told: Told[Name]) => void): () => void {
  listeners[name].add(listener)
  return () => void listeners[name].delete(listener)
}

function tell<Name extends keyof Told>(name: Name, told: Told[Name]): void {
  for (const listener of listeners[name]) listener(told)
}

/** English texts need no loading; other languages are loaded after the texts of Home. */
async function show(told: Notification[]): Promise<void> {
  newest = told
  if (LANGUAGE === 'en') return void (notifications.value = told)
  if (told.length > 0) await moreTexts().catch(() => undefined) // on failure, the English text is shown
  if (newest === told) notifications.value = told.map(inPageWords)
}

const inPageWords = ({ task_name: name, title, messages, said, ...rest }: Notification): Notification => ({
  ...rest,
  task_name: name,
  title: textOf(`task.${name}`, inWords(title)),
  messages: messages.map((message) => inWords(message, said)),
})

/**
 * Called once somebody is signed in.
 * @returns a function that closes the stream
 */
export function openEvents(): () => void {
  connect()
  document.addEventListener('visibilitychange', onVisibility)
  addEventListener('offline', onDown)
  addEventListener('online', connect)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    removeEventListener('offline', onDown)
    removeEventListener('online', connect)
    disconnect()
    void show([])
    connection.value = 'connecting'
  }
}

function connect(): void {
  disconnect()
  source = new EventSource(under('/api/events/'))
  source.onopen = () => {
    retryMs = FIRST_RETRY_MS
    stopTimers()
    connection.value = 'connected'
    if (wasDown) tell('missed', undefined)
    wasDown = false
  }
  source.addEventListener('notification', ({ data }) => void show(parse(data as string) as Notification[]))
  source.addEventListener('queue', ({ data }) => tell('queue', parse(data as string) as QueueChange))
  source.addEventListener('job', ({ data }) => tell('job', parse(data as string) as TaskRecord))
  source.onerror = onDown
}

function onDown(): void {
  disconnect()
  // A lost connection stays lost until there is a reply.
  if (connection.value !== 'lost') connection.value = 'connecting'
  void poll()
  timers.push(setTimeout(connect, retryMs))
  retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2)
}

async function poll(): Promise<void> {
  try {
    const told = await get<Notification[]>('/api/notification/')
    if (connection.value === 'connected') return // the stream has sent newer ones
    await show(told)
    connection.value = 'polling'
    tell('queue', { reset: true })
    tell('missed', undefined)
  } catch (error) {
    if (isAborted(error)) return
    if (toFailure(error).status === 401) return // the frame shows the sign-in
    if (connection.value !== 'connected') connection.value = isAway(error) ? 'lost' : 'polling'
  }
  if (!source || source.readyState !== EventSource.OPEN) timers.push(setTimeout(poll, POLL_MS))
}

function onVisibility(): void {
  if (!document.hidden && !source) connect()
  else if (document.hidden) timers.push(setTimeout(() => void (document.hidden && disconnect()), HIDDEN_AFTER_MS))
}

function disconnect(): void {
  stopTimers()
  if (source) wasDown = true
  source?.close()
  source = undefined
}

function stopTimers(): void {
  for (const timer of timers) clearTimeout(timer)
  timers = []
}
