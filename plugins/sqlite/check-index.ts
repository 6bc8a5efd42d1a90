/** The findings of `archivolt check` about the embedded index. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CheckParts, type Finding, lookAtDatabase } from 'archivolt'
import Database from 'better-sqlite3'
import { tableNames } from './layout.ts'
import { docSql, formIn } from './stored-form.ts'

const REMEDY = 'stop the server and restore a backup: archivolt restore <file>'
const DOCUMENTS = 'Documents of the embedded index'
const MOST_NAMED = 20

export function checkIndexFile({ settings }: CheckParts): Promise<Finding[]> {
  const file = join(settings.dataDir, 'index.sqlite')
  if (!existsSync(file)) return Promise.resolve([])
  const finding = lookAtDatabase(file, 'Embedded index', REMEDY)
  return Promise.resolve(finding.isRight ? [finding, checkDocuments(file)] : [finding])
}

function checkDocuments(file: string): Finding {
  const garbled = garbledIn(file)
  if (garbled.length === 0) return { what: DOCUMENTS, isRight: true, said: 'all can be read' }
  const named = garbled.slice(0, MOST_NAMED).join(', ')
  return {
    what: DOCUMENTS,
    isRight: false,
    said: `${garbled.length} are damaged (${named}): start the server, which leaves them out and repairs them from a snapshot`,
  }
}

/** `<collection> <id>` of each document whose text is not valid JSON. */
function garbledIn(file: string): string[] {
  const db = new Database(file, { readonly: true })
  try {
    const current = db
      .prepare<unknown[], { name: string; version: number }>('SELECT name, version FROM index_collections')
      .all()
    return current.flatMap(({ name, version }) => {
      const names = tableNames(name, version)
      const { join, isSound } = docSql(formIn(db, names.main), names)
      return db
        .prepare<unknown[], string>(`SELECT ? || ' ' || m.id FROM "${names.main}" m${join} WHERE NOT ${isSound}`)
        .pluck()
        .all(name)
    })
  } finally {
    db.close()
  }
}
