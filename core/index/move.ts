/** Makes one index a copy of another, document by document. After an interruption a second run finishes the copy. */
import type { BulkResult, Collection, IndexAdapter } from './port.ts'

const DOCS_AT_ONCE = 400
const FAILURES_TOLD = 5

export interface MoveOptions {
  signal?: AbortSignal | undefined
  /** Told how many documents of a collection are the same in both by now, and how many there are. */
  progress?: ((collection: string, done: number, total: number) => void) | undefined
}

interface Moved {
  collection: string
  /** How many both have at the end. */
  documents: number
  /** How many were written, as the target did not have them, or had them otherwise. */
  written: number
  /** How many were removed, as only the target had them. */
  removed: number
}

type Documents = Collection<Record<string, unknown>, string>
interface Entry {
  id: string
  doc: Record<string, unknown>
}

/**
 * Copies all collections. Nobody else may write to either meanwhile. The source is only read. Until it resolves, the
 * target is a mixture of what it held and what it shall hold; run again it goes on there, as what is the same in both
 * is not written twice.
 * @throws an Error with a sentence  documents could not be written, or the counts differ at the end; all else has been
 *         copied
 */
export async function moveIndex(from: IndexAdapter, to: IndexAdapter, options: MoveOptions = {}): Promise<Moved[]> {
  await from.refresh()
  // What an earlier run has written last is to be found.
  await to.refresh()
  const failed: BulkResult['failed'] = []
  const moved: Moved[] = []
  for (const definition of from.definitions) {
    // Both are of one definition: what is read from one fits the other.
    const pair = [from.collection(definition), to.collection(definition)] as unknown as [Documents, Documents]
    moved.push({ collection: definition.name, documents: 0, ...(await copy(...pair, failed, options)) })
  }
  await to.refresh()
  if (failed.length > 0) {
    const told = failed.slice(0, FAILURES_TOLD).map(({ reason }) => reason)
    throw new Error(
      `${failed.length} documents could not be written, all others are there: ${told.join('; ')}${failed.length > told.length ? '; …' : ''}`,
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
        `${one.collection}: ${there} documents came over of ${here}; run it again, with no server on either index`,
      )
    one.documents = there
  }
  return moved
}

/** Both are read in the order of ids, side by side. */
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

  /** One load is written while the next is read and compared. */
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
    // It is awaited with the next load: until then nobody else looks at how it ended.
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
    // After a failure too: nothing goes on behind the back of whoever closes the index.
    await writing.catch(() => undefined)
    await others.return(undefined)
  }
  return { written, removed }
}

async function* entries(collection: Documents): AsyncGenerator<Entry, undefined> {
  for await (const batch of collection.scan()) yield* batch
  return undefined
}

/** By their bytes, as adapters order ids: other than by UTF-16 beyond its first plane. */
const isBefore = (a: string, b: string): boolean => a !== b && Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0

/** The order of keys counts: documents are kept as texts. */
const isSame = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b)
