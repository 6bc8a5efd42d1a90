/** What `archivolt check` says of the embedded index, where there is one. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CheckParts, Finding } from 'archivolt'
import Database from 'better-sqlite3'

const REMEDY = 'stop the server and restore a backup: archivolt restore <file>'

export function lookAtIndex({ settings }: CheckParts): Promise<Finding[]> {
  const file = join(settings.dataDir, 'index.sqlite')
  return Promise.resolve(existsSync(file) ? [lookAt(file)] : [])
}

function lookAt(file: string): Finding {
  const what = 'Embedded index'
  try {
    const db = new Database(file, { readonly: true, timeout: 5000 })
    try {
      const said = String(db.pragma('quick_check(1)', { simple: true }))
      return { what, isRight: said === 'ok', said: said === 'ok' ? 'whole' : `${said}; ${REMEDY}` }
    } finally {
      db.close()
    }
  } catch (error) {
    return { what, isRight: false, said: `${error instanceof Error ? error.message : String(error)}; ${REMEDY}` }
  }
}
