/** Damages stored documents of the embedded index, bypassing the server. */
import { join } from 'node:path'
import Database from 'better-sqlite3'

/** Changes one letter of the stored text, as a failing disk might. */
export function garble({ dataDir }: { dataDir: string }, collection: string, id: string, from = '":', to = '"/'): void {
  const db = new Database(join(dataDir, 'index.sqlite'))
  const version = db.prepare('SELECT version FROM index_collections WHERE name = ?').pluck().get(collection)
  const [main, doc] = [`${collection}_v${version}`, `${collection}_v${version}_doc`]
  const { text } = db
    .prepare(`SELECT text FROM "${doc}" WHERE rid = (SELECT rid FROM "${main}" WHERE id = ?)`)
    .get(id) as { text: string }
  db.prepare(`UPDATE "${doc}" SET text = ? WHERE rid = (SELECT rid FROM "${main}" WHERE id = ?)`).run(
    text.replace(from, to),
    id,
  )
  db.close()
}
