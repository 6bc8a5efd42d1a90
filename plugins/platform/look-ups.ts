/**
 * Limits the look-ups of an account whose request waits for them: a few at once and per minute, so that no account
 * occupies all lanes.
 */
import { type Clock, errors, say } from 'archivolt'
import { PLATFORM } from './name.ts'

const MOST_OPEN = 2
/** Maximum burst after a pause; then one every REFILL_MS. */
const MOST_IN_A_ROW = 10
const REFILL_MS = 6000

interface Bucket {
  open: number
  left: number
  /** When `left` was calculated. */
  atMs: number
}

export type LookUps = ReturnType<typeof openLookUps>

export function openLookUps(clock: Clock) {
  const buckets = new Map<number, Bucket>()

  /** @param account  undefined: the ask of a job. @returns must be called when the look-up ends. @throws throttled */
  function enter(account: number | undefined): () => void {
    if (account === undefined) return () => undefined
    const bucket = refilled(account)
    if (bucket.open >= MOST_OPEN)
      throw errors.throttled(
        say`You already have two searches on ${{ platform: PLATFORM }} running; wait for one of them`,
        {
          retryAfterSeconds: 5,
        },
      )
    if (bucket.left < 1) {
      const retryAfterSeconds = Math.ceil(((1 - bucket.left) * REFILL_MS) / 1000)
      throw errors.throttled(
        say`Too many searches on ${{ platform: PLATFORM }}; try again in ${{ retryAfterSeconds }} seconds`,
        {
          retryAfterSeconds,
        },
      )
    }
    bucket.left--
    bucket.open++
    return () => {
      const now = refilled(account)
      now.open--
      if (now.open === 0 && now.left === MOST_IN_A_ROW) buckets.delete(account)
    }
  }

  function refilled(account: number): Bucket {
    const now = clock.steady()
    const { open, left, atMs } = buckets.get(account) ?? { open: 0, left: MOST_IN_A_ROW, atMs: now }
    const bucket = { open, left: Math.min(MOST_IN_A_ROW, left + Math.max(0, now - atMs) / REFILL_MS), atMs: now }
    buckets.set(account, bucket)
    return bucket
  }

  return { enter }
}
