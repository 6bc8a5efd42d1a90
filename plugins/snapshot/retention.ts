/** Decides when snapshots are taken automatically, and how long they are stored (contract 9.9). */
import { DAY_MS, futureLast, type SnapshotRecord } from 'archivolt'

/** Every day at noon, server time. */
const HOUR = 12
export const EXPIRE_DAYS = 30
const KEEP_AT_LEAST = 5
const KEEP_AT_MOST = 50

/** The time of the next automatic snapshot, in epoch milliseconds; follows daylight saving time. */
export function nextSnapshotAt(now: number): number {
  const next = new Date(now)
  next.setHours(HOUR, 0, 0, 0)
  if (next.getTime() <= now) next.setDate(next.getDate() + 1)
  return next.getTime()
}

const GB = 1e9
const LEAST_ROOM = GB
const MOST_OF_DISK = 0.1
/** Limits in multiples of the newest snapshot: at least this many fit, and by default at most this many. */
const [FEWEST, USUAL] = [2, 10]

/**
 * The disk space for all snapshots in bytes.
 * @param chosen     GB, from the preference
 * @param newest     size of the newest snapshot in bytes
 * @param diskTotal  size of the disk in bytes
 */
export function roomFor(chosen: number | false, newest: number, diskTotal: number): number {
  if (chosen !== false) return chosen * GB
  return Math.max(FEWEST * newest, Math.min(MOST_OF_DISK * diskTotal, Math.max(USUAL * newest, LEAST_ROOM)))
}

/**
 * Which snapshots to remove: expired ones, but never below the minimum number, and all beyond the maximum.
 * @param snapshots  newest first
 * @param room       bytes for all of them: the oldest beyond this limit are removed, never the newest
 * @param lostSince  set while documents are missing: earlier snapshots are then more valuable than later ones
 */
export function outdated(
  snapshots: readonly SnapshotRecord[],
  now: number,
  lostSince: number | undefined,
  room = Number.POSITIVE_INFINITY,
): SnapshotRecord[] {
  const isOld = ({ startedAt }: SnapshotRecord) => startedAt < now - EXPIRE_DAYS * DAY_MS
  const ended = futureLast(
    snapshots.filter(
      ({ state, startedAt }) => state !== 'IN_PROGRESS' && (lostSince === undefined || startedAt > lostSince),
    ),
    ({ startedAt }) => startedAt > now,
  )
  const complete = ended.filter(({ state }) => state === 'SUCCESS')
  let taken = 0
  const fits = ({ bytes = 0 }: SnapshotRecord, at: number) => (taken += bytes) <= room || at === 0
  const kept = new Set(
    complete.filter((one, at) => fits(one, at) && (at < KEEP_AT_LEAST || (at < KEEP_AT_MOST && !isOld(one)))),
  )
  return ended.filter((one) => (one.state === 'SUCCESS' ? !kept.has(one) : isOld(one)))
}
