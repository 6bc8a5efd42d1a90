/** The connection to Elasticsearch during outages: requests fail at once, jobs wait and then continue. */
import type { Client } from '@elastic/elasticsearch'
import { abortable, type Clock, inEnglish, type Log, StartError, type Timer } from 'archivolt'
import { type Patience, patience } from 'archivolt/index'
import { type ClientAccess, openClient } from './client.ts'
import { type Fault, faultOf, passesByWaiting, toAppError, withoutRequest } from './fault.ts'
import { inspect, versionOf } from './health.ts'

export interface ElasticOptions extends ClientAccess {
  /** A pattern for the names of our indexes, because only their health counts. */
  names?: string | undefined
  log: Log
  clock: Clock
}

export interface ElasticConnection {
  readonly client: Client
  /** The server's URL, without credentials. */
  readonly address: string
  readonly isAway: boolean
  /** Names aliases that exist from now on: one that is missing later counts as an outage. */
  expect(aliases: readonly string[]): void
  /**
   * Waits without limit for the server, and logs this once a minute.
   * @returns its version
   * @throws StartError  it is not Elasticsearch 8, or the account or the certificate is refused
   */
  begin(signal?: AbortSignal): Promise<{ version: string }>
  /**
   * Runs all work that talks to the server. The work may be repeated after an outage, so repeating must be harmless.
   * Errors unrelated to an outage are passed on; replies of the server as ElasticError (fault.ts), without the request.
   * @throws unavailable  the server is offline, busy, read-only or incomplete; jobs and the start (`waitAtBarrier`)
   * wait instead
   */
  run<Result>(work: (client: Client) => Promise<Result>): Promise<Result>
  /** @throws unavailable  the server is known to be offline; jobs wait */
  available(): Promise<void>
  close(): Promise<void>
}

const POLL_EVERY_MS = 1_000
const SAY_EVERY_MS = 60_000
/** A server that has just started refuses valid accounts for some seconds, until it has loaded them. */
const DENIED_AT_START_MS = 15_000
/** Data that is still missing this long after the server came back is lost. */
const RED_AFTER_AWAY_MS = 60_000
const BUSY_FIRST_MS = 200
const BUSY_LONGEST_MS = 5_000
/** The number of refusals by a healthy server after which one is logged. */
const SAID_AT_ATTEMPT = 4

