/**
 * Limits the speed of requests to the platform: pauses between videos, requests and subtitles, and an hourly budget of
 * videos for each address and cookie.
 */
import { createHash } from 'node:crypto'
import { type Clock, DAY_SECONDS, epochSeconds, type Ledger, type Log, say, type Words } from 'archivolt'
import { type Budget, type BudgetRecord, type BudgetState, openBudget } from './budget.ts'
import type { PauseKind } from './child.ts'
import { PLATFORM } from './name.ts'
import type { Route } from './network-route.ts'

/** In seconds; 0: no pause. Each pause lasts this long or up to twice as long, at random. */
export interface Pauses {
  video: number
  request: number
  subtitle: number
}

interface PacingParts {
  clock: Clock
  log: Log
  /** Stores the budgets; without a ledger they are lost at the end of the process. */
  ledger?: Ledger | undefined
  pauses: () => Pauses
  /** The maximum number of videos per hour; Infinity: no limit. */
  perHour: () => number
  route: () => Route
  /** The platform's account to which the cookie in use belongs; undefined: no cookie. */
  account: () => string | undefined
  /** A number from 0 to 1, as from `Math.random`. */
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
  /** null: no cookie, or it is used only when needed. */
  cookie: BudgetState | null
}

/** A pause that we impose on ourselves. Times are in epoch seconds. */
export interface Rest {
  reason: Words
  since: number
  nextAttempt: number
}

/** The position of a job's ask in the queue. */
interface QueueEntry {
  /** Resolves when the ask may begin. @throws the signal's reason */
  wait(signal: AbortSignal | undefined): Promise<void>
  /** Whether the ask may still begin, because no other one has begun meanwhile. */
  isTime(): boolean
  leave(): void
}

export type Pacing = ReturnType<typeof openPacing>

