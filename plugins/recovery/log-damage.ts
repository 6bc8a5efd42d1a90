/**
 * Detects changes lost in a damaged log: SQLite silently ignores everything after a damaged frame. The log's format:
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { say, type Words } from 'archivolt'
import type Database from 'better-sqlite3'
import { stampOf } from './copies.ts'

const [HEADER_BYTES, FRAME_BYTES, SALT_BYTES] = [32, 24, 8]
const MAGIC = [0x377f0682, 0x377f0683]
const USUAL_PAGE_BYTES = 4096

/** The positions of the commits in a ledger's log, in pages. Call it before the ledger is opened. */
export function changesInLog(file: string): number[] {
  const log = `${file}-wal`
  if (!existsSync(log)) return []
  const handle = openSync(log, 'r')
  try {
    const read = (at: number, bytes: number): Buffer => {
      const piece = Buffer.alloc(bytes)
      readSync(handle, piece, 0, bytes, at)
      return piece
    }
    const header = read(0, HEADER_BYTES)
    const isHeader = MAGIC.includes(header.readUInt32BE(0))
    const pageBytes = isHeader ? header.readUInt32BE(8) : USUAL_PAGE_BYTES
    const frameBytes = FRAME_BYTES + pageBytes
    // Pages with another salt were written before the log was restarted. Damage to the header may extend into the first
    // page.
    const salt = isHeader ? header.subarray(16, 16 + SALT_BYTES) : read(HEADER_BYTES + frameBytes + 8, SALT_BYTES)
    const found: number[] = []
    const { size } = fstatSync(handle)
    for (let at = HEADER_BYTES, page = 1; at + frameBytes <= size; at += frameBytes, page++) {
      const frame = read(at, FRAME_BYTES)
      const isLastOfChange = frame.readUInt32BE(4) > 0
      if (isLastOfChange && frame.subarray(8, 8 + SALT_BYTES).equals(salt)) found.push(page)
    }
    return found
  } finally {
    closeSync(handle)
  }
}

/**
 * Detects lost commits. One lost commit does not count: the last one may have been interrupted before it was confirmed,
 * while the one before it was already on disk.
 * @param changes  the result of `changesInLog`
 * @returns a message for people; undefined: nothing is lost
 */
export function lostInLog(
  db: Database.Database,
  file: string,
  changes: readonly number[],
  now: number,
): Words | undefined {
  if (changes.length < 2) return undefined
  const [state] = db.pragma('wal_checkpoint(PASSIVE)') as Array<{ log: number }>
  const lost = changes.filter((page) => page > state!.log).length
  if (lost < 2) return undefined
  const aside = `${file}.damaged-${stampOf(now)}-log`
  copyFileSync(`${file}-wal`, aside)
  return say`The log of the ledger was damaged: the last ${{ count: lost }} changes before the server ended are missing. The log was kept as ${{ aside: basename(aside) }}.`
}
