/** Zip archives of documents: written as a stream, and read entry by entry, even if malicious. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errors, inEnglish, say, type Words } from 'archivolt'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { ZipFile as ZipWriter } from 'yazl'
import { crc32 } from './checksum.ts'

const ENTRY_NAME = /^([a-z]{2,8})_([a-z][a-z0-9_]{0,63})-\d{8}-\d{1,6}\.json$/
/** Documents shrink to about a tenth; a much higher ratio means a zip bomb. */
const MAX_RATIO = 200
const MAX_BYTES = 64 * 2 ** 30
const MAX_ENTRIES = 1_000_000
const MAX_LINE_BYTES = 32 * 2 ** 20
const NEW_LINE = 10
const PIECE_CHARACTERS = 1 << 15
const UNIX_TYPE_MASK = 0o170000
const UNIX_LINK = 0o120000

/** Why a file is not a readable archive of documents. */
export class BadArchive extends Error {
  readonly words: Words

  constructor(words: Words, options?: ErrorOptions) {
    super(inEnglish(words), options)
    this.words = words
  }
}

export interface DocumentEntry {
  /** The prefix that identifies the form of its documents. */
  mark: string
  collection: string
  fileName: string
  /** Bytes, uncompressed. */
  sizeBytes: number
}

/**
 * Writes an archive entry by entry. Each entry begins when the previous one is compressed, so memory use is constant.
 * When it resolves, the file is complete and synced.
 */
export async function writeArchive(
  path: string,
  entries: AsyncIterable<{ fileName: string; lines: Iterable<string> }>,
  modified: Date,
  compressionLevel = 6,
): Promise<void> {
  const zip = new ZipWriter()
  const written = pipeline(zip.outputStream, createWriteStream(path, { mode: 0o600 }))
  const fill = async () => {
    for await (const { fileName, lines } of entries)
      await compress(zip, fileName, lines, { mtime: modified, compressionLevel })
    zip.end()
  }
  await Promise.all([
    written,
    fill().catch((error: Error) => {
      ;(zip.outputStream as Readable).destroy(error)
      throw error
    }),
  ])
  const file = await openFile(path)
  await file.sync().finally(() => file.close())
}

async function compress(
  zip: ZipWriter,
  fileName: string,
  lines: Iterable<string>,
  options: { mtime: Date; compressionLevel: number },
): Promise<void> {
  const content = { stream: Readable.from(piecesOf(lines), { objectMode: false }) as Readable | undefined }
  const closed = once(content.stream!, 'close')
  zip.addReadStreamLazy(fileName, options, handOver(content))
  await closed
}

/**
 * Joins lines to larger pieces, because each piece is passed to the compression in another thread, and most lines are
 * too small for that.
 */
function* piecesOf(lines: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const line of lines) {
    piece += line
    if (piece.length < PIECE_CHARACTERS) continue
    yield Buffer.from(piece)
    piece = ''
  }
  if (piece !== '') yield Buffer.from(piece)
}

/**
 * The zip writer keeps a reference to this function until the archive ends. The function therefore drops its stream
 * after passing it on, so that memory does not grow with the archive.
 */
const handOver = (content: { stream: Readable | undefined }) => (take: (error: null, stream: Readable) => void) => {
  take(null, content.stream!)
  content.stream = undefined
}

/** All entries with documents, in archive order. @throws BadArchive: not a zip, malicious, or without documents */
export async function readEntries(path: string): Promise<DocumentEntry[]> {
  const found: DocumentEntry[] = []
  await eachEntry(path, async (entry) => {
    const documents = asDocuments(entry)
    if (documents) found.push(documents)
  })
  if (!found.length) throw new BadArchive('It contains no file es_<collection>-<date>-<number>.json')
  return found
}

/** The lines of all entries with documents, in archive order, many at a time. @throws BadArchive */
export async function readDocuments(
  path: string,
  take: (entry: DocumentEntry, lines: AsyncIterable<string[]>) => Promise<void>,
): Promise<void> {
  await eachEntry(path, async (entry, zip) => {
    const documents = asDocuments(entry)
    if (!documents) return
    const content = await zip.openReadStreamPromise(entry).catch(unreadable)
    try {
      await take(documents, linesOf(content, entry))
    } finally {
      content.destroy()
    }
  })
}

