/** Zip archives for tests: of documents, and malicious ones. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'
import { ZipFile } from 'yazl'

export interface Entry {
  name: string
  content: string | Buffer | Readable
  mode?: number
}

export async function zipOf(...entries: Entry[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, content, mode = 0o100600 } of entries)
    if (content instanceof Readable) zip.addReadStream(content, name, { mode })
    else zip.addBuffer(Buffer.from(content), name, { mode })
  zip.end()
  return buffer(zip.outputStream)
}

/** A file of an archive in the reference's form: an action line, then the document. */
export function fileOf(
  collection: string,
  documents: Record<string, object>,
  name = `es_${collection}-20260110-0.json`,
): Entry {
  const lines = Object.entries(documents).flatMap(([id, doc]) => [
    JSON.stringify({ index: { _index: `ta_${collection}`, _id: id } }),
    JSON.stringify(doc),
  ])
  return { name, content: lines.map((line) => `${line}\n`).join('') }
}

/** Documents of an archive by collection and id. */
export async function documentsOf(zip: Buffer): Promise<Record<string, Record<string, any>>> {
  const opened = await fromBufferPromise(zip, { lazyEntries: true })
  const found: Record<string, Record<string, any>> = {}
  for await (const entry of opened.eachEntry()) {
    const text = (await buffer(await opened.openReadStreamPromise(entry))).toString()
    const collection = /^es_(\w+)-\d{8}-\d+\.json$/.exec(entry.fileName)![1]!
    const lines = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    for (let at = 0; at < lines.length; at += 2) (found[collection] ??= {})[lines[at].index._id] = lines[at + 1]
  }
  return found
}

export const aStoredChannel = (id: string, changes: object = {}) => ({
  channel_id: id,
  channel_name: `Channel ${id}`,
  channel_last_refresh: 1_768_000_000,
  channel_active: true,
  channel_subscribed: false,
  channel_views: 0,
  ...changes,
})

export const aStoredVideo = (id: string, changes: object = {}) => ({
  youtube_id: id,
  title: `Video ${id}`,
  vid_type: 'videos',
  published: '2026-01-02',
  date_downloaded: 1_768_000_000,
  vid_last_refresh: 1_768_000_000,
  active: true,
  media_url: `UC1/${id}.mp4`,
  media_size: 5,
  channel: aStoredChannel('UC1'),
  player: { watched: false, duration: 10, duration_str: '10s' },
  stats: { view_count: 1, like_count: 1, dislike_count: 0, average_rating: null },
  ...changes,
})

/** The bytes with another number at the given offset, in every record with a signature. */
export function patched(zip: Buffer, signature: number, offset: number, value: number): Buffer {
  const bytes = Buffer.from(zip)
  for (let at = 0; at + 4 <= bytes.length; at++)
    if (bytes.readUInt32LE(at) === signature) bytes.writeUInt32LE(value, at + offset)
  return bytes
}
export const CENTRAL_RECORD = 0x02014b50
export const END_RECORD = 0x06054b50
