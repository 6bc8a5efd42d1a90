/**
 * The way to Elasticsearch: account, time limits, and what happens while it is away: requests are told at once, jobs
 * wait and go on.
 */
import { readFileSync } from 'node:fs'
import { Client, type ClientOptions, ClusterConnectionPool } from '@elastic/elasticsearch'
import { abortable, type Clock, type Log, type Timer } from 'archivolt'
import { type Patience, patience, StartError } from 'archivolt/index'
import { type Fault, faultOf, faultOfServer, passesByWaiting, toAppError, withoutRequest } from './fault.ts'

export interface ElasticOptions {
  /** Of one node, or of several of a cluster, separated by commas. */
  url: string
  username?: string | null | undefined
  password?: string | null | undefined
  apiKey?: string | null | undefined
  /** PEM file with the certificate that signed the server's. */
  ca?: string | null | undefined
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

const REQUEST_TIMEOUT_MS = 30_000
/** For `bulk`, `reindex` and the like: pass it as `requestTimeout`. */
export const BULK_TIMEOUT_MS = 120_000
const CONNECT_TIMEOUT_MS = 5_000
const LOOK_TIMEOUT_MS = 5_000
const MOST_CONNECTIONS = 32
const MAJOR = 8

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

export function connectElastic(options: ElasticOptions): ElasticConnection {
  const { names = '*', log, clock } = options
  const { client, address } = openClient(options)
  let trouble: (Fault & { sinceMs: number }) | undefined
  let looking: Promise<Fault | undefined> | undefined
  let timer: Timer | undefined
  let isClosed = false
  const waiting = new Map<() => void, Patience>()

  /** What is wrong with the server as a whole; one question at a time. */
  const look = (): Promise<Fault | undefined> =>
    (looking ??= inspect(client, names).finally(() => (looking = undefined)))

  /** Learns what is the matter, says so once, and looks again until it is over. */
  async function check(): Promise<void> {
    timer?.cancel()
    timer = undefined
    const found = await look()
    if (isClosed) return
    const ms = trouble ? clock.steady() - trouble.sinceMs : 0
    if (found) {
      // A server that comes back has its data ready some seconds later: that is still the same story.
      const isComingBack = trouble?.kind === 'away' && found.kind === 'red' && ms < RED_AFTER_AWAY_MS
      if (!trouble)
        log.error({ why: found.why, server: address }, `${found.says} (requests are answered 503, jobs wait)`)
      else if (trouble.kind !== found.kind && !isComingBack) log.error({ why: found.why, server: address }, found.says)
      if (!isComingBack) trouble = { ...found, sinceMs: trouble?.sinceMs ?? clock.steady() }
      // Who came since to wait for the one that waits here hears of it too.
      for (const { waits } of waiting.values()) waits?.(toAppError(found))
      timer = clock.after(LOOK_EVERY_MS, () => void check())
      return
    }
    if (trouble)
      log.info({ seconds: Math.round(ms / 1000), server: address }, 'Elasticsearch serves again; what waited goes on')
    trouble = undefined
    for (const end of [...waiting.keys()]) end()
  }

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
    while (trouble && isOutage(trouble)) {
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
        const fault = faultOf(error)
        if (!fault) throw withoutRequest(error)
        const mine = patience()
        mine?.signal.throwIfAborted()
        if (fault.kind !== 'busy' && fault.kind !== 'forbidden') await check()
        // A connection that the server closed while it was idle shows only when it is used.
        if (isCut(error) && !trouble && attempt === 0 && !isClosed) continue
        if (!mine || isClosed || !passesByWaiting(fault)) throw toAppError(fault)
        mine.waits?.(toAppError(fault))
        if (!trouble && attempt === SAID_AT_ATTEMPT)
          log.warn(
            { why: fault.why, server: address },
            'Elasticsearch answers, but refuses this work again and again; it is tried on',
          )
        if (trouble) await over(mine)
        else await clock.sleep(Math.min(BUSY_LONGEST_MS, BUSY_FIRST_MS * 2 ** attempt), mine.signal)
      }
    }
  }

  async function begin(signal?: AbortSignal): Promise<{ version: string }> {
    const begunMs = clock.steady()
    let saidMs = -Infinity
    for (;;) {
      signal?.throwIfAborted()
      const found = await versionOf(client)
      const ms = clock.steady() - begunMs
      if ('version' in found) {
        const missing = ms < RED_AFTER_AWAY_MS ? await look() : undefined
        if (missing?.kind !== 'red') {
          if (saidMs > -Infinity)
            log.info({ seconds: Math.round(ms / 1000), server: address }, 'Elasticsearch answers; the start goes on')
          return found
        }
        found.fault = missing
      }
      const { fault } = found as { fault: Fault }
      const mayPass =
        fault.kind === 'away' ||
        fault.kind === 'red' ||
        fault.kind === 'busy' ||
        (fault.kind === 'denied' && ms < DENIED_AT_START_MS)
      if (!mayPass) throw new StartError(`${fault.says} (${address})`, { cause: new Error(fault.why) })
      if (clock.steady() - saidMs >= SAY_EVERY_MS) {
        saidMs = clock.steady()
        log.warn({ why: fault.why, server: address }, `Waiting for Elasticsearch at ${address}: ${fault.why}`)
      }
      await clock.sleep(LOOK_EVERY_MS, signal)
    }
  }

  return {
    client,
    address,
    get isAway() {
      return trouble !== undefined && isOutage(trouble)
    },
    begin,
    run,
    available,
    async close() {
      isClosed = true
      timer?.cancel()
      for (const end of [...waiting.keys()]) end()
      await client.close()
    },
  }
}

