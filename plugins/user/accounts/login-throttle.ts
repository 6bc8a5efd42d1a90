/**
 * Throttles the guessing of passwords, per (account, address): after five failures within five minutes, the wait
 * doubles with each attempt. Failures at an account as a whole only slow down other addresses, and addresses take
 * turns, so that nobody can lock others out.
 */
import { type Clock, errors, Quota, say } from 'archivolt'
import { FairQueue } from './fair-queue.ts'
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

class Failures {
  /** Lets one attempt run at a time. */
  readonly turn = new FairQueue(1, MOST_WAITING_PER_ACCOUNT, tooManyLogins)
  blockedUntil = 0
  #times: number[] = []

  count(now: number): number {
    this.#times = this.#times.filter((time) => time > now - WINDOW_MS)
    return this.#times.length
  }

  add(now: number): void {
    this.#times = [...this.#times.slice(-63), now]
  }

  isIdle(now: number): boolean {
    return this.turn.isIdle && this.blockedUntil <= now && this.count(now) === 0
  }
}

export class LoginThrottle {
  readonly #clock: Clock
  readonly #accounts = new Map<string, Failures>()
  readonly #pairs = new Map<string, Failures>()
  /** Attempts in progress, by address, for all names. */
  readonly #underWay = new Quota(MOST_OF_ADDRESS)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Runs the check when it is this attempt's turn, and counts a failure.
   * @param asker  `address` is the result of `clientOf`; the wait ends when the client disconnects
   * @throws throttled  with the seconds to wait
   */
  async attempt<Result>(
    account: string,
    asker: Asker,
    check: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const giveBack = this.#underWay.take(asker.address)
    if (!giveBack) throw tooManyLogins()
    try {
      return await this.#inTurn(account, asker, check)
    } finally {
      giveBack()
    }
  }

  #inTurn<Result>(
    account: string,
    { address, signal }: Asker,
    check: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const all = this.#record(this.#accounts, account)
    const pair = this.#record(this.#pairs, `${address}\0${account}`)
    const work = async () => {
      this.#refuseBlocked(pair)
      const isSlowed = all.count(this.#clock.steady()) >= ALLOWED_FAILURES
      const found = isSlowed ? await all.turn.run(address, () => this.#slowly(check, signal), signal) : await check()
      if (found === undefined) this.#fail(all, pair)
      else this.#pairs.delete(`${address}\0${account}`)
      return found
    }
    return pair.turn.run(address, work, signal)
  }

  async #slowly<Result>(check: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    await this.#clock.sleep(SLOWED_MS, signal)
    return check()
  }

  #refuseBlocked(pair: Failures): void {
    const now = this.#clock.steady()
    if (pair.blockedUntil <= now) return
    pair.add(now)
    this.#block(pair, now)
    const retryAfterSeconds = Math.ceil((pair.blockedUntil - now) / 1000)
    throw errors.throttled(say`Too many failed logins; try again in ${{ retryAfterSeconds }} seconds`, {
      retryAfterSeconds,
    })
  }

  #fail(all: Failures, pair: Failures): void {
    const now = this.#clock.steady()
    all.add(now)
    pair.add(now)
    this.#block(pair, now)
  }

  #block(pair: Failures, now: number): void {
    const over = pair.count(now) - ALLOWED_FAILURES
    if (over < 0) return
    pair.blockedUntil = Math.max(pair.blockedUntil, now + Math.min(LONGEST_BLOCK_MS, FIRST_BLOCK_MS * 2 ** over))
  }

  #record(records: Map<string, Failures>, key: string): Failures {
    const known = records.get(key)
    if (known) return known
    if (records.size >= MOST_RECORDS) this.#makeRoom(records)
    const fresh = new Failures()
    records.set(key, fresh)
    return fresh
  }

  /** Limits the memory in a flood of names: drops idle entries, then the oldest without waiting attempts. */
  #makeRoom(records: Map<string, Failures>): void {
    const now = this.#clock.steady()
    for (const [key, record] of records) if (record.isIdle(now)) records.delete(key)
    for (const [key, record] of records) {
      if (records.size < MOST_RECORDS) return
      if (record.turn.isIdle) records.delete(key)
    }
  }
}
