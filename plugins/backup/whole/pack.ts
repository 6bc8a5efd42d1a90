/** Writes a whole backup as one stream: a tar of its files, with their checksum at the end, encrypted if wanted. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream, type Dirent } from 'node:fs'
import { open, opendir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import Database from 'better-sqlite3'
import tar from 'tar-stream'
import { encrypting } from './age.ts'
import { DOCUMENTS, END, HEAD, type Head, LEDGER, PICTURE, type PictureFolder } from './contents.ts'

/** What is larger is no picture of the cache. */
const MOST_PICTURE_BYTES = 32 << 20
/** Pictures that are read at once: each waits for the disk. */
const TOGETHER = 16

export interface Packing {
  /** The new file, which is complete and synced at the end. */
  to: string
  head: Omit<Head, 'tables' | 'pictures' | 'bytes'>
  documents: string
  ledger: string
  /** Files for encrypted backups alone. */
  secrets: string[]
  pictures: PictureFolder[]
  /** undefined: not encrypted. */
  passphrase: string | undefined
}

/** @param tell  called with the bytes written so far, of all */
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
  for await (const { sizeBytes } of picturesIn(folders)) {
    pictures++
    bytes += sizeBytes
  }
  const whole: Head = { ...head, tables, pictures, bytes }

  const stream = tar.pack() as unknown as ReturnType<typeof tar.pack> & Readable
  const written = pipeline([
    stream,
    ...(passphrase === undefined ? [] : [await encrypting(passphrase)]),
    createWriteStream(to, { mode: 0o600, highWaterMark: 1 << 20 }),
  ])
  const filling = fill(new Filling(stream, (done) => tell(done, bytes)), whole, files, folders)
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
  filling: Filling,
  head: Head,
  files: ReadonlyArray<{ name: string; path: string }>,
  folders: readonly PictureFolder[],
): Promise<void> {
  await filling.text(HEAD, head)
  for (const { name, path } of files) await filling.file(name, path)
  let some: Picture[] = []
  const add = async () => {
    const read = await Promise.all(some.map(async ({ name, path }) => ({ name, content: await pictureOf(path) })))
    for (const { name, content } of read) if (content) await filling.content(name, content)
    some = []
  }
  for await (const picture of picturesIn(folders)) if (some.push(picture) === TOGETHER) await add()
  await add()
  await filling.end()
}

/** undefined: it has gone meanwhile. */
async function pictureOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Puts files into a tar, one after the other, and calculates the checksum of all. */
class Filling {
  readonly #stream: ReturnType<typeof tar.pack>
  readonly #tell: (done: number) => void
  readonly #hash: Hash = createHash('sha256')
  #files = 0
  #bytes = 0

  constructor(stream: ReturnType<typeof tar.pack>, tell: (done: number) => void) {
    this.#stream = stream
    this.#tell = tell
  }

  text(name: string, value: object): Promise<void> {
    return this.content(name, Buffer.from(`${JSON.stringify(value, null, 2)}\n`))
  }

  content(name: string, content: Buffer): Promise<void> {
    return this.#add(name, content.length, [content])
  }

  async file(name: string, path: string): Promise<void> {
    await this.#add(name, (await stat(path)).size, createReadStream(path, { highWaterMark: 1 << 20 }))
  }

  async end(): Promise<void> {
    await this.text(END, { files: this.#files, sha256: this.#hash.copy().digest('hex') })
    this.#stream.finalize()
  }

  async #add(name: string, size: number, content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<void> {
    this.#files++
    this.#hash.update(`${name}\0${size}\0`)
    const entry = this.#stream.entry({ name, size, mode: 0o600 }) as unknown as Writable
    await pipeline(this.#counted(content), entry)
  }

  async *#counted(content: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      this.#hash.update(piece)
      this.#tell((this.#bytes += piece.length))
      yield piece
    }
  }
}

/** Rows by table. */
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

interface Picture extends PictureFolder {
  sizeBytes: number
}

async function* picturesIn(folders: readonly PictureFolder[]): AsyncGenerator<Picture> {
  for (const folder of folders)
    for await (const entry of entriesOf(folder.path)) {
      const [name, path] = [`${folder.name}/${entry.name}`, join(folder.path, entry.name)]
      if (entry.isDirectory()) yield* picturesIn([{ name, path }])
      else if (entry.isFile() && PICTURE.test(name)) {
        const { size: sizeBytes } = await stat(path).catch(() => ({ size: Number.POSITIVE_INFINITY }))
        if (sizeBytes <= MOST_PICTURE_BYTES) yield { name, path, sizeBytes }
      }
    }
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder, { bufferSize: 256 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
