/**
 * The way to Elasticsearch, and what happens while it is away: requests are told at once, jobs wait and go on.
 */
import type { Client } from '@elastic/elasticsearch'
import { abortable, type Clock, type Log, type Timer } from 'archivolt'
import { type Patience, patience, StartError } from 'archivolt/index'
import { type ClientAccess, openClient } from './client.ts'
import { type Fault, faultOf, passesByWaiting, toAppError, withoutRequest } from './fault.ts'
import { inspect, versionOf } from './health.ts'

export interface ElasticOptions extends ClientAccess {
  /** Pattern of the names of our indexes: only their health counts. */
  names?: string | undefined
  log: Log
  clock: Clock
}

export interface ElasticConnection {
  readonly client: Client
  /** Where it is, without credentials. */
  readonly address: string
  readonly isAway: boolean
  /**
   * Waits until the server answers, without limit, and says so once a minute.
   * @returns its version
   * @throws StartError  it is not Elasticsearch 8, or the account or the certificate is refused
   */
  begin(signal?: AbortSignal): Promise<{ version: string }>
  /**
   * Whatever talks to the server goes through here. The work may be run again when the server is back, so it must bear
   * repetition.
   * What it throws that is no outage comes out as it is, but answers of the server as ElasticError (fault.ts), without
   * what was sent.
   * @throws unavailable  the server is away, busy, read-only or incomplete; a job or the start (`waitAtBarrier`) waits
   *         instead
   */
  run<Result>(work: (client: Client) => Promise<Result>): Promise<Result>
  /** @throws unavailable  where the server is known to be away; jobs wait */
  available(): Promise<void>
  close(): Promise<void>
}

const LOOK_EVERY_MS = 1_000
const SAY_EVERY_MS = 60_000
/** A server that has just started refuses good accounts for some seconds, until it has read them. */
const DENIED_AT_START_MS = 15_000
/** What is missing this long after the server came back is missing for good. */
const RED_AFTER_AWAY_MS = 60_000
const BUSY_FIRST_MS = 200
const BUSY_LONGEST_MS = 5_000
/** What a healthy server refuses so often is worth a line. */
const SAID_AT_ATTEMPT = 4

export function connectElastic({ names = '*', log, clock, ...access }: ElasticOptions): ElasticConnection {
  const { client, address: server } = openClient(access)
  /** What is wrong with the server as a whole, and since when. */
  let trouble: (Fault & { sinceMs: number }) | undefined
  /** One question at a time. */
  let looking: Promise<Fault | undefined> | undefined
  /** Until the next look. */
  let timer: Timer | undefined
  /** Who waits until it is over, by what ends the wait. */
  const waiting = new Map<() => void, Patience>()
  let isClosed = false

  /** Nothing works at all; with indexes that are read-only or incomplete some of it does. */
  const isAway = (): boolean => trouble !== undefined && trouble.kind !== 'full' && trouble.kind !== 'red'

  async function close(): Promise<void> {
    isClosed = true
    timer?.cancel()
    endWaits()
    await client.close()
  }

  function endWaits(): void {
    for (const end of [...waiting.keys()]) end()
  }

  function look(): Promise<Fault | undefined> {
    return (looking ??= inspect(client, names).finally(() => (looking = undefined)))
  }

  /** Learns what is the matter, says so once, and looks again until it is over. */
  async function check(): Promise<void> {
    timer?.cancel()
    timer = undefined
    const found = await look()
    if (isClosed) return
    if (found) noteTrouble(found)
    else noteOver()
  }

  function noteTrouble(found: Fault): void {
    // A server that comes back has its data ready some seconds later: that is still the same story.
    const isComingBack = trouble?.kind === 'away' && found.kind === 'red' && troubledMs() < RED_AFTER_AWAY_MS
    if (!trouble) log.error({ why: found.why, server }, `${found.says} (requests are answered 503, jobs wait)`)
    else if (trouble.kind !== found.kind && !isComingBack) log.error({ why: found.why, server }, found.says)
    if (!isComingBack) trouble = { ...found, sinceMs: trouble?.sinceMs ?? clock.steady() }
    // Who came since to wait for the one that waits here hears of it too.
    for (const { waits } of waiting.values()) waits?.(toAppError(found))
    timer = clock.after(LOOK_EVERY_MS, () => void check())
  }

  function noteOver(): void {
    if (trouble) {
      const seconds = Math.round(troubledMs() / 1000)
      log.info({ seconds, server }, 'Elasticsearch serves again; what waited goes on')
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

  /** Resolves when the work may be tried again. @throws what the work has failed by, where waiting helps nothing */
  async function waitOutFault(error: unknown, attempt: number): Promise<void> {
    const fault = faultOf(error)
    if (!fault) throw withoutRequest(error)
    const mine = patience()
    mine?.signal.throwIfAborted()
    if (fault.kind !== 'busy' && fault.kind !== 'forbidden') await check()
    // A connection that the server closed while it was idle shows only when it is used.
    if (isCut(error) && !trouble && attempt === 0 && !isClosed) return
    if (!mine || isClosed || !passesByWaiting(fault)) throw toAppError(fault)
    mine.waits?.(toAppError(fault))
    if (trouble) return over(mine)
    if (attempt === SAID_AT_ATTEMPT)
      log.warn(
        { why: fault.why, server },
        'Elasticsearch answers, but refuses this work again and again; it is tried on',
      )
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
          log.info({ seconds: Math.round(waitedMs() / 1000), server }, 'Elasticsearch answers; the start goes on')
        return found
      }
      const { fault } = found
      if (!mayPass(fault, waitedMs()))
        throw new StartError(`${fault.says} (${server})`, { cause: new Error(fault.why) })
      if (clock.steady() - saidMs >= SAY_EVERY_MS) {
        saidMs = clock.steady()
        log.warn({ why: fault.why, server }, `Waiting for Elasticsearch at ${server}: ${fault.why}`)
      }
      await clock.sleep(LOOK_EVERY_MS, signal)
    }
  }

  /** The server's version once its data is there, or why the start has to wait. */
  async function readiness(waitedMs: () => number): Promise<{ version: string } | { fault: Fault }> {
    const found = await versionOf(client)
    if ('fault' in found) return found
    const missing = waitedMs() < RED_AFTER_AWAY_MS ? await look() : undefined
    return missing?.kind === 'red' ? { fault: missing } : found
  }

  return {
    ...{ client, address: server, begin, run, available, close },
    get isAway() {
      return isAway()
    },
  }
}

const isCut = (error: unknown): boolean => error instanceof Error && error.name === 'ConnectionError'

const mayPass = ({ kind }: Fault, waitedMs: number): boolean =>
  kind === 'away' || kind === 'red' || kind === 'busy' || (kind === 'denied' && waitedMs < DENIED_AT_START_MS)
