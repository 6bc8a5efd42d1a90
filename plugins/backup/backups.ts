/**
 * The service `backups`: the files in the backup folder, how one is made, read, compared and restored (contract 9.10).
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  type App,
  type BulkResult,
  epochSeconds,
  errors,
  type Job,
  type JobContext,
  localDay,
  type Services,
  Value,
} from 'archivolt'
import { BadArchive, type DocumentEntry, readDocuments, readEntries, writeArchive } from './archive.ts'
import { openContents } from './contents.ts'
import { type Converted, type Stored, storedForm, Unusable } from './stored-form.ts'

export const FILE_PATTERN = '^[a-z][a-z0-9]*_backup-([0-9]{8})(-([a-z]+))?\\.zip$'
const FILE_NAME = new RegExp(FILE_PATTERN)
const RESTORE_BATCH = 100
/** Whichever runs, all documents are replaced. */
const RESTORES = ['restore_backup', 'restore_snapshot']
const MAX_UPLOAD_BYTES = 4 * 2 ** 30
const DISK_FULL = ['ENOSPC', 'EDQUOT']
/** What file systems without hard links (exFAT, some network shares) say of one. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

type VideoDoc = NonNullable<Awaited<ReturnType<Services['videos']['get']>>>

export type BackupReason = 'auto' | 'update' | 'manual'
/** Of a backup that must not take the place of any other. */
const LOST = 'lost'
/** Emptied day by day: that there is nothing in it says nothing. */
const COMES_AND_GOES = 'download'

export interface BackupRecord {
  filename: string
  /** Relative to the data folder. */
  file_path: string
  file_size: number
  timestamp: string
  reason: string
}

export interface RestoreReport {
  restored: number
  skipped: number
  /** Keys of the config document that we do not know. */
  unknownSettings: string[]
}

/** Told of each document that is left out. */
type Skip = (id: string, reason: string) => void

export type Backups = ReturnType<typeof openBackups>

