/** From a snapshot file back into the index: every document is looked at again before it is taken. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errors, isAppError } from '../../error.ts'
import { joinInternal, type JsonObject } from '../document.ts'
import type { IndexDefinition } from '../mapping.ts'
import type { IndexAdapter, RestoreOptions, RestoreResult } from '../port.ts'
import type { Link } from './link.ts'

const ID = /^[A-Za-z0-9_-]{1,128}$/
const FAILURES_KEPT = 100
const SLICE_MS = 4

export async function restoreSnapshot(link: Link, index: IndexAdapter, path: string, options: RestoreOptions): Promise<RestoreResult> {
  const { signal, progress, accept } = options
  // The compiler of schemas takes memory: it is loaded when a restore needs it.
  const { Compile } = await import('typebox/compile')
  const result: RestoreResult = { written: 0, skipped: 0, failed: [] }
  const skip = (name: string, id: string, reason: string) => {
    result.skipped++
    if (result.failed.length < FAILURES_KEPT) result.failed.push({ id, reason: `${name} ${id.slice(0, 128)}: ${reason}` })
  }
  const present = await link.call('snapshotOpen', { path }).catch((error: unknown) => {
    if (isAppError(error, 'unavailable')) throw error
    throw errors.unprocessable('This is no snapshot, or it is damaged', { cause: error })
  })
  const total = Object.values(present).reduce((sum, { count }) => sum + count, 0)
  let done = 0
  try {
    await index.replaceAll(async (write) => {
      for (const definition of index.definitions) await restoreCollection(definition, write)
    })
  } finally {
    await link.call('snapshotClose', null)
  }
  return result

  async function restoreCollection(definition: IndexDefinition, write: Parameters<Parameters<IndexAdapter['replaceAll']>[0]>[0]): Promise<void> {
    const { name, reform, form = '' } = definition
    const stored = present[name]
    if (!stored) return
    const schema = Compile(definition.doc)
    const toDoc = (id: string, text: string, internal: string | null): JsonObject | undefined => {
      try {
        let doc = joinInternal(JSON.parse(text) as JsonObject, internal === null ? undefined : (JSON.parse(internal) as JsonObject))
        if (stored.form !== form && reform) doc = reform(doc as never) as unknown as JsonObject
        const taken = accept ? accept(name, id, doc) : doc
        if (taken === undefined) skip(name, id, 'refused')
        else if (!schema.Check(taken)) skip(name, id, schema.Errors(taken)[0]?.message ?? 'does not pass its schema')
        else return taken as JsonObject
      } catch (error) {
        skip(name, id, error instanceof Error ? error.message : String(error))
      }
      return undefined
    }
    let after = -1
    for (;;) {
      signal?.throwIfAborted()
      const batch = await link.call('snapshotRead', { name, after })
      if (!batch) return
      const docs: Array<{ id: string; doc: JsonObject }> = []
      let started = performance.now()
      for (const [id, text, internal] of batch.docs) {
        const doc = ID.test(id) ? toDoc(id, text, internal) : skip(name, id, 'an id of another form')
        if (doc) docs.push({ id, doc })
        if (performance.now() - started > SLICE_MS) {
          await nextTurn()
          started = performance.now()
        }
      }
      const { written, failed } = await write(name, docs, { signal })
      for (const failure of failed) skip(name, failure.id, failure.reason)
      result.written += written
      after = batch.last
      done += batch.docs.length
      progress?.(done, total)
    }
  }
}