/** Reads the whole archive and verifies its checksums. @throws BadArchive */
export function checkArchive(path: string, signal: AbortSignal): Promise<void> {
  return readDocuments(path, async (_, lines) => {
    for await (const _some of lines) signal.throwIfAborted()
  })
}

/** The entry as documents; undefined: a file without documents. */
function asDocuments({ fileName, uncompressedSize }: Entry): DocumentEntry | undefined {
  const [, mark, collection] = ENTRY_NAME.exec(fileName) ?? []
  return mark && collection ? { mark, collection, fileName, sizeBytes: uncompressedSize } : undefined
}

async function eachEntry(path: string, visit: (entry: Entry, zip: ZipFile) => Promise<void>): Promise<void> {
  let zip: ZipFile | undefined
  let visitorsOwn: unknown
  try {
    zip = await yauzl.openPromise(path, {
      lazyEntries: true,
      autoClose: false,
      validateEntrySizes: true,
      strictFileNames: true,
    })
    if (zip.entryCount > MAX_ENTRIES) throw new BadArchive(say`It contains ${{ count: zip.entryCount }} entries`)
    let total = 0
    for await (const entry of zip.eachEntry()) {
      total += entry.uncompressedSize
      refuseHarm(entry, total)
      await visit(entry, zip).catch((error: unknown) => {
        visitorsOwn = error
        throw error
      })
    }
  } catch (error) {
    if (error instanceof BadArchive || error === visitorsOwn) throw error
    unreadable(error as Error)
  } finally {
    zip?.close()
  }
}

function refuseHarm(entry: Entry, totalBytes: number): void {
  if (((entry.externalFileAttributes >>> 16) & UNIX_TYPE_MASK) === UNIX_LINK)
    throw new BadArchive(say`${{ filename: entry.fileName }} is a link`)
  if (entry.isEncrypted()) throw new BadArchive(say`${{ filename: entry.fileName }} is encrypted`)
  const isBomb = entry.uncompressedSize > 2 ** 20 && entry.uncompressedSize > entry.compressedSize * MAX_RATIO
  if (isBomb || totalBytes > MAX_BYTES)
    throw new BadArchive(
      say`${{ filename: entry.fileName }} expands to ${{ size: entry.uncompressedSize }} bytes, which is more than documents can have`,
    )
}

function unreadable(error: Error): never {
  // The file was removed meanwhile, which says nothing about the archive.
  if ('code' in error && error.code === 'ENOENT') throw errors.notFound('backup', undefined, { cause: error })
  throw new BadArchive(say`It cannot be read as a zip archive: ${{ reason: error.message }}`, { cause: error })
}

/** Errors of the zip reader are faults of the archive; errors of the caller pass through. */
async function* chunksOf(content: Readable): AsyncIterable<Buffer> {
  const chunks = content[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await chunks.next().catch(unreadable)
    if (done) return
    yield value as Buffer
  }
}

/** @throws BadArchive, also at the end for a wrong checksum: the caller must then discard everything it has read */
async function* linesOf(content: Readable, entry: Entry): AsyncIterable<string[]> {
  let rest: Buffer[] = []
  let restBytes = 0
  let checksum = 0
  for await (const chunk of chunksOf(content)) {
    checksum = crc32(chunk, checksum)
    const end = chunk.lastIndexOf(NEW_LINE)
    if (end >= 0) {
      yield Buffer.concat([...rest, chunk.subarray(0, end)])
        .toString('utf8')
        .split('\n')
      rest = []
      restBytes = 0
    }
    rest.push(chunk.subarray(end + 1))
    restBytes += chunk.length - end - 1
    if (restBytes > MAX_LINE_BYTES) throw new BadArchive(say`A line is longer than ${{ limit: MAX_LINE_BYTES }} bytes`)
  }
  if (checksum !== entry.crc32)
    throw new BadArchive(say`${{ filename: entry.fileName }} is damaged: its checksum is wrong`)
  if (restBytes) yield [Buffer.concat(rest).toString('utf8')]
}
