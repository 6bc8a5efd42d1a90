/** The service `wholeBackups`: writes, lists, previews and restores backups of everything (contract 9.36). */
import { createHmac, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  diskSpace,
  epochSeconds,
  errors,
  futureLast,
  type Job,
  offerRestored,
  preparedFolder,
  restoreRuns,
  say,
  sentenceOf,
} from 'archivolt'
import { acceptDocuments } from '../accept.ts'
import type { App } from '../app.ts'
import { BadArchive, writeArchive } from '../archive.ts'
import { compactDay } from '../backup-folder.ts'
import { collectionOf, indexedNames } from '../collections.ts'
import { openForms } from '../form.ts'
import { damagedBackup, diskFull, isDamaged, pack, unpack } from '../packer.ts'
import { type CollectionChanges, previewRestore } from '../restoring.ts'
import type { Work } from '../work.ts'
import { documentEntries } from '../writing.ts'
import { type Comparison, compareWith } from './compare.ts'
import { DOCUMENTS, FORM, type Head, pictureFolders, RESTORING, SECRETS } from './contents.ts'
import { loadRestored, reportRestored } from './load.ts'
import { openRuns, type Runs } from './rows.ts'
import { takeInWhole, type Upload } from './upload.ts'

export const WHOLE_PATTERN = '^[a-z][a-z0-9]*_whole-([0-9]{8})-([0-9]{6})\\.tar(\\.age)?$'
const NAME = new RegExp(WHOLE_PATTERN)
/** Compression level. */
const FASTEST = 1

/** The task that restores a whole backup. */
export const RESTORE = 'backup.restore_all'

export interface WholeRecord {
  filename: string
  bytes: number
  /** Epoch seconds. */
  made: number
  isEncrypted: boolean
}

export interface WholePreview {
  head: Head
  /** Whether this archive made it, judged by its secret key. */
  isOwn: boolean
  documents: Record<string, CollectionChanges>
  accounts: { added: string[]; replaced: string[]; removed: string[] }
  /** Plugins that are missing here: their documents would be skipped. */
  missing: { plugin: string; documents: number }[]
}

export interface WholeBackups {
  runs: Runs
  /** Sorted newest first. */
  list(): Promise<WholeRecord[]>
  /**
   * The last backup that this archive has written; if it was removed, the newest file, which may be an uploaded one of
   * somebody else.
   */
  newestOwn(): Promise<WholeRecord | undefined>
  /** @throws not_found */
  pathOf(filename: string): Promise<string>
  /** @throws not_found, conflict: it is being restored */
  remove(filename: string): Promise<void>
  /**
   * Writes a backup, and verifies it by reading it.
   * @param passphrase  default: that of the preferences
   * @throws conflict: documents are missing; unavailable: the disk failed
   */
  make(work: Work, passphrase?: string): Promise<WholeRecord>
  /** Stores an upload. @throws conflict, unprocessable, unavailable */
  takeIn(upload: Upload): Promise<WholeRecord>
  /**
   * Removes old backups. Keeps the one that was just made and the newest of the others that can be opened, `keep` in
   * all; the one that a rehearsal has proven; those that have documents of a kind that the archive no longer has; and
   * those that cannot be opened now, because nobody can tell what they have.
   */
  rotate(keep: number, made: string, signal: AbortSignal): Promise<void>
  /** The changes that a restore would make. @throws unprocessable */
  preview(path: string, passphrase: string | undefined, signal: AbortSignal): Promise<WholePreview>
  /**
   * Reads the whole backup, and prepares a data folder from it, which the next start puts in place of the current one.
   * @returns the folder to which the current data will be moved
   * @throws unprocessable, unavailable; nothing has changed then
   */
  restore(path: string, passphrase: string | undefined, withPictures: boolean, work: Work): Promise<string>
  /**
   * Starts a restore as a job. The passphrase is passed to it only in memory. @throws not_found, conflict: a restore is
   * running
   */
  begin(filename: string, passphrase: string | undefined): Promise<Job>
  takePassphrase(): string | undefined
  /** @throws unprocessable */
  compare(path: string, passphrase: string | undefined, signal: AbortSignal): Promise<Comparison>
  /** Copies the data that a restore has left for this start to index and cache. */
  load(): Promise<void>
  /** Reports the restore to all plugins, once they listen. */
  tell(): Promise<void>
}

