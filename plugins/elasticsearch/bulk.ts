/** Bulk writes: the result of each item, retries when the server is overloaded, and a limit on requests in flight. */
import { setTimeout as realTime } from 'node:timers/promises'
import type { estypes } from '@elastic/elasticsearch'
import { type BulkResult, Slice } from 'archivolt'
import { checkedDoc, type OnWrong, type PutManyOptions, WrongType } from 'archivolt/index'
import { BULK_TIMEOUT_MS } from './client.ts'
import type { ElasticConnection } from './connection.ts'
import { encode } from './encode.ts'
import { ElasticError, FaultyItem, faultOfServer } from './fault.ts'
import type { Layout } from './layout.ts'

const DOCS_A_REQUEST = 400
const CHARACTERS_A_REQUEST = 4_000_000
/** One batch is sent while the next one is prepared. */
const MOST_IN_FLIGHT = 2
const MOST_TRIES = 8
const FIRST_PAUSE_MS = 50

/** The version that a document must have for a write to succeed. */
export interface Version {
  seqNo: number
  term: number
}

export interface Operation {
  id: string
  action: string
  source?: string
}

export const indexing = (id: string, source: string, version?: Version): Operation => ({
  id,
  action: JSON.stringify({ index: { _id: id, ...met(version) } }),
  source,
})
/** Writes only if the document does not exist. */
const creating = (id: string, source: string): Operation => ({
  id,
  action: JSON.stringify({ create: { _id: id } }),
  source,
})
export const deleting = (id: string, version?: Version): Operation => ({
  id,
  action: JSON.stringify({ delete: { _id: id, ...met(version) } }),
})
const met = (version: Version | undefined) => version && { if_seq_no: version.seqNo, if_primary_term: version.term }

/** `conflict`: the document has changed since. A text: why it cannot be written. */
export type Outcome = { state: 'done' | 'missing' | 'conflict' } | { state: 'refused'; reason: string }

export interface Target {
  connection: ElasticConnection
  /** Name of an alias or an index. */
  index: string
  /** The server must not create an index in place of a missing alias. */
  isAlias: boolean
  /** Called for a document whose text is no longer JSON. */
  onGarbled?: ((id: string) => void) | undefined
}

/** @returns a result per operation, in order. @throws unavailable  earlier writes of this call are kept */
export async function write(
  target: Target,
  operations: readonly Operation[],
  options: { isVisible?: boolean | undefined } = {},
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(operations.length)
  let left = operations.map((_, at) => at)
  for (let tries = 1; left.length > 0; tries++) {
    const busy: number[] = []
    await target.connection
      .run(async (client) => {
        const lines = left.flatMap((at) => [operations[at]!.action, operations[at]!.source ?? []].flat())
        const { items } = await client.bulk<string>(
          {
            index: target.index,
            require_alias: target.isAlias,
            operations: lines,
            refresh: options.isVisible ? 'wait_for' : false,
            filter_path: ['items.*.status', 'items.*.error', 'items.*.result'],
          },
          { requestTimeout: BULK_TIMEOUT_MS },
        )
        busy.length = 0
        let faulty: FaultyItem | undefined
        const open: number[] = []
        left.forEach((at, place) => {
          const item = Object.values(items[place]!)[0]!
          const fault =
            item.error && faultOfServer(item.status, { type: item.error.type, reason: item.error.reason ?? '' })
          if (!fault) outcomes[at] = outcomeOf(item)
          else {
            open.push(at)
            if (item.status === 429 && fault.kind === 'busy' && tries < MOST_TRIES) busy.push(at)
            else faulty ??= new FaultyItem(fault)
          }
        })
        left = open
        if (faulty) throw faulty
      })
      .catch((error: unknown) => {
        if (!(error instanceof ElasticError) || error.statusCode !== 413) throw error
        return halves(left)
      })
    if (busy.length > 0) await pause(FIRST_PAUSE_MS * 2 ** tries)
  }
  return outcomes

  /** Sends two smaller requests, because a proxy in front of the server limits their size. */
  async function halves(these: number[]): Promise<void> {
    left = []
    if (these.length === 1) {
      outcomes[these[0]!] = { state: 'refused', reason: 'too large for the server' }
      return
    }
    const middle = these.length >> 1
    for (const some of [these.slice(0, middle), these.slice(middle)]) {
      const found = await write(
        target,
        some.map((at) => operations[at]!),
        options,
      )
      found.forEach((outcome, at) => (outcomes[some[at]!] = outcome))
    }
  }
}

