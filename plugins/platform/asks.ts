/**
 * Runs every ask: wait at the gate, take a turn in the lane, do the work, report the outcome to the gate. Asks for HTTP
 * requests have their own lane and child process, so that they and the asks of jobs do not block each other.
 */
import { abortable, type Clock, epochSeconds, errors, type Lanes, type Log, say, withinTime } from 'archivolt'
import { PlatformFailure } from './ask-failure.ts'
import { type ChildAskOptions, ChildError } from './child.ts'
import { classify, mayNeedAccount, type Verdict } from './classify.ts'
import type { Jar } from './cookie-in-use.ts'
import { FAILURES } from './failure-classes.ts'
import { freeBytes, NoRoom, tooLargeText } from './free-space.ts'
import type { Gate } from './gate.ts'
import type { LookUps } from './look-ups.ts'
import { MetadataError } from './metadata.ts'
import { PLATFORM } from './name.ts'
import type { Pacing } from './pacing.ts'
import type { AskOptions } from './types.ts'
import { LITTLE_ROOM_BYTES } from './verify.ts'

/** How long a request waits for the platform. */
export const URGENT_MS = 20_000
const AGAIN = Symbol('again')

export interface Ask {
  lane: 'platform' | 'download'
  /** What the ask is about: the gate counts how many different items fail in a row. */
  item: string
  /** How long the child process may send nothing. */
  quietMs: number
  /** The folder to which the ask writes files. */
  folder?: string
  /** Whether the budget counts it as a video. */
  isVideo?: boolean
}

/** One attempt at an ask. */
interface Given {
  isUrgent: boolean
  signal: AbortSignal
  /** The account whose request waits. */
  account: number | undefined
  /** Ends the turn early, because the platform has delivered everything: the next ask may begin. */
  leave: () => void
}

/**
 * Waits at the gate and for a turn in the lane, then does the work.
 * @throws Failure about the item; throttled or unavailable for urgent asks that are not possible now; the signal's
 * reason
 */
export type AskPlatform = <Result>(
  about: Ask,
  options: AskOptions,
  work: (child: ChildAskOptions) => Promise<Result>,
) => Promise<Result>

export interface AskParts {
  gate: Gate
  pacing: Pacing
  jar: Jar
  /** Whether the cookie is used only when it is needed. */
  isGuestFirst: () => boolean
  lanes: Lanes
  clock: Clock
  log: Log
  /** Aborts all asks when the server closes. */
  ending: AbortSignal
  lookUps: LookUps
}

