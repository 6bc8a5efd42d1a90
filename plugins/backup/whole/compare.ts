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
/** Tables that every start or the backup itself changes. */
const OWN_TABLES = /^(meta|generation|migrations|jobs|job_log|notifications|schedules|backup_run)$/

export interface Comparison {
  /** By collection: documents in the backup, and how many of them are here. */
  documents: Record<string, { backup: number; here: number }>
  /** Documents that are not here, or more than are in the backup; by kind and id. */
  wrong: string[]
  /** Documents that were compared field by field. */
  compared: number
  tables: Record<string, { backup: number; here: number }>
  /** Ids of some videos. */
  films: string[]
}

export async function compareWith(app: App, forms: Forms, zip: string, head: Head): Promise<Comparison> {
  const accept = acceptDocuments(app)
  const total = Object.values(head.documents).reduce((sum, count) => sum + count, 0)
  const [step, filmStep] = [Math.ceil(total / COMPARED), Math.ceil((head.documents['video'] ?? 0) / FILMS)]
  // Names come from the file, and `constructor` is in every plain object.
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
        // What a restore computes itself is no difference.
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
