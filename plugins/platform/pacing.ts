/**
 * How fast the platform is asked: pauses between videos, requests and subtitles, and a budget of videos an hour for
 * each address and cookie.
 */
import { createHash } from 'node:crypto'
import { type Clock, DAY_SECONDS, epochSeconds, type Ledger, type Log, say, type Words } from 'archivolt'
import { Budget, type BudgetRecord, type BudgetState } from './budget.ts'
import type { PauseKind } from './child.ts'
import { PLATFORM } from './name.ts'
import type { Route } from './network-route.ts'

/** Seconds; 0: none. Each pause lasts once to twice as long. */
export interface Pauses {
  video: number
  request: number
  subtitle: number
}

interface PacingParts {
  clock: Clock
  log: Log
  /** Without one it is forgotten at the end. */
  ledger?: Ledger | undefined
  pauses: () => Pauses
  /** Videos an hour, at most; Infinity: no limit. */
  perHour: () => number
  route: () => Route
  /** Whose cookie asks go with; undefined: without. */
  account: () => string | undefined
  /** 0–1 */
  random?: () => number
}

const UNUSED_DAYS = 30

export const pacingTables = {
  number: 3,
  sql: `CREATE TABLE platform_budget (
    asker TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT`,
}

export interface Budgets {
  address: BudgetState
  /** null: there is none, or guests are asked for first. */
  cookie: BudgetState | null
}

/** A pause that we impose ourselves. Epoch seconds. */
export interface Rest {
  reason: Words
  since: number
  nextAttempt: number
}

/** Of the ask of a job among those that wait. */
interface Place {
  /** Resolves when it may be asked for. @throws the signal's reason */
  wait(signal: AbortSignal | undefined): Promise<void>
  /** Nobody else was first meanwhile. */
  isTime(): boolean
  leave(): void
}

export class Pacing {
  #parts: PacingParts
  #budgets = new Map<string, Budget>()
  /** By the steady clock: no video, and nothing else, before. */
  #next = { video: Number.NEGATIVE_INFINITY, request: Number.NEGATIVE_INFINITY }
  /** Epoch seconds since when somebody waits for the budget. */
  #restsSince: number | undefined
  /** Ends all waiting where something changes. */
  #change = new AbortController()
  /** An admin wants one more to be asked for, whatever the budget says. */
  #isOneMore = false
  /** Asks of jobs that have not begun, in the order of their arrival. */
  #queued = { video: new Set<Place>(), request: new Set<Place>() }
  /** A look-up has put off the jobs, and none of them has had its turn since. */
  #isPutOff = { video: false, request: false }
  /** Videos that accounts have looked up. */
  #lookedUp: Budget
  #unwritten = new Set<string>()
  #isWriting = false

  constructor(parts: PacingParts) {
    this.#parts = parts
    this.#lookedUp = new Budget(parts.clock)
  }

