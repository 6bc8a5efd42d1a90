/** Reads a collection that no plugin declares any more, for the plugin that now stores its documents elsewhere. */
import { type JsonObject, type Leftover, readDoc } from 'archivolt/index'
import type { Connection } from './connection.ts'
import { tableNames } from './layout.ts'
import { docSql, formIn } from './stored-form.ts'

const BATCH = 200

interface Row {
  id: string
  text: string
  internal: string | null
}

interface Left {
  reader: Connection
  name: string
  onGarbled(id: string): void
  remove(): Promise<void>
}

/** undefined: the file has no such collection. */
export function leftoverOf({ reader, name, onGarbled, remove }: Left): Leftover | undefined {
  const version = reader.pluck<number>('SELECT version FROM index_collections WHERE name = ?').get(name)
  if (version === undefined) return undefined
  const names = tableNames(name, version)
  const { join, text, internal } = docSql(formIn(reader.db, names.main), names)
  const page = `SELECT m.id, ${text} AS text, ${internal} AS internal FROM "${names.main}" m${join} WHERE m.id > ? ORDER BY m.id LIMIT ?`
  return {
    remove,
    async *scan() {
      for (let rows: Row[], after = ''; ; after = rows.at(-1)!.id) {
        rows = reader.sql<Row>(page).all(after, BATCH)
        yield rows.flatMap(({ id, text, internal }): Array<{ id: string; doc: JsonObject }> => {
          const found = readDoc(text, internal)
          if (found) return [{ id, doc: found }]
          onGarbled(id)
          return []
        })
        if (rows.length < BATCH) return
      }
    },
  }
}
