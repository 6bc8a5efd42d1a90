/**
 * Throttles the guessing of passwords, per (account, address): after five failures within five minutes, the wait
 * doubles with each attempt. Failures at an account as a whole only slow down other addresses, and addresses take
 * turns, so that nobody can lock others out.
 */
import { type Clock, errors, Quota, say } from 'archivolt'
import { openFairQueue } from './fair-queue.ts'
import { type Asker, tooManyLogins } from './passwords.ts'

const ALLOWED_FAILURES = 5
const WINDOW_MS = 5 * 60_000
const FIRST_BLOCK_MS = 30_000
const LONGEST_BLOCK_MS = 15 * 60_000
const SLOWED_MS = 1000
const MOST_RECORDS = 10_000
/** Maximum number of attempts from one address, running or waiting, for all accounts together. */
const MOST_OF_ADDRESS = 4
const MOST_WAITING_PER_ACCOUNT = 100

/** The failures of one account, or of one account from one address. */
interface Failures {
  /** Lets one attempt run at a time. */
  turn: ReturnType<typeof openFairQueue>
  blockedUntil: number
  times: number[]
}

function count(failures: Failures, now: number): number {
  failures.times = failures.times.filter((time) => time > now - WINDOW_MS)
  return failures.times.length
}

function add(failures: Failures, now: number): void {
  failures.times = [...failures.times.slice(-63), now]
}

const isIdle = (failures: Failures, now: number): boolean =>
  failures.turn.isIdle() && failures.blockedUntil <= now && count(failures, now) === 0

function block(pair: Failures, now: number): void {
  const over = count(pair, now) - ALLOWED_FAILURES
  if (over < 0) return
  pair.blockedUntil = Math.max(pair.blockedUntil, now + Math.min(LONGEST_BLOCK_MS, FIRST_BLOCK_MS * 2 ** over))
}

export function openLoginThrottle(clock: Clock) {
  const accounts = new Map<string, Failures>()
  const pairs = new Map<string, Failures>()
  /** Attempts in progress, by address, for all names. */
  const underWay = new Quota(MOST_OF_ADDRESS)

  function inTurn<Result>(
    account: string,
    { address, signal }: Asker,
    check: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const all = recordIn(accounts, account)
    const key = `${address}\0${account}`
    const pair = recordIn(pairs, key)
    const slowly = async () => {
      await clock.sleep(SLOWED_MS, signal)
      return check()
    }
    const work = async () => {
      refuseBlocked(pair)
      const isSlowed = count(all, clock.steady()) >= ALLOWED_FAILURES
      const found = isSlowed ? await all.turn.run(address, slowly, signal) : await check()
      if (found === undefined) fail(all, pair)
      else pairs.delete(key)
      return found
    }
    return pair.turn.run(address, work, signal)
  }

  function refuseBlocked(pair: Failures): void {
    const now = clock.steady()
    if (pair.blockedUntil <= now) return
    add(pair, now)
    block(pair, now)
    const retryAfterSeconds = Math.ceil((pair.blockedUntil - now) / 1000)
    throw errors.throttled(say`Too many failed logins; try again in ${{ retryAfterSeconds }} seconds`, {
      retryAfterSeconds,
    })
  }

  function fail(all: Failures, pair: Failures): void {
    const now = clock.steady()
    add(all, now)
    add(pair, now)
    block(pair, now)
  }

  function recordIn(records: Map<string, Failures>, key: string): Failures {
    const known = records.get(key)
    if (known) return known
    if (records.size >= MOST_RECORDS) makeRoom(records)
    const fresh = { turn: openFairQueue(1, MOST_WAITING_PER_ACCOUNT, tooManyLogins), blockedUntil: 0, times: [] }
    records.set(key, fresh)
    return fresh
  }

  /** Limits the memory in a flood of names: drops idle entries, then the oldest without waiting attempts. */
  function makeRoom(records: Map<string, Failures>): void {
    const now = clock.steady()
    for (const [key, record] of records) if (isIdle(record, now)) records.delete(key)
    for (const [key, record] of records) {
      if (records.size < MOST_RECORDS) return
      if (record.turn.isIdle()) records.delete(key)
    }
  }

  /**
   * Runs the check when it is this attempt's turn, and counts a failure.
   * @param asker  `address` is the result of `clientOf`; the wait ends when the client disconnects
   * @throws throttled  with the seconds to wait
   */
  async function attempt<Result>(
    account: string,
    asker: Asker,
    check: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const giveBack = underWay.take(asker.address)
    if (!giveBack) throw tooManyLogins()
    try {
      return await inTurn(account, asker, check)
    } finally {
      giveBack()
    }
  }

  return { attempt }
}
