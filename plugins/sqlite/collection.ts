/** One collection of the embedded index: reads by id and indexed pages run here, everything else in the worker. */

import type { BulkResult, Collection } from 'archivolt'
import { errors, Slice } from 'archivolt'
import { checkedDoc, type PutManyOptions, zoneChanges } from 'archivolt/index'
import { openSearches } from './find.ts'
import type { CallOptions, Link } from './link.ts'
import { openParts } from './parts.ts'
import type { IdText } from './protocol.ts'
import { openPoints, type Target } from './read-by-id.ts'

const DOCS_A_MESSAGE = 100
/**
 * Documents per message while staging: staged documents become visible together, so fewer and larger commits delay
 * nobody.
 */
const STAGED_A_MESSAGE = 500
const CHARACTERS_A_MESSAGE = 2_000_000
const BATCH = 200

export function openCollection(target: Target): Collection {
  const { definition } = target
  const { name } = definition
  const { at: docsAt, isWhole, ...points } = openPoints(target)

  return {
    definition,
    ...points,
    ...openSearches(target, { ...points, isWhole }),
    ...openParts(name, target.layout, target.link),
    aggregate: (query) => target.link().call('aggregate', { name, query, zone: query.histogram ? zoneChanges() : [] }),

    async put(id, doc) {
      const { failed } = await putAll(target.link(), name, [{ id, doc }], {})
      if (failed[0]) throw errors.unprocessable(failed[0].reason)
    },
    putMany: (docs, options = {}) => putAll(target.link(), name, docs, options),
    async create(id, doc) {
      const { failed, written } = await putAll(target.link(), name, [{ id, doc }], { onlyNew: true })
      if (failed[0]) throw errors.unprocessable(failed[0].reason)
      return written > 0
    },
    patch: (id, change) => target.link().call('patch', { name, id, change: JSON.stringify(change) }),
    patchWhere: (filter, change, options = {}) =>
      target.link().call('patchWhere', { name, filter, change: JSON.stringify(change) }, callOptions(options)),
    remove: (ids) => target.link().call('remove', { name, ids: typeof ids === 'string' ? [ids] : [...ids] }),
    removeWhere: (filter, options = {}) => target.link().call('removeWhere', { name, filter }, callOptions(options)),

    async *scan({ filter, batch = BATCH, order = 'id' } = {}) {
      let after: string | number | undefined
      do {
        const asked = { name, filter, order: order === 'id' ? 'id' : 'row', after, size: batch } as const
        const { rids, at } = await target.link().call('page', asked)
        after = at
        yield* docsAt(rids)
      } while (after !== undefined)
    },
  }
}

const callOptions = ({
  signal,
  progress,
}: {
  signal?: AbortSignal | undefined
  progress?: ((done: number) => void) | undefined
}): CallOptions => ({ signal, progress })

/**
 * Sends documents in messages of limited size, one at a time, so that the worker's queue does not grow and the event
 * loop is free in between.
 */
export async function putAll(
  link: Link,
  name: string,
  docs: ReadonlyArray<{ id: string; doc: object }>,
  { signal, progress, onlyNew = false }: Pick<PutManyOptions, 'signal' | 'progress' | 'onlyNew'>,
  isStaged = false,
): Promise<BulkResult> {
  const failed: BulkResult['failed'] = []
  const kept: string[] = []
  let at = 0
  while (at < docs.length) {
    signal?.throwIfAborted()
    const texts: IdText[] = []
    const slice = new Slice()
    const most = isStaged ? STAGED_A_MESSAGE : DOCS_A_MESSAGE
    for (let size = 0; at < docs.length && texts.length < most && size < CHARACTERS_A_MESSAGE; at++) {
      if (slice.isOver) {
        if (!isStaged) break
        await slice.next()
      }
      const { id, doc } = docs[at]!
      const text = JSON.stringify(checkedDoc(name, id, doc))
      texts.push([id, text])
      size += text.length
    }
    // The last message syncs the log, including all earlier writes. Staged documents need no sync until they are
    // swapped in.
    const durable = at < docs.length || isStaged ? 'later' : undefined
    const done = await link.call('put', { name, docs: texts, isStaged, onlyNew, durable })
    failed.push(...done.failed)
    kept.push(...done.kept)
    progress?.(at)
  }
  return { written: docs.length - failed.length - kept.length, failed, ...(onlyNew && { kept }) }
}