function outcomeOf({ status, error, result }: estypes.BulkResponseItem): Outcome {
  if (error)
    return status === 409
      ? { state: 'conflict' }
      : status === 404 && error.type === 'document_missing_exception'
        ? { state: 'missing' }
        : { state: 'refused', reason: reasonOf(error) }
  return { state: result === 'not_found' ? 'missing' : 'done' }
}

/** The server's message starts with its own field names. */
function reasonOf({ type, reason, caused_by: cause }: estypes.ErrorCause): string {
  const field = /\[(?:value|sort|words|stems)\.([^\][]+)\]/.exec(reason ?? '')?.[1]
  const why = cause?.reason ?? reason ?? type
  return field ? `${field}: ${why}` : why
}

/**
 * A pause of about this length, randomized so that two writers do not collide again. It uses real time, which tests
 * cannot control.
 */
export const pause = (ms: number): Promise<void> => realTime(ms * (0.5 + Math.random()))

interface PutOptions extends PutManyOptions {
  /** Accepts fields of a wrong type: the document is written without them. */
  onWrong?: OnWrong | undefined
  /** Writes only documents that still have these versions. */
  versions?: ReadonlyMap<string, Version> | undefined
}

/** Writes documents; those that cannot be written are reported, and the others are stored. */
export async function putAll(
  target: Target,
  layout: Layout,
  docs: ReadonlyArray<{ id: string; doc: object }>,
  options: PutOptions,
): Promise<BulkResult> {
  const { name } = layout.data
  const { signal, progress, onWrong, versions, onlyNew = false } = options
  const failed = new Map<number, BulkResult['failed'][number]>()
  const kept: string[] = []
  const flying = new Set<{ ids: Set<string>; landed: Promise<void> }>()
  let broken: { error: unknown } | undefined
  let done = 0
  let at = 0
  const isOne = docs.length <= DOCS_A_REQUEST

  async function send(operations: Operation[], places: number[], upTo: number): Promise<void> {
    const outcomes =
      operations.length === 0 ? [] : await write(target, operations, { isVisible: isOne && options.visible })
    outcomes.forEach((outcome, place) => {
      const { id } = operations[place]!
      if (outcome.state === 'conflict' && onlyNew) kept.push(id)
      if (outcome.state === 'refused') failed.set(places[place]!, { id, reason: `${name} ${id}: ${outcome.reason}` })
    })
    done += upTo
    progress?.(done)
  }

  while (at < docs.length && !broken && !signal?.aborted) {
    const operations: Operation[] = []
    const places: number[] = []
    const from = at
    const slice = new Slice()
    for (let size = 0; at < docs.length && at - from < DOCS_A_REQUEST && size < CHARACTERS_A_REQUEST; at++) {
      const { id, doc } = docs[at]!
      try {
        const source = encode(layout, id, checkedDoc(name, id, doc), onWrong)
        operations.push(onlyNew ? creating(id, source) : indexing(id, source, versions?.get(id)))
        places.push(at)
        size += source.length
      } catch (error) {
        if (!(error instanceof WrongType)) throw error
        failed.set(at, { id, reason: `${name} ${id}: ${error.message}` })
      }
      if (slice.isOver) await slice.next()
    }
    const ids = new Set(operations.map(({ id }) => id))
    // Of two documents with one id, the later one wins.
    while (
      flying.size >= MOST_IN_FLIGHT ||
      [...flying].some((other) => operations.some(({ id }) => other.ids.has(id)))
    ) {
      await Promise.race([...flying].map(({ landed }) => landed))
    }
    if (broken || signal?.aborted) break
    const flight = { ids, landed: Promise.resolve() }
    flight.landed = send(operations, places, at - from)
      .catch((error: unknown) => void (broken ??= { error }))
      .finally(() => flying.delete(flight))
    flying.add(flight)
  }
  await Promise.all([...flying].map(({ landed }) => landed))
  if (broken) throw broken.error
  signal?.throwIfAborted()
  if (options.visible && !isOne)
    await target.connection.run((client) => client.indices.refresh({ index: target.index }))
  const list = [...failed].sort(([a], [b]) => a - b).map(([, failure]) => failure)
  return { written: docs.length - list.length - kept.length, failed: list, ...(onlyNew && { kept }) }
}
