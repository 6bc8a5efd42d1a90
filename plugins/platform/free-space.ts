/** Checks free space for a download on the disks of the library and of the data folder. */
import { dirname } from 'node:path'
import { diskSpace, inEnglish, say, type Words } from 'archivolt'

/** Free space to keep: only above it does a download begin, and does a full disk count as available again. */
export const SPARE_BYTES = 200 << 20
/** Free space to keep on the data folder's disk, which is less, because ledger and index grow slowly. */
export const DATA_SPARE_BYTES = 32 << 20

/** Free bytes on a folder's disk; if the folder is missing, on that of its parent. */
export async function freeBytes(folder: string): Promise<number> {
  try {
    return (await diskSpace(folder)).free
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw thrown
    return freeBytes(dirname(folder))
  }
}

const megabytes = (bytes: number): number => Math.ceil(bytes / (1 << 20))

export const fullDiskText = (): Words =>
  say`The disk is full; downloads continue when ${{ megabytes: megabytes(SPARE_BYTES) }} MB are free.`

/** @returns why no download may begin; undefined: enough space */
export async function lackOfRoom(folder: string, dataDir: string): Promise<Words | undefined> {
  if ((await freeBytes(folder)) < SPARE_BYTES) return fullDiskText()
  if ((await freeBytes(dataDir)) < DATA_SPARE_BYTES)
    return say`The disk of the data folder is full; downloads continue when ${{ megabytes: megabytes(DATA_SPARE_BYTES) }} MB are free there.`
  return undefined
}

/** The error of a download that did not begin for lack of space. */
export class NoRoom extends Error {
  readonly words: Words
  constructor(words: Words) {
    super(inEnglish(words))
    this.words = words
  }
}

export const tooLargeText = (needBytes: number): string =>
  `There is not enough space for this video: ${megabytes(needBytes)} MB must be free on the library's disk`