export function openBackups(app: App) {
  const folder = join(app.settings.dataDir, 'backups')
  const form = storedForm(app)
  const prefix = `${app.settings.prefix}_backup`
  let isStarting = false
  const { names, definitionOf, collectionOf, archiveEntries } = openContents(app, form)

  async function find(filename: string): Promise<BackupRecord | undefined> {
    const match = FILE_NAME.exec(filename)
    const found = match && (await stat(join(folder, filename)).catch(ignoreMissing))
    if (!found?.isFile()) return undefined
    return {
      filename,
      file_path: `backups/${filename}`,
      file_size: found.size,
      timestamp: match?.[1] ?? '',
      reason: match?.[3] ?? '',
    }
  }

  async function record(filename: string): Promise<BackupRecord> {
    const found = await find(filename)
    if (!found) throw errors.notFound('backup', filename)
    return found
  }

  /** Newest name first. What is no file, or is deleted meanwhile, is passed over. */
  async function list(): Promise<BackupRecord[]> {
    const files = (await readdir(folder).catch(ignoreMissing)) ?? []
    const found = []
    for (const filename of files.sort().reverse()) found.push(await find(filename))
    return found.filter((item) => item !== undefined)
  }

  /** Paths are made from checked names only. @throws not_found */
  async function pathOf(filename: string): Promise<string> {
    await record(filename)
    return join(folder, filename)
  }

  /** A document of an archive in our form, if it can be used. */
  function usable(collection: string, id: string, stored: Stored, number: number, skip: Skip): Converted | undefined {
    try {
      const document = form.toOurs(collection, id, stored, number)
      const fault = Value.Errors(definitionOf(collection)!.doc, document.doc)[0]
      if (fault) throw new Unusable(`${fault.instancePath || 'the document'} ${fault.message}`)
      return document
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      skip(id, error.message)
      return undefined
    }
  }

  /** Documents of an archive in our form, in batches. Those that cannot be used are skipped. */
  async function* converted(
    entry: DocumentEntry,
    lines: AsyncIterable<string>,
    number: () => number,
    skip: Skip,
  ): AsyncIterable<Converted[]> {
    if (!definitionOf(entry.collection)) return
    let batch: Converted[] = []
    for await (const { id, stored } of documentsIn(lines, skip)) {
      const document = usable(entry.collection, id, stored, number(), skip)
      if (document) batch.push(document)
      if (batch.length >= RESTORE_BATCH) {
        yield batch
        batch = []
      }
    }
    if (batch.length) yield batch
  }

  /**
   * A backup without a channel's own document still has it in its videos. @param seen  ids of channels that are not
   * looked for again
   */
  function* channelsIn(videos: Converted[], seen: Set<string>, skip: Skip): Iterable<Converted> {
    for (const { doc, channel } of videos) {
      const id = (doc as VideoDoc).channel_id
      if (!channel || seen.has(id)) continue
      seen.add(id)
      const document = usable('channel', id, channel, 0, skip)
      if (document) yield document
    }
  }

  /** Whether a restore would bring back one document at least: the first is enough to know. */
  async function holdsSomething(path: string, signal: AbortSignal): Promise<boolean> {
    let isFound = false
    await readDocuments(path, async (entry, lines) => {
      signal.throwIfAborted()
      if (isFound) return
      for await (const batch of converted(
        entry,
        lines,
        () => 0,
        () => undefined,
      )) {
        isFound = batch.length > 0
        if (isFound) break
      }
    })
    return isFound
  }

  /** By the day in the name; a day to come is of a clock that was wrong, and goes behind all others. */
  function newestFirst(one: BackupRecord, other: BackupRecord): number {
    const today = localDay(epochSeconds(app.clock)).replaceAll('-', '')
    return (
      Number(one.timestamp > today) - Number(other.timestamp > today) || other.timestamp.localeCompare(one.timestamp)
    )
  }

  /**
   * Why an archive just made is none to put others out by: the index has lost documents, or nothing of a kind that the
   * last backup had.
   */
  async function doubtAbout(made: string): Promise<string | undefined> {
    if (app.index.lost) return app.index.lost.reason
    const kindsIn = async (path: string) =>
      new Set((await readEntries(path)).flatMap(({ collection, sizeBytes }) => (sizeBytes > 0 ? [collection] : [])))
    const now = await kindsIn(made)
    const earlier = (await list())
      .filter(({ filename, reason }) => filename.startsWith(`${prefix}-`) && reason !== LOST)
      .sort(newestFirst)
    for (const { filename } of earlier) {
      const before = await kindsIn(join(folder, filename)).catch((error: unknown) => {
        if (!(error instanceof BadArchive)) throw error
        return undefined // another one may be readable
      })
      if (!before) continue
      const gone = names().filter(
        (name) => name !== COMES_AND_GOES && definitionOf(name) && before.has(name) && !now.has(name),
      )
      return gone.length > 0 ? `The archive has no ${gone.join(', no ')}, and ${filename} has` : undefined
    }
    return undefined
  }

  async function restore(filename: string, job: JobContext<object>): Promise<RestoreReport> {
    const path = await pathOf(filename)
    const files = await readEntries(path)
    const report: RestoreReport = { restored: 0, skipped: 0, unknownSettings: [] }
    // What was skipped is counted, with the first reasons in the log.
    const skip: Skip = (id, reason) => {
      report.skipped += 1
      if (report.skipped <= 50) job.log.warn({ id }, `skipped: ${reason}`)
    }
    const channels = new Set<string>() // ids only: documents are written as they come
    const fromVideos = new Set<string>()
    let config: Stored | undefined
    let fileNumber = 0
    let read = 0
    await app.index.replaceAll(async (write) => {
      const count = ({ written, failed }: BulkResult) => {
        report.restored += written
        for (const { id, reason } of failed) skip(id, reason)
      }
      await readDocuments(path, async (entry, lines) => {
        job.signal.throwIfAborted()
        job.progress(fileNumber++ / files.length, `Restoring ${entry.fileName} (${fileNumber}/${files.length})`)
        if (entry.collection === 'config') {
          for await (const { stored } of documentsIn(lines, skip)) config = stored
          return
        }
        for await (const batch of converted(entry, lines, () => read++, skip)) {
          if (entry.collection === 'channel') {
            for (const { id } of batch) {
              channels.add(id)
              if (fromVideos.delete(id)) report.restored -= 1 // its own document takes the place of that
            }
          }
          if (entry.collection === 'video') {
            const found = [...channelsIn(batch, channels, skip)]
            for (const { id } of found) fromVideos.add(id)
            if (found.length) count(await write('channel', found))
          }
          count(await write(entry.collection, batch))
          job.signal.throwIfAborted()
        }
      })
      if (report.restored === 0) throw errors.unprocessable(NOTHING_IN_IT)
    })
    if (config) report.unknownSettings = await applySettings(config)
    await app.emit('index.replaced', {})
    return report
  }

  /** Whether a restore, of a backup or a snapshot, waits or runs. */
  const isRestoring = (): boolean => RESTORES.some((task) => app.jobs.active(task) !== undefined)

  /**
   * Starts a restore, of a backup or a snapshot: no second one from here on. @throws conflict: one is being started,
   * waits or runs
   */
  async function startRestore<Result>(start: () => Promise<Result>): Promise<Result> {
    if (isStarting || isRestoring()) throw errors.conflict('A restore is running; try again when it has ended')
    isStarting = true
    try {
      return await start()
    } finally {
      isStarting = false
    }
  }

  /** Known settings are applied one by one; @returns what is not known or not valid. */
  async function applySettings(config: Stored): Promise<string[]> {
    const refused: string[] = []
    for (const [section, values] of Object.entries(config)) {
      if (typeof values !== 'object' || values === null) refused.push(section)
      else
        for (const [key, value] of Object.entries(values)) {
          await app.preferences.change({ [section]: { [key]: value } }).catch(() => refused.push(`${section}.${key}`))
        }
    }
    return refused.slice(0, 100)
  }

  return {
    list,
    record,
    pathOf,
    restore,
    isRestoring,
    startRestore,

    /** The running restore of this file. */
    restoring(filename: string): Job | undefined {
      const job = app.jobs.active('restore_backup')
      return job?.payload.filename === filename ? job : undefined
    },

    /**
     * Makes a backup of now; one of the same day and reason is replaced when the new one is complete.
     * @param isRight  that documents are missing is right
     * @returns its name, and why it is none that others may give way to: then it has a name that takes no other's place
     */
    async create(
      reason: BackupReason,
      isRight: boolean,
      job: JobContext<object>,
    ): Promise<{ filename: string; doubt: string | undefined }> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const day = localDay(epochSeconds(app.clock)).replaceAll('-', '')
      const unfinished = join(folder, `.${prefix}-${day}.zip.${job.id}`)
      try {
        await writeArchive(unfinished, archiveEntries(day, job), new Date(app.clock.now()))
        const doubt = isRight ? undefined : await doubtAbout(unfinished)
        const filename = `${prefix}-${day}-${doubt === undefined ? reason : LOST}.zip`
        await rename(unfinished, join(folder, filename))
        return { filename, doubt }
      } finally {
        await rm(unfinished, { force: true })
      }
    },

    /** Keeps so many `auto` files: the one just made, then the newest by day, whatever their prefix. */
    async rotate(keep: number, made: string): Promise<void> {
      const others = (await list()).filter(({ filename, reason }) => reason === 'auto' && filename !== made)
      others.sort(newestFirst)
      for (const { filename } of others.slice(keep - 1)) await rm(join(folder, filename), { force: true })
    },

    async remove(filename: string): Promise<void> {
      await rm(await pathOf(filename))
    },

    /**
     * Starts a restore as a job. @throws not_found, conflict (one runs), unprocessable: no readable archive of ours or
     * the reference's, or nothing in it
     */
    async begin(filename: string, signal: AbortSignal, start: () => Promise<Job>): Promise<Job> {
      const path = await pathOf(filename)
      return startRestore(async () => {
        await readEntries(path).catch(refuse)
        if (!(await holdsSomething(path, signal).catch(refuse))) throw errors.unprocessable(NOTHING_IN_IT)
        return start()
      })
    },

    /**
     * Takes an upload in: streamed beside, looked at, then put in place, unless another of its name was faster.
     * @throws not_found (name), conflict, body_too_large, unprocessable, unavailable (the disk is full)
     */
    async takeIn(filename: string, content: Readable): Promise<BackupRecord> {
      if (!FILE_NAME.test(filename)) throw errors.notFound('backup', filename)
      const path = join(folder, filename)
      const unfinished = join(folder, `.upload-${randomUUID()}-${filename}`)
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await mustBeFree(path)
        await pipeline(content, limitTo(MAX_UPLOAD_BYTES), createWriteStream(unfinished, { mode: 0o600, flags: 'wx' }))
        await readEntries(unfinished).catch(refuse)
        const file = await open(unfinished)
        await file.sync().finally(() => file.close())
        await putInPlace(unfinished, path)
      } catch (cause) {
        if (DISK_FULL.includes(codeOf(cause)))
          throw errors.unavailable('The disk with the backups is full: make room there, then upload it again', {
            cause,
          })
        throw cause
      } finally {
        await rm(unfinished, { force: true })
      }
      return record(filename)
    },

    /** What a restore would do, by collection. Changes nothing. @throws unprocessable */
    async preview(
      filename: string,
      signal: AbortSignal,
    ): Promise<Record<string, { backup: number; now: number; added: number; removed: number; changed: number }>> {
      const path = await pathOf(filename)
      const counts: Record<string, { backup: number; now: number; added: number; removed: number; changed: number }> =
        {}
      for (const name of names())
        counts[name] = {
          backup: 0,
          now: (await collectionOf(name)?.count(undefined, Number.POSITIVE_INFINITY)) ?? 0,
          added: 0,
          removed: 0,
          changed: 0,
        }
      let read = 0
      const compare = async (entry: DocumentEntry, lines: AsyncIterable<string>) => {
        const count = counts[entry.collection]
        const collection = collectionOf(entry.collection)
        if (!count || !collection) return
        for await (const batch of converted(
          entry,
          lines,
          () => read++,
          () => undefined,
        )) {
          signal.throwIfAborted()
          const present = await collection.getMany(batch.map(({ id }) => id))
          for (const { id, doc } of batch) {
            const before = present.get(id)
            count.backup += 1
            if (!before) count.added += 1
            else if (!Value.Equal(before, doc)) count.changed += 1
          }
        }
      }
      await readDocuments(path, compare).catch(refuse)
      if (!Object.values(counts).some(({ backup }) => backup > 0)) throw errors.unprocessable(NOTHING_IN_IT)
      for (const count of Object.values(counts)) count.removed = Math.max(0, count.now - (count.backup - count.added))
      return counts
    },

    /** What an interruption left half-written. */
    async clearUnfinished(): Promise<void> {
      const files = (await readdir(folder).catch(ignoreMissing)) ?? []
      for (const name of files.filter((name) => name.startsWith('.'))) await rm(join(folder, name), { force: true })
    },
  }
}

