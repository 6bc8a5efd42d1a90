/** Keeps copies of the ledger: one before a migration, one per day. `damaged-ledger.ts` restores them. */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Clock, type CopyLedger, DAY_MS, futureLast, type Log } from 'archivolt'

const KEPT_OF_A_KIND = 3
const CHECK_EVERY_MS = 60 * 60 * 1000
/** Time limit for a copy during shutdown, which has ten seconds in total. */
const STOP_COPY_MS = 5000
const KINDS = ['daily', 'before-migration'] as const
type Kind = (typeof KINDS)[number]

export const copiesFolder = (file: string): string => join(dirname(file), 'ledger-copies')

export const stampOf = (ms: number): string => new Date(ms).toISOString().replaceAll(/[:.]/g, '-')

/**
 * All copies of a ledger, newest first. @param now  copies dated more than a day later were made with a wrong clock,
 * and come last
 */
export function copiesOf(file: string, now = Infinity): string[] {
  const folder = copiesFolder(file)
  if (!existsSync(folder)) return []
  const newestFirst = readdirSync(folder)
    .filter((name) => name.endsWith('.sqlite'))
    .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? 1 : -1))
  return futureLast(newestFirst, ({ at }) => at > now + DAY_MS).map(({ path }) => path)
}

function dropOldCopies(file: string, kind: Kind, now: number): void {
  const ofKind = copiesOf(file, now).filter((path) => basename(path).startsWith(`${kind}-`))
  for (const path of ofKind.slice(KEPT_OF_A_KIND)) rmSync(path, { force: true })
}

/** @throws SqliteError  the ledger is damaged */
export async function copyBeforeMigration(file: string, now: number, copy: CopyLedger): Promise<string> {
  const path = join(copiesFolder(file), `before-migration-${stampOf(now)}.sqlite`)
  await copy(path)
  dropOldCopies(file, 'before-migration', now)
  return path
}

/**
 * Checks every hour whether today's copy exists, and otherwise makes it; keeps the newest three. A clean shutdown makes
 * today's copy again, because the first copy of an installation is older than its accounts, unless the ledger is too
 * large for the time. A failed copy is logged and retried.
 */
export function keepDailyCopies(options: { file: string; copy: CopyLedger; clock: Clock; log: Log }): {
  close(): Promise<void>
} {
  const { file, copy, clock, log } = options
  const ofToday = () => join(copiesFolder(file), `daily-${stampOf(clock.now()).slice(0, 10)}.sqlite`)
  const copyToday = async (signal: AbortSignal) => {
    try {
      await copy(ofToday(), signal)
      dropOldCopies(file, 'daily', clock.now())
      log.info('ledger copied')
    } catch (error) {
      if (signal.aborted)
        log.info('the ledger was not copied at this stop, as that takes too long; older copies are kept')
      else
        log.error(
          { err: error },
          'the daily copy of the ledger failed, and older ones are kept; the next attempts are in an hour and when the server stops',
        )
    }
  }
  const closing = new AbortController()
  let looking: Promise<void> = Promise.resolve()
  let timer = clock.after(0, function again() {
    looking = existsSync(ofToday()) ? Promise.resolve() : copyToday(closing.signal)
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
      await copyToday(tooLong.signal)
      limit.cancel()
    },
  }
}

/** Protects this copy from rotation: copies of a later, blank ledger must not replace it. */
export function keepForGood(file: string): void {
  for (const copy of copiesOf(file)) {
    const name = basename(copy)
    if (KINDS.some((kind) => name.startsWith(`${kind}-`))) renameSync(copy, join(dirname(copy), `kept-${name}`))
  }
}
