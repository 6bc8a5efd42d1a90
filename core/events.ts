/** Events, named in the past tense: emitted after the write and awaited; every listener is idempotent. */

/**
 * Name → what is told. Plugins add theirs: `declare module 'archivolt' { interface Events { 'map.added': { id: string }
 * } }`.
 */
export interface Events {
  /** Once: requests are answered from now on. */
  'server.ready': { url: string }
  /**
   * Emitted at a start that finds an older ledger than the index was last used with: what the ledger keeps of single
   * documents may speak of none any more, and may lack what the index has.
   */
  'ledger.replaced': Record<string, never>
  /** Emitted before and after each named piece of a job's work: here tests cut the power. */
  'job.step': { task: string; id: string; step: string; phase: 'before' | 'after' }
}

/** Everybody hears them in place: told too often for a row each, or of no use once the moment is past. */
export const HEARD_IN_PLACE: ReadonlySet<string> = new Set<keyof Events>(['server.ready', 'job.step'])

export type EventName = keyof Events & string
/** Hears every event that plugins tell. */
export type ListenerToAll = (name: string, event: unknown) => void | Promise<void>
export type Listener<Name extends EventName> = (event: Events[Name]) => void | Promise<void>

export class EventBus {
  readonly #listeners = new Map<string, Array<(event: never) => void | Promise<void>>>()
  readonly #listenersToAll: ListenerToAll[] = []

  listen<Name extends EventName>(name: Name, listener: Listener<Name>): void {
    const list = this.#listeners.get(name) ?? []
    list.push(listener as (event: never) => void | Promise<void>)
    this.#listeners.set(name, list)
  }

  listenToAll(listener: ListenerToAll): void {
    this.#listenersToAll.push(listener)
  }

  /**
   * Resolves when all have heard, in the order they came; the first error ends it, so the job that tells repeats the
   * event.
   */
  async emit<Name extends EventName>(name: Name, event: Events[Name]): Promise<void> {
    for (const listener of this.#listeners.get(name) ?? []) await (listener as Listener<Name>)(event)
    if (!HEARD_IN_PLACE.has(name)) for (const listener of this.#listenersToAll) await listener(name, event)
  }
}