  /** Whether a request that somebody waits for may ask for a video. @param isOfAccount  half of the budget is theirs */
  mayLookUp(isOfAccount: boolean): boolean {
    if (this.#budgetMs() > 0) return false
    if (!isOfAccount) return true
    const limit = Math.min(...this.#keys.map((key) => this.#budget(key).state(this.#parts.perHour()).limit ?? Infinity))
    return this.#lookedUp.waitMs(limit / 2) === 0
  }

  /** A place in the order of arrival, for the ask of a job; to be left in the end. */
  queue(isVideo: boolean): Place {
    const queued = this.#queued[isVideo ? 'video' : 'request']
    const place: Place = {
      wait: (signal) => this.#wait(isVideo, place, signal),
      isTime: () => this.#waitMs(isVideo) <= 0,
      leave: () => void queued.delete(place),
    }
    queued.add(place)
    return place
  }

  /** Resolves when it may be asked for, first for who came first. @throws the signal's reason */
  async #wait(isVideo: boolean, place: Place, signal: AbortSignal | undefined): Promise<void> {
    const before = [...this.#queued[isVideo ? 'video' : 'request']].indexOf(place)
    for (let ms = this.#waitMs(isVideo); ms > 0; ms = this.#waitMs(isVideo)) {
      if (isVideo && this.#budgetMs() > 0) this.#restsSince ??= epochSeconds(this.#parts.clock)
      await this.#atMost(ms + before, signal)
    }
    if (isVideo) this.#restsSince = undefined
  }

  /** Another limit, way or cookie is set: whoever waits looks again. */
  changed(): void {
    this.#change.abort()
    this.#change = new AbortController()
  }

  /** An admin says that it is worth a try: one more now, and what refusals have taught is forgotten. */
  retry(): void {
    if (this.resting() === undefined) return
    for (const key of this.#keys) {
      this.#budget(key).forget()
      this.#keep(key)
    }
    this.#isOneMore = this.#budgetMs() > 0
    this.changed()
  }

  /** A video is asked for. */
  takeVideo(isOfAccount = false): void {
    this.#isOneMore = false
    if (isOfAccount) this.#lookedUp.take()
    for (const key of this.#keys) this.#take(key)
  }

  /** A video is asked for without any cookie. */
  takeAsGuest(): void {
    this.#take(this.#address)
  }

  /** It is asked for once more, now with the cookie that was held back. */
  takeAccount(account: string): void {
    this.#take(accountKey(account))
  }

  /**
   * It is asked now, and what comes next comes after a pause. Look-ups put off jobs once: until one of them has had its
   * turn, further ones do not.
   * @returns to be called once the platform has answered: the pause begins anew
   */
  begin(isVideo: boolean, isLookUp = false): () => void {
    const kinds = isVideo ? (['video', 'request'] as const) : (['request'] as const)
    const spaced = kinds.filter((kind) => !isLookUp || !this.#isPutOff[kind])
    if (isLookUp) for (const kind of kinds) this.#isPutOff[kind] = true
    else this.#isPutOff[isVideo ? 'video' : 'request'] = false
    const spaceOut = () => {
      for (const kind of spaced)
        this.#next[kind] = Math.max(this.#next[kind], this.#parts.clock.steady() + this.#pauseMs(kind))
    }
    spaceOut()
    return spaceOut
  }

  /** Before a further request within an ask, or a subtitle. @throws the signal's reason */
  async pause(kind: PauseKind, signal: AbortSignal | undefined): Promise<void> {
    const ms = this.#pauseMs(kind)
    if (ms > 0) await this.#parts.clock.sleep(ms, signal)
  }

  get hasPauses(): boolean {
    const { request, subtitle } = this.#parts.pauses()
    return request > 0 || subtitle > 0
  }

  /** The platform has refused what was asked for at that time, by the steady clock. */
  onRefusal(askedAtMs: number, account: string | undefined): void {
    const { log, perHour } = this.#parts
    for (const key of [this.#address, ...(account === undefined ? [] : [accountKey(account)])]) {
      const budget = this.#budget(key)
      const isHalved = budget.refuse(askedAtMs, perHour())
      this.#keep(key)
      if (isHalved)
        log.warn(budget.state(perHour()), `${PLATFORM} refuses us: it is asked for half as many videos an hour`)
    }
  }

  state(): Budgets {
    const of = (key: string) => this.#budget(key).state(this.#parts.perHour())
    return { address: of(this.#address), cookie: this.#account ? of(this.#account) : null }
  }

  /** Why nothing is asked for though the platform would answer; undefined: that is not so. */
  resting(): Rest | undefined {
    const ms = this.#budgetMs()
    if (this.#restsSince === undefined || ms <= 0) return undefined
    const { address, cookie } = this.state()
    const limit = Math.min(address.limit ?? Infinity, cookie?.limit ?? Infinity)
    return {
      reason: say`${{ limit }} videos were asked for within an hour, and that is the limit. It goes on by itself.`,
      since: this.#restsSince,
      nextAttempt: Math.ceil((this.#parts.clock.now() + ms) / 1000),
    }
  }

  get #address(): string {
    const { proxy, sourceAddress, ipVersion } = this.#parts.route()
    return `address:${hashed(JSON.stringify([proxy, sourceAddress, ipVersion]))}`
  }

  get #account(): string | undefined {
    const account = this.#parts.account()
    return account === undefined ? undefined : accountKey(account)
  }

  /** What is counted now. */
  get #keys(): string[] {
    return [this.#address, ...(this.#account ? [this.#account] : [])]
  }

  /** Sleeps, or less where something changes. @throws the signal's reason */
  async #atMost(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const change = this.#change.signal
    try {
      await this.#parts.clock.sleep(ms, signal ? AbortSignal.any([signal, change]) : change)
    } catch (error) {
      signal?.throwIfAborted()
      if (!change.aborted) throw error
    }
  }

  #waitMs(isVideo: boolean): number {
    const now = this.#parts.clock.steady()
    return isVideo ? Math.max(this.#next.video - now, this.#budgetMs()) : this.#next.request - now
  }

  #budgetMs(): number {
    if (this.#isOneMore) return 0
    return Math.max(...this.#keys.map((key) => this.#budget(key).waitMs(this.#parts.perHour())))
  }

  #pauseMs(kind: keyof Pauses): number {
    const { pauses, random = Math.random } = this.#parts
    return pauses()[kind] * 1000 * (1 + random())
  }

  #take(key: string): void {
    this.#budget(key).take()
    this.#keep(key)
  }

  #budget(key: string): Budget {
    const known = this.#budgets.get(key)
    if (known) return known
    const { clock, ledger } = this.#parts
    const row = ledger?.sql<{ record: string }>('SELECT record FROM platform_budget WHERE asker = ?').get(key)
    const budget = new Budget(clock, row && (JSON.parse(row.record) as BudgetRecord))
    this.#budgets.set(key, budget)
    return budget
  }

  /** Written one after the other: what changes meanwhile is written once. */
  #keep(key: string): void {
    this.#unwritten.add(key)
    if (this.#isWriting || !this.#parts.ledger) return
    this.#isWriting = true
    this.#write(this.#parts.ledger)
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'the budget of videos could not be kept'))
      .finally(() => {
        this.#isWriting = false
      })
  }

  async #write(ledger: Ledger): Promise<void> {
    while (this.#unwritten.size > 0) {
      const records = [...this.#unwritten].map((key) => [key, this.#budget(key).toRecord()] as const)
      this.#unwritten.clear()
      const now = epochSeconds(this.#parts.clock)
      await ledger.write(() => {
        const put = ledger.sql(
          'INSERT INTO platform_budget (asker, record, used_at) VALUES (?, ?, ?) ON CONFLICT (asker) DO UPDATE SET record = excluded.record, used_at = excluded.used_at',
        )
        for (const [key, record] of records) put.run(key, JSON.stringify(record), now)
        ledger.sql('DELETE FROM platform_budget WHERE used_at < ?').run(now - UNUSED_DAYS * DAY_SECONDS)
      })
    }
  }
}

const accountKey = (account: string): string => `cookie:${account}`

/** Proxies may hold a password. */
const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
