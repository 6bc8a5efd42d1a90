/** One process per data folder: a lock that the system itself takes back when the process dies. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

interface FolderLock {
  release(): void
}

/**
 * Holds a data folder for the life of the process. The lock is SQLite's own on an empty file: it needs no
 * package, works on every system, and never outlives its process, as a file with a process id would.
 * @throws a sentence that names the folder where another process holds it
 */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, 'lock')
  let db: Database.Database | undefined
  try {
    // Only where it is not there: closing it here would end a lock that this process has on it.
    if (!existsSync(file)) closeSync(openSync(file, 'wx', 0o600))
    db = new Database(file, { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    const code = error instanceof Database.SqliteError ? error.code : ''
    if (code.startsWith('SQLITE_BUSY')) {
      throw new Error(
        `Another Archivolt already runs on the data folder ${folder}: stop it, or give this one a folder of its own (AV_DATA_DIR)`,
        { cause: error },
      )
    }
    if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT'))
      throw new Error(`The file ${file} is damaged: remove it and start again. Nothing is lost, as it holds nothing`, {
        cause: error,
      })
    if (
      code.startsWith('SQLITE_CANTOPEN') ||
      code === 'SQLITE_READONLY' ||
      code.startsWith('SQLITE_IOERR') ||
      code === 'SQLITE_PERM'
    ) {
      throw new Error(
        `The file ${file} cannot be opened for writing: make sure that it and its folder belong to the user who runs Archivolt (or remove it, as it holds nothing)`,
        { cause: error },
      )
    }
    throw new Error(
      `The data folder ${folder} cannot be locked: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
  const held = db
  return { release: () => void held.close() }
}
