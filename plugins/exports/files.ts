/** An export as it lies on the disk: a text, an archive, or a database. Whatever somebody put into it. */
import { createWriteStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import Database from 'better-sqlite3'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { askForJson, type Found, isHtmlHistory, Rows, Unusable } from './found.ts'
import { jsonOf } from './json.ts'
import { readNewPipe, readTakeoutHistory, readTakeoutTable, readText } from './texts.ts'
import { readGrayjayList, readGrayjaySeen, readNewPipeWatching } from './watching.ts'

const MOST_ENTRY_BYTES = 64 << 20
/** Of all that is read in it: entries may lie on top of each other, and a small archive unpack to very much. */
const MOST_UNPACKED_BYTES = 256 << 20
/** A Takeout of an account has tens of thousands: pictures, comments, chats. */
const MOST_ENTRIES = 200_000
/** Of tables and lists in a Takeout; those that are looked for are few. */
const MOST_TABLES = 500
const MOST_PAGES = 50

/** @throws Unusable */
export async function readExport(path: string): Promise<Found> {
  const handle = await open(path)
  const head = Buffer.alloc(16)
  try {
    await handle.read(head, 0, head.length, 0)
  } finally {
    await handle.close()
  }
  if (head.toString('latin1', 0, 2) === 'PK') return readArchive(path)
  if (head.toString('hex', 0, 4) === '11223344') return readGrayjayBackup(path, head)
  if (head.toString('latin1', 0, 15) === 'SQLite format 3') return readDatabase(path)
  return readText(await readFile(path))
}

/** Grayjay's own ending around a zip: eight bytes before it, the last of which says whether it is encrypted. */
async function readGrayjayBackup(path: string, head: Buffer): Promise<Found> {
  const [format, flags] = [head[6], head[7]]
  if (head.toString('latin1', 4, 6) !== 'GJ' || format !== 1 || flags !== 0)
    throw new Unusable('It is encrypted: export it without a password')
  return zipFrom(await yauzl.fromBufferPromise((await readFile(path)).subarray(8), OPTIONS).catch(noZip), path)
}

const OPTIONS = { lazyEntries: true, autoClose: false, validateEntrySizes: true, strictFileNames: false } as const

const readArchive = async (path: string): Promise<Found> =>
  zipFrom(await yauzl.openPromise(path, OPTIONS).catch(noZip), path)

function noZip(): never {
  throw new Unusable('It is no whole zip archive')
}

async function zipFrom(zip: ZipFile, path: string): Promise<Found> {
  const rows = new Rows()
  const unpacked = unpackerOf(zip)
  let tables = 0
  let pages = 0
  let entries = 0
  let isGrayjay = false
  try {
    for await (const entry of zip.eachEntry()) {
      if (++entries > MOST_ENTRIES) throw new Unusable('It holds too many files')
      const name = entry.fileName.split('/').at(-1) ?? ''
      if (entry.fileName === 'newpipe.db') return await readUnpackedDatabase(await unpacked.stream(entry), path)
      const store = STORE.exec(entry.fileName)?.[1]
      if (store !== undefined) {
        readGrayjay(store, await unpacked.whole(entry), rows)
        isGrayjay = true
      }
      if (/^subscriptions?\.json$/i.test(name)) return readText(await unpacked.whole(entry))
      if (/\.html$/i.test(name) && ++pages <= MOST_PAGES && isHtmlHistory(await beginningOf(zip, entry)))
        rows.html = name
      if (isGrayjay || !/\.(?:csv|json)$/i.test(name) || ++tables > MOST_TABLES) continue
      if (/\.csv$/i.test(name)) readTakeoutTable(await unpacked.whole(entry), name, rows)
      else readTakeoutHistory(await unpacked.whole(entry), rows)
    }
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown
    throw new Unusable('The archive is damaged')
  } finally {
    zip.close()
  }
  if (rows.isEmpty && rows.html !== undefined) throw askForJson()
  if (rows.isEmpty) throw new Unusable('The archive holds no list of subscriptions, watched videos or playlists')
  return rows.of(isGrayjay ? 'grayjay' : 'takeout')
}

/** Of entries that say less than they unpack to, the stream ends with an error. */
function unpackerOf(zip: ZipFile) {
  let bytes = 0
  const stream = (entry: Entry) => {
    if (entry.uncompressedSize > MOST_ENTRY_BYTES) throw new Unusable('A file in it is larger than 64 MiB unpacked')
    bytes += entry.uncompressedSize
    if (bytes > MOST_UNPACKED_BYTES) throw new Unusable('It is larger than 256 MiB unpacked')
    return zip.openReadStreamPromise(entry)
  }
  return { stream, whole: async (entry: Entry): Promise<Buffer> => buffer(await stream(entry)) }
}

/** Its styles come first, and then its entries. */
const BEGINNING_BYTES = 1 << 20

async function beginningOf(zip: ZipFile, entry: Entry): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of await zip.openReadStreamPromise(entry)) {
    text += decoder.decode(piece as Buffer, { stream: true })
    if (text.length >= BEGINNING_BYTES) break
  }
  return text
}

async function readUnpackedDatabase(stream: Readable, path: string): Promise<Found> {
  const place = `${path}.db`
  await pipeline(stream, createWriteStream(place, { mode: 0o600 }))
  return readDatabase(place)
}

const STORE = /^stores\/(subscriptions|history|playlists|watch_later)$/

function readGrayjay(store: string, bytes: Buffer, rows: Rows): void {
  let list: unknown
  try {
    list = jsonOf(bytes.toString())
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown
    throw new Unusable('Its list “{name}” cannot be read', { name: store })
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
 * Whether there is a table of this name that holds what is read of it. What a virtual table or a computed column
 * answers is worked out by what the file says, and may have no end.
 */
function plainTables(db: Database.Database): (table: string) => boolean {
  const isOne = db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?`)
  const isComputed = db.prepare('SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden > 0')
  return (table) => isOne.get(table) !== undefined && isComputed.get(table) === undefined
}

/** NewPipe's. It is a copy of ours; tables alone are read, and nothing that the file says is run. */
function readDatabase(path: string): Found {
  let db: Database.Database | undefined
  try {
    db = new Database(path, { readonly: true, fileMustExist: true })
    db.pragma('trusted_schema = OFF')
    const has = plainTables(db)
    if (!has('subscriptions')) throw new Unusable('The database is none of NewPipe')
    const followed: unknown[] = []
    for (const [table, sql] of Object.entries(FROM_NEWPIPE))
      if (has(table)) for (const row of db.prepare(sql).iterate()) followed.push(row)
    const rows = new Rows()
    readNewPipeWatching(db, has, rows)
    return readNewPipe(followed, rows)
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown
    throw new Unusable('The database cannot be read: it is damaged, or of another program')
  } finally {
    db?.close()
  }
}
