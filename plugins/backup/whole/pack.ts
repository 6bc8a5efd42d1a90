/** Writes a whole backup as one stream: a tar of its files, with their checksum at the end, encrypted if wanted. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, type Dirent } from 'node:fs'
import { open, opendir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { batchesOf } from 'archivolt'
import Database from 'better-sqlite3'
import tar from 'tar-stream'
import { encrypting } from './age.ts'
import { DOCUMENTS, END, HEAD, type Head, LEDGER, PICTURE, type PictureFolder } from './contents.ts'

/** Maximum size of a picture; larger files are not pictures of the cache. */
const MOST_PICTURE_BYTES = 32 << 20
/** Number of pictures that are read concurrently, because each read waits for the disk. */
const TOGETHER = 32

export interface Packing {
  /** Path of the new file, which is complete and synced at the end. */
  to: string
  head: Omit<Head, 'tables' | 'pictures' | 'bytes'>
  documents: string
  ledger: string
  /** Files that are only in encrypted backups. */
  secrets: string[]
  pictures: PictureFolder[]
  /** undefined: the backup is not encrypted. */
  passphrase: string | undefined
}

/** @param tell  called with the number of bytes written so far, and of all bytes */
export async function pack(
  { to, head, documents, ledger, secrets, pictures: folders, passphrase }: Packing,
  tell: (done: number, all: number) => void,
): Promise<Head> {
  const tables = rowsOf(ledger)
  const packedLedger = `${ledger}.gz`
  await pipeline(createReadStream(ledger), createGzip({ level: 1 }), createWriteStream(packedLedger, { mode: 0o600 }))
  const files = [
    { name: DOCUMENTS, path: documents },
    { name: LEDGER, path: packedLedger },
    ...secrets.map((path) => ({ name: basename(path), path })),
  ]
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(path)).size))
  let [pictures, bytes] = [0, sizes.reduce((sum, size) => sum + size, 0)]
  for await (const some of batchesOf(picturesIn(folders), TOGETHER))
    for (const size of await Promise.all(some.map(sizeOf))) {
      if (size === undefined) continue
      pictures++
      bytes += size
    }
  const whole: Head = { ...head, tables, pictures, bytes }

  const stream = tar.pack() as unknown as ReturnType<typeof tar.pack> & Readable
  const written = pipeline([
    stream,
    ...(passphrase === undefined ? [] : [await encrypting(passphrase)]),
    createWriteStream(to, { mode: 0o600, highWaterMark: 1 << 20 }),
  ])
  const filling = fill(
    openTar(stream, (done) => tell(done, bytes)),
    whole,
    files,
    folders,
  )
  await Promise.all([
    written,
    filling.catch((error: Error) => {
      stream.destroy(error)
      throw error
    }),
  ])
  const file = await open(to)
  await file.sync().finally(() => file.close())
  return whole
}

async function fill(
  archive: Tar,
  head: Head,
  files: ReadonlyArray<{ name: string; path: string }>,
  folders: readonly PictureFolder[],
): Promise<void> {
  await archive.text(HEAD, head)
  for (const { name, path } of files) await archive.file(name, path)
  const add = async (read: Promise<Content[]> | undefined) => {
    for (const { name, content } of (await read) ?? []) if (content) await archive.content(name, content)
  }
  // Reads the next pictures while the previous ones are written.
  let read: Promise<Content[]> | undefined
  for await (const some of batchesOf(picturesIn(folders), TOGETHER)) {
    const next = Promise.all(some.map(async ({ name, path }) => ({ name, content: await pictureOf(path) })))
    next.catch(() => undefined) // it is awaited below
    await add(read)
    read = next
  }
  await add(read)
  await archive.end()
}

interface Content {
  name: string
  /** undefined: the file was removed meanwhile, or is too large for a picture. */
  content: Buffer | undefined
}

async function pictureOf(path: string): Promise<Buffer | undefined> {
  try {
    const file = await open(path)
    try {
      return (await file.stat()).size <= MOST_PICTURE_BYTES ? await file.readFile() : undefined
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

type Tar = ReturnType<typeof openTar>

/** Writes files into a tar, one after the other, and calculates the checksum of all. */
function openTar(stream: ReturnType<typeof tar.pack>, tell: (done: number) => void) {
  const hash = createHash('sha256')
  let files = 0
  let bytes = 0

  function begin(name: string, size: number): void {
    files++
    hash.update(`${name}\0${size}\0`)
  }

  function count(piece: Buffer): void {
    hash.update(piece)
    tell((bytes += piece.length))
  }

  async function* counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      count(piece)
      yield piece
    }
  }

  /** Adds a file from memory, without a stream of its own, which costs more than a picture. */
  function content(name: string, content: Buffer): Promise<void> {
    begin(name, content.length)
    count(content)
    return new Promise((resolve, reject) => {
      stream.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()))
    })
  }

  const text = (name: string, value: object): Promise<void> =>
    content(name, Buffer.from(`${JSON.stringify(value, null, 2)}\n`))

  return {
    content,
    text,

    async file(name: string, path: string): Promise<void> {
      const { size } = await stat(path)
      begin(name, size)
      const entry = stream.entry({ name, size, mode: 0o600 }) as unknown as Writable
      await pipeline(counted(createReadStream(path, { highWaterMark: 1 << 20 })), entry)
    },

    async end(): Promise<void> {
      await text(END, { files, sha256: hash.copy().digest('hex') })
      stream.finalize()
    },
  }
}

/** Number of rows by table. */
function rowsOf(ledger: string): Record<string, number> {
  const db = new Database(ledger, { readonly: true })
  try {
    const names = db
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .pluck()
      .all()
    const rows = (name: string) => db.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get()!
    return Object.fromEntries(names.map((name) => [name, rows(name)]))
  } finally {
    db.close()
  }
}

async function* picturesIn(folders: readonly PictureFolder[]): AsyncGenerator<PictureFolder> {
  for (const folder of folders)
    for await (const entry of entriesOf(folder.path)) {
      const [name, path] = [`${folder.name}/${entry.name}`, join(folder.path, entry.name)]
      if (entry.isDirectory()) yield* picturesIn([{ name, path }])
      else if (entry.isFile() && PICTURE.test(name)) yield { name, path }
    }
}

/** The size of a picture; undefined: the file was removed meanwhile, or is too large for a picture. */
async function sizeOf({ path }: PictureFolder): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found && found.size <= MOST_PICTURE_BYTES ? found.size : undefined
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder, { bufferSize: 256 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
