/**
 * The platform's own feed of a channel: an Atom document with the ids of its newest videos. One small request, and less
 * if nothing has changed.
 */
import { readFile } from 'node:fs/promises'
import { withLimit } from 'archivolt'
import sax from 'sax'

const TIMEOUT_MS = 15_000
/** Fifteen entries take 30 kB. */
const MOST_BYTES = 1024 * 1024
const MOST_ENTRIES = 50
const VIDEO_ID = /^[\w-]{11}$/

/** The validators that a server sent for a document; sent back with the next request. */
export interface FeedTag {
  etag?: string
  modified?: string
}

export interface Feed extends FeedTag {
  /** Newest first. */
  ids: string[]
}

/** The feed was refused or is unreadable. */
export class NoFeed extends Error {
  /** The status of the answer; 0: no readable answer. */
  readonly status: number
  constructor(message: string, status = 0) {
    super(message)
    this.status = status
  }
}

/** @returns 'same': unchanged since the tag. @throws NoFeed, or an error of the network */
export function fetchFeed(url: string, tag: FeedTag, signal: AbortSignal): Promise<Feed | 'same'> {
  return withLimit(TIMEOUT_MS, signal, async (limited) => {
    const response = await fetch(url, {
      headers: {
        accept: 'application/atom+xml',
        ...(tag.etag !== undefined && { 'if-none-match': tag.etag }),
        ...(tag.modified !== undefined && { 'if-modified-since': tag.modified }),
      },
      // Redirects are not followed: they could lead anywhere, even into a private network.
      redirect: 'manual',
      signal: limited,
    })
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      if (response.status === 304) return 'same'
      throw new NoFeed(`The request for the feed was answered with status ${response.status}`, response.status)
    }
    const [etag, modified] = ['etag', 'last-modified'].map((name) => response.headers.get(name) ?? undefined)
    const ids = idsIn(await textOf(response.body))
    return { ids, ...(etag !== undefined && { etag }), ...(modified !== undefined && { modified }) }
  })
}

/** @param path  of a file with the document */
export const readFeed = async (path: string): Promise<Feed> => ({ ids: idsIn(await readFile(path, 'utf8')) })

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MOST_BYTES) throw new NoFeed(`The feed is larger than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** @throws NoFeed: the text is not a feed */
function idsIn(text: string): string[] {
  const parser = sax.parser(true)
  const path: string[] = []
  const ids = new Set<string>()
  parser.onopentag = ({ name }) => void path.push(name)
  parser.onclosetag = () => void path.pop()
  parser.ontext = (found) => {
    const id = found.trim()
    if (path.join(' ') === 'feed entry yt:videoId' && ids.size < MOST_ENTRIES && VIDEO_ID.test(id)) ids.add(id)
  }
  let root: string | undefined
  parser.onopentagstart = ({ name }) => void (root ??= name)
  parser.onerror = (error) => {
    throw new NoFeed(`The feed is not valid XML: ${error.message.split('\n')[0]}`)
  }
  parser.write(text).close()
  if (root !== 'feed') throw new NoFeed('The answer is not a feed')
  return [...ids]
}
