/** Streams all matches as they were at the beginning of the stream, by a point in time and `search_after`. */

import type { estypes } from '@elastic/elasticsearch'
import { Slice } from 'archivolt'
import type { Target } from './bulk.ts'
import type { ElasticConnection } from './connection.ts'
import { decode, type Stored } from './encode.ts'
import { ElasticError } from './fault.ts'
import { BY_ID, type Query, type Sort } from './filter.ts'

const KEEP_ALIVE = '5m'
/**
 * Maximum number of characters per reply: documents may have megabytes, and both the server and this process hold a
 * whole reply in memory.
 */
const CHARACTERS_A_REPLY = 8_000_000
/** Number of documents in the first reply, when their size is not known yet. */
const FIRST_ASKED = 20

interface PageOptions {
  index: string
  query: Query
  /** Maximum number of documents in a batch; it has fewer if they are large. */
  batch: number
  /** Must be unique for each document; default: the id. */
  sort?: Sort
  /** Returns only ids, without the documents. */
  isBare?: boolean
  signal?: AbortSignal | undefined
}

export type StoredHit = estypes.SearchHit<Stored>

export async function* pages(
  connection: ElasticConnection,
  { index, query, batch, sort = BY_ID, isBare = false, signal }: PageOptions,
): AsyncGenerator<StoredHit[]> {
  let pit: string | undefined
  let after: estypes.SortResults | undefined
  let asked = isBare ? batch : Math.min(batch, FIRST_ASKED)
  const read = (): Promise<StoredHit[]> =>
    connection.run(async (client) => {
      pit ??= (await client.openPointInTime({ index, keep_alive: KEEP_ALIVE })).id
      const { hits, pit_id: next } = await client.search<Stored>({
        pit: { id: pit, keep_alive: KEEP_ALIVE },
        ...{ query, sort, size: asked, track_total_hits: false, seq_no_primary_term: true },
        ...(isBare && { _source: false }),
        ...(after && { search_after: after }),
      })
      pit = next ?? pit
      return hits.hits
    })
  try {
    let found: StoredHit[] = []
    let characters = 0
    for (;;) {
      signal?.throwIfAborted()
      const hits = await read().catch((error: unknown) => {
        // The point in time expired because the caller was slow, or was lost because the node restarted: continue after
        // the last document.
        if (!isLostPointInTime(error) || pit === undefined) throw error
        pit = undefined
        return read()
      })
      const isLast = hits.length < asked
      const length = hits.reduce((sum, { _source: source }) => sum + (source?.text.length ?? 0), 0)
      found = found.length > 0 ? [...found, ...hits] : hits
      characters += length
      after = hits.at(-1)?.sort
      if (isLast || found.length >= batch || characters >= CHARACTERS_A_REPLY) {
        if (found.length > 0) yield found
        if (isLast) return
        ;[found, characters] = [[], 0]
      }
      const fitting = Math.floor((CHARACTERS_A_REPLY - characters) / Math.max(1, length / hits.length))
      asked = isBare ? batch : Math.max(1, Math.min(batch - found.length, fitting))
    }
  } finally {
    const last = pit
    // it expires by itself
    if (last !== undefined) await connection.client.closePointInTime({ id: last }).catch(() => undefined)
  }
}

const isLostPointInTime = (error: unknown): boolean =>
  error instanceof ElasticError && (error.type === 'search_context_missing_exception' || error.statusCode === 404)

/**
 * Yields whole documents, parsed in time slices, because a batch can have megabytes. Damaged ones are reported and left
 * out.
 */
export async function parsed<Hit extends { _id?: string; _source?: Stored }>(
  hits: readonly Hit[],
  { onGarbled }: Pick<Target, 'onGarbled'>,
): Promise<Array<{ id: string; doc: Record<string, unknown>; hit: Hit }>> {
  const docs: Array<{ id: string; doc: Record<string, unknown>; hit: Hit }> = []
  const slice = new Slice()
  for (const hit of hits) {
    const doc = decode(hit._source!)
    if (doc) docs.push({ id: hit._id!, doc, hit })
    else onGarbled?.(hit._id!)
    if (slice.isOver) await slice.next()
  }
  return docs
}
