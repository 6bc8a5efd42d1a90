/**
 * The gate in front of both outside lanes, a circuit breaker with one probe: closed while the platform refuses us, does
 * not answer, or this machine lacks something.
 */
import {
  abortable,
  type Clock,
  epochSeconds,
  errors,
  inEnglish,
  type Log,
  say,
  type Timer,
  type Words,
} from 'archivolt'
import { commonText, type Verdict } from './classify.ts'
import { type BlockRecord, type Closure, close, fromRecord, nextAttemptOf, toRecord, waitMs } from './closure.ts'
import { FAILURES, type GateClass, gateRuleOf, WAVES } from './failure-classes.ts'
import { LibraryWatch } from './library-watch.ts'
import { PLATFORM } from './name.ts'
import { Streaks } from './streaks.ts'
import type { PlatformState } from './types.ts'

/**
 * A probe that fails so often in a row with the same item hands it back, so that one bad item cannot hold up all
 * others.
 */
const PROBES_PER_ITEM = 3

/** What survives a restart. */
export interface GateRecord {
  /** Epoch seconds since when it is paused by hand, or null. */
  pausedSince: number | null
  blocked: BlockRecord | null
}

export interface GateParts {
  clock: Clock
  log: Log
  save: (record: GateRecord) => Promise<void>
  /** Whether what this machine lacked is there: room on the disk with the folder, the tool. */
  recheck: (lacking: GateClass, place: string | undefined) => Promise<boolean>
  /** Why the library, where all files go, is not there; undefined: it is. */
  absence: () => Promise<Words | undefined>
  /** yt-dlp no longer understands the platform. */
  onOutdated: () => void
  /** It has closed, for whatever reason; once until it opens again. */
  onStopped?: (state: PlatformState) => void
}

/** The right to do one item's work; each is given back with `settle`. */
interface Pass {
  readonly item: string
  readonly isProbe: boolean
}

/**
 * What became of an item: `throw` its failure, `wait` at the gate and try again, or `defer` it in favour of another.
 */
export type Fate = 'throw' | 'wait' | 'defer'

const NO_ITEM = { item: '', times: 0 }

