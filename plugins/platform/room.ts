/**
 * Room on the disks that a download fills: that of the library, and that of the data folder, which may be another one.
 */
import { dirname } from 'node:path'
import { diskSpace, inEnglish, say, type Words } from 'archivolt'

/**
 * So much stays free beside what is downloaded: an item begins only above it, and a full disk is tried again above it.
 */
export const SPARE_BYTES = 200 << 20
/** Ledger and index grow slowly. */
const DATA_SPARE_BYTES = 32 << 20

/** A folder that is not there (any more) is on the disk of the one around it. */
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
  say`The disk is full; downloads go on when ${{ megabytes: megabytes(SPARE_BYTES) }} MB are free.`

/** @returns in words why no download may begin; undefined: there is room */
export async function lackOfRoom(folder: string, dataDir: string): Promise<Words | undefined> {
  if ((await freeBytes(folder)) < SPARE_BYTES) return fullDiskText()
  if ((await freeBytes(dataDir)) < DATA_SPARE_BYTES)
    return say`The disk of the data folder is full; downloads go on when ${{ megabytes: megabytes(DATA_SPARE_BYTES) }} MB are free there.`
  return undefined
}

/** A download did not begin. */
export class NoRoom extends Error {
  readonly words: Words
  constructor(words: Words) {
    super(inEnglish(words))
    this.words = words
  }
}

export const tooLargeText = (needBytes: number): string =>
  `There is not enough room for it: ${megabytes(needBytes)} MB must be free on the library's disk`
