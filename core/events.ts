/** Events, named in the past tense. Emitted after the write and awaited; every listener must be idempotent. */

/** Name → payload. Plugins add theirs: `declare module 'archivolt' { interface Events { 'map.added': Added } }`. */
export interface Events {
  /** Emitted once: requests are answered from now on. */
  'server.ready': { url: string }
  /** At a start with a ledger older than the index: rows may refer to missing documents, newer documents lack rows. */
  'ledger.replaced': Record<string, never>
  /** Emitted before and after each step of a job: tests kill the process here. */
  'job.step': { task: string; id: string; step: string; phase: 'before' | 'after' }
}

/** Delivered directly, not through a row: too frequent for rows, or useless after the moment. */
export const HEARD_IN_PLACE: ReadonlySet<string> = new Set<keyof Events>(['server.ready', 'job.step'])

export type EventName = keyof Events & string
/** Receives every event that plugins emit. */
export type ListenerToAll = (name: string, event: unknown) => void | Promise<void>
export type Listener<Name extends EventName> = (event: Events[Name]) => unknown

export type EventBus = ReturnType<typeof openEventBus>

export function openEventBus() {
  const listeners = new Map<string, Array<(event: never) => unknown>>()
  const listenersToAll: ListenerToAll[] = []
  return {
    listen<Name extends EventName>(name: Name, listener: Listener<Name>): void {
      listeners.set(name, [...(listeners.get(name) ?? []), listener])
    },

    listenToAll: (listener: ListenerToAll): void => void listenersToAll.push(listener),

    /** Calls the listeners in their order, and resolves after the last. An error rejects, so that the job repeats. */
    async emit<Name extends EventName>(name: Name, event: Events[Name]): Promise<void> {
      for (const listener of listeners.get(name) ?? []) await (listener as Listener<Name>)(event)
      if (!HEARD_IN_PLACE.has(name)) for (const listener of listenersToAll) await listener(name, event)
    },
  }
}
