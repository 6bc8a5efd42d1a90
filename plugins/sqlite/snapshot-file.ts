/**
 * Copies of the index file: made step by step on the writing connection, read again for a restore. Runs in the worker.
 */
import { existsSync } from 'node:fs'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { tableNames } from './layout.ts'
import type { SnapshotDoc } from './protocol.ts'

const PAGES_A_STEP = 100
const STEPS_A_SYNC = 20
const READ_AT_ONCE = 100
/** One document may be megabytes: a batch is cut by size as well. */
const BYTES_AT_ONCE = 2_000_000

/**
 * Copies the open database. Our own writes meanwhile are taken along; another connection's would start the copying
 * anew.
 * @throws an AbortError when `isAborted` says so between two steps
 */
export async function copyTo(
  db: Database.Database,
  path: string,
  isAborted: () => boolean,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const part = `${path}.part`
  const removeParts = () =>
    Promise.all(
      [part, `${part}-wal`, `${part}-shm`, `${part}-journal`].map((leftover) => rm(leftover, { force: true })),
    )
  await removeParts()
  let syncing: Promise<void> | undefined
  let copied = 0
  try {
    await writeFile(part, '', { mode: 0o600 }) // SQLite itself would leave it to the umask
    await db.backup(part, {
      progress({ totalPages, remainingPages }) {
        if (isAborted()) throw new DOMException('aborted', 'AbortError')
        progress(totalPages - remainingPages, totalPages)
        // SQLite syncs the copy at its end, on this thread: what the disk has by then it need not wait for.
        if (++copied % STEPS_A_SYNC === 0) syncing ??= sync(part).finally(() => (syncing = undefined))
        return PAGES_A_STEP
      },
    })
    await syncing
    // One file, without a log beside it: it can be copied as it is.
    const copy = new Database(part)
    copy.pragma('synchronous = OFF')
    copy.pragma('journal_mode = DELETE')
    copy.close()
    await sync(part)
    await rename(part, path)
    await sync(dirname(path))
  } finally {
    await syncing?.catch(() => undefined)
    await removeParts()
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

export interface SnapshotReader {
  /** Collections it holds, with what their texts depend on. */
  readonly collections: Record<string, { form: string; count: number }>
  read(name: string, after: number): { docs: SnapshotDoc[]; last: number } | null
  close(): void
}

/**
 * A snapshot comes from a folder that others can write to: it is opened for reading, and nothing in its schema is
 * trusted.
 */
export function openSnapshot(path: string): SnapshotReader {
  if (!existsSync(path)) throw new Error('there is no such file')
  const db = new Database(path, { readonly: true })
  try {
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    db.pragma('cache_size = -2000')
    const tables = new Set(
      db.prepare<unknown[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all(),
    )
    const rows = db
      .prepare<unknown[], { name: string; version: number; form: string }>(
        'SELECT name, version, form FROM index_collections',
      )
      .all()
    const versions = new Map<string, number>()
    const collections: SnapshotReader['collections'] = {}
    for (const { name, version, form } of rows) {
      if (!/^[a-z][a-z0-9_]{0,63}$/.test(name) || !Number.isSafeInteger(version))
        throw new Error('it names collections in a way that is not ours')
      const names = tableNames(name, version)
      if (!tables.has(names.main) || !tables.has(names.doc)) throw new Error(`${name} is missing`)
      versions.set(name, version)
      collections[name] = {
        form: String(form),
        count: db.prepare<unknown[], number>(`SELECT count(*) FROM "${names.main}"`).pluck().get()!,
      }
    }
    return {
      collections,
      read(name, after) {
        const version = versions.get(name)
        if (version === undefined) return null
        const { main, doc } = tableNames(name, version)
        const rows = db
          .prepare<unknown[], { rid: number; id: string; text: string; internal: string | null }>(
            `SELECT m.rid, m.id, d.text, d.internal FROM "${main}" m JOIN "${doc}" d ON d.rid = m.rid WHERE m.rid > ? ORDER BY m.rid LIMIT ${READ_AT_ONCE}`,
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
      close: () => db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}
