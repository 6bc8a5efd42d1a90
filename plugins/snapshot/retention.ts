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

const GB = 1e9
const LEAST_ROOM = GB
const MOST_OF_DISK = 0.1
/** Of the newest: that many fit at least, and at most where nobody has said how much room there is. */
const [FEWEST, USUAL] = [2, 10]

/**
 * How many bytes all snapshots may take together.
 * @param chosen     GB, as people have set it
 * @param newest     bytes of the newest
 * @param diskTotal  bytes of the disk that they lie on
 */
export function roomFor(chosen: number | false, newest: number, diskTotal: number): number {
  if (chosen !== false) return chosen * GB
  return Math.max(FEWEST * newest, Math.min(MOST_OF_DISK * diskTotal, Math.max(USUAL * newest, LEAST_ROOM)))
}

/**
 * Which of all snapshots are to be removed: the old ones, but never below the least number, and all beyond the most.
 * @param snapshots  newest first
 * @param room       bytes that all of them may take: the oldest beyond go, never the newest
 * @param lostSince  set while documents are missing: those from before are worth more than all that come after
 */
export function outdated(
  snapshots: readonly SnapshotRecord[],
  now: number,
  lostSince: number | undefined,
  room = Number.POSITIVE_INFINITY,
): SnapshotRecord[] {
  const isOld = ({ startedAt }: SnapshotRecord) => startedAt < now - EXPIRE_DAYS * DAY_MS
  const ended = snapshots.filter(
    ({ state, startedAt }) => state !== 'IN_PROGRESS' && (lostSince === undefined || startedAt > lostSince),
  )
  const complete = ended.filter(({ state }) => state === 'SUCCESS')
  let taken = 0
  const fits = ({ bytes = 0 }: SnapshotRecord, place: number) => (taken += bytes) <= room || place === 0
  const kept = new Set(
    complete.filter(
      (one, place) => fits(one, place) && (place < KEEP_AT_LEAST || (place < KEEP_AT_MOST && !isOld(one))),
    ),
  )
  return ended.filter((one) => (one.state === 'SUCCESS' ? !kept.has(one) : isOld(one)))
}
