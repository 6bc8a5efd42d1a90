/** Restores documents of a snapshot to an index, checking each one. Used by all adapters. */

import { errors } from '../../core/base/error.ts'
import { isId } from '../../core/base/id.ts'
import type { IndexDefinition } from '../../core/index/mapping.ts'
import type { IndexAdapter, ReplaceWrite, RestoreOptions, RestoreResult } from '../../core/index/port.ts'
import { type JsonObject, wholeDoc } from './document.ts'
import { Slice } from './slice.ts'

const FAILURES_KEPT = 100

/** One collection of a snapshot. */
export interface StoredCollection {
  /** The `form` of its texts. */
  form: string
  count: number
  /** All documents: id, text of the reply, internal values as JSON. */
  batches(): AsyncIterable<Array<[id: string, text: string, internal: string | null]>>
}

/** Replaces all collections; one that the snapshot lacks becomes empty. */
export async function restoreAll(
  index: Pick<IndexAdapter, 'definitions' | 'replaceAll'>,
  stored: Readonly<Record<string, StoredCollection>>,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const { signal, progress, accept } = options
  // The schema compiler uses memory, so it is loaded only for a restore.
  const { isValid } = await import('../../core/base/validation.ts')
  const { faultIn } = await import('./fault-in.ts')
  const result: RestoreResult = { written: 0, skipped: 0, failed: [] }
  const skip = (name: string, id: string, reason: string) => {
    result.skipped++
    if (result.failed.length < FAILURES_KEPT)
      result.failed.push({ id, reason: `${name} ${id.slice(0, 128)}: ${reason}` })
  }
  const total = index.definitions.reduce((sum, { name }) => sum + (stored[name]?.count ?? 0), 0)
  let done = 0
  await index.replaceAll(async (write) => {
    for (const definition of index.definitions) await restoreCollection(definition, write)
    if (result.written === 0)
      throw errors.unprocessable('The snapshot has no document that belongs to this archive: nothing was changed')
  })
  return result

  async function restoreCollection(definition: IndexDefinition, write: ReplaceWrite): Promise<void> {
    const { name, reform, form = '' } = definition
    const collection = stored[name]
    if (!collection) return
    const toDoc = (id: string, text: string, internal: string | null): JsonObject | undefined => {
      try {
        let doc = wholeDoc(text, internal)
        // A document in an older form has no type; after its conversion it must match the schema.
        if (collection.form !== form && reform) doc = reform(doc as never) as unknown as JsonObject
        const taken = accept ? accept(name, id, doc) : doc
        if (taken === undefined) skip(name, id, 'refused')
        else if (!isValid(definition.doc, taken))
          skip(name, id, faultIn(definition.doc, taken) ?? 'does not pass its schema')
        else return taken as JsonObject
      } catch (error) {
        skip(name, id, error instanceof Error ? error.message : String(error))
      }
      return undefined
    }
    for await (const batch of collection.batches()) {
      signal?.throwIfAborted()
      const docs: Array<{ id: string; doc: JsonObject }> = []
      const slice = new Slice()
      for (const [id, text, internal] of batch) {
        const doc = isId(id) ? toDoc(id, text, internal) : skip(name, id, 'an invalid id')
        if (doc) docs.push({ id, doc })
        if (slice.isOver) await slice.next()
      }
      const { written, failed } = await write(name, docs, { signal })
      for (const failure of failed) skip(name, failure.id, failure.reason)
      result.written += written
      done += batch.length
      progress?.(done, total)
    }
    signal?.throwIfAborted()
  }
}
