/**
 * Stores an uploaded whole backup: writes it under a temporary name, reads it from its beginning to its end, then
 * renames it.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { diskSpace, errors } from 'archivolt'
import type { App } from '../app.ts'
import { diskFull, limitTo, mustBeFree, storeUpload } from '../backup-folder.ts'
import { unpack } from '../packer.ts'

/** Free space to keep for ledger and index; apart from that, the free space of the disk is the limit. */
const LEFT_FREE_BYTES = 64 << 20
/** Enough for the record of a backup, and for the first encrypted piece. */
const MOST_START_BYTES = 2 << 20

export interface Upload {
  filename: string
  passphrase: string | undefined
  content: Readable
  /** Size of the whole file, as announced; 0: unknown. */
  bytes: number
  signal: AbortSignal
}

/** @throws conflict, unprocessable, unavailable */
export async function takeInWhole({ filename, passphrase, content, bytes, signal }: Upload, app: App): Promise<void> {
  const room = await roomFor(bytes, app)
  await storeUpload(join(folderOf(app), filename), content, limitTo(room, diskFull), (path) =>
    check(path, passphrase, 'end', signal),
  )
}

/** Checks a file by its first bytes, before all of it is sent. @throws conflict, unprocessable, unavailable */
export async function checkStart({ filename, passphrase, content, bytes, signal }: Upload, app: App): Promise<void> {
  const folder = folderOf(app)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await mustBeFree(join(folder, filename))
  await roomFor(bytes, app)
  const path = join(folder, `.start-${randomUUID()}`)
  const tooLarge = () => errors.bodyTooLarge('The beginning of a backup may have at most 2 MB')
  try {
    await pipeline(content, limitTo(MOST_START_BYTES, tooLarge), createWriteStream(path, { mode: 0o600 }))
    await check(path, passphrase, 'head', signal)
  } finally {
    await rm(path, { force: true })
  }
}

const folderOf = ({ settings }: App): string => join(settings.dataDir, 'backups')

/** The free space for an upload. @throws unavailable: there is not enough */
async function roomFor(bytes: number, { settings }: App): Promise<number> {
  const room = (await diskSpace(settings.dataDir)).free - LEFT_FREE_BYTES
  if (Math.max(bytes, 1) > room) throw diskFull()
  return room
}

async function check(
  from: string,
  passphrase: string | undefined,
  until: 'head' | 'end',
  signal: AbortSignal,
): Promise<void> {
  await unpack({ from, passphrase, to: undefined, until, withPictures: true, known: {} }, { signal })
}
