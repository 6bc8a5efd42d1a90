/**
 * Changes documents: reads, changes, and writes them if nobody else has changed them meanwhile, otherwise repeats.
 * Repeating is harmless.
 */

import type { BulkOptions, Change, Filter } from 'archivolt'
import { chunksOf, errors, say } from 'archivolt'
import { applyChange, type JsonObject, Refusal, type WriteOptions } from 'archivolt/index'
import { deleting, indexing, type Operation, type Outcome, pause, type Target, type Version, write } from './bulk.ts'
import { decode, encode } from './encode.ts'
import { filterQuery, type Query } from './filter.ts'
import type { Layout } from './layout.ts'
import { readAll } from './points.ts'
import { pages, parsed, type StoredHit } from './scan.ts'

const MOST_TRIES = 60
const PAUSE_MS = 4
const LONGEST_PAUSE_MS = 250
const CHANGED_AT_ONCE = 200
const REMOVED_AT_ONCE = 1000
const MOST_IDS = 10_000

type AnyChange = Change<Record<string, unknown>>

export function openDocumentChanges(target: Target, layout: Layout) {
  const { connection, index } = target
  const { name } = layout.data

  function changed(id: string, doc: JsonObject, change: AnyChange): string {
    try {
      // A change is applied to many documents, which must not share objects.
      return encode(layout, id, applyChange(layout.plans, layout.data.keys, doc, structuredClone(change)))
    } catch (error) {
      if (error instanceof Refusal) throw errors.unprocessable(say`${{ name }} ${{ id }}: ${{ reason: error.message }}`)
      throw error
    }
  }

  function refused(id: string, outcome: Outcome): void {
    if (outcome.state === 'refused')
      throw errors.unprocessable(say`${{ name }} ${{ id }}: ${{ reason: outcome.reason }}`)
  }

  function again(tries: number): Promise<void> {
    return pause(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 1.3 ** tries))
  }

  /**
   * Processes all matches in batches. Documents that changed meanwhile are checked again, because they may no longer
   * match.
   * @returns the number of processed documents
   */
  async function onAll(
    filter: Filter,
    options: BulkOptions & { batch: number; isBare: boolean },
    toOperations: (hits: StoredHit[]) => Promise<Operation[]>,
  ): Promise<number> {
    let count = 0
    let queries: Query[] = [filterQuery(layout, filter)]
    for (let tries = 0; ; tries++) {
      // Includes documents that were just written.
      await connection.run((client) => client.indices.refresh({ index }))
      const conflicts: string[] = []
      for (const query of queries) {
        for await (const hits of pages(connection, {
          index,
          query,
          batch: options.batch,
          isBare: options.isBare,
          signal: options.signal,
        })) {
          const operations = await toOperations(hits)
          const outcomes = await write(target, operations)
          outcomes.forEach((outcome, at) => {
            const { id } = operations[at]!
            refused(id, outcome)
            if (outcome.state === 'conflict') conflicts.push(id)
            if (outcome.state === 'done') count++
          })
          options.progress?.(count)
        }
      }
      if (conflicts.length === 0) break
      if (tries === MOST_TRIES)
        throw errors.unavailable(
          say`${{ name }}: ${{ count: conflicts.length }} documents are being changed repeatedly; try again`,
        )
      queries = narrowed(filterQuery(layout, filter), conflicts)
      await again(tries)
    }
    if (options.visible && count > 0) await connection.run((client) => client.indices.refresh({ index }))
    return count
  }

  return {
    async patch(id: string, change: AnyChange, { visible }: WriteOptions): Promise<boolean> {
      for (let tries = 0; ; tries++) {
        const [found] = await readAll(target, [id])
        if (!found?._source) return false
        const doc = decode(found._source)
        if (!doc) {
          target.onGarbled?.(id)
          return false
        }
        const source = changed(id, doc, change)
        const [outcome] = await write(
          target,
          [indexing(id, source, { seqNo: found._seq_no!, term: found._primary_term! })],
          { isVisible: visible },
        )
        refused(id, outcome!)
        if (outcome!.state === 'done') return true
        if (tries === MOST_TRIES)
          throw errors.unavailable(say`${{ name }}: the document is being changed repeatedly; try again`)
        await again(tries)
      }
    },

    patchWhere: (filter: Filter, change: AnyChange, options: BulkOptions): Promise<number> =>
      onAll(filter, { ...options, batch: CHANGED_AT_ONCE, isBare: false }, async (hits) =>
        (await parsed(hits, target)).map(({ id, doc, hit }) =>
          indexing(id, changed(id, doc as JsonObject, change), versionOf(hit)),
        ),
      ),

    removeWhere: (filter: Filter, options: BulkOptions): Promise<number> =>
      onAll(filter, { ...options, batch: REMOVED_AT_ONCE, isBare: true }, async (hits) =>
        hits.map((hit) => deleting(hit._id!, versionOf(hit))),
      ),
  }
}

export const versionOf = (hit: StoredHit): Version => ({ seqNo: hit._seq_no!, term: hit._primary_term! })

/** A filter limited to these documents, in parts of the size that the server accepts. */
function narrowed(filter: Query, ids: readonly string[]): Query[] {
  return [...chunksOf(ids, MOST_IDS)].map((part) => ({ bool: { filter: [filter, { terms: { id: part } }] } }))
}
