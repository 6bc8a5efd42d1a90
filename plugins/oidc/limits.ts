/** Limits the effects of a single address: requests to the provider for invalid answers, and log lines. */
import { type Clock, clientOf, Rate } from 'archivolt'

const MOST_FAILURES = 20
const FAILURES_WITHIN_MS = 10 * 60_000
const MOST_LINES = 5
const LINES_WITHIN_MS = 60_000

export type Limits = ReturnType<typeof openLimits>

export function openLimits(clock: Clock) {
  const failures = new Rate(clock, { most: MOST_FAILURES, withinMs: FAILURES_WITHIN_MS })
  const lines = new Rate(clock, { most: MOST_LINES, withinMs: LINES_WITHIN_MS })
  return {
    /** Whether too many answers from this address were invalid: the provider is not asked about another one for now. */
    isBarred: (address: string): boolean => failures.isOver(clientOf(address)),
    fail: (address: string): void => void failures.take(clientOf(address)),
    /** Counts a log line caused by this address. @returns whether it may be written */
    mayLog: (address: string): boolean => lines.take(clientOf(address)),
  }
}
