/**
 * The barrier before all writes of an index, shut while a restore replaces everything: jobs wait, requests are told to
 * come again, and so is a second restore.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { abortable } from '../concurrency/abortable.ts'
import { errors } from '../error.ts'
import type { Garbled } from './garbled.ts'
import type { Holdings } from './in-use.ts'
import type { Collection, Index, IndexAdapter, ReplaceWrite, RestoreOptions, Snapshots } from './port.ts'

const RETRY_AFTER_SECONDS = 10

/** Whoever can wait: a job, or the start. */
export interface Patience {
  signal: AbortSignal
  /**
   * It begins to wait for an index server that is away, nobody knows how long: who in turn waits for it may want to go.
   */
  waits?: ((reason: unknown) => void) | undefined
}

const patient = new AsyncLocalStorage<Patience>()
let waiting = 0

/**
 * What runs in `work` waits at a shut barrier, and for an index server that is away, instead of failing, until the
 * signal ends it.
 */
export async function waitAtBarrier<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
  waits?: Patience['waits'],
): Promise<Result> {
  waiting++
  try {
    return await patient.run({ signal, waits }, work)
  } finally {
    // As long as it is on, Node looks at every promise of the process.
    if (--waiting === 0) patient.disable()
  }
}

/** Of the work that asks. undefined: it must be told at once. */
export const patience = (): Patience | undefined => patient.getStore()

type AnyCollection = Collection<Record<string, unknown>, string>

/**
 * The index as the server uses it: writes of its collections pass the barrier, reads go on.
 * @param openSnapshots  made with the guarded index, so that restoring a snapshot shuts the barrier too
 * @param holdings       a restore brings back what was lost
 */
export async function guardWrites(
  index: IndexAdapter,
  openSnapshots: (index: IndexAdapter) => Promise<Snapshots>,
  holdings: Pick<Holdings, 'lost' | 'settle'>,
  garbled: Garbled,
): Promise<Index> {
  let restored: Promise<void> | undefined
  let writing = 0
  let whenWritten: (() => void) | undefined
  const collections = new WeakMap<object, object>()

  async function pass(): Promise<void> {
    while (restored) {
      const signal = patience()?.signal
      if (!signal)
        throw errors.unavailable('A restore is running; what changes documents waits until it has ended', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      await ended(restored, signal)
    }
  }

  const guard = (collection: AnyCollection): AnyCollection => {
    const behind =
      <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        while (restored) await pass()
        writing++
        try {
          return await write(...args)
        } finally {
          if (--writing === 0) whenWritten?.()
        }
      }
    return {
      ...collection,
      put: behind(collection.put),
      putMany: behind(collection.putMany),
      create: behind(collection.create),
      patch: behind(collection.patch),
      patchWhere: behind(collection.patchWhere),
      remove: behind(collection.remove),
      removeWhere: behind(collection.removeWhere),
    }
  }

  /** A write in pieces that was let in would else end half in what is replaced, half in what replaces it. */
  async function allWritten(): Promise<void> {
    if (writing > 0) await new Promise<void>((resolve) => (whenWritten = resolve))
    whenWritten = undefined
  }

  async function shutFor<Result>(work: () => Promise<Result>): Promise<Result> {
    if (restored) throw restoreRuns()
    const { promise, resolve } = deferred()
    restored = promise
    try {
      await allWritten()
      const result = await work()
      await holdings.settle()
      return result
    } finally {
      restored = undefined
      resolve()
    }
  }

  const held = {
    ...index,
    collection: ((definition) => {
      const collection = index.collection(definition)
      const known = collections.get(collection)
      if (known) return known
      // The barrier looks into no document.
      const made = guard(collection as unknown as AnyCollection)
      collections.set(collection, made)
      return made
    }) as Index['collection'],
    replaceAll: (load: (write: ReplaceWrite) => Promise<void>, swapped?: () => Promise<void>) =>
      shutFor(async () => {
        await index.replaceAll(load)
        await swapped?.()
      }),
    restoreFrom: (path: string, options?: RestoreOptions) => shutFor(() => index.restoreFrom(path, options)),
  }
  const snapshots = await openSnapshots(held)
  return {
    ...held,
    snapshots,
    garbled,
    get lost() {
      return holdings.lost
    },
    settle: () => holdings.settle(),
    async writable() {
      await pass()
      await index.available?.()
    },
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const ended = (restored: Promise<void>, signal: AbortSignal): Promise<void> =>
  abortable(signal, (resolve) => void restored.then(resolve))

export const restoreRuns = () => errors.conflict('A restore is running; try again when it has ended')
