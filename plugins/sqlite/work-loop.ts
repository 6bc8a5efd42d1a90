/**
 * Schedules the worker's operations: searches first, then writes, then long work, each in steps of a few milliseconds
 * or 100 documents. Without other requests, long work takes longer steps.
 */
import { Refusal } from 'archivolt/index'
import type { Connection } from './connection.ts'
import type { Durability } from './protocol.ts'

const STEP_MS = 10
/**
 * Length of a step of long work. Its commit takes the same time again, or twice as long, and a search waits for both.
 */
const LONG_STEP_MS = 5
const STEP_UNITS = 100
/**
 * Length of a step while no requests arrive. Each commit writes words to the full-text table: fewer commits make long
 * work faster by a quarter.
 */
const ALONE_STEP_MS = 50
const ALONE_STEP_UNITS = 1000
/** Time without requests after which long work takes longer steps: a request is likely to be followed by another. */
const ALONE_AFTER_MS = 1000
/** After this many searches in a row, a waiting write gets a step, so that many searches do not block the archive. */
const READS_IN_A_ROW = 8

/**
 * Work in units that may be interrupted between any two: each `yield` ends a unit and reports how many documents are
 * done.
 */
export type Units<Result = unknown> = Generator<number, Result, void>

export interface Job {
  /** The collection that the job writes; undefined: any. */
  of: string | undefined
  units: Units
  durable: Durability
  progress?: (done: number) => void
  resolve(result: unknown): void
  reject(error: unknown): void
  isAborted: boolean
}

/**
 * @param onChange  called right before and right after a commit with changes of these jobs: reads in between may see
 * either state
 */
export function openWorkLoop(
  connection: () => Connection,
  onUndone: () => void,
  onChange: (jobs: readonly Job[]) => void,
) {
  const reads: Array<() => void> = []
  const writes: Job[] = []
  const longs: Job[] = []
  let callbacks: Array<() => void> = []
  let running: Promise<void> | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  /** The log has commits that were not synced. */
  let isUnsynced = false

  function isAlone(): boolean {
    return performance.now() - askedAt > ALONE_AFTER_MS
  }

  async function run(): Promise<void> {
    let readsInARow = 0
    while (reads.length + writes.length + longs.length > 0) {
      const isWriteWaiting = writes.length + longs.length > 0
      if (reads.length > 0 && (!isWriteWaiting || readsInARow < READS_IN_A_ROW)) {
        readsInARow++
        reads.shift()!()
      } else {
        readsInARow = 0
        if (writes.length > 0) step(writes, STEP_MS, STEP_UNITS)
        if (longs.length > 0 && reads.length === 0) {
          const job = longs.shift()!
          const rest = [job]
          if (isAlone()) step(rest, ALONE_STEP_MS, ALONE_STEP_UNITS)
          else step(rest, LONG_STEP_MS, STEP_UNITS)
          longs.push(...rest)
        }
      }
      // Lets newly arrived requests in.
      await new Promise((resolve) => setImmediate(resolve))
    }
    running = undefined
  }

  function wake(): void {
    running ??= run()
  }

  /** Runs units of these jobs, in order, in one transaction; finished jobs leave the list. */
  function step(jobs: Job[], ms: number, most: number): void {
    const { db, sql, pluck } = connection()
    const changes = () => pluck<number>('SELECT total_changes()').get()
    const before = changes()
    const isDurable = jobs.some((job) => job.durable === 'each step')
    let isOwing = false
    const ended: Array<() => void> = []
    const told = new Map<Job, number>()
    const worked: Job[] = []
    const started = performance.now()
    let units = 0
    callbacks = []
    try {
      db.pragma(`synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`)
      sql('BEGIN IMMEDIATE').run()
      while (jobs.length > 0 && units < most && performance.now() - started < ms) {
        const job = jobs[0]!
        if (worked.at(-1) !== job) worked.push(job)
        if (job.isAborted) {
          job.units.return(undefined)
          jobs.shift()
          ended.push(() => job.reject(new DOMException('aborted', 'AbortError')))
          continue
        }
        units++
        // No savepoint per unit: the full-text table would write its words to disk at each one, at twenty times the
        // cost.
        try {
          const { done, value } = job.units.next()
          if (done) {
            jobs.shift()
            isOwing ||= job.durable !== 'later'
            ended.push(() => job.resolve(value))
          } else told.set(job, value)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          jobs.shift()
          ended.push(() => job.reject(error))
        }
      }
      const isChanged = changes() !== before
      if (isChanged) onChange(worked)
      sql('COMMIT').run()
      if (isChanged) onChange(worked)
      // A commit without changes syncs nothing, not even earlier commits.
      isUnsynced = !isDurable || (isUnsynced && !isChanged)
      if (isOwing && isUnsynced) {
        makeDurable(connection())
        isUnsynced = false
      }
    } catch (error) {
      if (db.inTransaction) sql('ROLLBACK').run()
      onUndone()
      for (const job of worked) {
        if (jobs[0] === job) jobs.shift()
        job.reject(error)
      }
      return
    }
    for (const callback of callbacks) callback()
    for (const [job, done] of told) job.progress?.(done)
    for (const tell of ended) tell()
  }

  return {
    read(work: () => void): void {
      askedAt = performance.now()
      reads.push(work)
      wake()
    },

    /** In order of arrival, before long work. */
    write(job: Job): void {
      askedAt = performance.now()
      writes.push(job)
      wake()
    },

    /** Long jobs take turns. */
    long(job: Job): void {
      longs.push(job)
      wake()
    },

    /** Called by a running unit: calls back after its transaction is committed, never after a rollback. */
    afterCommit(callback: () => void): void {
      callbacks.push(callback)
    },

    /** Resolves when no work is left. */
    idle: (): Promise<void> => running ?? Promise.resolve(),
  }
}

/** Syncs the log, including earlier commits without a sync. */
function makeDurable({ db, sql }: Connection): void {
  db.pragma('synchronous = FULL')
  sql('UPDATE index_sync SET times = times + 1').run()
}
