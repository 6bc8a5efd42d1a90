/** Reads the files of a `.tar.gz` as a stream; nothing is written to the disk. */
import { createReadStream } from 'node:fs'
import { pipeline, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Headers } from 'tar-stream'
import { reportAlive } from './heartbeat.ts'

const MOST_ENTRIES = 500_000
/** Text compresses to about a tenth; a much higher ratio is refused. */
const MAX_RATIO = 200
const FREE_BYTES = 8 << 20
/** Limit of the headers between two files, including malicious long names, because the library holds them in memory. */
const MOST_BETWEEN = 1 << 20

export interface Packed {
  name: string
  sizeBytes: number
  /** Can be read once; unread content is skipped. */
  pieces(): AsyncIterable<Buffer>
}

/** The caller's error for files that it cannot use; `why` is a sentence for people. */
type BadArchive = new (why: string) => Error

/**
 * Yields the files of the archive; skips links, devices and folders. @throws BadArchive: not an archive, damaged, or
 * unpacks to far too much
 */
export async function* filesInTar(path: string, BadArchive: BadArchive): AsyncGenerator<Packed> {
  // Loaded on demand, because few libraries have such a file. In a bundle the module has only a default export.
  const loaded = await import('tar-stream')
  const { extract } = loaded.default as unknown as typeof loaded
  const source = createReadStream(path)
  const tar = extract()
  let between = 0
  let unpacked = 0
  const guard = new Transform({
    transform(piece: Buffer, _encoding, done) {
      reportAlive()
      unpacked += piece.length
      between += piece.length
      const isBomb = unpacked > FREE_BYTES && unpacked > source.bytesRead * MAX_RATIO
      if (isBomb || between > MOST_BETWEEN) done(new BadArchive('It unpacks to far more data than its size suggests'))
      else done(null, piece)
    },
  })
  let entries = 0
  // The stream comes from a library whose types do not declare it as a stream of Node.
  pipeline(source, createGunzip(), guard, tar as unknown as NodeJS.WritableStream, () => undefined)
  try {
    for await (const entry of tar) {
      if (++entries > MOST_ENTRIES) throw new BadArchive('It contains too many files')
      const pieces = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of entry) {
          between = 0
          yield piece as Buffer
        }
      }
      between = 0
      const { type, name, size = 0 }: Headers = entry.header
      const all = pieces()
      if (type === 'file') yield { name, sizeBytes: size, pieces: () => all }
      for await (const _ of all); // content that the caller has not read
      between = 0
    }
  } catch (thrown) {
    const isOfDisk = (thrown as NodeJS.ErrnoException).syscall !== undefined
    if (thrown instanceof BadArchive || isOfDisk) throw thrown
    throw new BadArchive('The archive is damaged')
  } finally {
    source.destroy()
    tar.destroy()
  }
}
