/** Replaces all documents with those of a backup, and previews the changes. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type BulkResult,
  chunksOf,
  errors,
  type Replacement,
  type ReplaceWrite,
  type StoredDocuments,
  say,
  Value,
} from 'archivolt'
import type { App } from './app.ts'
import { type DocumentEntry, readDocuments, readEntries } from './archive.ts'
import { collectionNames, collectionOf, storedByPlugins } from './collections.ts'
import type { Converted, Forms, Stored } from './form.ts'
import { documentsIn, documentsInside, keyOf, quietly, type Skip, usable, usableDocuments } from './reading.ts'
import type { Work } from './work.ts'

const MOST_REASONS = 50
const MOST_REFUSED = 100
/** Number of documents that are compared in one turn of the event loop. */
const COMPARED_TOGETHER = 10

export const NOTHING_IN_IT =
  'The backup has no usable document. Restoring it would empty the archive, so nothing was changed'

export interface RestoreReport {
  restored: number
  skipped: number
  /** Unknown keys of the config document. */
  unknownSettings: string[]
}

export interface CollectionChanges {
  backup: number
  now: number
  added: number
  removed: number
  changed: number
}

export async function restoreBackup(app: App, forms: Forms, path: string, job: Work): Promise<RestoreReport> {
  let isReplaced = false
  const replaced = () => void (isReplaced = true)
  try {
    const { report, config } = await replaceDocuments(app, forms, path, job, storedByPlugins(app), replaced)
    if (config) report.unknownSettings = await applySettings(app, config)
    return report
  } finally {
    // Even if a plugin could not replace its tables.
    if (isReplaced) await app.emit('index.replaced', {})
  }
}

/**
 * @param besides  stored documents to replace in addition to the index
 * @param replaced  called when the index has been replaced
 */
export async function replaceDocuments(
  app: App,
  forms: Forms,
  path: string,
  job: Work,
  besides: readonly StoredDocuments[],
  replaced: () => void = () => undefined,
): Promise<{ report: RestoreReport; config: Stored | undefined }> {
  const run = openRun(app, forms, job, (await readEntries(path)).length)
  const beside = new Map<string, Replacement>()
  await app.index.replaceAll(
    async (write) => {
      for (const stored of besides) beside.set(stored.name, await stored.replacement())
      const writeTo: ReplaceWrite = (name, docs) => beside.get(name)?.write(docs) ?? write(name, docs)
      await readDocuments(path, (entry, lines) => run.take(entry, lines, writeTo)).finally(() => run.allWritten())
      if (run.report.restored === 0) throw errors.unprocessable(NOTHING_IN_IT)
    },
    async () => {
      replaced()
      for (const { commit } of beside.values()) await commit()
    },
  )
  return { report: run.report, config: run.config() }
}

