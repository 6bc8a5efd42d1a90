/** Makes checked copies of the ledger: one before a migration, one a day. `damaged-ledger.ts` restores them. */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { type Clock, DAY_MS } from '../base/clock.ts'
import { syncFolder } from '../base/whole-file.ts'
import type { Log } from '../log.ts'
import { mustBeWhole, refuseUnlessOk } from './whole-check.ts'

const KEPT_OF_A_KIND = 3
const CHECK_EVERY_MS = 60 * 60 * 1000
/** A shutdown has ten seconds in total. */
const STOP_COPY_MS = 5000
const PAGES_A_STEP = 100
const KINDS = ['daily', 'before-migration'] as const
type Kind = (typeof KINDS)[number]

export const copiesFolder = (file: string): string => join(dirname(file), 'ledger-copies')

export const stampOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/[:.]/g, '-')

/**
 * All copies of a ledger, newest first. @param now  copies dated in the future were made with a wrong clock and sort
 * last
 */
export function copiesOf(file: string, now = Infinity): string[] {
  const folder = copiesFolder(file)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sqlite'))
    .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
    .sort(
      (a, b) => Number(a.at > now + DAY_MS) - Number(b.at > now + DAY_MS) || b.at - a.at || (a.path < b.path ? 1 : -1),
    )
    .map(({ path }) => path)
}

function dropOldCopies(file: string, kind: Kind, now: number): void {
  const ofKind = copiesOf(file, now).filter((path) => basename(path).startsWith(`${kind}-`))
  for (const path of ofKind.slice(KEPT_OF_A_KIND)) rmSync(path, { force: true })
}

/** @throws SqliteError  the ledger is damaged */
export async function copyBeforeMigration(db: Database.Database, file: string, now: number): Promise<string> {
  const path = join(copiesFolder(file), `before-migration-${stampOf(now)}.sqlite`)
  await backupTo(db, path)
  dropOldCopies(file, 'before-migration', now)
  return path
}

/**
 * Makes an online backup, checks and renames it. An interrupted copy, or one of a damaged ledger, never gets its final
 * name, and so never causes an older copy to be removed. SQLite itself makes the copy: opening and closing its file by
 * other means would release its locks in this process.
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

/**
 * Marks the copy as older than the index, in case somebody replaces the ledger with it by hand (`index/generation.ts`).
 */
function markAsOlder(copy: string): void {
  const db = new Database(copy)
  try {
    const isKept = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'generation'").get() !== undefined
    if (isKept) db.exec('UPDATE generation SET number = 0, next = NULL')
  } finally {
    db.close()
  }
}

/**
 * Checks every hour whether today's copy exists, and otherwise makes it; keeps the newest three. A clean shutdown makes
 * today's copy again, because the first copy of an installation is older than its accounts, unless the ledger is too
 * large for the time. A failed copy is logged and retried.
 */
export function keepDailyCopies(options: {
  file: string
  ledger: { backup(path: string, signal?: AbortSignal): Promise<void> }
  clock: Clock
  log: Log
}): { close(): Promise<void> } {
  const { file, ledger, clock, log } = options
  const ofToday = () => join(copiesFolder(file), `daily-${stampOf(clock.now()).slice(0, 10)}.sqlite`)
  const copy = async (signal: AbortSignal) => {
    try {
      await ledger.backup(ofToday(), signal)
      dropOldCopies(file, 'daily', clock.now())
      log.info('ledger copied')
    } catch (error) {
      if (signal.aborted) log.info('the ledger was not copied at this stop, as that takes too long; older copies stay')
      else
        log.error(
          { err: error },
          'the daily copy of the ledger failed, and older ones stay; it is tried again in an hour, and when the server stops',
        )
    }
  }
  const closing = new AbortController()
  let looking: Promise<void> = Promise.resolve()
  let timer = clock.after(0, function again() {
    looking = existsSync(ofToday()) ? Promise.resolve() : copy(closing.signal)
    void looking.then(() => {
      if (!closing.signal.aborted) timer = clock.after(CHECK_EVERY_MS, again)
    })
  })
  return {
    async close() {
      closing.abort()
      timer.cancel()
      await looking
      const tooLong = new AbortController()
      const limit = clock.after(STOP_COPY_MS, () => tooLong.abort())
      await copy(tooLong.signal)
      limit.cancel()
    },
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

/** Protects this copy from rotation: copies of a later, blank ledger must not replace it. */
export function keepForGood(file: string): void {
  for (const copy of copiesOf(file)) {
    const name = basename(copy)
    if (KINDS.some((kind) => name.startsWith(`${kind}-`))) renameSync(copy, join(dirname(copy), `kept-${name}`))
  }
}
