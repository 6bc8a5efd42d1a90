/** The write barrier is shut while a restore replaces everything: jobs wait, requests and further restores fail. */
import { abortable } from '../base/abortable.ts'
import { openAsyncContext } from '../base/async-context.ts'
import { errors } from '../base/error.ts'
import type { Garbled } from './garbled.ts'
import type { Holdings } from './in-use.ts'
import {
  type Index,
  type IndexAdapter,
  type ReplaceWrite,
  type RestoreOptions,
  type Snapshots,
  WRITES,
} from './port.ts'
import { withOperations, wrapCollections } from './wrap.ts'

const RETRY_AFTER_SECONDS = 10

/** A caller that can wait: a job, or the server's start. */
export interface Patience {
  signal: AbortSignal
  /** Called when it begins to wait for an unreachable index server: callers of the job may give up. */
  waits?: ((reason: unknown) => void) | undefined
}

const patient = openAsyncContext<Patience>()

/** `work` waits at a shut barrier and for an unreachable server, until the signal aborts, instead of failing. */
export const waitAtBarrier = <Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
  waits?: Patience['waits'],
): Promise<Result> => patient.during({ signal, waits }, work)

/** The patience of the current caller. undefined: the caller must fail at once. */
export const patience = (): Patience | undefined => patient.get()

/** Writes pass the barrier. @param openSnapshots  gets the guarded index: a restored snapshot shuts the barrier too */
export async function guardWrites(
  index: IndexAdapter,
  openSnapshots: (index: IndexAdapter) => Promise<Snapshots>,
  holdings: Pick<Holdings, 'lost' | 'settle'>,
  garbled: Garbled,
): Promise<Index> {
  let restored: Promise<void> | undefined
  let writing = 0
  let whenWritten: (() => void) | undefined

  async function pass(): Promise<void> {
    while (restored) {
      const signal = patience()?.signal
      if (!signal)
        throw errors.unavailable('A restore is running; documents cannot be changed until it has ended', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      await ended(restored, signal)
    }
  }

  const guarded = wrapCollections(index, (collection) =>
    withOperations(collection, WRITES, (write) => async (...given) => {
      while (restored) await pass()
      writing++
      try {
        return await write(...given)
      } finally {
        if (--writing === 0) whenWritten?.()
      }
    }),
  )

  /** Waits for writes in progress: one in several pieces would end partly in the old and partly in the new index. */
  async function allWritten(): Promise<void> {
    if (writing > 0) await new Promise<void>((resolve) => (whenWritten = resolve))
    whenWritten = undefined
  }

  async function shutFor<Result>(work: () => Promise<Result>): Promise<Result> {
    if (restored) throw restoreRuns()
    let open: () => void
    restored = new Promise((resolve) => (open = resolve))
    try {
      await allWritten()
      const result = await work()
      await holdings.settle()
      return result
    } finally {
      restored = undefined
      open!()
    }
  }

  const held = {
    ...guarded,
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

const ended = (restored: Promise<void>, signal: AbortSignal): Promise<void> =>
  abortable(signal, (resolve) => void restored.then(resolve))

export const restoreRuns = () => errors.conflict('A restore is running; try again when it has ended')