/** One run of a restore. It stores only ids and counts, because documents are written as they are read. */
function openRun(app: App, forms: Forms, job: Work, files: number) {
  const report: RestoreReport = { restored: 0, skipped: 0, unknownSettings: [] }
  let config: Stored | undefined
  let file = 0
  let read = 0
  let writing = Promise.resolve()
  /** Restored documents of collections that may also be nested. */
  const seen = new Set<string>()
  const fromInside = new Set<string>()

  /** Skipped documents are counted; the log has the first reasons. */
  const skip: Skip = (id, reason) => {
    report.skipped += 1
    if (report.skipped <= MOST_REASONS) job.log.warn({ id }, `skipped: ${reason}`)
  }

  function count({ written, failed }: BulkResult): void {
    report.restored += written
    for (const { id, reason } of failed) skip(id, reason)
  }

  /** Writes documents while the next ones are read. */
  async function put(collection: string, documents: readonly Converted[], write: ReplaceWrite): Promise<void> {
    await writing
    writing = write(collection, documents).then(count)
    writing.catch(() => undefined) // it is awaited before the next write, and at the end
  }

  /** A separate document replaces a nested one. */
  function comesItself(key: string): void {
    seen.add(key)
    if (fromInside.delete(key)) report.restored -= 1
  }

  async function take(entry: DocumentEntry, lines: AsyncIterable<string[]>, write: ReplaceWrite): Promise<void> {
    job.signal.throwIfAborted()
    const done = file++ / files
    job.progress(done, say`Restoring ${{ name: entry.fileName }} (${{ number: file }}/${{ all: files }})`)
    if (entry.collection === 'config') {
      for await (const some of documentsIn(lines, skip)) config = some.at(-1)!.stored
      return
    }
    const form = forms.of(entry)
    if (!form) return
    for await (const batch of usableDocuments(app, forms, entry, lines, () => read++, skip)) {
      if (form.insideOthers.includes(entry.collection))
        for (const { id } of batch) comesItself(keyOf(entry.collection, id))
      for (const [collection, found] of documentsInside(app, form, batch, seen, skip)) {
        for (const { id } of found) fromInside.add(keyOf(collection, id))
        await put(collection, found, write)
      }
      await put(entry.collection, batch, write)
      job.signal.throwIfAborted()
    }
  }

  return {
    report,
    /** The last config document. */
    config: () => config,
    take,
    /** @throws the error of writing the last documents */
    allWritten: () => writing,
  }
}

/** Applies known settings one by one. @returns unknown and invalid ones */
async function applySettings({ preferences }: App, config: Stored): Promise<string[]> {
  const refused: string[] = []
  for (const [section, values] of Object.entries(config)) {
    if (typeof values !== 'object' || values === null) refused.push(section)
    else
      for (const [key, value] of Object.entries(values))
        await preferences.change({ [section]: { [key]: value } }).catch(() => refused.push(`${section}.${key}`))
  }
  return refused.slice(0, MOST_REFUSED)
}

/** What a restore would change, by collection. Changes nothing. @throws unprocessable */
export async function previewRestore(
  app: App,
  forms: Forms,
  path: string,
  signal: AbortSignal,
  names = collectionNames(app),
): Promise<Record<string, CollectionChanges>> {
  const counts: Record<string, CollectionChanges> = {}
  for (const name of names) {
    const now = (await collectionOf(app, name)?.count(undefined, Number.POSITIVE_INFINITY)) ?? 0
    counts[name] = { backup: 0, now, added: 0, removed: 0, changed: 0 }
  }
  let read = 0
  await readDocuments(path, async (entry, lines) => {
    const count = counts[entry.collection]
    const collection = collectionOf(app, entry.collection)
    if (!count || !collection) return
    for await (const batch of usableDocuments(app, forms, entry, lines, () => read++, quietly)) {
      for (const some of chunksOf(batch, COMPARED_TOGETHER)) {
        signal.throwIfAborted()
        const present = await asBackedUp(app, forms, entry, some)
        for (const { id, doc } of some) {
          count.backup += 1
          if (!present.has(id)) count.added += 1
          else if (!Value.Equal(present.get(id), doc)) count.changed += 1
        }
        await nextTurn()
      }
    }
  })
  if (!Object.values(counts).some(({ backup }) => backup > 0)) throw errors.unprocessable(NOTHING_IN_IT)
  for (const count of Object.values(counts)) count.removed = Math.max(0, count.now - (count.backup - count.added))
  return counts
}

/** The documents among these that exist, in the form in which a backup would restore them, which may omit fields. */
async function asBackedUp(
  app: App,
  forms: Forms,
  entry: DocumentEntry,
  batch: ReadonlyArray<{ id: string }>,
): Promise<Map<string, Stored | undefined>> {
  const form = forms.of(entry)
  const present = await collectionOf(app, entry.collection)?.getMany(batch.map(({ id }) => id))
  if (!form || !present) return new Map()
  const stored = await form.toStored(
    entry.collection,
    [...present].map(([id, doc]) => ({ id, doc })),
  )
  return new Map(
    stored.map((one, at) => [one.id, usable(app, form, entry.collection, one.id, one.stored, at, quietly)?.doc]),
  )
}
