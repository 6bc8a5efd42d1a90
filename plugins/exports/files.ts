/** Reads an export from a file: a text, an archive or a database. Its content is not trusted. */
import { createWriteStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { say } from 'archivolt'
import Database from 'better-sqlite3'
import yauzl, { type ZipFile } from 'yauzl'
import { filesInTar } from '../film-kit/tar.ts'
import { type Found, openRows, type Rows, Unusable } from './found.ts'
import { isHtmlHistory, readHtmlHistory } from './html-history.ts'
import { jsonOf } from './json.ts'
import { openTakeoutLists } from './takeout.ts'
import { readNewPipe, readTakeoutHistory, readTakeoutTable, readText } from './texts.ts'
import { readGrayjayList, readGrayjaySeen, readNewPipeWatching } from './watching.ts'

const MOST_ENTRY_BYTES = 64 << 20
/** Maximum size of all data that is read from it: entries may overlap, and a small archive may expand enormously. */
const MOST_UNPACKED_BYTES = 256 << 20
/**
 * Maximum number of entries: an account's Takeout has tens of thousands of files, such as pictures, comments and chats.
 */
const MOST_ENTRIES = 200_000
/** Maximum number of tables and lists in a Takeout; only a few are relevant. */
const MOST_TABLES = 500
const MOST_PAGES = 50

/** Files that people often choose by mistake, recognized by their first bytes. */
const OTHERS: ReadonlyArray<[begins: RegExp, refusal: () => Unusable]> = [
  [/^(?:\xff\xd8\xff|\x89PNG|GIF8|BM|RIFF.{4}WEBP)/s, () => new Unusable('This is a picture')],
  [/^%PDF/, () => new Unusable('This is a PDF')],
  [/^(?:.{4}ftyp|\x1aE\xdf\xa3|ID3|OggS|RIFF)/s, () => new Unusable('This is a video or audio file')],
  [
    /^(?:7z\xbc\xaf|Rar!|\xfd7zXZ|BZh)/,
    () => new Unusable('This type of archive is not supported: unpack it, and choose a file from it'),
  ],
]

/** @param name  of the uploaded file, if known. @throws Unusable */
export async function readExport(path: string, name = ''): Promise<Found> {
  const handle = await open(path)
  const head = Buffer.alloc(16)
  try {
    await handle.read(head, 0, head.length, 0)
  } finally {
    await handle.close()
  }
  const begins = head.toString('latin1')
  if (begins.startsWith('PK')) return readArchive(path)
  if (begins.startsWith('\x1f\x8b')) return readEntries(entriesInTar(path), path)
  if (begins.startsWith('\x11\x22\x33\x44')) return readGrayjayBackup(path, head)
  if (begins.startsWith('SQLite format 3')) return readDatabase(path)
  const other = OTHERS.find(([form]) => form.test(begins))
  if (other) throw other[1]()
  return readText(await readFile(path), name)
}

/**
 * Reads Grayjay's container around a zip: it is preceded by eight bytes, the last of which says whether it is
 * encrypted.
 */
async function readGrayjayBackup(path: string, head: Buffer): Promise<Found> {
  const [format, flags] = [head[6], head[7]]
  if (head.toString('latin1', 4, 6) !== 'GJ' || format !== 1 || flags !== 0)
    throw new Unusable('It is encrypted: export it without a password')
  return fromZip(await yauzl.fromBufferPromise((await readFile(path)).subarray(8), OPTIONS).catch(noZip), path)
}

const OPTIONS = { lazyEntries: true, autoClose: false, validateEntrySizes: true, strictFileNames: false } as const

const readArchive = async (path: string): Promise<Found> =>
  fromZip(await yauzl.openPromise(path, OPTIONS).catch(noZip), path)

function noZip(): never {
  throw new Unusable('It is not a complete zip archive')
}

async function fromZip(zip: ZipFile, path: string): Promise<Found> {
  try {
    return await readEntries(entriesInZip(zip), path)
  } finally {
    zip.close()
  }
}

/** A file in an archive of any kind. It must be read before the next one is requested. */
interface Packed {
  path: string
  bytes: number
  stream(): Promise<Readable>
}

async function* entriesInZip(zip: ZipFile): AsyncGenerator<Packed> {
  // If an entry expands to more than it declares, its stream ends with an error.
  for await (const entry of zip.eachEntry())
    yield { path: entry.fileName, bytes: entry.uncompressedSize, stream: () => zip.openReadStreamPromise(entry) }
}

async function* entriesInTar(path: string): AsyncGenerator<Packed> {
  for await (const { name, sizeBytes, pieces } of filesInTar(path, Unusable))
    yield { path: name, bytes: sizeBytes, stream: async () => Readable.from(pieces()) }
}

async function readEntries(entries: AsyncIterable<Packed>, path: string): Promise<Found> {
  const rows = openRows()
  const lists = openTakeoutLists(rows)
  const unpacked = openUnpacker()
  let tables = 0
  let pages = 0
  let count = 0
  let isGrayjay = false
  try {
    for await (const entry of entries) {
      if (++count > MOST_ENTRIES) throw new Unusable('It contains too many files')
      const name = entry.path.split('/').at(-1) ?? ''
      // The database of NewPipe, and of apps derived from it.
      if (/^[^/]+\.db$/.test(entry.path)) return await readUnpackedDatabase(await unpacked.stream(entry), path)
      const store = STORE.exec(entry.path)?.[1]
      if (store !== undefined) {
        readGrayjay(store, await unpacked.whole(entry), rows)
        isGrayjay = true
      }
      if (/^subscriptions?\.json$/i.test(name)) return readText(await unpacked.whole(entry))
      if (isGrayjay) continue
      if (/\.html$/i.test(name) && ++pages <= MOST_PAGES) {
        const text = (await unpacked.whole(entry)).toString()
        if (isHtmlHistory(text)) readHtmlHistory(text, rows)
      }
      if (!/\.(?:csv|json)$/i.test(name) || ++tables > MOST_TABLES) continue
      if (/\.csv$/i.test(name)) readTakeoutTable(await unpacked.whole(entry), name, rows, lists)
      else readTakeoutHistory(await unpacked.whole(entry), rows)
    }
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown
    throw new Unusable('The archive is damaged')
  }
  lists.end()
  if (rows.isEmpty()) throw new Unusable('The archive has no list of subscriptions, watched videos or playlists')
  return rows.of(isGrayjay ? 'grayjay' : 'takeout')
}

function openUnpacker() {
  let bytes = 0
  const stream = (entry: Packed) => {
    if (entry.bytes > MOST_ENTRY_BYTES) throw new Unusable('A file in it is larger than 64 MiB unpacked')
    bytes += entry.bytes
    if (bytes > MOST_UNPACKED_BYTES) throw new Unusable('It is larger than 256 MiB unpacked')
    return entry.stream()
  }
  return { stream, whole: async (entry: Packed): Promise<Buffer> => buffer(await stream(entry)) }
}

async function readUnpackedDatabase(stream: Readable, path: string): Promise<Found> {
  const unpacked = `${path}.db`
  await pipeline(stream, createWriteStream(unpacked, { mode: 0o600 }))
  return readDatabase(unpacked)
}

const STORE = /^stores\/(subscriptions|history|playlists|watch_later)$/

function readGrayjay(store: string, bytes: Buffer, rows: Rows): void {
  let list: unknown
  try {
    list = jsonOf(bytes.toString())
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown
    throw new Unusable(say`Its list “${{ name: store }}” cannot be read`)
  }
  if (!Array.isArray(list)) return
  if (store === 'watch_later') {
    if (list.length > 0) rows.list('Watch later', list)
    return
  }
  const read = { subscriptions: (one: unknown) => rows.add(one), history: readGrayjaySeen, playlists: readGrayjayList }
  for (const one of list) read[store as keyof typeof read](one, rows)
}

const FROM_NEWPIPE = {
  subscriptions: 'SELECT service_id, url, name FROM subscriptions',
  remote_playlists: 'SELECT service_id, url, name FROM remote_playlists',
}

/**
 * Whether there is an ordinary table of this name. The content of a virtual table or a computed column is defined by
 * the file, and may be endless.
 */
function plainTables(db: Database.Database): (table: string) => boolean {
  const isOne = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?`)
  const isComputed = db.prepare('SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden > 0')
  return (table) => isOne.get(table) !== undefined && isComputed.get(table) === undefined
}

/** Reads NewPipe's database. It opens our copy and reads only tables; no code in the file is run. */
function readDatabase(path: string): Found {
  let db: Database.Database | undefined
  try {
    db = new Database(path, { readonly: true, fileMustExist: true })
    db.pragma('trusted_schema = OFF')
    const has = plainTables(db)
    if (!has('subscriptions')) throw new Unusable('The database is not from NewPipe')
    const followed: unknown[] = []
    for (const [table, sql] of Object.entries(FROM_NEWPIPE))
      if (has(table)) for (const row of db.prepare(sql).iterate()) followed.push(row)
    const rows = openRows()
    readNewPipeWatching(db, has, rows)
    return readNewPipe(followed, rows)
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown
    throw new Unusable('The database cannot be read: it is damaged, or belongs to another program')
  } finally {
    db?.close()
  }
}
