/** The service `backups`: the files in the backup folder, how one is made, read, compared and restored (contract 9.10). */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { epochSeconds, errors, localDay, Value, type App, type BulkResult, type Job, type JobContext, type Services } from 'archivolt'
import { BadArchive, readDocuments, readEntries, writeArchive, type DocumentEntry } from './archive.ts'
import { storedForm, Unusable, type Converted, type Stored } from './stored-form.ts'

export const FILE_PATTERN = '^[a-z][a-z0-9]*_backup-([0-9]{8})(-([a-z]+))?\\.zip$'
const FILE_NAME = new RegExp(FILE_PATTERN)
/** In this order, so that who restores a file by hand has channels before their videos. */
const ORDER = ['channel', 'video', 'download', 'playlist', 'subtitle', 'comment']
const DOCUMENTS_A_FILE = 500
const COMMENTS_A_FILE = 200
const RESTORE_BATCH = 100
/** Whichever runs, all documents are replaced. */
const RESTORES = ['restore_backup', 'restore_snapshot']
const MAX_UPLOAD_BYTES = 4 * 2 ** 30
const DISK_FULL = ['ENOSPC', 'EDQUOT']
/** What file systems without hard links (exFAT, some network shares) say of one. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

type ChannelDoc = NonNullable<Awaited<ReturnType<Services['channels']['get']>>>
type VideoDoc = NonNullable<Awaited<ReturnType<Services['videos']['get']>>>

export type BackupReason = 'auto' | 'update' | 'manual'

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
  let isStarting = false
  const names = () => [...ORDER, ...app.index.definitions.map(({ name }) => name).filter((name) => !ORDER.includes(name))]
  const definitionOf = (name: string) => app.index.definitions.find((candidate) => candidate.name === name)
  const collectionOf = (name: string) => {
    const definition = definitionOf(name)
    return definition && app.index.collection(definition)
  }

  async function find(filename: string): Promise<BackupRecord | undefined> {
    const match = FILE_NAME.exec(filename)
    const found = match && (await stat(join(folder, filename)).catch(ignoreMissing))
    if (!found?.isFile()) return undefined
    return { filename, file_path: `backups/${filename}`, file_size: found.size, timestamp: match?.[1] ?? '', reason: match?.[3] ?? '' }
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

  /** What stored forms join from elsewhere, for one batch. */
  async function* storedDocuments(name: string): AsyncIterable<Array<{ id: string; stored: Stored }>> {
    const collection = collectionOf(name)
    if (!collection) return
    for await (const batch of collection.scan({ batch: name === 'comment' ? COMMENTS_A_FILE : DOCUMENTS_A_FILE, order: 'newest last' })) {
      yield await storedBatch(name, batch as Array<{ id: string; doc: never }>)
    }
  }

  async function storedBatch(name: string, batch: Array<{ id: string; doc: never }>): Promise<Array<{ id: string; stored: Stored }>> {
    if (name === 'channel' || name === 'playlist' || name === 'download') return batch.map(({ id, doc }) => ({ id, stored: form.toStored[name](doc) }))
    if (name === 'video') {
      const channels = await app.channels.collection.getMany(unique(batch.map(({ doc }) => (doc as VideoDoc).channel_id)))
      const stored = new Map([...channels].map(([id, doc]) => [id, form.toStored.channel(doc)]))
      return batch.map(({ id, doc }) => ({ id, stored: form.toStored.video(doc, stored.get((doc as VideoDoc).channel_id)) }))
    }
    if (name !== 'comment' && name !== 'subtitle') return batch.map(({ id, doc }) => ({ id, stored: doc }))
    const videos = await app.videos.collection.getMany(unique(batch.map(({ doc }) => (doc as { platform_id: string }).platform_id)))
    if (name === 'comment') return batch.map(({ id, doc }) => ({ id, stored: form.toStored.comment(doc, videos.get(id)?.channel_id) }))
    const channels = await app.channels.collection.getMany(unique([...videos.values()].map(({ channel_id }) => channel_id)))
    return batch.map(({ id, doc }) => {
      const video = videos.get((doc as { platform_id: string }).platform_id)
      return { id, stored: form.toStored.subtitle(doc, video && { title: video.title, channelName: channels.get(video.channel_id)?.channel_name ?? '' }) }
    })
  }

  /** One file of the archive after the other. */
  async function* archiveEntries(day: string, job: JobContext<object>): AsyncIterable<{ fileName: string; lines: Iterable<string> }> {
    yield { fileName: `es_config-${day}-0.json`, lines: documentLines([{ id: 'config', stored: app.preferences.all() }], form.nameOf('config')) }
    const all = names()
    for (const [index, name] of all.entries()) {
      let counter = 0
      let done = 0
      for await (const batch of storedDocuments(name)) {
        job.signal.throwIfAborted()
        done += batch.length
        job.progress(index / all.length, `Backing up ${name}: ${done} documents`)
        yield { fileName: `es_${name}-${day}-${counter++}.json`, lines: documentLines(batch, form.nameOf(name)) }
      }
    }
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
  async function* converted(entry: DocumentEntry, lines: AsyncIterable<string>, number: () => number, skip: Skip): AsyncIterable<Converted[]> {
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

  /** A backup without a channel's own document still has it in its videos. @param seen  ids of channels that are not looked for again */
  function* channelsIn(videos: Converted[], seen: Set<string>, skip: Skip): Iterable<Converted> {
    for (const { doc, channel } of videos) {
      const id = (doc as VideoDoc).channel_id
      if (!channel || seen.has(id)) continue
      seen.add(id)
      const document = usable('channel', id, channel, 0, skip)
      if (document) yield document
    }
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
    })
    if (config) report.unknownSettings = await applySettings(config)
    await app.tell('index.replaced', {})
    return report
  }

  /** Whether a restore, of a backup or a snapshot, waits or runs. */
  const isRestoring = (): boolean => RESTORES.some((task) => app.jobs.active(task) !== undefined)

  /** Starts a restore, of a backup or a snapshot: no second one from here on. @throws conflict: one is being started, waits or runs */
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

    /** Makes a backup of now; one of the same day and reason is replaced when the new one is complete. */
    async create(reason: BackupReason, job: JobContext<object>): Promise<string> {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const day = localDay(epochSeconds(app.clock)).replaceAll('-', '')
      const filename = `${app.settings.prefix}_backup-${day}-${reason}.zip`
      const unfinished = join(folder, `.${filename}.${job.id}`)
      try {
        await writeArchive(unfinished, archiveEntries(day, job), new Date(app.clock.now()))
        await rename(unfinished, join(folder, filename))
      } finally {
        await rm(unfinished, { force: true })
      }
      return filename
    },

    /** Keeps so many `auto` files: the one just made, then the newest by day, whatever their prefix. */
    async rotate(keep: number, made: string): Promise<void> {
      const others = (await list()).filter(({ filename, reason }) => reason === 'auto' && filename !== made)
      others.sort((one, other) => other.timestamp.localeCompare(one.timestamp))
      for (const { filename } of others.slice(keep - 1)) await rm(join(folder, filename), { force: true })
    },

    async remove(filename: string): Promise<void> {
      await rm(await pathOf(filename))
    },

    /** Starts a restore as a job. @throws not_found, conflict (one runs), unprocessable: not a readable archive of ours or the reference's */
    async begin(filename: string, start: () => Promise<Job>): Promise<Job> {
      const path = await pathOf(filename)
      return startRestore(async () => {
        await readEntries(path).catch(refuse)
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
        if (DISK_FULL.includes(codeOf(cause))) throw errors.unavailable('The disk with the backups is full: make room there, then upload it again', { cause })
        throw cause
      } finally {
        await rm(unfinished, { force: true })
      }
      return record(filename)
    },

    /** What a restore would do, by collection. Changes nothing. @throws unprocessable */
    async preview(filename: string, signal: AbortSignal): Promise<Record<string, { backup: number; now: number; added: number; removed: number; changed: number }>> {
      const path = await pathOf(filename)
      const counts: Record<string, { backup: number; now: number; added: number; removed: number; changed: number }> = {}
      for (const name of names()) counts[name] = { backup: 0, now: (await collectionOf(name)?.count(undefined, Number.POSITIVE_INFINITY)) ?? 0, added: 0, removed: 0, changed: 0 }
      let read = 0
      const compare = async (entry: DocumentEntry, lines: AsyncIterable<string>) => {
        const count = counts[entry.collection]
        const collection = collectionOf(entry.collection)
        if (!count || !collection) return
        for await (const batch of converted(entry, lines, () => read++, () => undefined)) {
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

const unique = (ids: string[]): string[] => [...new Set(ids)]

const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code ?? '')

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function mustBeFree(path: string): Promise<void> {
  if (await stat(path).catch(ignoreMissing)) throw isThere(path)
}

const isThere = (path: string) => errors.conflict(`${basename(path)} is there already; delete it first`)

/** Gives a file its name, and takes it from no other: a link fails where the name is taken, a rename would not. @throws conflict */
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
  if (error instanceof BadArchive) throw errors.unprocessable(`Not a backup that can be read: ${error.message}`, { cause: error })
  throw error
}

function* documentLines(documents: Iterable<{ id: string; stored: Stored }>, index: string): Iterable<string> {
  for (const { id, stored } of documents) yield `${JSON.stringify({ index: { _index: index, _id: id } })}\n${JSON.stringify(stored)}\n`
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
  interface Facts {
    /** All collections were replaced by a restore: what is kept about single documents elsewhere may speak of none. */
    'index.replaced': Record<string, never>
  }
}
