/** Small files that are often requested, such as pictures: held in memory while they are the same on disk. */
import type { Stats } from 'node:fs'
import { open } from 'node:fs/promises'

const LARGEST_BYTES = 128 * 1024
/** Limit for all of them: Home shows two dozen pictures at once. */
const MOST_BYTES = 4_000_000

interface SmallFile {
  bytes: Buffer
  stats: Stats
}

const files = new Map<string, SmallFile>()
let held = 0

/** @param stats  of the file now. @returns undefined: it is too large, or is being changed */
export async function smallFile(path: string, stats: Stats): Promise<Buffer | undefined> {
  const known = files.get(path)
  if (known && isSame(known.stats, stats)) return known.bytes
  drop(path)
  if (!stats.isFile() || stats.size > LARGEST_BYTES) return undefined
  const bytes = await read(path, stats)
  if (bytes) cache(path, { bytes, stats })
  return bytes
}

export function forgetSmallFiles(): void {
  files.clear()
  held = 0
}

const isSame = (one: Stats, other: Stats): boolean =>
  one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs && one.size === other.size && one.ino === other.ino

async function read(path: string, stats: Stats): Promise<Buffer | undefined> {
  const file = await open(path)
  try {
    const bytes = Buffer.allocUnsafeSlow(stats.size)
    const { bytesRead } = await file.read(bytes, 0, stats.size, 0)
    return bytesRead === stats.size && isSame(await file.stat(), stats) ? bytes : undefined
  } finally {
    await file.close()
  }
}

function cache(path: string, file: SmallFile): void {
  drop(path) // another request was faster
  files.set(path, file)
  held += file.bytes.length
  for (const oldest of files.keys()) {
    if (held <= MOST_BYTES) return
    drop(oldest)
  }
}

function drop(path: string): void {
  held -= files.get(path)?.bytes.length ?? 0
  files.delete(path)
}
