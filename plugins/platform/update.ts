/**
 * A newer yt-dlp, with the solver scripts and the runtime that it pins, in a folder beside the one in use: once it has
 * shown itself as good (canaries.ts) children are started with it. Whatever goes wrong, the one in use stays.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, epochSeconds, inEnglish, type Ledger, type Log, type Step, say, type Words } from 'archivolt'
import { tryBuild, type Verdict } from './canaries.ts'
import { IndexError, type Package, type PackageIndex, type Release } from './package-index.ts'
import { freeBytes } from './room.ts'
import type { Build, Tools } from './tools.ts'

/** What the last look came to. */
interface LastLook {
  outcome: 'none' | 'current' | 'updated' | 'refused' | 'postponed' | 'failed'
  /** Epoch seconds. */
  checked: number
  /** Of the build that was looked at. */
  version: string
  /** For people: why the one in use stays. */
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
  /** Why the platform must not be asked now, for people; undefined: it may. */
  hindrance: () => Words | undefined
  canaries: Omit<Parameters<typeof tryBuild>[1], 'tools' | 'clock' | 'log'>
  /** Another build is in use. */
  onSwitched: () => void
}

/** What a release needs on the disk, unpacked and packed, beside what must stay free. */
const NEEDED_BYTES = 100 << 20
const RUNTIME_BYTES = 250 << 20
/** A bad release is taken back within that time by those who made it. */
const RIPE_MS = 48 * 3_600_000
const FOLDER = /^yt-dlp-(\d[\d.]*)$/

export class Updates {
  #parts: UpdateParts
  #home: string

  constructor(parts: UpdateParts) {
    this.#parts = parts
    this.#home = parts.tools.updatesDir
  }

  last(): LastLook {
    const row = this.#parts.ledger.sql<{ record: string }>('SELECT record FROM platform_update WHERE id = 1').get()
    return row ? (JSON.parse(row.record) as LastLook) : { outcome: 'none', checked: 0, version: '', message: '' }
  }

