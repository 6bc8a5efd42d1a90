/** Why the gate is closed and until when: the state of a circuit breaker, and its back-off. */
import { type Clock, epochSeconds, type Words } from 'archivolt'
import { type GateClass, gateRuleOf } from './failure-classes.ts'

export interface Closure {
  readonly by: GateClass
  readonly reason: Words
  /** Epoch seconds. */
  readonly since: number
  /** By the steady clock. */
  nextAttemptMs: number
  /** How many times in a row the gate has closed. */
  readonly level: number
  /** For a full disk: a folder on it. */
  readonly folder: string | undefined
}

/** The stored form of a block, which survives a restart; epoch seconds. */
export interface BlockRecord {
  reason: Words
  since: number
  nextAttempt: number
  level: number
}

const MINUTE_MS = 60_000
/** If the gate closes again within this time after it opened, the back-off continues where it was. */
const RELAPSE_MS = 10 * MINUTE_MS

export function waitMs(by: GateClass, level: number): number {
  const { minutes } = gateRuleOf(by)
  return minutes[Math.min(level, minutes.length - 1)]! * MINUTE_MS
}

/** @param before  the current closure, or the time and level when the gate last opened */
export function close(
  { by, reason, folder }: Pick<Closure, 'by' | 'reason' | 'folder'>,
  before: Closure | { openedAtMs: number; level: number },
  clock: Clock,
): Closure {
  const isClosed = 'by' in before
  const isRelapse = !isClosed && clock.steady() - before.openedAtMs < RELAPSE_MS
  const level = isClosed || isRelapse ? before.level + 1 : 0
  return {
    by,
    reason,
    since: isClosed ? before.since : epochSeconds(clock),
    nextAttemptMs: clock.steady() + waitMs(by, level),
    level,
    folder,
  }
}

/** In epoch seconds, for display and storage. */
export const nextAttemptOf = ({ nextAttemptMs }: Pick<Closure, 'nextAttemptMs'>, clock: Clock): number =>
  Math.round((clock.now() + nextAttemptMs - clock.steady()) / 1000)

export const toRecord = ({ reason, since, level, ...closure }: Closure, clock: Clock): BlockRecord => ({
  reason,
  since,
  nextAttempt: nextAttemptOf(closure, clock),
  level,
})

export function fromRecord({ reason, since, nextAttempt, level }: BlockRecord, clock: Clock): Closure {
  // If the clock was set meanwhile, never longer than the back-off itself.
  const leftMs = Math.min(nextAttempt * 1000 - clock.now(), waitMs('blocked', level))
  return { by: 'blocked', reason, since, nextAttemptMs: clock.steady() + leftMs, level, folder: undefined }
}
