/** The folder of backups: lists, names, uploads and rotation. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type AppError, epochSeconds, errors, futureLast, localDay, say } from 'archivolt'
import type { App } from './app.ts'

export const FILE_PATTERN = '^[a-z][a-z0-9]*_backup-([0-9]{8})(-([a-z]+))?\\.zip$'
export const FILE_NAME = new RegExp(FILE_PATTERN)
export const MAX_UPLOAD_BYTES = 4 * 2 ** 30
const DISK_FULL = ['ENOSPC', 'EDQUOT']
/** Errors of file systems without hard links, such as exFAT and some network shares. */
const NO_LINKS = ['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

export interface BackupRecord {
  filename: string
  /** Path relative to the data folder. */
  file_path: string
  file_size: number
  timestamp: string
  reason: string
}

export interface BackupFolder {
  /** Sorted by name, newest first. Lists only files. */
  list(): Promise<BackupRecord[]>
  /** Sorted by the day in the name, newest first. */
  byDay(records: readonly BackupRecord[]): BackupRecord[]
  /** @throws not_found */
  record(filename: string): Promise<BackupRecord>
  /** Paths are made only from checked names. @throws not_found */
  pathOf(filename: string): Promise<string>
  /** `write` creates a temporary file, which gets the name from `nameOf` when it is complete. @returns its name */
  make(
    unfinishedName: string,
    write: (path: string) => Promise<void>,
    nameOf: (path: string) => Promise<string>,
  ): Promise<string>
  /**
   * Stores an upload: streams it to a temporary file, checks it, and renames it unless the name has been taken
   * meanwhile.
   * @param check  throws if it is not a backup
   * @throws not_found (name), conflict, body_too_large, unavailable (the disk is full)
   */
  takeIn(filename: string, content: Readable, check: (path: string) => Promise<void>): Promise<BackupRecord>
  /** Keeps this number of `auto` files: the one just made, then the newest by day, whatever their prefix. */
  rotate(keep: number, made: string): Promise<void>
  remove(filename: string): Promise<void>
  /** Removes temporary files of an interrupted run. */
  clearUnfinished(): Promise<void>
}

export function openBackupFolder({ settings, clock }: App): BackupFolder {
  const folder = join(settings.dataDir, 'backups')

  async function find(filename: string): Promise<{ record: BackupRecord; writtenAt: number } | undefined> {
    const match = FILE_NAME.exec(filename)
    const found = match && (await stat(join(folder, filename)).catch(ignoreMissing))
    if (!found?.isFile()) return undefined
    const record = {
      filename,
      file_path: `backups/${filename}`,
      file_size: found.size,
      timestamp: match?.[1] ?? '',
      reason: match?.[3] ?? '',
    }
    return { record, writtenAt: found.mtimeMs }
  }

  const namesInFolder = async (): Promise<string[]> => (await readdir(folder).catch(ignoreMissing)) ?? []

  const self: BackupFolder = {
    async list() {
      const found = []
      for (const filename of await namesInFolder()) found.push(await find(filename))
      return found
        .filter((item) => item !== undefined)
        .sort(
          (one, other) =>
            other.record.timestamp.localeCompare(one.record.timestamp) ||
            other.writtenAt - one.writtenAt ||
            other.record.filename.localeCompare(one.record.filename),
        )
        .map(({ record }) => record)
    },

    byDay(records) {
      const today = compactDay(epochSeconds(clock))
      const newestFirst = records.toSorted((one, other) => other.timestamp.localeCompare(one.timestamp))
      return futureLast(newestFirst, ({ timestamp }) => timestamp > today)
    },

    async record(filename) {
      const found = await find(filename)
      if (!found) throw errors.notFound('backup', filename)
      return found.record
    },

    async pathOf(filename) {
      await self.record(filename)
      return join(folder, filename)
    },

    async make(unfinishedName, write, nameOf) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const unfinished = join(folder, unfinishedName)
      try {
        await write(unfinished)
        const filename = await nameOf(unfinished)
        await rename(unfinished, join(folder, filename))
        return filename
      } finally {
        await rm(unfinished, { force: true })
      }
    },

    async takeIn(filename, content, check) {
      if (!FILE_NAME.test(filename)) throw errors.notFound('backup', filename)
      const tooLarge = () => errors.bodyTooLarge(say`A backup may have at most ${{ limit: MAX_UPLOAD_BYTES }} bytes`)
      await storeUpload(join(folder, filename), content, limitTo(MAX_UPLOAD_BYTES, tooLarge), check)
      return self.record(filename)
    },

    async rotate(keep, made) {
      const others = (await self.list()).filter(({ filename, reason }) => reason === 'auto' && filename !== made)
      for (const { filename } of self.byDay(others).slice(keep - 1)) await rm(join(folder, filename), { force: true })
    },

    async remove(filename) {
      await rm(await self.pathOf(filename))
    },

    async clearUnfinished() {
      for (const name of (await namesInFolder()).filter((name) => name.startsWith('.')))
        await rm(join(folder, name), { recursive: true, force: true })
    },
  }
  return self
}

/** A day in the form of backup names: `20260115`. */
export const compactDay = (epoch: number): string => localDay(epoch).replaceAll('-', '')

const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code ?? '')

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** @throws conflict */
export async function mustBeFree(path: string): Promise<void> {
  if (await stat(path).catch(ignoreMissing)) throw isThere(path)
}

const isThere = (path: string) => errors.conflict(say`${{ filename: basename(path) }} already exists; delete it first`)

/**
 * Renames a file without replacing another one: it creates a link, which fails if the name is taken, unlike a rename.
 * @throws conflict
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

/** Ends the stream with the error once more bytes have passed. */
export function limitTo(mostBytes: number, error: () => AppError): Transform {
  let taken = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      taken += chunk.length
      if (taken > mostBytes) done(error())
      else done(null, chunk)
    },
  })
}

export const diskFull = (options?: ErrorOptions) =>
  errors.unavailable('The disk with the backups is full: free some space there, then upload it again', options)

/**
 * Streams an upload to a temporary file, checks it, and renames it unless the name has been taken meanwhile.
 * @throws conflict; unavailable (the disk is full); the error of `check`
 */
export async function storeUpload(
  path: string,
  content: Readable,
  limit: Transform,
  check: (unfinished: string) => Promise<void>,
): Promise<void> {
  const unfinished = join(dirname(path), `.upload-${randomUUID()}-${basename(path)}`)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await mustBeFree(path)
    await pipeline(content, limit, createWriteStream(unfinished, { mode: 0o600, flags: 'wx' }))
    await check(unfinished)
    const file = await open(unfinished)
    await file.sync().finally(() => file.close())
    await putInPlace(unfinished, path)
  } catch (cause) {
    throw DISK_FULL.includes(codeOf(cause)) ? diskFull({ cause }) : cause
  } finally {
    await rm(unfinished, { force: true })
  }
}
