/** When a snapshot is taken by itself, and how long it is kept (contract 9.9). */
import { DAY_MS, type SnapshotRecord } from 'archivolt'

/** Every day at noon, server time. */
const HOUR = 12
export const EXPIRE_DAYS = 30
const KEEP_AT_LEAST = 5
const KEEP_AT_MOST = 50

/** The next time that one is taken, in epoch milliseconds; daylight saving moves it with the clock on the wall. */
export function nextSnapshotAt(now: number): number {
  const next = new Date(now)
  next.setHours(HOUR, 0, 0, 0)
  if (next.getTime() <= now) next.setDate(next.getDate() + 1)
  return next.getTime()
}

/**
 * Which of all snapshots are to be removed: the old ones, but never below the least number, and all beyond the most.
 * @param snapshots  newest first
 * @param lostSince  set while documents are missing: those from before are worth more than all that come after
 */
export function outdated(
  snapshots: readonly SnapshotRecord[],
  now: number,
  lostSince: number | undefined,
): SnapshotRecord[] {
  const isOld = ({ startedAt }: SnapshotRecord) => startedAt < now - EXPIRE_DAYS * DAY_MS
  const ended = snapshots.filter(
    ({ state, startedAt }) => state !== 'IN_PROGRESS' && (lostSince === undefined || startedAt > lostSince),
  )
  const complete = ended.filter(({ state }) => state === 'SUCCESS')
  const kept = new Set(complete.filter((one, place) => place < KEEP_AT_LEAST || (place < KEEP_AT_MOST && !isOld(one))))
  return ended.filter((one) => (one.state === 'SUCCESS' ? !kept.has(one) : isOld(one)))
}
