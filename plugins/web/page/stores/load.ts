/** What a view shows comes from the server: loading, ready or failed, kept for the way back. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Failure, isAborted, toFailure } from '../server/api.ts'

/** `isKept`: as it was the last time; what it is now is on its way. */
export type Loaded<Value> =
  | { state: 'loading'; value?: undefined; failure?: undefined; isKept?: undefined }
  | { state: 'ready'; value: Value; failure?: undefined; isKept?: true }
  | { state: 'failed'; failure: Failure; value?: undefined; isKept?: undefined }

export interface Load<Value> {
  /** Read it in the view: `const video = load.now.value`. */
  now: ReadonlySignal<Loaded<Value>>
  /** Asks again; what is there stays until the answer comes. */
  reload(): Promise<void>
  /** Shows a change before the server has said so. */
  change(how: (value: Value) => Value): void
}

/** The settings of the installation (`views/settings/config.ts`). */
export const CONFIG_KEY = 'settings/config'

const MOST_KEPT = 60
const kept = new Map<string, unknown>()

/** For the way back: the newest few stay. */
export function keep(key: string, value: unknown): void {
  kept.delete(key)
  kept.set(key, value)
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
}
export const keptValue = <Value>(key: string): Value | undefined => kept.get(key) as Value | undefined
/** All whose key begins so. */
export const keptUnder = <Value>(prefix: string): Value[] =>
  [...kept].filter(([key]) => key.startsWith(prefix)).map(([, value]) => value as Value)
/** What was kept may no longer hold, such as after a deletion. No prefix: all of it. */
export function forget(prefix = ''): void {
  for (const key of [...kept.keys()]) if (key.startsWith(prefix)) kept.delete(key)
}

/**
 * Loads when the view appears and when `key` changes. What was loaded under the key before is shown at once and read
 * again.
 * @param key  says what it is, such as `video/abc`
 */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Load<Value> {
  const now = useSignal<Loaded<Value>>(start(key))
  const asked = useSignal(key)
  if (asked.peek() !== key) {
    asked.value = key
    now.value = start(key)
  }

  /** The newest answer counts, whichever comes last. */
  const turn = useRef(0)
  const changes = useRef(0)
  const run = async (signal: AbortSignal): Promise<void> => {
    const mine = ++turn.current
    const isOld = () => signal.aborted || mine !== turn.current
    const before = changes.current
    try {
      const value = await load(signal)
      if (isOld()) return
      // It may be from before the change.
      if (before !== changes.current) return await run(signal)
      keep(key, value)
      now.value = { state: 'ready', value }
    } catch (error) {
      if (isAborted(error) || isOld()) return
      now.value = { state: 'failed', failure: toFailure(error) }
    }
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
      const loaded = now.peek()
      if (loaded.state !== 'ready') return
      changes.current++
      const value = how(loaded.value)
      keep(key, value)
      now.value = { ...loaded, value }
    },
  }
}

const start = <Value>(key: string): Loaded<Value> => {
  const value = keptValue<Value>(key)
  return value === undefined ? { state: 'loading' } : { state: 'ready', value, isKept: true }
}
