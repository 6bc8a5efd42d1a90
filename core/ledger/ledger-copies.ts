/** Copies and opens the ledger's file, and checks every page of it. */
import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { syncFolder } from '../base/whole-file.ts'
import { mustBeWhole, refuseUnlessOk } from './whole-check.ts'

const PAGES_A_STEP = 100

/**
 * An interrupted copy, or one of a damaged ledger, never gets its final name, and so never replaces an older copy. Made
 * by SQLite: opening and closing its file by other means would release its locks in this process.
 */
export async function backupTo(db: Database.Database, path: string, signal?: AbortSignal): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.part`
  const progress = () => {
    signal?.throwIfAborted()
    return PAGES_A_STEP
  }
  try {
    closeSync(openSync(part, 'w', 0o600)) // SQLite would apply the umask instead
    await db.backup(part, { progress })
    markAsOlder(part)
    await mustBeWhole(part, signal)
    renameSync(part, path)
    syncFolder(dirname(path))
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) rmSync(part + end, { force: true })
  }
}

/** Makes the copy count as older than the index, in case somebody replaces the ledger by hand (`generation.ts`). */
function markAsOlder(copy: string): void {
  const db = new Database(copy)
  try {
    const isKept = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'generation'").get() !== undefined
    if (isKept) db.exec('UPDATE generation SET number = 0, next = NULL')
  } finally {
    db.close()
  }
}

/** Opens a file and checks all its pages. @throws SqliteError; see isDamage */
export function openChecked(file: string, options: { readonly?: boolean } = {}): Database.Database {
  const db = new Database(file, { timeout: 5000, ...options })
  try {
    // The check reads the whole file once. With the 16 MB of better-sqlite3 the heap would grow by as much for good.
    db.pragma('cache_size = -1000')
    refuseUnlessOk(db.pragma('quick_check(1)', { simple: true }))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
