/** Loads a view's data from the server: loading, ready or failed; cached for the way back. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Failure, isAborted, isAway, toFailure } from '../server/api.ts'

/** `isCached`: the value is an earlier one, and the current one is being loaded. */
export type LoadState<Value> =
  | { state: 'loading'; value?: undefined; failure?: undefined; isCached?: undefined }
  | { state: 'ready'; value: Value; failure?: undefined; isCached?: true }
  | { state: 'failed'; failure: Failure; value?: undefined; isCached?: undefined }

export interface Load<Value> {
  /** Read it in the view: `const video = load.now.value`. */
  now: ReadonlySignal<LoadState<Value>>
  /** Loads again; the current value stays until the reply arrives, and also if there is none. */
  reload(): Promise<void>
  /** Shows a change before the server confirms it. */
  change(how: (value: Value) => Value): void
}

/**
 * Set by the toasts. Called when a reload fails while a value is shown, and then not before a reload has succeeded
 * again.
 */
export const reloadFailed: { now?: (failure: Failure) => void } = {}

/** Statuses after which the shown value must disappear: it no longer exists, or this account may no longer see it. */
const ENDS = [401, 403, 404]

/** The preferences of the installation (`views/settings/preferences.ts`). */
export const PREFERENCES_KEY = 'settings/preferences'

const MOST_CACHED = 60
const cached = new Map<string, unknown>()

/** Caches a value for the way back; only the newest values are kept. */
export function cache(key: string, value: unknown): void {
  cached.delete(key)
  cached.set(key, value)
  if (cached.size > MOST_CACHED) cached.delete(cached.keys().next().value!)
}
export const cachedValue = <Value>(key: string): Value | undefined => cached.get(key) as Value | undefined
/** All cached values whose key has this prefix. */
export const cachedUnder = <Value>(prefix: string): Value[] =>
  [...cached].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value as Value)
/** A cached value that reads itself again: at once if it is shown, otherwise when it is. */
interface Renewable {
  renew(): void
}
const isRenewable = (value: unknown): value is Renewable => 'renew' in Object(value)
/** Drops or renews cached values that may be outdated, for example after a deletion; without a prefix, all of them. */
export function forget(prefix = ''): void {
  for (const [key, value] of [...cached]) {
    if (!key.startsWith(prefix)) continue
    if (isRenewable(value)) value.renew()
    else cached.delete(key)
  }
}
/** Drops all cached values except those whose key has this prefix. */
export function forgetOthers(prefix: string): void {
  for (const key of [...cached.keys()]) if (!key.startsWith(prefix)) cached.delete(key)
}
/** Drops everything, for example at sign-out. */
export const forgetAll = (): void => cached.clear()

/**
 * Loads when the view appears and when `key` changes. A value that was cached under this key is shown immediately, and
 * loaded again.
 * @param key  identifies the data, such as `video/abc`
 */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Load<Value> {
  const now = useSignal<LoadState<Value>>(start(key))
  const asked = useSignal(key)
  const isTold = useRef(false)
  if (asked.peek() !== key) {
    asked.value = key
    isTold.current = false
    now.value = start(key)
  }

  /** Numbers of the newest request, and of the request whose reply is shown: no older one replaces it. */
  const turn = useRef(0)
  const shown = useRef(0)
  const changes = useRef(0)
  const run = async (signal: AbortSignal): Promise<void> => {
    // Called by a view of other data, which has been left meanwhile.
    if (asked.peek() !== key) return forget(key)
    const mine = ++turn.current
    const isOld = () => signal.aborted || asked.peek() !== key || mine < shown.current
    const before = changes.current
    try {
      const value = await load(signal)
      if (isOld()) return
      // The reply may be older than the change.
      if (before !== changes.current) return await run(signal)
      cache(key, value)
      shown.current = mine
      now.value = { state: 'ready', value }
      isTold.current = false
    } catch (error) {
      if (isAborted(error) || isOld() || mine !== turn.current) return
      fail(toFailure(error))
    }
  }
  const fail = (failure: Failure): void => {
    const { state, value } = now.peek()
    if (state !== 'ready' || ENDS.includes(failure.status)) return void (now.value = { state: 'failed', failure })
    now.value = { state, value }
    // The frame already reports a lost connection.
    if (isTold.current || isAway(failure)) return
    isTold.current = true
    reloadFailed.now?.(failure)
  }
  useEffect(() => {
    const ending = new AbortController()
    void run(ending.signal)
    return () => ending.abort()
  }, [key])

  return {
    now,
    reload: () => run(new AbortController().signal),
    change(how) {
      if (asked.peek() !== key) return forget(key)
      const loaded = now.peek()
      if (loaded.state !== 'ready') return
      changes.current++
      const value = how(loaded.value)
      cache(key, value)
      now.value = { ...loaded, value }
    },
  }
}

const start = <Value>(key: string): LoadState<Value> => {
  const value = cachedValue<Value>(key)
  return value === undefined ? { state: 'loading' } : { state: 'ready', value, isCached: true }
}