  /**
   * Takes up the newest that an earlier run has found good, and removes all others: no child runs yet. Whether it still
   * loads, and is newer than what `make` has brought meanwhile, is looked at beside the start.
   */
  async begin(): Promise<void> {
    const { tools, log } = this.#parts
    const names = await readdir(this.#home).catch(() => [])
    const [newest, ...others] = names.filter((name) => FOLDER.test(name)).sort(newestFirst)
    for (const name of [...names.filter((one) => !FOLDER.test(one)), ...others]) await this.#remove(name)
    if (newest === undefined) return
    const build = { path: join(this.#home, newest) }
    tools.updated = build
    void this.#isWorthKeeping(build).then(
      async (isKept) => {
        if (isKept || tools.updated !== build) return
        this.#switch(undefined)
        await this.#remove(newest)
      },
      (error: unknown) => log.error({ err: error }, 'whether the updated yt-dlp still works could not be seen'),
    )
  }

  async #isWorthKeeping(build: Build): Promise<boolean> {
    const { tools } = this.#parts
    const [own, found] = [await tools.versionOf(null), await tools.versionOf(build)]
    return found !== undefined && (own === undefined || isNewer(found.version, own.version))
  }

  /**
   * @param wanted.atOnce  also a release of the last two days: the one in use fails, or somebody asks for it
   * @returns the version that is in use from now on; undefined: the one that was. @throws the signal's reason
   */
  async update({ atOnce }: { atOnce: boolean }, signal: AbortSignal, step: Step): Promise<string | undefined> {
    const next = join(this.#home, 'next')
    let version = ''
    try {
      const inUse = (await this.#parts.tools.versionOf())?.version
      const release = await step('update.look', () => this.#newest(atOnce, inUse, signal))
      if (!release) return await this.#note('current', inUse ?? '', '')
      version = release.version
      const verdict = await this.#tryOut(release, next, signal, step)
      signal.throwIfAborted()
      if (verdict.is === 'unclear') return await this.#note('postponed', version, verdict.reason)
      if (verdict.is === 'bad') return await this.#refuse(version, verdict.reason)
      await step('update.take', () => this.#take(version, next))
      await this.#note('updated', version, '')
      return version
    } catch (error) {
      signal.throwIfAborted()
      this.#parts.log.warn({ err: error, version }, 'yt-dlp could not be updated; the one in use stays')
      return await this.#note('failed', version, error instanceof IndexError ? error.words : say`the log says why`)
    } finally {
      await rm(next, { recursive: true, force: true })
    }
  }

  /** Undefined: there is none that is newer, ripe, and not refused already. */
  async #newest(atOnce: boolean, inUse: string | undefined, signal: AbortSignal): Promise<Release | undefined> {
    const { index, channel, clock } = this.#parts
    const isAnyTaken = atOnce || channel() === 'nightly'
    const wanted = {
      channel: channel(),
      // A version is the day of its release: a whole one, since any of its hours may be meant.
      ...(!isAnyTaken && { before: dayOf(new Date(clock.now() - RIPE_MS)) }),
      not: this.#refused(inUse),
    }
    const release = await index.newest(wanted, signal)
    return inUse === undefined || isNewer(release.version, inUse) ? release : undefined
  }

  #refused(inUse: string | undefined): string[] {
    return this.#parts.ledger
      .sql<{ version: string }>('SELECT version FROM platform_refused_build')
      .all()
      .map(({ version }) => version)
      .filter((version) => inUse === undefined || isNewer(version, inUse))
  }

  async #tryOut(release: Release, folder: string, signal: AbortSignal, step: Step): Promise<Verdict> {
    const { tools, index, hindrance, canaries, clock, log } = this.#parts
    const reason = hindrance()
    if (reason !== undefined) return { is: 'unclear', reason }
    const runtime = await this.#runtimeOf(release)
    await mkdir(this.#home, { recursive: true })
    if ((await freeBytes(this.#home)) < NEEDED_BYTES + (runtime ? RUNTIME_BYTES : 0))
      throw new IndexError(say`there is not enough room on the disk of the data folder`)
    await step('update.lay', async () => {
      const files = await index.files([release, release.solver, ...(runtime ? [runtime] : [])], signal)
      await index.install(files, folder, signal)
    })
    return step('update.try', () => tryBuild({ path: folder }, { tools, clock, log, ...canaries }, signal))
  }

  /** The runtime to fetch along: where the one in use is another version of it, or there is none. */
  async #runtimeOf({ runtime }: Release): Promise<Package | undefined> {
    const found = (await this.#parts.tools.challenge())?.runtime
    if (!runtime || !found) return undefined
    if (found.state === 'missing') return runtime
    return found.name === runtime.name && found.version !== runtime.version ? runtime : undefined
  }

  async #take(version: string, next: string): Promise<void> {
    const { log, tools } = this.#parts
    const before = tools.updated
    const name = `yt-dlp-${version.replace(/[^\d.]/g, '')}`
    await this.#remove(name)
    await rename(next, join(this.#home, name))
    this.#switch({ path: join(this.#home, name) })
    log.info({ version }, 'another yt-dlp is in use')
    // A download may still run with the one before: that goes at the next update or start.
    for (const other of await readdir(this.#home))
      if (other !== name && join(this.#home, other) !== before?.path) await this.#remove(other)
  }

  #switch(build: Build | undefined): void {
    this.#parts.tools.updated = build
    this.#parts.tools.forget()
    this.#parts.onSwitched()
  }

  async #refuse(version: string, reason: Words): Promise<undefined> {
    const { ledger, clock, log } = this.#parts
    log.warn({ version, reason: inEnglish(reason) }, 'a new yt-dlp has failed its trial; the one in use stays')
    await ledger.write(() =>
      ledger
        .sql('INSERT OR REPLACE INTO platform_refused_build (version, reason, at) VALUES (?, ?, ?)')
        .run(version, inEnglish(reason), epochSeconds(clock)),
    )
    return this.#note('refused', version, reason)
  }

  async #note(outcome: LastLook['outcome'], version: string, message: Words): Promise<undefined> {
    const { ledger, clock } = this.#parts
    const record: LastLook = { outcome, checked: epochSeconds(clock), version, message }
    await ledger.write(() =>
      ledger
        .sql(
          'INSERT INTO platform_update (id, record) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
        )
        .run(JSON.stringify(record)),
    )
  }

  #remove = (name: string): Promise<void> => rm(join(this.#home, name), { recursive: true, force: true })
}

/** `2026.11.20` */
const dayOf = (date: Date): string => [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()].join('.')

const newestFirst = (one: string, other: string): number =>
  isNewer(FOLDER.exec(one)?.[1] ?? '', FOLDER.exec(other)?.[1] ?? '') ? -1 : 1

/** Whether one version of numbers and dots is newer than another. */
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
