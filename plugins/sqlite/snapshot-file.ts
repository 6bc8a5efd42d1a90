/** Copies the index file piece by piece, and reads copies for a restore. Runs in the worker. */
import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { tableNames } from './layout.ts'
import type { SnapshotDoc } from './protocol.ts'
import { docSql, formIn } from './stored-form.ts'

const BYTES_A_STEP = 1_048_576
/** More data at once would keep the disk busy for everyone else. */
const STEPS_A_SYNC = 32
const CHECK_AGAIN_MS = 20
const READ_AT_ONCE = 100
/** A document may have megabytes, so batches are limited by size too. */
const BYTES_AT_ONCE = 2_000_000

/**
 * Copies the open database as it is at the beginning; later writes wait in the log. It copies the file's bytes:
 * SQLite's backup reads each page through a fixed cache of 16 MB, whose memory is never freed.
 * @param db      the only connection that checkpoints the log
 * @param source  the same file; close it after all connections of this process, because closing it releases their locks
 * @throws an AbortError if `isAborted` returns true between two steps
 */
export async function copyTo(
  db: Database.Database,
  source: FileHandle,
  path: string,
  isAborted: () => boolean,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const part = `${path}.part`
  const removeParts = () =>
    Promise.all(
      [part, `${part}-wal`, `${part}-shm`, `${part}-journal`].map((leftover) => rm(leftover, { force: true })),
    )
  const refuseAborted = () => {
    if (isAborted()) throw new DOMException('aborted', 'AbortError')
  }
  await removeParts()
  const pagesBetween = db.pragma('wal_autocheckpoint', { simple: true }) as number
  try {
    while (!holdsItsLog(db)) {
      refuseAborted()
      await setTimeout(CHECK_AGAIN_MS)
    }
    db.pragma('wal_autocheckpoint = 0')
    await copyBytes(source, part, (done, total) => {
      refuseAborted()
      progress(done, total)
    })
    // Makes the copy a single file without a log.
    const copy = new Database(part)
    copy.pragma('synchronous = OFF')
    copy.pragma('journal_mode = DELETE')
    copy.close()
    await sync(part)
    await rename(part, path)
    await sync(dirname(path))
  } finally {
    db.pragma(`wal_autocheckpoint = ${pagesBetween}`)
    await removeParts()
  }
}

/** Checkpoints the log as far as readers allow. @returns whether the file alone is now the whole database */
function holdsItsLog(db: Database.Database): boolean {
  if (db.inTransaction) return false
  const [state] = db.pragma('wal_checkpoint(PASSIVE)') as Array<{ busy: number; log: number; checkpointed: number }>
  return state!.busy === 0 && state!.log === state!.checkpointed
}

async function copyBytes(
  source: FileHandle,
  path: string,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const target = await open(path, 'wx', 0o600)
  try {
    const { size } = await source.stat()
    const piece = Buffer.allocUnsafe(BYTES_A_STEP)
    for (let at = 0, steps = 1; at < size; steps++) {
      progress(at, size)
      const { bytesRead } = await source.read(piece, 0, Math.min(BYTES_A_STEP, size - at), at)
      if (bytesRead === 0) throw new Error('the file of the index became shorter while it was copied')
      await target.writeFile(piece.subarray(0, bytesRead))
      at += bytesRead
      if (steps % STEPS_A_SYNC === 0) await target.datasync()
    }
  } finally {
    await target.close()
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function openFile(path: string): Database.Database {
  if (!existsSync(path)) throw new Error('there is no such file')
  const db = new Database(path, { readonly: true })
  db.pragma('trusted_schema = OFF')
  db.pragma('cell_size_check = ON')
  db.pragma('cache_size = -2000')
  return db
}

/** `text, internal FROM …` of a version, as this file stores it. */
function docsIn(db: Database.Database, name: string, version: number): string {
  const names = tableNames(name, version)
  const { join, text, internal } = docSql(formIn(db, names.main), names)
  return `${text} AS text, ${internal} AS internal FROM "${names.main}" m${join}`
}

/** Reads single documents of a snapshot, and nothing else. */
export function pickFrom(path: string, name: string, ids: readonly string[]): SnapshotDoc[] {
  const db = openFile(path)
  try {
    const version = db
      .prepare<unknown[], number>('SELECT version FROM index_collections WHERE name = ?')
      .pluck()
      .get(name)
    if (!Number.isSafeInteger(version)) return []
    const pick = db.prepare<unknown[], SnapshotDoc>(`SELECT m.id, ${docsIn(db, name, version!)} WHERE m.id = ?`).raw()
    return ids.map((id) => pick.get(id)).filter((found) => found !== undefined)
  } finally {
    db.close()
  }
}

export type SnapshotReader = ReturnType<typeof openSnapshot>

/**
 * Others may be able to write to the snapshot folder, so a snapshot is opened read-only and its schema is not trusted.
 */
export function openSnapshot(path: string) {
  const db = openFile(path)
  try {
    const tables = new Set(
      db.prepare<unknown[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all(),
    )
    const rows = db
      .prepare<unknown[], { name: string; version: number; form: string }>(
        'SELECT name, version, form FROM index_collections',
      )
      .all()
    const sources = new Map<string, string>()
    /** Its collections and the `form` of their texts. */
    const collections: Record<string, { form: string; count: number }> = {}
    for (const { name, version, form } of rows) {
      if (!/^[a-z][a-z0-9_]{0,63}$/.test(name) || !Number.isSafeInteger(version))
        throw new Error('it has a collection with an invalid name or version')
      const names = tableNames(name, version)
      if (!tables.has(names.main) || !tables.has(names.doc)) throw new Error(`${name} is missing`)
      if (formIn(db, names.main) && !tables.has(names.flat)) throw new Error(`${name} is missing`)
      sources.set(name, docsIn(db, name, version))
      collections[name] = {
        form: String(form),
        count: db.prepare<unknown[], number>(`SELECT count(*) FROM "${names.main}"`).pluck().get()!,
      }
    }
    return {
      collections,
      read(name: string, after: number): { docs: SnapshotDoc[]; last: number } | null {
        const from = sources.get(name)
        if (from === undefined) return null
        const rows = db
          .prepare<unknown[], { rid: number; id: string; text: string; internal: string | null }>(
            `SELECT m.rid, m.id, ${from} WHERE m.rid > ? ORDER BY m.rid LIMIT ${READ_AT_ONCE}`,
          )
          .iterate(after)
        const docs: SnapshotDoc[] = []
        let last: number | undefined
        let size = 0
        for (const { rid, id, text, internal } of rows) {
          docs.push([id, text, internal])
          last = rid
          size += text.length
          if (size > BYTES_AT_ONCE) break
        }
        return last === undefined ? null : { docs, last }
      },
      close: (): void => void db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}
