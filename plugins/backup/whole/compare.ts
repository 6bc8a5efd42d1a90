/** Compares the archive with a whole backup: all ids, all counts, and some documents field by field. */
import { Value } from 'archivolt'
import { acceptDocuments } from '../accept.ts'
import type { App } from '../app.ts'
import { readDocuments } from '../archive.ts'
import { collectionOf } from '../collections.ts'
import type { Forms } from '../form.ts'
import { quietly, usableDocuments } from '../reading.ts'
import type { Head } from './contents.ts'

const COMPARED = 200
const FILMS = 20
const MOST_NAMED = 20
/** Tables that are changed by every start or by the backup itself. */
const OWN_TABLES = /^(meta|generation|migrations|jobs|job_log|notifications|schedules|backup_run)$/

export interface Comparison {
  /** By collection: the number of documents in the backup, and how many of them exist here. */
  documents: Record<string, { backup: number; here: number }>
  /** Documents that do not exist here or differ, by kind and id; collections and tables with other counts. */
  wrong: string[]
  /** Number of documents that were compared field by field. */
  compared: number
  tables: Record<string, { backup: number; here: number }>
  /** Ids of some videos. */
  films: string[]
}

export async function compareWith(app: App, forms: Forms, zip: string, head: Head): Promise<Comparison> {
  const accept = acceptDocuments(app)
  const total = Object.values(head.documents).reduce((sum, count) => sum + count, 0)
  const [step, filmStep] = [Math.ceil(total / COMPARED), Math.ceil((head.documents['video'] ?? 0) / FILMS)]
  // Objects without a prototype, because the names come from the file, and a plain object has `constructor`.
  const [documents, tables] = [Object.create(null), Object.create(null)]
  const found: Comparison = { documents, wrong: [], compared: 0, tables, films: [] }
  const tell = (what: string) => void (found.wrong.length < MOST_NAMED && found.wrong.push(what))
  let number = 0
  let films = 0
  await readDocuments(zip, async (entry, lines) => {
    const collection = collectionOf(app, entry.collection)
    if (!collection) return
    const counts = (found.documents[entry.collection] ??= { backup: 0, here: 0 })
    for await (const batch of usableDocuments(app, forms, entry, lines, () => 0, quietly)) {
      const here = await collection.getMany(batch.map(({ id }) => id))
      counts.here += here.size
      for (const { id, doc } of batch) {
        if (entry.collection === 'video' && films++ % filmStep === 0) found.films.push(id)
        if (!here.has(id)) tell(`${entry.collection} ${id}`)
        // Fields that a restore computes itself do not count as a difference.
        else if (
          number % step === 0 &&
          ++found.compared &&
          !Value.Equal(accept(entry.collection, id, here.get(id)!), doc)
        )
          tell(`${entry.collection} ${id}`)
        number++
      }
    }
  })
  for (const [name, backup] of Object.entries(head.documents)) {
    const counts = (found.documents[name] ??= { backup, here: 0 })
    counts.backup = backup
    const all = (await collectionOf(app, name)?.count(undefined, Number.POSITIVE_INFINITY)) ?? 0
    if (all !== backup || counts.here !== backup) tell(`${name}: ${all}`)
  }
  for (const [name, backup] of Object.entries(head.tables)) {
    if (OWN_TABLES.test(name)) continue
    const here = app.ledger.sql<{ rows: number }>(`SELECT count(*) AS rows FROM "${name}"`).get()!.rows
    found.tables[name] = { backup, here }
    if (here !== backup) tell(`table ${name}: ${here}`)
  }
  return found
}
