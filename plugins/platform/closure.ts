/** What the gate is closed by and until when: the state of a circuit breaker, and how its back-off grows. */
import { type Clock, epochSeconds, type Words } from 'archivolt'
import { type GateClass, gateRuleOf } from './failure-classes.ts'

export interface Closure {
  readonly by: GateClass
  readonly reason: Words
  /** Epoch seconds. */
  readonly since: number
  /** By the steady clock. */
  nextAttemptMs: number
  /** How often it was closed in a row. */
  readonly level: number
  /** The folder that a full disk is about. */
  readonly place: string | undefined
}

/** What survives a restart: a block, in epoch seconds. */
export interface BlockRecord {
  reason: Words
  since: number
  nextAttempt: number
  level: number
}

const MINUTE_MS = 60_000
/** Closed again so soon after it opened, the back-off goes on where it was. */
const RELAPSE_MS = 10 * MINUTE_MS

export function waitMs(by: GateClass, level: number): number {
  const { minutes } = gateRuleOf(by)
  return minutes[Math.min(level, minutes.length - 1)]! * MINUTE_MS
}

/** @param before  what closed it until now, or when it opened last and at which level that ended */
export function close(
  { by, reason, place }: Pick<Closure, 'by' | 'reason' | 'place'>,
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
    place,
  }
}

/** Epoch seconds, as it is shown and kept. */
export const nextAttemptOf = ({ nextAttemptMs }: Pick<Closure, 'nextAttemptMs'>, clock: Clock): number =>
  Math.round((clock.now() + nextAttemptMs - clock.steady()) / 1000)

export const toRecord = ({ reason, since, level, ...closure }: Closure, clock: Clock): BlockRecord => ({
  reason,
  since,
  nextAttempt: nextAttemptOf(closure, clock),
  level,
})

export function fromRecord({ reason, since, nextAttempt, level }: BlockRecord, clock: Clock): Closure {
  // Where the clock was set meanwhile, no longer than it can have been meant.
  const leftMs = Math.min(nextAttempt * 1000 - clock.now(), waitMs('blocked', level))
  return { by: 'blocked', reason, since, nextAttemptMs: clock.steady() + leftMs, level, place: undefined }
}
