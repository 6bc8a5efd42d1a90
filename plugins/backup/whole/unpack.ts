/** Reads a whole backup from its beginning to its end, and writes its files into a folder; refuses any other file. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough, Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import Database from 'better-sqlite3'
import tar from 'tar-stream'
import { Value } from 'typebox/value'
import { decrypted, isEncrypted } from './age.ts'
import { DOCUMENTS, END, End, FORM, HEAD, Head, LEDGER, PICTURE, RESTORING, SECRETS } from './contents.ts'
import { asFault, Fault } from './fault.ts'

const START_BYTES = 64
const MOST_TEXT_BYTES = 16 << 20

export interface Unpacking {
  from: string
  passphrase: string | undefined
  /** A new folder, which gets the layout of a data folder; undefined: the backup is only read. */
  to: string | undefined
  /** `head`: reads only the record at its beginning; `documents`: reads up to the end of the documents. */
  until: 'head' | 'documents' | 'end'
  withPictures: boolean
  /** The number of the last migration of each owner that this program knows. */
  known: Record<string, number>
}

/** @throws Fault */
export async function unpack(
  { from, passphrase, to, until, withPictures, known }: Unpacking,
  tell: () => void,
): Promise<Head> {
  const source = createReadStream(from, { highWaterMark: 1 << 20 })
  const reading = tar.extract()
  const hash = createHash('sha256')
  let head: Head | undefined
  let files = 0
  let isEnded = false
  async function* hashed(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      hash.update(piece)
      tell()
      yield piece
    }
  }
  try {
    const plain = (await isSealed(from)) ? decrypted(source, passphrase ?? missing()) : source
    // The stream comes from a library whose types do not declare it as a stream of Node.
    pipeline(Readable.from(plain, { objectMode: false }), reading as unknown as NodeJS.WritableStream).catch(
      () => undefined,
    )
    for await (const entry of reading) {
      const { name, size = 0, type } = entry.header
      const content: AsyncIterable<Buffer> = entry
      if (isEnded || (!head && name !== HEAD)) throw new Fault('foreign')
      if (name === END) {
        const end = Value.Parse(End, JSON.parse((await textOf(content, size)).toString()))
        if (end.files !== files || end.sha256 !== hash.copy().digest('hex')) throw new Fault('damaged')
        isEnded = true
        continue
      }
      files++
      hash.update(`${name}\0${size}\0`)
      if (name === HEAD) {
        const text = await textOf(content, size)
        hash.update(text)
        head = readHead(text)
        if (until === 'head') return head
        continue
      }
      const inner = pathInFolder(name)
      if (!inner || type !== 'file') throw new Fault('foreign', name)
      const path = to === undefined || (!withPictures && PICTURE.test(name)) ? undefined : join(to, inner)
      await write(hashed(content), name, path)
      if (until === 'documents' && name === DOCUMENTS) return head!
    }
    if (!head || !isEnded) throw new Fault('damaged')
    if (to !== undefined) judgeLedger(join(to, 'ledger.sqlite'), known, head)
    return head
  } catch (thrown) {
    throw asFault(thrown)
  } finally {
    source.destroy()
    reading.destroy()
  }
}

/** @throws Fault: the ledger was written by a later program, or is damaged */
function judgeLedger(file: string, known: Record<string, number>, { version }: Head): void {
  const db = new Database(file, { readonly: true })
  try {
    if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new Fault('damaged')
    const applied = db.prepare<[], { owner: string; last: number }>(
      'SELECT owner, max(number) AS last FROM migrations GROUP BY owner',
    )
    for (const { owner, last } of applied.all()) if (last > (known[owner] ?? last)) throw new Fault('later', version)
  } finally {
    db.close()
  }
}

function missing(): never {
  throw new Fault('encrypted')
}

/** Whether the file is encrypted. @throws Fault: it is not a whole backup */
async function isSealed(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0)
    const start = buffer.subarray(0, bytesRead)
    if (isEncrypted(start)) return true
    if (!start.toString('latin1').startsWith(`${HEAD}\0`)) throw new Fault('foreign')
    return false
  } finally {
    await file.close()
  }
}

function readHead(text: Buffer): Head {
  const head = JSON.parse(text.toString()) as Head
  if (typeof head.form === 'number' && head.form > FORM) throw new Fault('later', String(head.version))
  if (!Value.Check(Head, head)) throw new Fault('foreign')
  return head
}

async function textOf(content: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  if (size > MOST_TEXT_BYTES) throw new Fault('foreign')
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** The path of a file in a data folder; undefined: such a file does not belong to a backup. */
function pathInFolder(name: string): string | undefined {
  if (name === DOCUMENTS || PICTURE.test(name)) return join(RESTORING, name)
  if (name === LEDGER) return 'ledger.sqlite'
  // The settings may contain paths of another machine, so a person has to check them first.
  if (name === 'config.json') return 'config.restored.json'
  return SECRETS.find((one) => one === name)
}

async function write(content: AsyncIterable<Buffer>, name: string, path: string | undefined): Promise<void> {
  // A file that is not stored is read without a pipeline, which costs more than a picture.
  if (path === undefined && name !== LEDGER) {
    for await (const _ of content);
    return
  }
  const unpacked: Transform = name === LEDGER ? createGunzip() : new PassThrough()
  if (path === undefined) {
    await pipeline(content, unpacked, async (pieces) => {
      for await (const _ of pieces);
    })
    return
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await pipeline(content, unpacked, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  if (PICTURE.test(name)) return
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}