export function openPacing({
  clock,
  log,
  ledger,
  pauses,
  perHour,
  route,
  account: accountNow,
  random = Math.random,
}: PacingParts) {
  /** The budget for videos that accounts look up. */
  const lookedUp = openBudget(clock)
  /** When asks began to wait for the budget, in epoch seconds; undefined: none waits. */
  let restsSince: number | undefined
  const budgets = new Map<string, Budget>()
  /** The earliest times of the next video and the next request, by the steady clock. */
  const next = { video: Number.NEGATIVE_INFINITY, request: Number.NEGATIVE_INFINITY }
  /** Wakes all waiting asks when something changes. */
  let change = new AbortController()
  /** An admin has allowed one more video, whatever the budget. */
  let isOneMore = false
  /** Waiting asks of jobs, in the order of arrival. */
  const queued = { video: new Set<QueueEntry>(), request: new Set<QueueEntry>() }
  /** A look-up has delayed the jobs, and no job has had its turn since. */
  const isPostponed = { video: false, request: false }
  const unwritten = new Set<string>()
  let isWriting = false

  /**
   * Whether a look-up may request a video now.
   * @param isOfAccount  an account's look-up: together they may use half of the budget
   */
  function mayLookUp(isOfAccount: boolean): boolean {
    if (budgetMs() > 0) return false
    if (!isOfAccount) return true
    const limit = Math.min(...keys().map((key) => budget(key).state(perHour()).limit ?? Infinity))
    return lookedUp.waitMs(limit / 2) === 0
  }

  /** Adds a job's ask to the queue; call `leave` at the end. */
  function queue(isVideo: boolean): QueueEntry {
    const same = queued[isVideo ? 'video' : 'request']
    const entry: QueueEntry = {
      wait: (signal) => wait(isVideo, entry, signal),
      isTime: () => waitMs(isVideo) <= 0,
      leave: () => void same.delete(entry),
    }
    same.add(entry)
    return entry
  }

  /** Resolves when the ask may begin, in the order of arrival. @throws the signal's reason */
  async function wait(isVideo: boolean, entry: QueueEntry, signal: AbortSignal | undefined): Promise<void> {
    const before = [...queued[isVideo ? 'video' : 'request']].indexOf(entry)
    for (let ms = waitMs(isVideo); ms > 0; ms = waitMs(isVideo)) {
      if (isVideo && budgetMs() > 0) restsSince ??= epochSeconds(clock)
      await atMost(ms + before, signal)
    }
    if (isVideo) restsSince = undefined
  }

  /** Makes waiting asks check again after a change of limits, route or cookie. */
  function changed(): void {
    change.abort()
    change = new AbortController()
  }

  /** An admin's retry: allows one more video now, and drops learned limits. */
  function retry(): void {
    if (resting() === undefined) return
    for (const key of keys()) {
      budget(key).forget()
      store(key)
    }
    isOneMore = budgetMs() > 0
    changed()
  }

  /** Counts a requested video. */
  function takeVideo(isOfAccount = false): void {
    isOneMore = false
    if (isOfAccount) lookedUp.take()
    for (const key of keys()) take(key)
  }

  /** Counts a video requested without a cookie. */
  function takeAsGuest(): void {
    take(address())
  }

  /** Counts a second request for the same video, now with the cookie. */
  function takeAccount(account: string): void {
    take(accountKey(account))
  }

  /**
   * Begins an ask: the next one must wait for a pause. Between two asks of jobs, only the first look-up delays the
   * jobs.
   * @returns to be called once the platform has responded: the pause then begins again
   */
  function begin(isVideo: boolean, isLookUp = false): () => void {
    const kinds = isVideo ? (['video', 'request'] as const) : (['request'] as const)
    const spaced = kinds.filter((kind) => !isLookUp || !isPostponed[kind])
    if (isLookUp) for (const kind of kinds) isPostponed[kind] = true
    else isPostponed[isVideo ? 'video' : 'request'] = false
    const spaceOut = () => {
      for (const kind of spaced) next[kind] = Math.max(next[kind], clock.steady() + pauseMs(kind))
    }
    spaceOut()
    return spaceOut
  }

  /** Pauses before a further request within an ask, or before a subtitle. @throws the signal's reason */
  async function pause(kind: PauseKind, signal: AbortSignal | undefined): Promise<void> {
    const ms = pauseMs(kind)
    if (ms > 0) await clock.sleep(ms, signal)
  }

  function hasPauses(): boolean {
    const { request, subtitle } = pauses()
    return request > 0 || subtitle > 0
  }

  /** Reports that the platform refused a request made at that time (steady clock). */
  function onRefusal(askedAtMs: number, account: string | undefined): void {
    for (const key of [address(), ...(account === undefined ? [] : [accountKey(account)])]) {
      const its = budget(key)
      const isHalved = its.onRefusal(askedAtMs, perHour())
      store(key)
      if (isHalved)
        log.warn(its.state(perHour()), `${PLATFORM} refuses our requests: the limit of videos per hour is halved`)
    }
  }

  function state(): Budgets {
    const of = (key: string) => budget(key).state(perHour())
    const cookie = account()
    return { address: of(address()), cookie: cookie ? of(cookie) : null }
  }

  /** Why asks wait although the platform is available; undefined: none waits. */
  function resting(): Rest | undefined {
    const ms = budgetMs()
    if (restsSince === undefined || ms <= 0) return undefined
    const { address, cookie } = state()
    const limit = Math.min(address.limit ?? Infinity, cookie?.limit ?? Infinity)
    return {
      reason: say`The limit of ${{ limit }} videos per hour has been reached. Downloads continue automatically.`,
      since: restsSince,
      nextAttempt: Math.ceil((clock.now() + ms) / 1000),
    }
  }

  function address(): string {
    const { proxy, sourceAddress, ipVersion } = route()
    return `address:${hashed(JSON.stringify([proxy, sourceAddress, ipVersion]))}`
  }

  function account(): string | undefined {
    const session = accountNow()
    return session === undefined ? undefined : accountKey(session)
  }

  /** The keys of the budgets that count now. */
  function keys(): string[] {
    const cookie = account()
    return [address(), ...(cookie ? [cookie] : [])]
  }

  /** Sleeps, but wakes early when something changes. @throws the signal's reason */
  async function atMost(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const changing = change.signal
    try {
      await clock.sleep(ms, signal ? AbortSignal.any([signal, changing]) : changing)
    } catch (error) {
      signal?.throwIfAborted()
      if (!changing.aborted) throw error
    }
  }

  function waitMs(isVideo: boolean): number {
    const now = clock.steady()
    return isVideo ? Math.max(next.video - now, budgetMs()) : next.request - now
  }

  function budgetMs(): number {
    if (isOneMore) return 0
    return Math.max(...keys().map((key) => budget(key).waitMs(perHour())))
  }

  function pauseMs(kind: keyof Pauses): number {
    return pauses()[kind] * 1000 * (1 + random())
  }

  function take(key: string): void {
    budget(key).take()
    store(key)
  }

  function budget(key: string): Budget {
    const known = budgets.get(key)
    if (known) return known
    const row = ledger?.sql<{ record: string }>('SELECT record FROM platform_budget WHERE asker = ?').get(key)
    const read = openBudget(clock, row && (JSON.parse(row.record) as BudgetRecord))
    budgets.set(key, read)
    return read
  }

  /** Writes budgets one after the other; changes during a write are combined. */
  function store(key: string): void {
    unwritten.add(key)
    if (isWriting || !ledger) return
    isWriting = true
    write(ledger)
      .catch((error: unknown) => log.error({ err: error }, 'the hourly budget of videos could not be stored'))
      .finally(() => {
        isWriting = false
      })
  }

  async function write(ledger: Ledger): Promise<void> {
    while (unwritten.size > 0) {
      const records = [...unwritten].map((key) => [key, budget(key).toRecord()] as const)
      unwritten.clear()
      const now = epochSeconds(clock)
      await ledger.write(() => {
        const put = ledger.sql(
          'INSERT INTO platform_budget (asker, record, used_at) VALUES (?, ?, ?) ON CONFLICT (asker) DO UPDATE SET record = excluded.record, used_at = excluded.used_at',
        )
        for (const [key, record] of records) put.run(key, JSON.stringify(record), now)
        ledger.sql('DELETE FROM platform_budget WHERE used_at < ?').run(now - UNUSED_DAYS * DAY_SECONDS)
      })
    }
  }

  return {
    mayLookUp,
    queue,
    changed,
    retry,
    takeVideo,
    takeAsGuest,
    takeAccount,
    begin,
    pause,
    hasPauses,
    onRefusal,
    state,
    resting,
  }
}

const accountKey = (account: string): string => `cookie:${account}`

/** Hashed, because a proxy address may contain a password. */
const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
