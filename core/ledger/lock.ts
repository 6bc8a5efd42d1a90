/** Locks a folder for one process. The system releases the lock when the process dies. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

export interface FolderLock {
  release(): void
}

type Refusal = 'missing' | 'taken' | 'no locks' | 'damaged' | 'unwritable'

export class LockError extends Error {
  override readonly name = 'LockError'
  readonly refusal: Refusal

  constructor(refusal: Refusal, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.refusal = refusal
  }
}

/** Locks a data folder until `release` or the end of the process. @throws a sentence: the folder, and what to do */
export function lockFolder(folder: string): FolderLock {
  const file = join(folder, 'lock')
  const sentences: Record<Refusal, string> = {
    missing: `The data folder ${folder} does not exist: set AV_DATA_DIR to the right one`,
    taken: `Another Archivolt is already using the data folder ${folder}: stop it, or set AV_DATA_DIR to another folder`,
    'no locks': `The data folder ${folder} is on a file system without file locks, such as some network shares: mount it with locks, or move the data folder to a local disk (AV_DATA_DIR)`,
    damaged: `The file ${file} is damaged: remove it and start again. It contains no data`,
    unwritable: `The file ${file} cannot be opened for writing: make sure that it and its folder belong to the user who runs Archivolt (or remove it; it contains no data)`,
  }
  try {
    return holdFile(file)
  } catch (error) {
    const said =
      error instanceof LockError
        ? sentences[error.refusal]
        : `The data folder ${folder} cannot be locked: ${error instanceof Error ? error.message : String(error)}`
    throw new Error(said, { cause: error })
  }
}

/** SQLite's lock on an empty file: works on every system, and never outlives its process. @throws LockError */
export function holdFile(file: string, mode = 0o600, waitMs = 0): FolderLock {
  let db: Database.Database | undefined
  try {
    try {
      closeSync(openSync(file, 'wx', mode))
    } catch (error) {
      // An existing file is not opened: closing it would release a lock that this process already has on it.
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
    db = new Database(file, { timeout: waitMs })
    db.pragma('journal_mode = MEMORY') // no file beside it
    db.exec('BEGIN EXCLUSIVE')
    rmSync(`${file}-journal`, { force: true })
  } catch (error) {
    db?.close()
    const refusal = refusalOf(error, file)
    throw refusal ? new LockError(refusal, error) : error
  }
  return { release: () => void db?.close() }
}

function refusalOf(error: unknown, file: string): Refusal | undefined {
  const { code = '' } = error as { code?: string }
  // SQLite also reports busy if the file system has no locks (ENOLCK).
  if (code.startsWith('SQLITE_BUSY')) return givesLocks(file) ? 'taken' : 'no locks'
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing'
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) return 'damaged'
  if (
    ['EACCES', 'EPERM', 'EROFS', 'SQLITE_READONLY', 'SQLITE_PERM'].includes(code) ||
    code.startsWith('SQLITE_CANTOPEN') ||
    code.startsWith('SQLITE_IOERR')
  )
    return 'unwritable'
  return undefined
}

/** Tests whether the file system has locks, with another file that nobody has open. */
function givesLocks(file: string): boolean {
  const beside = `${file}-${process.pid}.part`
  let db: Database.Database | undefined
  try {
    db = new Database(beside, { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    return !(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
  } finally {
    db?.close()
    rmSync(beside, { force: true })
  }
}