export class Gate {
  #parts: GateParts
  #closure: Closure | undefined
  #pausedSince: number | null = null
  /** When it opened last, and how far the back-off had come by then. */
  #opened: { atMs: number; since: number; level: number }
  #probe: Pass | undefined
  #lastProbed = NO_ITEM
  #streaks = new Streaks()
  #library: LibraryWatch
  #timer: Timer | undefined
  #waiting = new Set<() => void>()
  #isEnded = false

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#opened = { atMs: Number.NEGATIVE_INFINITY, since: epochSeconds(parts.clock), level: 0 }
    const { clock, log, absence } = parts
    this.#library = new LibraryWatch({ clock, log, absence, onBack: () => this.#wake() })
  }

  /** Goes on where the server was stopped. */
  restore({ pausedSince, blocked }: GateRecord): void {
    this.#pausedSince = pausedSince
    if (!blocked) return
    this.#closure = fromRecord(blocked, this.#parts.clock)
    this.#schedule()
  }

  state(): PlatformState {
    const { clock } = this.#parts
    const { away } = this.#library
    if (away)
      return { state: 'halted', reason: away.reason, since: away.since, next_attempt: nextAttemptOf(away, clock) }
    if (this.#pausedSince !== null)
      return {
        state: 'paused',
        reason: say`Paused by an admin. Resume to go on.`,
        since: this.#pausedSince,
        next_attempt: 0,
      }
    const closure = this.#closure
    if (!closure) return { state: 'open', reason: '', since: this.#opened.since, next_attempt: 0 }
    const { state } = gateRuleOf(closure.by)
    return { state, reason: closure.reason, since: closure.since, next_attempt: nextAttemptOf(closure, clock) }
  }

  /** Looks whether the library is there, and again each minute until it is. @returns whether it is away */
  isAway(): Promise<boolean> {
    return this.#library.look()
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
          ? this.#onAnswer(pass)
          : this.#onFailure(pass, outcome, place)
    this.#wake()
    return fate
  }

  /** @throws conflict: `retry` while it is paused by hand */
  async command(command: 'retry' | 'pause' | 'resume'): Promise<void> {
    if (command === 'retry') {
      if (await this.isAway()) return
      if (this.#pausedSince !== null) throw errors.conflict('Paused by an admin: resume first')
      if (!this.#closure) return
      this.#closure.nextAttemptMs = this.#parts.clock.steady()
      this.#lastProbed = NO_ITEM
      return this.#onTime()
    }
    this.#pausedSince = command === 'pause' ? (this.#pausedSince ?? epochSeconds(this.#parts.clock)) : null
    await this.#save()
    this.#wake()
  }

  /** For people: why nobody may ask the platform. That yt-dlp does not understand it hinders no other yt-dlp. */
  hindrance(): Words | undefined {
    const { state, reason } = this.state()
    const isOutdated = state === 'halted' && !this.#library.away && this.#closure?.by === 'outdated'
    return state === 'open' || isOutdated ? undefined : reason
  }

  /** Another yt-dlp is in use: what the one before did not understand is tried now. */
  onUpdated(): void {
    if (this.#closure?.by !== 'outdated') return
    this.#closure.nextAttemptMs = this.#parts.clock.steady()
    this.#lastProbed = NO_ITEM
    this.#schedule()
  }

  /** Nothing waits any longer. */
  end(): void {
    this.#isEnded = true
    this.#timer?.cancel()
    this.#library.end()
    this.#wake()
  }

  #mayPass(): boolean {
    if (this.#isEnded || this.#library.away || this.#pausedSince !== null) return false
    if (!this.#closure) return true
    if (this.#isOurs(this.#closure)) return false // opened by a look, not by an item
    return !this.#probe && this.#parts.clock.steady() >= this.#closure.nextAttemptMs
  }

  #isOurs = ({ by }: Closure): boolean => gateRuleOf(by).isOurs === true

  /** The platform answered: with what was asked for, or with something about the item. */
  #onAnswer(pass: Pass): Fate {
    this.#streaks.endAll()
    if (this.#closure && pass.isProbe && !this.#isOurs(this.#closure)) this.#open()
    return 'throw'
  }

  #onFailure(pass: Pass, { failure, sign, message, reason }: Verdict, place: string | undefined): Fate {
    const wave = sign && WAVES[sign]
    if (wave) {
      if (FAILURES[failure].item === 'final') this.#streaks.end('network') // that was an answer
      const items = this.#streaks.add(wave.isByWords ? `${sign} ${commonText(message)}` : `${sign}`, pass.item)
      return this.#onWave(pass, wave.closesAs, items >= wave.items, wave.reason(message))
    }
    const { gate, item } = FAILURES[failure]
    if (!gate) {
      if (item === 'final') return this.#onAnswer(pass)
      return this.#closure && pass.isProbe ? this.#onTrouble(pass, this.#closure.by, this.#closure.reason) : 'throw'
    }
    const by = failure as GateClass
    const why = reason ?? gate.reason(message)
    if (gate.isOurs) {
      this.#close(by, why, place)
      return 'wait'
    }
    if (gate.items === 1) return this.#onTrouble(pass, by, why)
    return this.#onWave(pass, by, this.#streaks.add(failure, pass.item) >= gate.items, why)
  }

  /** A single item's trouble is its own, that of several in a row is everybody's. */
  #onWave(pass: Pass, by: GateClass, isWave: boolean, reason: Words): Fate {
    const isItsOwn = this.#closure ? !pass.isProbe && this.#closure.by !== by : !isWave
    return isItsOwn ? 'throw' : this.#onTrouble(pass, by, reason)
  }

  #onTrouble(pass: Pass, by: GateClass, reason: Words): Fate {
    if (this.#closure && !pass.isProbe) return 'wait' // it was under way when the gate closed: no news
    this.#close(by, reason)
    if (!pass.isProbe) return 'wait'
    const { item } = pass
    this.#lastProbed = { item, times: this.#lastProbed.item === item ? this.#lastProbed.times + 1 : 1 }
    if (this.#lastProbed.times < PROBES_PER_ITEM) return 'wait'
    this.#lastProbed = NO_ITEM
    return 'defer'
  }

  #close(by: GateClass, reason: Words, place?: string): void {
    const { clock, log } = this.#parts
    const isNew = this.#closure === undefined
    const before = this.#closure ?? { openedAtMs: this.#opened.atMs, level: this.#opened.level }
    this.#closure = close({ by, reason, place }, before, clock)
    log.warn({ by, reason: inEnglish(reason), waitMs: waitMs(by, this.#closure.level) }, 'the platform gate is closed')
    this.#schedule()
    this.#saveInBackground()
    if (by === 'outdated') this.#parts.onOutdated()
    if (isNew) this.#parts.onStopped?.(this.state())
  }

  #open(): void {
    const { clock, log } = this.#parts
    this.#opened = { atMs: clock.steady(), since: epochSeconds(clock), level: this.#closure?.level ?? 0 }
    this.#closure = undefined
    this.#lastProbed = NO_ITEM
    this.#streaks.endAll()
    this.#timer?.cancel()
    log.info('the platform gate is open again')
    this.#saveInBackground()
    this.#wake()
  }

  #schedule(): void {
    const { clock, log } = this.#parts
    this.#timer?.cancel()
    if (!this.#closure) return
    this.#timer = clock.after(this.#closure.nextAttemptMs - clock.steady(), () => {
      this.#onTime().catch((error: unknown) => log.error({ err: error }, 'the platform gate could not be rechecked'))
    })
  }

  /** The next attempt is due: look whether this machine has what it lacked, or let a probe through. */
  async #onTime(): Promise<void> {
    const closure = this.#closure
    if (!closure || !this.#isOurs(closure)) return this.#wake()
    const { clock, log, recheck } = this.#parts
    const isMended = await recheck(closure.by, closure.place).catch((error: unknown) => {
      log.error({ err: error }, 'whether the gate may open could not be seen; it is looked again')
      return false
    })
    if (this.#closure !== closure || this.#isEnded) return
    if (isMended) return this.#open()
    closure.nextAttemptMs = clock.steady() + waitMs(closure.by, closure.level)
    this.#schedule()
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    return abortable(signal, (resolve) => {
      const onChange = () => {
        this.#waiting.delete(onChange)
        resolve()
      }
      this.#waiting.add(onChange)
      return () => this.#waiting.delete(onChange)
    })
  }

  #wake(): void {
    for (const onChange of [...this.#waiting]) onChange()
  }

  #closedError(): Error {
    const { reason, next_attempt } = this.state()
    const retryAfterSeconds = Math.min(3600, Math.max(1, next_attempt - epochSeconds(this.#parts.clock)))
    return errors.unavailable(reason || say`${{ platform: PLATFORM }} cannot be reached now`, { retryAfterSeconds })
  }

  #saveInBackground(): void {
    this.#save().catch((error: unknown) =>
      this.#parts.log.error({ err: error }, 'the state of the platform gate could not be kept'),
    )
  }

  async #save(): Promise<void> {
    const { clock, save } = this.#parts
    const blocked = this.#closure?.by === 'blocked' ? toRecord(this.#closure, clock) : null
    await save({ pausedSince: this.#pausedSince, blocked })
  }
}
