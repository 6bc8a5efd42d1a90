/** Reads one file, and decides whether it has changed. */
import { stat } from 'node:fs/promises'
import { epochSeconds, isAppError } from 'archivolt'
import type { App } from './app.ts'
import { locate } from './files.ts'
import type { Reader, Sum } from './reader.ts'
import type { FileKey, Row, State } from './rows.ts'

export interface Reading {
  reader: Reader
  /** Maximum reading speed; 0: as fast as possible. */
  bytesPerSecond: number
  signal: AbortSignal
}

/** The result; `made`: its first checksum; `later`: it cannot be judged now; `unknown`: no document needs it. */
export type Verdict = State | 'made' | 'later' | 'unknown'

export async function examine(row: Row, reading: Reading, app: App): Promise<Verdict> {
  const at = await locate(row, app)
  if (at === 'away' || at === 'unknown') return at === 'away' ? 'later' : at
  const sum = await reading.reader.read(at.path, reading)
  const { verdict, values } = await judge(row, sum, at, reading, app)
  return verdict === 'later' || (await app.checksums.rows.set(row, values)) ? verdict : 'later'
}

async function judge(
  row: Row,
  sum: Sum,
  { path, isInPlace }: { path: string; isInPlace: boolean },
  { signal }: Reading,
  app: App,
): Promise<{ verdict: Verdict; values: Partial<Row> }> {
  const now = epochSeconds(app.clock)
  const found = (state: State, values: Partial<Row> = {}) => ({
    verdict: state,
    values: { state, read_at: now, found_at: state === row.state ? row.found_at : now, ...values },
  })
  const later = { verdict: 'later' as const, values: {} }
  if ('code' in sum) {
    if (sum.code === 'EBUSY') return later
    if (sum.code !== 'ENOENT') return found('unreadable')
    // The file may be about to be written: without a checksum, it does not count as missing.
    return row.sha256 ? found('missing') : later
  }
  const fresh = { sha256: sum.sha256, size_bytes: sum.sizeBytes, changed_ms: sum.changedMs, mending_at: null }
  const streams = () => (row.kind === 'video' ? streamsOf(path, signal, app) : undefined)
  if (!row.sha256) {
    const values = {
      ...fresh,
      streams: (await streams()) ?? null,
      state: 'whole' as const,
      read_at: now,
      found_at: null,
    }
    // The archive may have replaced the file meanwhile: the row looks the same then.
    return (await isStill(path, sum)) ? { verdict: 'made', values } : later
  }
  if (sum.sha256.equals(row.sha256)) return found('whole', { ...fresh, found_at: null })
  const isTouched = sum.sizeBytes !== row.size_bytes || sum.changedMs !== row.changed_ms
  // The file belongs to another program, which may have written it: the next scan of its place decides.
  if (isInPlace && isTouched && !isScanned(row, sum, app)) return later
  const present = await streams()
  const isSame = row.streams !== null && present === row.streams
  // A faulty disk changes neither size nor time, so the file was written, unless it is a film whose write was cut off:
  // such a film may be readable up to that point.
  const isWritten =
    isTouched && (isInPlace || row.kind !== 'video' || (present !== undefined && !(await isCutOff(path, app))))
  return isSame || isWritten ? found('rewritten', { ...fresh, streams: present ?? null }) : found('rotten')
}

/** Whether a scan has seen the file with its current size and time. */
async function isStill(
  path: string,
  { sizeBytes, changedMs }: { sizeBytes: number; changedMs: number },
): Promise<boolean> {
  const now = await stat(path).catch(() => undefined) // it was removed
  return now?.size === sizeBytes && Math.floor(now.mtimeMs) === changedMs
}

function isScanned({ id }: FileKey, sum: { sizeBytes: number; changedMs: number }, { media }: App): boolean {
  const film = media.places.filmOf(id)
  return film?.sizeBytes === sum.sizeBytes && film.changedMs === sum.changedMs
}

async function isCutOff(path: string, { media }: App): Promise<boolean> {
  try {
    return await media.isCutOff(path, (await media.probe(path)).durationSeconds)
  } catch (thrown) {
    if (isAppError(thrown, 'unprocessable')) return true
    throw thrown
  }
}

async function streamsOf(path: string, signal: AbortSignal, { media }: App): Promise<string | undefined> {
  try {
    return await media.streamHash(path, signal)
  } catch (thrown) {
    if (isAppError(thrown, 'unprocessable')) return undefined // damaged so that no program reads it
    throw thrown
  }
}
