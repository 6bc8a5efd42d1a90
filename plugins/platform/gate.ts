/**
 * The gate in front of the platform's lanes, a circuit breaker with one probe: closed while the platform refuses us or
 * does not respond, or while this machine lacks something.
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
import {
  type BlockRecord,
  type Closure,
  close as closureOf,
  fromRecord,
  nextAttemptOf,
  toRecord,
  waitMs,
} from './circuit-breaker.ts'
import { commonText, type Verdict } from './classify.ts'
import { FAILURES, type GateClass, gateRuleOf, WAVES } from './failure-classes.ts'
import { openLibraryWatch } from './library-watch.ts'
import { PLATFORM } from './name.ts'
import { openStreaks } from './streaks.ts'
import type { PlatformState } from './types.ts'

/**
 * After this many failed probes in a row with the same item, the item is handed back, so that one bad item does not
 * block all others.
 */
const PROBES_PER_ITEM = 3

/** The stored state, which survives a restart. */
export interface GateRecord {
  /** Start of a manual pause in epoch seconds, or null. */
  pausedSince: number | null
  blocked: BlockRecord | null
}

export interface GateParts {
  clock: Clock
  log: Log
  save: (record: GateRecord) => Promise<void>
  /** Whether this machine now has what it lacked: space on the folder's disk, or the tool. */
  recheck: (lacking: GateClass, folder: string | undefined) => Promise<boolean>
  /** Why the library is unavailable; undefined: it is available. */
  absence: () => Promise<Words | undefined>
  /** Called when yt-dlp no longer understands the platform. */
  onOutdated: () => void
  /** Called when a failure closes the gate, not for a pause or a missing library; once until the gate opens again. */
  onStopped?: (state: PlatformState) => void
}

/** The right to process one item; every pass must be returned with `settle`. */
interface Pass {
  readonly item: string
  readonly isProbe: boolean
}

/** What to do with an item: `throw` its failure, `wait` at the gate and retry, or `defer` it in favor of another. */
export type Fate = 'throw' | 'wait' | 'defer'

const NO_ITEM = { item: '', times: 0 }

export type Gate = ReturnType<typeof openGate>