export function openWholeBackups(app: App): WholeBackups {
  const forms = openForms(app, acceptDocuments(app))
  const { settings, clock, ledger, accounts, index } = app
  const folder = join(settings.dataDir, 'backups')
  const runs = openRuns(app)
  let given: string | undefined
  /**
   * Set while the job's row is written: otherwise a second request would get this job, although it restores another
   * file.
   */
  let isBeginning = false
  const known = () =>
    Object.fromEntries(
      ledger
        .sql<{ owner: string; last: number }>('SELECT owner, max(number) AS last FROM migrations GROUP BY owner')
        .all()
        .map(({ owner, last }) => [owner, last]),
    )

  async function scratch<Result>(name: string, use: (folder: string) => Promise<Result>): Promise<Result> {
    const path = join(folder, `.${name}`)
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { recursive: true, mode: 0o700 })
    return use(path).finally(() => rm(path, { recursive: true, force: true }))
  }

  const withDocuments = <Result>(
    path: string,
    passphrase: string | undefined,
    signal: AbortSignal,
    use: (zip: string, head: Head) => Promise<Result>,
  ): Promise<Result> =>
    scratch(`read-${randomUUID()}`, async (part) => {
      const unpacking = { from: path, passphrase, until: 'documents', withPictures: false, known: known() } as const
      const head = await unpack({ ...unpacking, to: join(part, 'data') }, { signal })
      try {
        return await use(join(part, 'data', RESTORING, DOCUMENTS), head)
      } catch (error) {
        // The checksum of the documents is at the end of the backup, which was not read.
        throw error instanceof BadArchive ? damagedBackup(error) : error
      }
    })

  async function record(filename: string): Promise<WholeRecord | undefined> {
    const [, day, time, ending] = NAME.exec(filename) ?? []
    if (!day) return undefined
    const found = await stat(join(folder, filename)).catch(() => undefined)
    if (!found?.isFile()) return undefined
    const iso = `${day}${time}`.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z')
    return {
      ...{ filename, bytes: found.size, isEncrypted: ending !== undefined },
      made: Math.floor(Date.parse(iso) / 1000),
    }
  }

  const isAhead = ({ made }: WholeRecord) => made > epochSeconds(clock)

  /**
   * Judges a backup by its beginning. `more`: it has documents of a kind that the last backup lacks; `sealed`: it
   * cannot be opened now, for example because it was made with another passphrase, so it may have such documents.
   */
  async function worthOf(filename: string, signal: AbortSignal): Promise<'more' | 'same' | 'damaged' | 'sealed'> {
    const passphrase = app.preferences.section('backups').passphrase || undefined
    const reading = {
      from: join(folder, filename),
      passphrase,
      to: undefined,
      until: 'head',
      withPictures: false,
    } as const
    try {
      const head = await unpack({ ...reading, known: {} }, { signal })
      const { documents } = runs.last('backup')
      return Object.entries(head.documents).some(([name, count]) => count > 0 && !documents[name]) ? 'more' : 'same'
    } catch (error) {
      signal.throwIfAborted()
      return isDamaged(error) ? 'damaged' : 'sealed'
    }
  }

  const self: WholeBackups = {
    runs,

    async list() {
      const names = await readdir(folder).catch(() => [])
      const found = await Promise.all(names.map(record))
      return found
        .filter((one) => one !== undefined)
        .sort((a, b) => b.made - a.made || b.filename.localeCompare(a.filename))
    },

    async newestOwn() {
      const all = await self.list()
      return all.find(({ filename }) => filename === runs.last('backup').file) ?? futureLast(all, isAhead)[0]
    },

    async pathOf(filename) {
      if (!(await record(filename))) throw errors.notFound('backup', filename)
      return join(folder, filename)
    },

    async remove(filename) {
      const path = await self.pathOf(filename)
      if (app.jobs.active(RESTORE)?.payload['filename'] === filename)
        throw errors.conflict(say`${{ filename }} is being restored`)
      await rm(path)
    },

    async make(work, chosen) {
      if (index.lost)
        throw errors.conflict(
          say`${{ reason: sentenceOf(index.lost.reason) }}: a backup would be incomplete now. Restore a snapshot or a backup first`,
        )
      const madeAt = epochSeconds(clock)
      const passphrase = chosen ?? (app.preferences.section('backups').passphrase || undefined)
      const made = await scratch(`whole-${work.id}`, async (part) => {
        const [copy, zip, whole] = ['ledger.sqlite', DOCUMENTS, 'whole'].map((name) => join(part, name)) as [
          string,
          string,
          string,
        ]
        const documents: Record<string, number> = {}
        await app.backups.alone(async () => {
          // The ledger is copied first, so that the copy has no completed job whose document is missing.
          await ledger.backup(copy, work.signal)
          await writeArchive(
            zip,
            counted(documentEntries(app, forms.own, indexedNames(app), compactDay(madeAt), work), documents),
            new Date(clock.now()),
            // With better compression, compressing would take longer than writing.
            FASTEST,
          )
        })
        const secrets = passphrase === undefined ? [] : SECRETS.map((name) => join(settings.dataDir, name))
        const head = await pack(
          {
            ...{ to: whole, documents: zip, ledger: copy, passphrase },
            head: {
              ...{ form: FORM, version: app.version, made_at: madeAt, key: await keyMark(settings.dataDir) },
              ...{ documents, accounts: accounts.list().map(({ username }) => username), plugins: pluginsOf(app) },
              has_secrets: passphrase !== undefined,
            },
            secrets: secrets.filter((path) => existsSync(path)),
            pictures: pictureFolders(settings),
          },
          {
            signal: work.signal,
            progress: (done, all) => work.progress(all ? done / all : 0, say`Backing up pictures and records`),
          },
        )
        work.progress(1, say`Verifying the backup`)
        await unpack(
          { from: whole, passphrase, to: undefined, until: 'end', withPictures: true, known: known() },
          { signal: work.signal },
        ).catch((cause: unknown) => {
          work.signal.throwIfAborted()
          throw errors.unavailable(
            'The backup was written but cannot be read back: check the disk of the data folder',
            { cause },
          )
        })
        const stamp = new Date(madeAt * 1000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
        const filename = `${settings.prefix}_whole-${stamp}.tar${passphrase === undefined ? '' : '.age'}`
        await rename(whole, join(folder, filename))
        return { filename, documents: head.documents }
      })
      const seconds = (clock.now() - madeAt * 1000) / 1000
      await runs.succeeded('backup', { file: made.filename, succeededAt: madeAt, seconds, documents: made.documents })
      return (await record(made.filename))!
    },

    async takeIn(upload) {
      await takeInWhole(upload, app)
      return (await record(upload.filename))!
    },

    async rotate(keep, made, signal) {
      const others = (await self.list()).filter(({ filename }) => filename !== made)
      const proven = runs.last('rehearsal').file
      let kept = 1
      for (const { filename } of futureLast(others, isAhead)) {
        const worth = await worthOf(filename, signal)
        if (worth === 'sealed') continue
        if (kept < keep) kept += worth === 'damaged' ? 0 : 1
        else if (worth !== 'more' && filename !== proven) await rm(join(folder, filename), { force: true })
      }
    },

    async begin(filename, passphrase) {
      await self.pathOf(filename)
      if (isBeginning || app.jobs.active(RESTORE)) throw restoreRuns()
      isBeginning = true
      given = passphrase
      return app.jobs.start(RESTORE, { filename }).finally(() => (isBeginning = false))
    },

    takePassphrase() {
      const taken = given
      given = undefined
      return taken
    },

    load: () => loadRestored(app, forms),
    tell: () => reportRestored(app),

    compare: (path, passphrase, signal) =>
      withDocuments(path, passphrase, signal, (zip, head) => compareWith(app, forms, zip, head)),

    preview: (path, passphrase, signal) =>
      withDocuments(path, passphrase, signal, async (zip, head) => {
        const here = new Set(accounts.list().map(({ username }) => username))
        const there = new Set(head.accounts)
        return {
          head,
          isOwn: head.key === (await keyMark(settings.dataDir)),
          documents: isBlank(head) ? {} : await previewRestore(app, forms, zip, signal, indexedNames(app)),
          accounts: {
            added: head.accounts.filter((name) => !here.has(name)),
            replaced: head.accounts.filter((name) => here.has(name)),
            removed: [...here].filter((name) => !there.has(name)),
          },
          missing: missingIn(head, app),
        }
      }),

    async restore(path, passphrase, withPictures, work) {
      const to = preparedFolder(settings.dataDir)
      await rm(to, { recursive: true, force: true })
      try {
        const { size } = await stat(path)
        if ((await diskSpace(settings.dataDir)).free < size) throw diskFull()
        const run = { signal: work.signal, progress: () => work.progress(0, say`Unpacking the backup`) }
        const head = await unpack({ from: path, passphrase, to, until: 'end', withPictures, known: known() }, run)
        if (isBlank(head)) await rm(join(to, RESTORING, DOCUMENTS))
        return await offerRestored(settings.dataDir, clock.now())
      } finally {
        await rm(to, { recursive: true, force: true })
      }
    },
  }
  return self
}

