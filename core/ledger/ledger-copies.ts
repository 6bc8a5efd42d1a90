/** Copies of the ledger: before a migration, one a day, and the way back from the newest one. */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { type Clock, DAY_MS } from '../clock.ts'
import type { Log } from '../log.ts'
import { say, sentenceOf, type Words } from '../say.ts'

const KEPT_OF_A_KIND = 3
const CHECK_EVERY_MS = 60 * 60 * 1000
const KINDS = ['daily', 'before-migration'] as const
type Kind = (typeof KINDS)[number]

export const copiesFolder = (file: string): string => join(dirname(file), 'ledger-copies')

const stampOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/[:.]/g, '-')

/**
 * All copies of a ledger, newest first. @param now  those of a day to come were made while the clock was wrong: they
 * are the last
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

export async function copyBeforeMigration(db: Database.Database, file: string, now: number): Promise<string> {
  const path = join(copiesFolder(file), `before-migration-${stampOf(now)}.sqlite`)
  await backupTo(db, path)
  dropOldCopies(file, 'before-migration', now)
  return path
}

/**
 * The online backup, by rename: a copy that was cut off is never taken for a whole one. By SQLite itself: whoever opens
 * and closes its file by other means ends its locks in this process.
 */
export async function backupTo(db: Database.Database, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(`${path}.part`, 'w', 0o600)) // SQLite itself would leave it to the umask
    await db.backup(`${path}.part`)
    markAsOlder(`${path}.part`)
    renameSync(`${path}.part`, path)
  } finally {
    rmSync(`${path}.part`, { force: true })
  }
}

/** Whoever puts the copy in the place of the ledger by hand has an older one than the index (`index/generation.ts`). */
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
 * Looks every hour whether today has its copy, and makes it; the newest three are kept. At a clean stop today's is made
 * anew:
 * the first one of an installation is older than its accounts. A copy that fails is logged and tried again.
 */
export function keepDailyCopies(options: {
  file: string
  ledger: { backup(path: string): Promise<void> }
  clock: Clock
  log: Log
}): { close(): Promise<void> } {
  const { file, ledger, clock, log } = options
  const ofToday = () => join(copiesFolder(file), `daily-${stampOf(clock.now()).slice(0, 10)}.sqlite`)
  const copy = async () => {
    try {
      await ledger.backup(ofToday())
      dropOldCopies(file, 'daily', clock.now())
      log.info('ledger copied')
    } catch (error) {
      log.error(
        { err: error },
        'the daily copy of the ledger failed; it is tried again in an hour, and when the server stops',
      )
    }
  }
  let isClosed = false
  let looking: Promise<void> = Promise.resolve()
  let timer = clock.after(0, function again() {
    looking = existsSync(ofToday()) ? Promise.resolve() : copy()
    void looking.then(() => {
      if (!isClosed) timer = clock.after(CHECK_EVERY_MS, again)
    })
  })
  return {
    async close() {
      isClosed = true
      timer.cancel()
      await looking
      await copy()
    },
  }
}

/** Whether what SQLite says means that the file itself is bad (not the disk, not its permissions). */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Opens a file and reads it through. @throws SqliteError; see isDamage */
export function openChecked(file: string, options: { readonly?: boolean } = {}): Database.Database {
  const db = new Database(file, { timeout: 5000, ...options })
  try {
    const said = db.pragma('quick_check(1)', { simple: true })
    if (said !== 'ok') throw new Database.SqliteError(String(said), 'SQLITE_CORRUPT')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** What is wrong with a ledger that cannot be used. */
export type LedgerFault = keyof typeof FAULTS
const FAULTS = {
  missing: sentenceOf(say`missing`),
  empty: sentenceOf(say`empty`),
  damaged: sentenceOf(say`damaged`),
}

/**
 * Puts the newest good copy in the place of a ledger that cannot be used; what is there is moved aside.
 * Cut off at any point, the ledger is missing, and the next start does the same.
 * @returns the open file (a blank one where no copy is good) and what was done, for the log and the page
 */
export function recoverFrom(file: string, fault: LedgerFault, now: number): { db: Database.Database; said: Words } {
  const aside = `${file}.damaged-${stampOf(now)}`
  const isMoved = existsSync(file)
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(file + end)) renameSync(file + end, aside + end)
  }
  const what = FAULTS[fault]
  const part = `${file}.part`
  for (const copy of copiesOf(file, now)) {
    copyFileSync(copy, part)
    chmodSync(part, 0o600)
    try {
      openChecked(part).close()
      syncFile(part)
      renameSync(part, file)
      const said = isMoved
        ? say`The ledger ${{ file }} was ${{ fault: what }}: it was moved to ${{ aside }} and the copy ${{ copy }} took its place`
        : say`The ledger ${{ file }} was ${{ fault: what }}: the copy ${{ copy }} took its place`
      return { db: openChecked(file), said }
    } catch (error) {
      rmSync(part, { force: true })
      if (!isDamage(error)) throw error
    }
  }
  // Those of the blank ledger, day by day, must not put them out.
  for (const copy of copiesOf(file)) {
    const name = basename(copy)
    if (KINDS.some((kind) => name.startsWith(`${kind}-`))) renameSync(copy, join(dirname(copy), `kept-${name}`))
  }
  closeSync(openSync(file, 'a', 0o600))
  return {
    db: openChecked(file),
    said: isMoved
      ? say`The ledger ${{ file }} was ${{ fault: what }} and there is no copy of it: it was moved to ${{ aside }} and a blank one took its place`
      : say`The ledger ${{ file }} was ${{ fault: what }} and there is no copy of it: a blank one took its place`,
  }
}

function syncFile(path: string): void {
  const handle = openSync(path, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