export function openGate({ clock, log, save: write, recheck, absence, onOutdated, onStopped }: GateParts) {
  /** When the gate last opened, and the level of the back-off at that time. */
  let opened: { atMs: number; since: number; level: number } = {
    atMs: Number.NEGATIVE_INFINITY,
    since: epochSeconds(clock),
    level: 0,
  }
  const library = openLibraryWatch({ clock, log, absence, onBack: wake })
  let closure: Closure | undefined
  let probe: Pass | undefined
  let timer: Timer | undefined
  let pausedSince: number | null = null
  let lastProbed = NO_ITEM
  const streaks = openStreaks()
  const waiting = new Set<() => void>()
  let isEnded = false
  const isLocal = ({ by }: Closure): boolean => gateRuleOf(by).isLocal === true

  /** Restores the state from before a restart. */
  function restore({ pausedSince: since, blocked }: GateRecord): void {
    pausedSince = since
    if (!blocked) return
    closure = fromRecord(blocked, clock)
    schedule()
  }

  function state(): PlatformState {
    const away = library.away()
    if (away)
      return { state: 'halted', reason: away.reason, since: away.since, next_attempt: nextAttemptOf(away, clock) }
    if (pausedSince !== null)
      return {
        state: 'paused',
        reason: say`Paused by an admin. Resume to continue.`,
        since: pausedSince,
        next_attempt: 0,
      }
    if (!closure) return { state: 'open', reason: '', since: opened.since, next_attempt: 0 }
    return {
      state: gateRuleOf(closure.by).state,
      reason: closure.reason,
      since: closure.since,
      next_attempt: nextAttemptOf(closure, clock),
    }
  }

  /** Lets an item pass if the gate is open, or if a probe is due and none is running. */
  function claim(item: string): Pass | undefined {
    if (!mayPass()) return undefined
    const pass = { item, isProbe: closure !== undefined }
    if (pass.isProbe) probe = pass
    return pass
  }

  /**
   * Resolves when a claim may succeed. @throws unavailable: at once for an urgent ask at a closed gate, or after `end`;
   * the signal's reason
   */
  async function wait(
    options: { signal?: AbortSignal | undefined; isUrgent?: boolean | undefined } = {},
  ): Promise<void> {
    const { signal, isUrgent } = options
    while (!mayPass()) {
      signal?.throwIfAborted()
      if (isUrgent || isEnded) throw closedError()
      await change(signal)
    }
    signal?.throwIfAborted()
  }

  /** Reports the outcome of an item. Every pass is settled once, and without an outcome if the item was abandoned. */
  function settle(pass: Pass, outcome?: 'done' | Verdict, folder?: string): Fate {
    if (probe === pass) probe = undefined
    const fate =
      outcome === undefined ? 'throw' : outcome === 'done' ? onAnswer(pass) : onFailure(pass, outcome, folder)
    wake()
    return fate
  }

  /** @throws conflict: `retry` during a manual pause */
  async function command(command: 'retry' | 'pause' | 'resume'): Promise<void> {
    if (command === 'retry') {
      if (!(await library.poll())) return
      if (pausedSince !== null) throw errors.conflict('Paused by an admin: resume first')
      if (!closure) return
      closure.nextAttemptMs = clock.steady()
      lastProbed = NO_ITEM
      return onTime()
    }
    pausedSince = command === 'pause' ? (pausedSince ?? epochSeconds(clock)) : null
    await save()
    wake()
  }

  /** Why the platform may not be asked, for people. An outdated yt-dlp does not count: the caller tries a newer one. */
  function hindrance(): Words | undefined {
    const { state: now, reason } = state()
    const isOutdated = now === 'halted' && !library.away() && closure?.by === 'outdated'
    return now === 'open' || isOutdated ? undefined : reason
  }

  /** Called when another yt-dlp is in use: retries at once what the previous one did not understand. */
  function onUpdated(): void {
    if (closure?.by !== 'outdated') return
    closure.nextAttemptMs = clock.steady()
    lastProbed = NO_ITEM
    schedule()
  }

  /** Ends all waiting. */
  function end(): void {
    isEnded = true
    timer?.cancel()
    library.end()
    wake()
  }

  function mayPass(): boolean {
    if (isEnded || library.away() || pausedSince !== null) return false
    if (!closure) return true
    if (isLocal(closure)) return false // opened by a check, not by a probe
    return !probe && clock.steady() >= closure.nextAttemptMs
  }

  /** The platform responded, with the result or with something about the item. */
  function onAnswer(pass: Pass): Fate {
    streaks.endAll()
    if (closure && pass.isProbe && !isLocal(closure)) open()
    return 'throw'
  }

  function onFailure(pass: Pass, { failure, sign, message, reason }: Verdict, folder: string | undefined): Fate {
    const wave = sign && WAVES[sign]
    if (wave) {
      if (FAILURES[failure].item === 'final') streaks.end('network') // a final failure is a response too
      const items = streaks.add(wave.isByWords ? `${sign} ${commonText(message)}` : `${sign}`, pass.item)
      return onWave(pass, wave.closesAs, items >= wave.items, wave.reason(message))
    }
    const { gate, item } = FAILURES[failure]
    if (!gate) {
      if (item === 'final') return onAnswer(pass)
      return closure && pass.isProbe ? onTrouble(pass, closure.by, closure.reason) : 'throw'
    }
    const by = failure as GateClass
    const why = reason ?? gate.reason(message)
    if (gate.isLocal) {
      close(by, why, folder)
      return 'wait'
    }
    if (gate.items === 1) return onTrouble(pass, by, why)
    return onWave(pass, by, streaks.add(failure, pass.item) >= gate.items, why)
  }

  /**
   * Handles a failure that may be part of a wave: a single failure concerns only its item, several in a row concern all
   * items.
   */
  function onWave(pass: Pass, by: GateClass, isWave: boolean, reason: Words): Fate {
    const isItsOwn = closure ? !pass.isProbe && closure.by !== by : !isWave
    return isItsOwn ? 'throw' : onTrouble(pass, by, reason)
  }

  function onTrouble(pass: Pass, by: GateClass, reason: Words): Fate {
    if (closure && !pass.isProbe) return 'wait' // it was already running when the gate closed: no new information
    close(by, reason)
    if (!pass.isProbe) return 'wait'
    const { item } = pass
    lastProbed = { item, times: lastProbed.item === item ? lastProbed.times + 1 : 1 }
    if (lastProbed.times < PROBES_PER_ITEM) return 'wait'
    lastProbed = NO_ITEM
    return 'defer'
  }

  function close(by: GateClass, reason: Words, folder?: string): void {
    const isNew = closure === undefined
    const before = closure ?? { openedAtMs: opened.atMs, level: opened.level }
    closure = closureOf({ by, reason, folder }, before, clock)
    log.warn({ by, reason: inEnglish(reason), waitMs: waitMs(by, closure.level) }, 'the platform gate is closed')
    schedule()
    saveInBackground()
    if (by === 'outdated') onOutdated()
    if (isNew) onStopped?.(state())
  }

  function open(): void {
    opened = { atMs: clock.steady(), since: epochSeconds(clock), level: closure?.level ?? 0 }
    closure = undefined
    lastProbed = NO_ITEM
    streaks.endAll()
    timer?.cancel()
    log.info('the platform gate is open again')
    saveInBackground()
    wake()
  }

  function schedule(): void {
    timer?.cancel()
    if (!closure) return
    timer = clock.after(closure.nextAttemptMs - clock.steady(), () => {
      onTime().catch((error: unknown) =>
        log.error({ err: error }, 'the next attempt to open the platform gate has failed'),
      )
    })
  }

  /** When the next attempt is due: checks whether this machine has what it lacked, or lets a probe through. */
  async function onTime(): Promise<void> {
    const checked = closure
    if (!checked || !isLocal(checked)) return wake()
    const isMended = await recheck(checked.by, checked.folder).catch((error: unknown) => {
      log.error({ err: error }, 'the check whether the gate may open has failed; it is repeated later')
      return false
    })
    if (closure !== checked || isEnded) return
    if (isMended) return open()
    checked.nextAttemptMs = clock.steady() + waitMs(checked.by, checked.level)
    schedule()
  }

  function change(signal: AbortSignal | undefined): Promise<void> {
    return abortable(signal, (resolve) => {
      const onChange = () => {
        waiting.delete(onChange)
        resolve()
      }
      waiting.add(onChange)
      return () => waiting.delete(onChange)
    })
  }

  function wake(): void {
    for (const onChange of [...waiting]) onChange()
  }

  function closedError(): Error {
    const { reason, next_attempt } = state()
    const retryAfterSeconds = Math.min(3600, Math.max(1, next_attempt - epochSeconds(clock)))
    return errors.unavailable(reason || say`${{ platform: PLATFORM }} cannot be reached now`, { retryAfterSeconds })
  }

  function saveInBackground(): void {
    save().catch((error: unknown) => log.error({ err: error }, 'the state of the platform gate could not be stored'))
  }

  async function save(): Promise<void> {
    const blocked = closure?.by === 'blocked' ? toRecord(closure, clock) : null
    await write({ pausedSince, blocked })
  }

  return {
    /** Checks the library, and again each minute while it is unavailable. @returns whether it is available */
    checkLibrary: library.poll,
    restore,
    state,
    claim,
    wait,
    settle,
    command,
    hindrance,
    onUpdated,
    end,
  }
}
