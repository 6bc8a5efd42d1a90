/** Makes one index a copy of another, document by document. After an interruption a second run finishes the copy. */
import type { BulkResult, Collection, IndexAdapter } from '../../core/index/port.ts'

const DOCS_AT_ONCE = 400
const FAILURES_TOLD = 5

export interface MoveOptions {
  signal?: AbortSignal | undefined
  /** Called with the number of documents of a collection already equal in both, and the total. */
  progress?: ((collection: string, done: number, total: number) => void) | undefined
}

interface Moved {
  collection: string
  /** Number of documents in both at the end. */
  documents: number
  /** Documents that the target lacked or had in another version. */
  written: number
  /** Documents that only the target had. */
  removed: number
}

type Documents = Collection<Record<string, unknown>, string>
interface Entry {
  id: string
  doc: Record<string, unknown>
}

/**
 * Copies all collections. Nobody else may write to either index meanwhile. The source is only read. Until the promise
 * resolves, the target holds a mixture of old and new documents. A second run continues: documents that are already
 * equal are not written again.
 * @throws Error  documents could not be written, or the counts differ at the end; everything else has been copied
 */
export async function moveIndex(from: IndexAdapter, to: IndexAdapter, options: MoveOptions = {}): Promise<Moved[]> {
  await from.refresh()
  // Makes the last writes of an earlier run visible.
  await to.refresh()
  const failed: BulkResult['failed'] = []
  const moved: Moved[] = []
  for (const definition of from.definitions) {
    // Both have the same definition, so documents of one fit the other.
    const pair = [from.collection(definition), to.collection(definition)] as unknown as [Documents, Documents]
    moved.push({ collection: definition.name, documents: 0, ...(await copy(...pair, failed, options)) })
  }
  await to.refresh()
  if (failed.length > 0) {
    const told = failed.slice(0, FAILURES_TOLD).map(({ reason }) => reason)
    throw new Error(
      `${failed.length} documents could not be written, all others were copied: ${told.join('; ')}${failed.length > told.length ? '; …' : ''}`,
    )
  }
  for (const one of moved) {
    const definition = from.definitions.find(({ name }) => name === one.collection)!
    const [here, there] = await Promise.all([
      from.collection(definition).count(undefined, Infinity),
      to.collection(definition).count(undefined, Infinity),
    ])
    if (here !== there)
      throw new Error(
        `${one.collection}: ${there} of ${here} documents were copied; run the command again while no server uses either index`,
      )
    one.documents = there
  }
  return moved
}

/** Reads both side by side, in the order of ids. */
async function copy(
  from: Documents,
  to: Documents,
  failed: BulkResult['failed'],
  { signal, progress }: MoveOptions,
): Promise<{ written: number; removed: number }> {
  const { name } = from.definition
  const total = await from.count(undefined, Infinity)
  const others = entries(to)
  let other = await others.next()
  let done = 0
  let written = 0
  let removed = 0
  let changed: Entry[] = []
  let extra: string[] = []
  let writing: Promise<void> = Promise.resolve()

  /** Writes one batch while the next is read and compared. */
  async function write(): Promise<void> {
    await writing
    const [docs, ids] = [changed, extra]
    changed = []
    extra = []
    writing = (async () => {
      if (docs.length > 0) {
        const result = await to.putMany(docs, { signal })
        written += result.written
        failed.push(...result.failed)
      }
      if (ids.length > 0) removed += await to.remove(ids)
    })()
    // A failure is thrown when the next batch awaits `writing`; until then it must not count as unhandled.
    writing.catch(() => undefined)
  }

  async function leaveOut(entry: Entry): Promise<void> {
    extra.push(entry.id)
    if (extra.length >= DOCS_AT_ONCE) await write()
    other = await others.next()
  }

  try {
    for await (const batch of from.scan()) {
      signal?.throwIfAborted()
      for (const entry of batch) {
        while (!other.done && isBefore(other.value.id, entry.id)) await leaveOut(other.value)
        if (!other.done && other.value.id === entry.id) {
          if (!isSame(other.value.doc, entry.doc)) changed.push(entry)
          other = await others.next()
        } else changed.push(entry)
        if (changed.length >= DOCS_AT_ONCE) await write()
      }
      done += batch.length
      progress?.(name, done, total)
    }
    while (!other.done) await leaveOut(other.value)
    await write()
    await writing
  } finally {
    // Also after a failure: no write may continue once the caller closes the index.
    await writing.catch(() => undefined)
    await others.return(undefined)
  }
  return { written, removed }
}

async function* entries(collection: Documents): AsyncGenerator<Entry, undefined> {
  for await (const batch of collection.scan()) yield* batch
  return undefined
}

/** Compares bytes, as adapters do; UTF-16 order differs beyond the first plane. */
const isBefore = (a: string, b: string): boolean => a !== b && Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0

/** The order of keys counts: documents are stored as texts. */
const isSame = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b)