export function openAsk({
  gate,
  pacing,
  jar,
  isGuestFirst,
  lanes,
  clock,
  log,
  ending,
  lookUps,
}: AskParts): AskPlatform {
  /** Fails if the answer takes too long; a late answer is dropped. */
  function atMost<Result>(ms: number, signal: AbortSignal, answer: Promise<Result>): Promise<Result> {
    const tooSlow = () =>
      errors.unavailable(say`${{ platform: PLATFORM }} is slow to answer; try again in a minute`, {
        retryAfterSeconds: 60,
      })
    return abortable(signal, (resolve, reject) => void withinTime(clock, ms, answer, tooSlow).then(resolve, reject))
  }

  async function inTurn<Result>(
    ask: Ask,
    options: AskOptions & { signal: AbortSignal },
    work: (child: ChildAskOptions) => Promise<Result>,
  ): Promise<Result> {
    const { signal, isUrgent = false } = options
    const isVideo = ask.isVideo === true
    const deadlineMs = clock.steady() + URGENT_MS
    const entry = isUrgent ? undefined : pacing.queue(isVideo)
    try {
      for (;;) {
        await gate.checkLibrary()
        await gate.wait({ signal, isUrgent })
        await jar.isRead()
        await entry?.wait(signal)
        const [lane, turn] = turnOf(ask.lane, options, deadlineMs - clock.steady())
        const result = await lanes.turn(lane, turn, async (leave) =>
          entry && !entry.isTime() ? AGAIN : attempt(ask, { isUrgent, signal, leave, account: options.account }, work),
        )
        if (result !== AGAIN) return result
      }
    } finally {
      entry?.leave()
    }
  }

  async function attempt<Result>(
    ask: Ask,
    given: Given,
    work: (child: ChildAskOptions) => Promise<Result>,
  ): Promise<Result | typeof AGAIN> {
    const { isUrgent, signal } = given
    const isVideo = ask.isVideo === true
    const pass = gate.claim(ask.item)
    if (!pass) return AGAIN // the gate closed while this ask waited for its turn
    const askedAtMs = clock.steady()
    if (isVideo) pacing.takeVideo(given.account !== undefined)
    const spaceOut = pacing.begin(isVideo, isUrgent)
    let isAsking = true
    const leave = () => {
      if (isAsking) spaceOut()
      isAsking = false
      given.leave()
    }
    try {
      const result = await asGuestFirst(ask, { ...given, leave }, work)
      gate.settle(pass, 'done')
      return result
    } catch (error) {
      if (ask.folder !== undefined && !signal?.aborted && !(await gate.checkLibrary())) {
        gate.settle(pass) // the library's disk is gone: nothing is known about the item
        return AGAIN
      }
      const needBytes = error instanceof ChildError ? error.evidence.needBytes : undefined
      if (needBytes) {
        gate.settle(pass, 'done') // the size of the item is known; smaller ones may begin
        throw new PlatformFailure(
          { failure: 'disk_full', message: tooLargeText(needBytes) },
          { needBytes, cause: error },
        )
      }
      const verdict = await verdictOn(error, ask)
      if (!verdict) {
        gate.settle(pass) // aborted, or our own defect: says nothing about the platform
        throw error
      }
      log.info(
        { item: ask.item, failure: verdict.failure, reason: verdict.message },
        'a request to the platform has failed',
      )
      // A probe asks as little as possible, so a refused probe does not mean that we ask too much.
      if (verdict.failure === 'blocked' && !pass.isProbe) pacing.onRefusal(askedAtMs, jar.session)
      const fate = gate.settle(pass, verdict, ask.folder)
      if (isUrgent && (fate !== 'throw' || FAILURES[verdict.failure].isUnanswered)) {
        throw errors.unavailable(say`${{ platform: PLATFORM }} cannot be reached now: ${{ reason: verdict.message }}`, {
          retryAfterSeconds: 60,
          cause: error,
        })
      }
      if (fate === 'wait') return AGAIN
      throw new PlatformFailure(verdict, { isDeferred: fate === 'defer', cause: error })
    } finally {
      leave()
    }
  }

  /** Asks without the cookie first, if so configured, and then with it if that may help. */
  async function asGuestFirst<Result>(
    ask: Ask,
    { isUrgent, signal, leave }: Given,
    work: (child: ChildAskOptions) => Promise<Result>,
  ): Promise<Result> {
    const { session } = jar
    const child: ChildAskOptions = {
      signal,
      quietMs: ask.quietMs,
      isHasty: isUrgent,
      onFetched: leave,
      ...(pacing.hasPauses() && !isUrgent && { pause: (kind) => pacing.pause(kind, signal) }),
    }
    if (session === undefined || !isGuestFirst()) return work(child)
    try {
      return await work({ ...child, isSignedIn: false })
    } catch (error) {
      if (!(error instanceof ChildError) || !mayNeedAccount(error.evidence)) throw error
      if (ask.isVideo) pacing.takeAccount(session)
      return work({ ...child, isSignedIn: true })
    }
  }

  async function verdictOn(error: unknown, ask: Ask): Promise<Verdict | undefined> {
    if (error instanceof NoRoom) return { failure: 'disk_full', message: error.message, reason: error.words }
    if (error instanceof MetadataError) return { failure: 'unknown', message: error.message }
    if (!(error instanceof ChildError) || error.evidence.kinds.includes('Aborted')) return undefined
    const verdict = classify(error.evidence, epochSeconds(clock))
    const isVague = FAILURES[verdict.failure].item === 'retry'
    // A disk that cannot be asked must not hide the failure: the pass would stay taken.
    const room = isVague && ask.folder ? await freeBytes(ask.folder).catch(() => Infinity) : Infinity
    if (room < LITTLE_ROOM_BYTES) return { failure: 'disk_full', message: verdict.message }
    return verdict
  }

  return async (ask, options, work) => {
    const signal = options.signal ? AbortSignal.any([options.signal, ending]) : ending
    if (!options.isUrgent) return inTurn(ask, { ...options, signal }, work)
    await gate.wait({ signal, isUrgent: true })
    signal.throwIfAborted()
    if (ask.isVideo && !pacing.mayLookUp(options.account !== undefined))
      throw errors.unavailable(`The limit of videos per hour has been reached; try again later`, {
        retryAfterSeconds: 600,
      })
    const leave = lookUps.enter(options.account)
    // An ask that has begun is not aborted: that would kill the child process along with other callers' listings, and
    // the gate would learn nothing about the platform.
    const answer = inTurn(ask, { ...options, signal }, (child) => work({ ...child, signal: ending })).finally(leave)
    return atMost(URGENT_MS, signal, answer)
  }
}

/**
 * Chooses the lane of an ask. Asks for HTTP requests take turns by account, so that many asks of one account do not
 * delay others.
 */
export function turnOf(
  lane: Ask['lane'],
  { asker, signal, isUrgent, account }: AskOptions,
  leftMs: number,
): [lane: string, turn: { asker: string; signal: AbortSignal | undefined; waitMs?: number }] {
  if (!isUrgent) return [lane, { asker, signal }]
  return [
    'lookup',
    { asker: account === undefined ? asker : `account ${account}`, signal, waitMs: Math.max(0, leftMs) },
  ]
}
