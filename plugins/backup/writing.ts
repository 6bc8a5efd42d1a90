/** Writes all documents into an archive, collection by collection. */
import { say } from 'archivolt'
import type { App } from './app.ts'
import { collectionNames, collectionOf } from './collections.ts'
import type { BackupForm, Stored } from './form.ts'
import type { Work } from './work.ts'

const DOCUMENTS_A_FILE = 500
const COMMENTS_A_FILE = 200

interface ArchiveFile {
  fileName: string
  lines: Iterable<string>
  collection: string
  documents: number
}

/** Yields the files of the archive, one after the other: settings, then all documents. */
export async function* archiveEntries(app: App, form: BackupForm, day: string, job: Work): AsyncGenerator<ArchiveFile> {
  yield fileOf('config', 0, [{ id: 'config', stored: app.preferences.all() }], form, day, app)
  yield* documentEntries(app, form, collectionNames(app), day, job)
}

function fileOf(
  collection: string,
  number: number,
  documents: ReadonlyArray<{ id: string; stored: Stored }>,
  { mark }: BackupForm,
  day: string,
  { settings }: App,
): ArchiveFile {
  return {
    fileName: `${mark}_${collection}-${day}-${number}.json`,
    lines: documentLines(documents, `${settings.prefix}_${collection}`),
    ...{ collection, documents: documents.length },
  }
}

/** Yields files with the documents of these collections. */
export async function* documentEntries(
  app: App,
  form: BackupForm,
  all: readonly string[],
  day: string,
  job: Work,
): AsyncGenerator<ArchiveFile> {
  /** Converts a batch; a document that cannot be converted is logged and left out. */
  const storedOf = async (name: string, batch: ReadonlyArray<{ id: string; doc: Record<string, unknown> }>) => {
    try {
      return await form.toStored(name, batch)
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
      const [only, ...others] = batch
      if (only && others.length === 0) {
        job.log.error({ err: error, collection: name, id: only.id }, 'a damaged document is left out of the backup')
        return []
      }
      const stored: Array<{ id: string; stored: Stored }> = []
      for (const one of batch) stored.push(...(await storedOf(name, [one])))
      return stored
    }
  }
  for (const [index, name] of all.entries()) {
    let counter = 0
    let done = 0
    for await (const batch of batchesOf(app, name)) {
      job.signal.throwIfAborted()
      done += batch.length
      job.progress(index / all.length, say`Backing up ${{ name }}: ${{ count: done }} documents`)
      yield fileOf(name, counter++, await storedOf(name, batch), form, day, app)
    }
  }
}

async function* batchesOf(app: App, name: string): AsyncIterable<Array<{ id: string; doc: Record<string, unknown> }>> {
  const batch = name === 'comment' ? COMMENTS_A_FILE : DOCUMENTS_A_FILE
  yield* collectionOf(app, name)?.scan({ batch, order: 'newest last' }) ?? []
}

function* documentLines(documents: Iterable<{ id: string; stored: Stored }>, index: string): Iterable<string> {
  for (const { id, stored } of documents)
    yield `${JSON.stringify({ index: { _index: index, _id: id } })}\n${JSON.stringify(stored)}\n`
}
