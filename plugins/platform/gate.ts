/**
 * The gate of both outside lanes: closed while the platform refuses us, does not answer, or the machine lacks
 * something.
 */
import { type Clock, epochSeconds, errors, type Log, type Timer } from 'archivolt'
import { commonText, type Verdict } from './classify.ts'
import { SPARE_BYTES } from './room.ts'
import type { PlatformState } from './types.ts'

/** Minutes until the next probe; the last one is repeated. */
const BACK_OFF_MINUTES = [1, 5, 15, 60]
const OUTDATED_PROBE_MINUTES = 60
const RECHECK_MINUTES = 1
/** Different items in a row with the same trouble: then it is not about the items. */
const WAVE = 3
/**
 * A probe that fails so often in a row with the same item hands it back, so that one bad item cannot hold up all
 * others.
 */
const PROBES_PER_ITEM = 3
/** Closed again so soon after it opened, the back-off goes on where it was. */
const RELAPSE_MS = 10 * 60_000

const FULL_DISK = `The disk is full; downloads go on when ${SPARE_BYTES >> 20} MB are free.`

export type ClosedKind = 'blocked' | 'offline' | 'disk_full' | 'missing_tool' | 'outdated'

/** What survives a restart. */
export interface GateRecord {
  /** Epoch seconds since when it is paused by hand, or null. */
  pausedSince: number | null
  blocked: { reason: string; since: number; nextAttempt: number; level: number } | null
}

export interface GateParts {
  clock: Clock
  log: Log
  save?: (record: GateRecord) => Promise<void>
  /** Whether what halted it is mended: room on the disk, the tool is there. */
  recheck?: (kind: 'disk_full' | 'missing_tool', place: string | undefined) => Promise<boolean>
  /** Why the library, where all files go, is not there; undefined: it is. */
  absence?: () => Promise<string | undefined>
}

/** The right to do one item's work; each is given back with `settle`. */
export interface Pass {
  readonly item: string
  readonly isProbe: boolean
}

/**
 * What became of an item: `throw` its failure, `wait` at the gate and try again, or `defer` it in favour of another.
 */
export type Fate = 'throw' | 'wait' | 'defer'

interface Closure {
  kind: ClosedKind
  reason: string
  /** Epoch seconds. */
  since: number
  /** By the steady clock. */
  nextAttemptMs: number
  level: number
  place?: string | undefined
}

const STATE_OF: Record<ClosedKind, PlatformState['state']> = {
  blocked: 'blocked',
  offline: 'offline',
  disk_full: 'halted',
  missing_tool: 'halted',
  outdated: 'halted',
}

