/**
 * Updates yt-dlp, with the solver scripts and the runtime that it pins, in a folder next to the current one. After a
 * successful test (canaries.ts), new children use it. If anything fails, the current one stays.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, epochSeconds, inEnglish, type Ledger, type Log, type Step, say, type Words } from 'archivolt'
import { tryBuild, type Verdict } from './canaries.ts'
import { DATA_SPARE_BYTES, freeBytes } from './free-space.ts'
import { IndexError, type Package, type PackageIndex, type Release } from './package-index.ts'
import type { Build, Tools } from './tools.ts'

/** The result of the last check. */
interface LastCheck {
  outcome: 'none' | 'current' | 'updated' | 'refused' | 'postponed' | 'failed'
  /** Epoch seconds. */
  checked: number
  /** The version that was checked. */
  version: string
  /** Why the current version stays in use, as a text for users. */
  message: Words
}

export const updateTables = {
  number: 2,
  sql: `
    CREATE TABLE platform_update (id INTEGER PRIMARY KEY CHECK (id = 1), record TEXT NOT NULL) STRICT;
    CREATE TABLE platform_refused_build (version TEXT PRIMARY KEY, reason TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  `,
}

interface UpdateParts {
  tools: Tools
  index: PackageIndex
  channel: () => 'stable' | 'nightly'
  ledger: Ledger
  clock: Clock
  log: Log
  /** Why the platform must not be asked now, as a text for users; undefined: it may be asked. */
  hindrance: () => Words | undefined
  canaries: Omit<Parameters<typeof tryBuild>[1], 'tools' | 'clock' | 'log'>
  /** Called when another build is in use. */
  onSwitched: () => void
}

/** The free disk space that is required for a release, packed and unpacked. */
const NEEDED_BYTES = 100 << 20
const RUNTIME_BYTES = 250 << 20
/** The developers of yt-dlp usually withdraw a bad release within this time. */
const RIPE_MS = 48 * 3_600_000
const FOLDER = /^yt-dlp-(\d[\d.]*)$/

export type Updates = ReturnType<typeof openUpdates>