const NOTHING_IN_IT =
  'The backup holds no document that this archive knows: a restore would leave the archive blank, so none is done'

const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code ?? '')

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function mustBeFree(path: string): Promise<void> {
  if (await stat(path).catch(ignoreMissing)) throw isThere(path)
}

const isThere = (path: string) => errors.conflict(`${basename(path)} is there already; delete it first`)

/**
 * Gives a file its name, and takes it from no other: a link fails where the name is taken, a rename would not. @throws
 * conflict
 */
async function putInPlace(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw isThere(path)
    if (!NO_LINKS.includes(codeOf(error))) throw error
    await mustBeFree(path)
    await rename(unfinished, path)
  }
}

function refuse(error: unknown): never {
  if (error instanceof BadArchive)
    throw errors.unprocessable(`Not a backup that can be read: ${error.message}`, { cause: error })
  throw error
}

/** Pairs of an action line and a document. */
async function* documentsIn(lines: AsyncIterable<string>, skip: Skip): AsyncIterable<{ id: string; stored: Stored }> {
  let id: string | undefined
  for await (const line of lines) {
    if (!line.trim()) continue
    const parsed = parse(line)
    if (id === undefined) {
      id = (parsed?.index as Stored | undefined)?._id as string | undefined
      if (typeof id !== 'string') throw new BadArchive('A document is not preceded by its action line')
    } else {
      if (parsed) yield { id, stored: parsed }
      else skip(id, 'the document is no JSON object')
      id = undefined
    }
  }
  if (id !== undefined) throw new BadArchive(`A file ends before the document ${id}`)
}

function parse(line: string): Stored | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Stored) : undefined
  } catch {
    return undefined
  }
}

function limitTo(maxBytes: number): Transform {
  let taken = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      taken += chunk.length
      if (taken > maxBytes) done(errors.bodyTooLarge(`A backup may have at most ${maxBytes} bytes`))
      else done(null, chunk)
    },
  })
}

declare module 'archivolt' {
  interface Services {
    backups: Backups
  }
  interface Events {
    /** All collections were replaced by a restore: what is kept about single documents elsewhere may speak of none. */
    'index.replaced': Record<string, never>
  }
}