export function connectElastic({ names = '*', log, clock, ...access }: ElasticOptions): ElasticConnection {
  const { client, address: server } = openClient(access)
  /** The current outage, and when it began. */
  let trouble: (Fault & { sinceMs: number }) | undefined
  /** The running check; there is at most one. */
  let looking: Promise<Fault | undefined> | undefined
  /** Starts the next check. */
  let timer: Timer | undefined
  /** Callers that wait for the end of the outage, by the function that ends their wait. */
  const waiting = new Map<() => void, Patience>()
  let isClosed = false
  let expected: readonly string[] = []

  /** Whether no request works; while indexes are read-only, incomplete or lost, some do. */
  const isAway = (): boolean => trouble !== undefined && !['full', 'red', 'lost'].includes(trouble.kind)

  async function close(): Promise<void> {
    isClosed = true
    timer?.cancel()
    endWaits()
    await client.close()
  }

  function endWaits(): void {
    for (const end of [...waiting.keys()]) end()
  }

  function findFault(): Promise<Fault | undefined> {
    return (looking ??= inspect(client, names, expected).finally(() => (looking = undefined)))
  }

  /** Finds the reason of an outage, logs it once, and checks repeatedly until the outage has ended. */
  async function check(): Promise<void> {
    timer?.cancel()
    timer = undefined
    const found = await findFault()
    if (isClosed) return
    if (found) noteTrouble(found)
    else noteOver()
  }

  function noteTrouble(found: Fault): void {
    // A server that comes back needs some seconds to load its data, which still belongs to the same outage.
    const isComingBack = trouble?.kind === 'away' && found.kind === 'red' && troubledMs() < RED_AFTER_AWAY_MS
    if (!trouble)
      log.error({ why: found.why, server }, `${inEnglish(found.says)} (requests are answered 503, jobs wait)`)
    else if (trouble.kind !== found.kind && !isComingBack) log.error({ why: found.why, server }, inEnglish(found.says))
    if (!isComingBack) trouble = { ...found, sinceMs: trouble?.sinceMs ?? clock.steady() }
    // Reported at each check, so that later callers also learn that this work is waiting.
    for (const { waits } of waiting.values()) waits?.(toAppError(found))
    timer = clock.after(POLL_EVERY_MS, () => void check())
  }

  function noteOver(): void {
    if (trouble) {
      const seconds = Math.round(troubledMs() / 1000)
      log.info({ seconds, server }, 'Elasticsearch responds again; waiting work continues')
    }
    trouble = undefined
    endWaits()
  }

  const troubledMs = (): number => (trouble ? clock.steady() - trouble.sinceMs : 0)

  function over(mine: Patience): Promise<void> {
    return abortable(mine.signal, (resolve) => {
      const onOver = () => {
        waiting.delete(onOver)
        resolve()
      }
      waiting.set(onOver, mine)
      return () => waiting.delete(onOver)
    })
  }

  async function available(): Promise<void> {
    while (trouble && isAway()) {
      const mine = patience()
      const error = toAppError(trouble)
      if (!mine || isClosed) throw error
      mine.waits?.(error)
      await over(mine)
    }
  }

  async function run<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt++) {
      await available()
      try {
        return await work(client)
      } catch (error) {
        await waitOutFault(error, attempt)
      }
    }
  }

  /** Resolves when the work may be retried. @throws the error of the work, if waiting does not help */
  async function waitOutFault(error: unknown, attempt: number): Promise<void> {
    const fault = faultOf(error)
    // A list may still read an index that a restore has just replaced.
    if (!fault || (fault.kind === 'lost' && !expected.includes(fault.index!))) throw withoutRequest(error)
    const mine = patience()
    mine?.signal.throwIfAborted()
    if (fault.kind !== 'busy' && fault.kind !== 'forbidden') await check()
    // If the server has closed an idle connection, this is noticed only at the next use.
    if (isCut(error) && !trouble && attempt === 0 && !isClosed) return
    if (!mine || isClosed || !passesByWaiting(fault)) throw toAppError(fault)
    mine.waits?.(toAppError(fault))
    if (trouble) return over(mine)
    if (attempt === SAID_AT_ATTEMPT)
      log.warn({ why: fault.why, server }, 'Elasticsearch responds, but keeps refusing this work; trying again')
    await clock.sleep(Math.min(BUSY_LONGEST_MS, BUSY_FIRST_MS * 2 ** attempt), mine.signal)
  }

  async function begin(signal?: AbortSignal): Promise<{ version: string }> {
    const begunMs = clock.steady()
    const waitedMs = () => clock.steady() - begunMs
    let saidMs = -Infinity
    for (;;) {
      signal?.throwIfAborted()
      const found = await readiness(waitedMs)
      if ('version' in found) {
        if (saidMs > -Infinity)
          log.info(
            { seconds: Math.round(waitedMs() / 1000), server },
            'Elasticsearch has answered; the start continues',
          )
        return found
      }
      const { fault } = found
      if (!mayPass(fault, waitedMs()))
        throw new StartError(`${inEnglish(fault.says)} (${server})`, { cause: new Error(fault.why) })
      if (clock.steady() - saidMs >= SAY_EVERY_MS) {
        saidMs = clock.steady()
        log.warn({ why: fault.why, server }, `Waiting for Elasticsearch at ${server}: ${fault.why}`)
      }
      await clock.sleep(POLL_EVERY_MS, signal)
    }
  }

  /** The server's version once its data is loaded, or why the start must wait. */
  async function readiness(waitedMs: () => number): Promise<{ version: string } | { fault: Fault }> {
    const found = await versionOf(client)
    if ('fault' in found) return found
    const missing = waitedMs() < RED_AFTER_AWAY_MS ? await findFault() : undefined
    return missing?.kind === 'red' ? { fault: missing } : found
  }

  return {
    ...{ client, address: server, begin, run, available, close },
    expect: (aliases) => void (expected = aliases),
    get isAway() {
      return isAway()
    },
  }
}

const isCut = (error: unknown): boolean => error instanceof Error && error.name === 'ConnectionError'

const mayPass = ({ kind }: Fault, waitedMs: number): boolean =>
  kind === 'away' || kind === 'red' || kind === 'busy' || (kind === 'denied' && waitedMs < DENIED_AT_START_MS)