export class Gate {
  #parts: GateParts
  #closure: Closure | undefined
  #pausedSince: number | null = null
  /** The library is away, whatever the platform does meanwhile: it opens when a look finds it there again. */
  #absent: (Pick<Closure, 'reason' | 'since' | 'nextAttemptMs'> & { timer: Timer }) | undefined
  #probe: Pass | undefined
  #lastProbed = { item: '', times: 0 }
  #openedAtMs = Number.NEGATIVE_INFINITY
  #openSince: number
  #lastLevel = 0
  #timer: Timer | undefined
  #waiting = new Set<() => void>()
  /** Items in a row that had no answer; that were told to sign in; per text, those whose answer was not understood. */
  #unanswered = new Set<string>()
  #toSignIn = new Set<string>()
  #notUnderstood = new Map<string, Set<string>>()
  #isEnded = false

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#openSince = epochSeconds(parts.clock)
  }

  /** Goes on where the server was stopped. */
  restore({ pausedSince, blocked }: GateRecord): void {
    this.#pausedSince = pausedSince
    if (!blocked) return
    // Where the clock was set meanwhile, no longer than it can have been meant.
    const leftMs = Math.min(
      blocked.nextAttempt * 1000 - this.#parts.clock.now(),
      this.#waitMinutes('blocked', blocked.level) * 60_000,
    )
    this.#closure = {
      kind: 'blocked',
      reason: blocked.reason,
      since: blocked.since,
      nextAttemptMs: this.#parts.clock.steady() + leftMs,
      level: blocked.level,
    }
    this.#schedule()
  }

  state(): PlatformState {
    const closure = this.#closure
    if (this.#absent)
      return {
        state: 'halted',
        reason: this.#absent.reason,
        since: this.#absent.since,
        next_attempt: this.#nextAttempt(this.#absent),
      }
    const next_attempt = closure ? this.#nextAttempt(closure) : 0
    if (this.#pausedSince !== null)
      return { state: 'paused', reason: 'Paused by hand; resume to go on.', since: this.#pausedSince, next_attempt: 0 }
    if (!closure) return { state: 'open', reason: '', since: this.#openSince, next_attempt: 0 }
    return { state: STATE_OF[closure.kind], reason: closure.reason, since: closure.since, next_attempt }
  }

  /** Looks whether the library is there, and again each minute until it is. @returns whether it is away */
  async isAway(): Promise<boolean> {
    const { clock, log } = this.#parts
    const reason = await this.#parts.absence?.()
    if (this.#isEnded) return reason !== undefined
    const before = this.#absent
    before?.timer.cancel()
    if (reason === undefined) {
      this.#absent = undefined
      if (before) log.info('the library is there again')
      if (before) this.#wake()
      return false
    }
    const timer = clock.after(RECHECK_MINUTES * 60_000, () => {
      this.isAway().catch((error: unknown) => log.error({ err: error }, 'the library could not be looked for'))
    })
    if (before?.reason !== reason) log.warn({ reason }, 'the platform gate is closed')
    this.#absent = {
      reason,
      since: before?.since ?? epochSeconds(clock),
      nextAttemptMs: clock.steady() + RECHECK_MINUTES * 60_000,
      timer,
    }
    return true
  }

  /** Takes an item through if it may go now: the gate is open, or a probe is due and none is under way. */
  claim(item: string): Pass | undefined {
    if (!this.#mayPass()) return undefined
    const pass = { item, isProbe: this.#closure !== undefined }
    if (pass.isProbe) this.#probe = pass
    return pass
  }

  /**
   * Resolves when a claim may succeed. @throws unavailable at once, for an urgent ask at a closed gate; the signal's
   * reason
   */
  async wait(options: { signal?: AbortSignal | undefined; isUrgent?: boolean | undefined } = {}): Promise<void> {
    const { signal, isUrgent } = options
    while (!this.#mayPass()) {
      signal?.throwIfAborted()
      if (isUrgent || this.#isEnded) throw this.#closedError()
      await this.#change(signal)
    }
    signal?.throwIfAborted()
  }

  /**
   * What an item's work came to. Every pass is settled once: with nothing where the item was given up without an
   * outcome.
   */
  settle(pass: Pass, outcome?: 'done' | Verdict, place?: string): Fate {
    if (this.#probe === pass) this.#probe = undefined
    const fate =
      outcome === undefined
        ? 'throw'
        : outcome === 'done'
          ? this.#onAnswer(pass, undefined)
          : this.#onFailure(pass, outcome, place)
    this.#wake()
    return fate
  }

  /** @throws conflict: `retry` while it is paused by hand */
  async command(command: 'retry' | 'pause' | 'resume'): Promise<void> {
    if (command === 'retry') {
      if (await this.isAway()) return
      if (this.#pausedSince !== null) throw errors.conflict('Paused by hand: resume first')
      if (!this.#closure) return
      this.#closure.nextAttemptMs = this.#parts.clock.steady()
      this.#lastProbed = { item: '', times: 0 }
      return this.#onTime()
    }
    this.#pausedSince = command === 'pause' ? (this.#pausedSince ?? epochSeconds(this.#parts.clock)) : null
    await this.#save()
    this.#wake()
  }

  /** Nothing waits any longer. */
  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
    this.#absent?.timer.cancel()
    this.#wake()
  }

  #mayPass(): boolean {
    if (this.#isEnded || this.#absent || this.#pausedSince !== null) return false
    if (!this.#closure) return true
    if (this.#recheckKind()) return false // opened by the recheck, not by an item
    return !this.#probe && this.#parts.clock.steady() >= this.#closure.nextAttemptMs
  }

  /** The platform answered: with what was asked for, or with something about the item. */
  #onAnswer(pass: Pass, sign: Verdict['sign']): Fate {
    this.#unanswered.clear()
    this.#notUnderstood.clear()
    if (sign !== 'sign_in') this.#toSignIn.clear()
    if (this.#closure && pass.isProbe && !this.#recheckKind()) this.#open()
    return 'throw'
  }

  #onFailure(pass: Pass, verdict: Verdict, place: string | undefined): Fate {
    switch (verdict.failure) {
      case 'blocked':
        return this.#onTrouble(pass, 'blocked', `The platform refuses us: ${verdict.message}`)
      case 'disk_full':
      case 'missing_tool': {
        const reason =
          verdict.failure === 'disk_full' ? (verdict.reason ?? FULL_DISK) : `A tool is missing: ${verdict.message}`
        this.#close(verdict.failure, reason, place)
        return 'wait'
      }
      case 'outdated':
        return this.#onTrouble(pass, 'outdated', outdatedReason(verdict))
      case 'network':
        this.#unanswered.add(pass.item)
        return this.#onWave(pass, 'offline', this.#unanswered.size, `The platform does not answer: ${verdict.message}`)
      case 'unknown':
        if (verdict.sign === 'not_understood') return this.#onNotUnderstood(pass, verdict)
        return this.#closure && pass.isProbe ? this.#onTrouble(pass, this.#closure.kind, this.#closure.reason) : 'throw'
      default: {
        if (verdict.sign !== 'sign_in') return this.#onAnswer(pass, undefined)
        this.#onSignIn(pass)
        return this.#onWave(
          pass,
          'blocked',
          this.#toSignIn.size,
          `The platform asks every video for an account: ${verdict.message}`,
        )
      }
    }
  }

  #onSignIn(pass: Pass): void {
    this.#unanswered.clear()
    this.#toSignIn.add(pass.item)
  }

  #onNotUnderstood(pass: Pass, verdict: Verdict): Fate {
    const text = commonText(verdict.message)
    const items = this.#notUnderstood.get(text) ?? new Set<string>()
    items.add(pass.item)
    if (this.#notUnderstood.size < 20) this.#notUnderstood.set(text, items)
    return this.#onWave(pass, 'outdated', items.size, outdatedReason(verdict))
  }

  /** A single item's trouble is its own; from the third item in a row on it is everybody's. */
  #onWave(pass: Pass, kind: ClosedKind, items: number, reason: string): Fate {
    const isClosed = this.#closure !== undefined
    if (isClosed ? !pass.isProbe && this.#closure?.kind !== kind : items < WAVE) return 'throw'
    return this.#onTrouble(pass, kind, reason)
  }

  #onTrouble(pass: Pass, kind: ClosedKind, reason: string): Fate {
    if (this.#closure && !pass.isProbe) return 'wait' // it was under way when the gate closed: no news
    this.#close(kind, reason)
    if (!pass.isProbe) return 'wait'
    this.#lastProbed =
      this.#lastProbed.item === pass.item
        ? { item: pass.item, times: this.#lastProbed.times + 1 }
        : { item: pass.item, times: 1 }
    if (this.#lastProbed.times < PROBES_PER_ITEM) return 'wait'
    this.#lastProbed = { item: '', times: 0 }
    return 'defer'
  }

  #close(kind: ClosedKind, reason: string, place?: string): void {
    const { clock, log } = this.#parts
    const before = this.#closure
    const isRelapse = !before && clock.steady() - this.#openedAtMs < RELAPSE_MS
    const level = before ? before.level + 1 : isRelapse ? this.#lastLevel + 1 : 0
    const waitMinutes = this.#waitMinutes(kind, level)
    this.#closure = {
      kind,
      reason,
      since: before?.since ?? epochSeconds(clock),
      nextAttemptMs: clock.steady() + waitMinutes * 60_000,
      level,
      place,
    }
    log.warn({ kind, reason, waitMinutes }, 'the platform gate is closed')
    this.#schedule()
    this.#saveInBackground()
  }

  #waitMinutes(kind: ClosedKind, level: number): number {
    if (kind === 'disk_full' || kind === 'missing_tool')
      return this.#parts.recheck ? RECHECK_MINUTES : OUTDATED_PROBE_MINUTES
    if (kind === 'outdated') return OUTDATED_PROBE_MINUTES
    return BACK_OFF_MINUTES[Math.min(level, BACK_OFF_MINUTES.length - 1)] as number
  }

  #open(): void {
    const { clock, log } = this.#parts
    this.#lastLevel = this.#closure?.level ?? 0
    this.#openedAtMs = clock.steady()
    this.#openSince = epochSeconds(clock)
    this.#closure = undefined
    this.#lastProbed = { item: '', times: 0 }
    this.#unanswered.clear()
    this.#toSignIn.clear()
    this.#notUnderstood.clear()
    this.#timer?.cancel()
    log.info('the platform gate is open again')
    this.#saveInBackground()
    this.#wake()
  }

  /** Epoch seconds, as it is shown and kept. */
  #nextAttempt({ nextAttemptMs }: Pick<Closure, 'nextAttemptMs'>): number {
    const { clock } = this.#parts
    return Math.round((clock.now() + nextAttemptMs - clock.steady()) / 1000)
  }

  #recheckKind(): 'disk_full' | 'missing_tool' | undefined {
    const kind = this.#closure?.kind
    return this.#parts.recheck && (kind === 'disk_full' || kind === 'missing_tool') ? kind : undefined
  }

  #schedule(): void {
    this.#timer?.cancel()
    if (!this.#closure) return
    this.#timer = this.#parts.clock.after(this.#closure.nextAttemptMs - this.#parts.clock.steady(), () => {
      this.#onTime().catch((error: unknown) =>
        this.#parts.log.error({ err: error }, 'the platform gate could not be rechecked'),
      )
    })
  }

  /** The next attempt is due: look whether it is mended, or let a probe through. */
  async #onTime(): Promise<void> {
    const closure = this.#closure
    const kind = this.#recheckKind()
    if (closure && kind) {
      const isMended = await this.#parts
        .recheck?.(kind, closure.place)
        .catch((error: unknown) =>
          this.#parts.log.error({ err: error }, 'whether the gate may open could not be seen; it is looked again'),
        )
      if (this.#closure !== closure || this.#isEnded) return
      if (isMended) return this.#open()
      closure.nextAttemptMs = this.#parts.clock.steady() + RECHECK_MINUTES * 60_000
      return this.#schedule()
    }
    this.#wake()
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.#waiting.delete(onChange)
        signal?.removeEventListener('abort', onAbort)
        finish()
      }
      const onChange = () => settle(resolve)
      const onAbort = () => settle(() => reject(signal?.reason))
      this.#waiting.add(onChange)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #wake(): void {
    for (const onChange of [...this.#waiting]) onChange()
  }

  #closedError(): Error {
    const { reason, next_attempt } = this.state()
    const retryAfterSeconds = Math.min(3600, Math.max(1, next_attempt - epochSeconds(this.#parts.clock)))
    return errors.unavailable(reason || 'The platform cannot be asked now', { retryAfterSeconds })
  }

  #saveInBackground(): void {
    this.#save().catch((error: unknown) =>
      this.#parts.log.error({ err: error }, 'the state of the platform gate could not be kept'),
    )
  }

  async #save(): Promise<void> {
    const closure = this.#closure
    const blocked =
      closure?.kind === 'blocked'
        ? {
            reason: closure.reason,
            since: closure.since,
            nextAttempt: this.#nextAttempt(closure),
            level: closure.level,
          }
        : null
    await this.#parts.save?.({ pausedSince: this.#pausedSince, blocked })
  }
}

const outdatedReason = (verdict: Verdict): string =>
  `The downloader no longer understands the platform; update yt-dlp: ${verdict.message}`