export function openUpdates({
  tools,
  ledger,
  index,
  channel,
  hindrance,
  canaries,
  clock,
  log,
  onSwitched,
}: UpdateParts) {
  const home = tools.updatesDir
  const remove = (name: string): Promise<void> => rm(join(home, name), { recursive: true, force: true })

  function last(): LastCheck {
    const row = ledger.sql<{ record: string }>('SELECT record FROM platform_update WHERE id = 1').get()
    return row ? (JSON.parse(row.record) as LastCheck) : { outcome: 'none', checked: 0, version: '', message: '' }
  }

  /**
   * Uses the newest build that an earlier run has accepted, and deletes all others: no child process can use them yet.
   * Whether that build still loads, and is newer than the one installed by `make`, is checked during the start.
   */
  async function begin(): Promise<void> {
    const names = await readdir(home).catch(() => [])
    const [newest, ...others] = names.filter((name) => FOLDER.test(name)).sort(newestFirst)
    for (const name of [...names.filter((one) => !FOLDER.test(one)), ...others]) await remove(name)
    if (newest === undefined) return
    const build = { path: join(home, newest) }
    tools.updated = build
    void shouldKeep(build).then(
      async (isKept) => {
        if (isKept || tools.updated !== build) return
        use(undefined)
        await remove(newest)
      },
      (error: unknown) => log.error({ err: error }, 'could not check whether the updated yt-dlp still works'),
    )
  }

  async function shouldKeep(build: Build): Promise<boolean> {
    const [own, found] = [await tools.versionOf(null), await tools.versionOf(build)]
    return found !== undefined && (own === undefined || isNewer(found.version, own.version))
  }

  /**
   * @param atOnce  accepts releases of the last two days, because the current one fails or an admin has asked for it
   * @returns the version that is now in use; undefined: unchanged. @throws the signal's reason
   */
  async function update({ atOnce }: { atOnce: boolean }, signal: AbortSignal, step: Step): Promise<string | undefined> {
    const next = join(home, 'next')
    let version = ''
    try {
      const inUse = (await tools.versionOf())?.version
      const release = await step('update.look', () => newest(atOnce, inUse, signal))
      if (!release) return await note('current', inUse ?? '', '')
      version = release.version
      const verdict = await tryOut(release, next, signal, step)
      signal.throwIfAborted()
      if (verdict.is === 'unclear') return await note('postponed', version, verdict.reason)
      if (verdict.is === 'bad') return await refuse(version, verdict.reason)
      await step('update.take', () => take(version, next))
      await note('updated', version, '')
      return version
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ err: error, version }, 'yt-dlp could not be updated; the current version stays in use')
      return await note('failed', version, error instanceof IndexError ? error.words : say`the log says why`)
    } finally {
      await rm(next, { recursive: true, force: true })
    }
  }

  /** Undefined: no release is newer, old enough, and not rejected before. */
  async function newest(atOnce: boolean, inUse: string | undefined, signal: AbortSignal): Promise<Release | undefined> {
    const isAnyTaken = atOnce || channel() === 'nightly'
    const wanted = {
      channel: channel(),
      // A version is the day of its release. The hour is unknown, so the 48 hours count from the end of that day.
      ...(!isAnyTaken && { before: dayOf(new Date(clock.now() - RIPE_MS)) }),
      not: refused(inUse),
    }
    const release = await index.newest(wanted, signal)
    return inUse === undefined || isNewer(release.version, inUse) ? release : undefined
  }

  function refused(inUse: string | undefined): string[] {
    return ledger
      .sql<{ version: string }>('SELECT version FROM platform_refused_build')
      .all()
      .map(({ version }) => version)
      .filter((version) => inUse === undefined || isNewer(version, inUse))
  }

  async function tryOut(release: Release, folder: string, signal: AbortSignal, step: Step): Promise<Verdict> {
    const reason = hindrance()
    if (reason !== undefined) return { is: 'unclear', reason }
    const runtime = await runtimeOf(release)
    await mkdir(home, { recursive: true })
    if ((await freeBytes(home)) < NEEDED_BYTES + (runtime ? RUNTIME_BYTES : 0) + DATA_SPARE_BYTES)
      throw new IndexError(say`there is not enough space on the disk of the data folder`)
    await step('update.lay', async () => {
      const files = await index.files([release, release.solver, ...(runtime ? [runtime] : [])], signal)
      await index.install(files, folder, signal)
    })
    return step('update.try', () => tryBuild({ path: folder }, { tools, clock, log, ...canaries }, signal))
  }

  /** The runtime to install as well: if the current one has another version, or is missing. */
  async function runtimeOf({ runtime }: Release): Promise<Package | undefined> {
    const found = (await tools.challenge())?.runtime
    if (!runtime || !found) return undefined
    if (found.state === 'missing') return runtime
    return found.name === runtime.name && found.version !== runtime.version ? runtime : undefined
  }

  async function take(version: string, next: string): Promise<void> {
    const before = tools.updated
    const name = `yt-dlp-${version.replace(/[^\d.]/g, '')}`
    await remove(name)
    await rename(next, join(home, name))
    use({ path: join(home, name) })
    log.info({ version }, 'a new version of yt-dlp is now in use')
    // A download may still use the previous build, which is removed at the next update or start.
    for (const other of await readdir(home))
      if (other !== name && join(home, other) !== before?.path) await remove(other)
  }

  function use(build: Build | undefined): void {
    tools.updated = build
    tools.forget()
    onSwitched()
  }

  async function refuse(version: string, reason: Words): Promise<undefined> {
    log.warn(
      { version, reason: inEnglish(reason) },
      'a new version of yt-dlp has failed its test; the current one stays in use',
    )
    await ledger.write(() =>
      ledger
        .sql('INSERT OR REPLACE INTO platform_refused_build (version, reason, at) VALUES (?, ?, ?)')
        .run(version, inEnglish(reason), epochSeconds(clock)),
    )
    return note('refused', version, reason)
  }

  async function note(outcome: LastCheck['outcome'], version: string, message: Words): Promise<undefined> {
    const record: LastCheck = { outcome, checked: epochSeconds(clock), version, message }
    await ledger.write(() =>
      ledger
        .sql(
          'INSERT INTO platform_update (id, record) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
        )
        .run(JSON.stringify(record)),
    )
  }

  return { last, begin, update }
}

/** `2026.11.20` */
const dayOf = (date: Date): string => [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()].join('.')

const newestFirst = (one: string, other: string): number =>
  isNewer(FOLDER.exec(one)?.[1] ?? '', FOLDER.exec(other)?.[1] ?? '') ? -1 : 1

/** Compares versions of numbers and dots. */
export function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10) || 0),
  ) as [number[], number[]]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