/** Where nothing works at all; with indexes that are read-only or incomplete some of it does. */
const isOutage = ({ kind }: Fault): boolean => kind !== 'full' && kind !== 'red'

const isCut = (error: unknown): boolean => error instanceof Error && error.name === 'ConnectionError'

function openClient({ url, username, password, apiKey, ca }: ElasticOptions): { client: Client; address: string } {
  const nodes = url.split(',').map((one) => new URL(one))
  const [user, secret] = [
    username ?? decodeURIComponent(nodes[0]!.username),
    password ?? decodeURIComponent(nodes[0]!.password),
  ]
  for (const node of nodes) [node.username, node.password] = ['', '']
  const tls = nodes.some(({ protocol }) => protocol === 'https:')
    ? { tls: { ...(ca && { ca: certificateIn(ca) }), timeout: CONNECT_TIMEOUT_MS } }
    : {}
  const auth: ClientOptions['auth'] = apiKey ? { apiKey } : user ? { username: user, password: secret } : undefined
  try {
    const client = new Client({
      nodes: nodes.map(({ href }) => href),
      ...(auth && { auth }),
      ...tls,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Where one does not answer, the next is asked. The same one is not: `run` looks first.
      maxRetries: nodes.length - 1,
      ConnectionPool: ClusterConnectionPool,
      sniffOnStart: false,
      sniffInterval: false,
      sniffOnConnectionFault: false,
      agent: { connections: MOST_CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } } as NonNullable<
        ClientOptions['agent']
      >,
      redaction: { type: 'remove' },
    })
    return { client, address: nodes.map(({ origin }) => origin).join(', ') }
  } catch (error) {
    throw new StartError('AV_ELASTICSEARCH_URL or one of the settings with it cannot be used: correct it', {
      cause: error,
    })
  }
}

function certificateIn(path: string): string {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    throw new StartError(
      `AV_ELASTICSEARCH_CA: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}); correct the path or its permissions`,
      { cause: error },
    )
  }
  throw new StartError(`AV_ELASTICSEARCH_CA: ${path} holds no certificate in PEM form`)
}

async function versionOf(client: Client): Promise<{ version: string; fault?: Fault } | { fault: Fault }> {
  try {
    const { version } = await client.info({}, { requestTimeout: LOOK_TIMEOUT_MS })
    if (Number(version.number.split('.')[0]) === MAJOR) return { version: version.number }
    return {
      fault: {
        kind: 'product',
        says: `Elasticsearch ${version.number} is not served: this server keeps its documents in Elasticsearch ${MAJOR} only`,
        why: version.number,
      },
    }
  } catch (error) {
    const fault = faultOf(error)
    if (!fault) throw withoutRequest(error)
    return { fault }
  }
}

/** Blocks of indexes for which somebody, or a full disk, has ended all writes. */
const WRITE_BLOCKS = new Set(['5', '6', '8', '12', '13'])

async function inspect(client: Client, names: string): Promise<Fault | undefined> {
  const brief = { requestTimeout: LOOK_TIMEOUT_MS }
  try {
    const health = await client.cluster.health(
      { index: names, master_timeout: '2s', timeout: '1s' },
      { ...brief, ignore: [408] },
    )
    if (health.status === 'red')
      return faultOfServer(503, {
        type: 'red',
        reason: `${health.unassigned_shards + health.initializing_shards} shards of ${names} are not there`,
      })
    const { blocks } = (await client.cluster.state(
      { index: names, metric: 'blocks', master_timeout: '2s', allow_no_indices: true, ignore_unavailable: true },
      brief,
    )) as { blocks?: Blocks }
    for (const place of [blocks?.global ?? {}, ...Object.values(blocks?.indices ?? {})]) {
      for (const [id, { description = '', retryable }] of Object.entries(place)) {
        if (WRITE_BLOCKS.has(id))
          return faultOfServer(429, { type: 'cluster_block_exception', reason: `FORBIDDEN/${id}/${description}` })
        if (retryable) return faultOfServer(503, { type: 'cluster_block_exception', reason: description })
      }
    }
    return undefined
  } catch (error) {
    const fault = faultOf(error)
    // An account without the right to look is not a server without an answer.
    return fault?.kind === 'forbidden' || fault?.kind === 'busy'
      ? undefined
      : (fault ?? { kind: 'away', says: 'Elasticsearch gives answers that cannot be read', why: String(error) })
  }
}

interface Blocks {
  global?: Record<string, { description?: string; retryable?: boolean }>
  indices?: Record<string, Record<string, { description?: string; retryable?: boolean }>>
}
