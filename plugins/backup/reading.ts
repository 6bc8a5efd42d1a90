/** Reads the documents of an archive, converts them to our form and checks them; unusable ones are skipped. */
import { faultIn, isAppError, Slice, say } from 'archivolt'
import type { App } from './app.ts'
import { BadArchive, type DocumentEntry, readDocuments } from './archive.ts'
import { definitionOf } from './collections.ts'
import type { BackupForm, Converted, Forms, Stored } from './form.ts'

const BATCH = 500
const MOST_CHARACTERS = 2_000_000

/** Called for each skipped document. */
export type Skip = (id: string, reason: string) => void
export const quietly: Skip = () => undefined

/** Converts a document of an archive to our form, if it is usable. */
export function usable(
  app: App,
  form: BackupForm,
  collection: string,
  id: string,
  stored: Stored,
  number: number,
  skip: Skip,
): Converted | undefined {
  const definition = definitionOf(app, collection)
  try {
    const document = form.toOurs(collection, id, stored, number)
    const fault = definition && faultIn(definition.doc, document.doc)
    if (fault === undefined) return document
    skip(id, fault)
  } catch (error) {
    if (!isAppError(error)) throw error
    skip(id, error.message)
  }
  return undefined
}

/**
 * Yields the documents of a file in batches.
 * @param number  the number of the next document in the archive
 */
export async function* usableDocuments(
  app: App,
  forms: Forms,
  entry: DocumentEntry,
  lines: AsyncIterable<string[]>,
  number: () => number,
  skip: Skip,
): AsyncIterable<Converted[]> {
  const form = forms.of(entry)
  if (!form || !definitionOf(app, entry.collection)) return
  let [batch, characters]: [Converted[], number] = [[], 0]
  const slice = new Slice()
  for await (const some of documentsIn(lines, skip))
    for (const { id, stored, length } of some) {
      const document = usable(app, form, entry.collection, id, stored, number(), skip)
      if (document) batch.push(document)
      characters += length
      // The lines of one piece of the file arrive without a pause between them, in which other work could run.
      if (slice.isOver) await slice.next()
      if (batch.length >= BATCH || characters >= MOST_CHARACTERS) {
        yield batch
        ;[batch, characters] = [[], 0]
      }
    }
  if (batch.length) yield batch
}

/** Yields documents that are nested in others. @param seen  documents to ignore, as `<collection> <id>` */
export function documentsInside(
  app: App,
  form: BackupForm,
  documents: readonly Converted[],
  seen: Set<string>,
  skip: Skip,
): Map<string, Converted[]> {
  const found = new Map<string, Converted[]>()
  for (const { inside } of documents) {
    if (!inside || seen.has(keyOf(inside.collection, inside.id))) continue
    const { collection, id, stored } = inside
    seen.add(keyOf(collection, id))
    const document = definitionOf(app, collection) && usable(app, form, collection, id, stored, 0, skip)
    if (document) found.set(collection, [...(found.get(collection) ?? []), document])
  }
  return found
}

export const keyOf = (collection: string, id: string): string => `${collection} ${id}`

/** Whether a restore would restore at least one document; stops at the first one. */
export async function holdsSomething(app: App, forms: Forms, path: string, signal: AbortSignal): Promise<boolean> {
  let isFound = false
  await readDocuments(path, async (entry, lines) => {
    signal.throwIfAborted()
    if (isFound) return
    for await (const batch of usableDocuments(app, forms, entry, lines, () => 0, quietly)) {
      isFound = batch.length > 0
      if (isFound) break
    }
  })
  return isFound
}

interface Read {
  id: string
  stored: Stored
  /** Length of its line. */
  length: number
}

/** Pairs of an action line and a document, many at a time. @throws BadArchive */
export async function* documentsIn(lines: AsyncIterable<string[]>, skip: Skip): AsyncIterable<Read[]> {
  let id: string | undefined
  for await (const some of lines) {
    const found: Read[] = []
    for (const line of some) {
      if (!line.trim()) continue
      const parsed = parse(line)
      if (id === undefined) {
        id = (parsed?.index as Stored | undefined)?._id as string | undefined
        if (typeof id !== 'string') throw new BadArchive('A document is not preceded by its action line')
      } else {
        if (parsed) found.push({ id, stored: parsed, length: line.length })
        else skip(id, 'the document is not a JSON object')
        id = undefined
      }
    }
    if (found.length > 0) yield found
  }
  if (id !== undefined) throw new BadArchive(say`A file ends before the document ${{ id }}`)
}

function parse(line: string): Stored | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Stored) : undefined
  } catch {
    return undefined
  }
}