const pluginsOf = ({ plugins }: App): string[] => plugins.list().flatMap(({ name, isOn }) => (isOn ? [name] : []))

/** Plugins that the backup needs and that are missing here. The name of a collection begins with that of its plugin. */
function missingIn({ documents, plugins = [] }: Head, app: App): WholePreview['missing'] {
  const here = pluginsOf(app)
  const counts = new Map(plugins.filter((name) => !here.includes(name)).map((name) => [name, 0]))
  for (const [collection, count] of Object.entries(documents)) {
    if (count === 0 || collectionOf(app, collection)) continue
    const owner = [...counts.keys()].find((name) => collection === name || collection.startsWith(`${name}_`))
    counts.set(owner ?? collection, (counts.get(owner ?? collection) ?? 0) + count)
  }
  return [...counts].map(([plugin, count]) => ({ plugin, documents: count }))
}

/** Whether the backup is of an archive without any documents. */
const isBlank = ({ documents }: Head): boolean => Object.values(documents).every((count) => count === 0)

async function* counted<File extends { collection: string; documents: number }>(
  files: AsyncIterable<File>,
  counts: Record<string, number>,
): AsyncGenerator<File> {
  for await (const file of files) {
    counts[file.collection] = (counts[file.collection] ?? 0) + file.documents
    yield file
  }
}

/** Identifies this installation, without revealing anything about its secret key. */
async function keyMark(dataDir: string): Promise<string> {
  const key = await readFile(join(dataDir, 'secret.key'))
  return createHmac('sha256', key).update('archivolt: whose backup').digest('base64url').slice(0, 22)
}
