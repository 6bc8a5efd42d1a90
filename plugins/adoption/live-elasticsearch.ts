/**
 * Reads TubeArchivist's running Elasticsearch instead of a backup. It stores the documents page by page next to our
 * notes, where the reading child reads them like a backup. It never writes to that server. Credentials stay in memory
 * until the scan has ended.
 */
import { errors, type JobContext, say } from 'archivolt'
import type { App } from './app.ts'
import type { PlaceReading } from './place-reading.ts'

export interface Credentials {
  username: string
  password: string
}

interface Asked {
  index: string
  /** The field to sort by. */
  order: string
  leaveOut: string[]
  /** Documents in one request; default: `PAGE`. */
  page?: number
  only?: object
  /** Whether the index may be missing, because older versions do not have it. */
  isOptional?: boolean
}

/** The indexes to read, and the fields to skip. */
const ASKED: readonly Asked[] = [
  { index: 'ta_channel', order: 'channel_id', leaveOut: ['channel_description'] },
  { index: 'ta_video', order: 'youtube_id', leaveOut: ['vid_thumb_base64', 'channel.channel_description'] },
  { index: 'ta_playlist', order: 'playlist_id', leaveOut: ['playlist_description'] },
  { index: 'ta_download', order: 'youtube_id', leaveOut: ['vid_thumb_base64'], only: { term: { status: 'ignore' } } },
  {
    index: 'ta_comment',
    order: 'youtube_id',
    leaveOut: ['comment_comments.comment_time_text'],
    page: 10, // one document has all comments of a video
    isOptional: true,
  },
]
const PAGE = 100
const MOST_BYTES = 8_000_000
const MOST_DOCUMENTS = 2_000_000

export const isAddress = (catalog: string): boolean => /^https?:\/\//i.test(catalog)

/** @throws unprocessable: the text is not a URL, or contains credentials, which would be displayed */
export function checkAddress(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url) throw errors.unprocessable(say`${{ address }} is not a valid address`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw errors.unprocessable('Put name and password into "credentials"; the address must contain only the server')
}

/** Credentials by adoption. Those of adoptions that are no longer open are dropped. */
export function openCredentials() {
  const own = new Map<number, Credentials>()
  return {
    of: (adoption: number): Credentials | undefined => own.get(adoption),
    forget: (adoption: number): void => void own.delete(adoption),
    remember(adoption: number, credentials: Credentials | undefined, isOpen: (adoption: number) => boolean): void {
      for (const id of own.keys()) if (!isOpen(id)) own.delete(id)
      if (credentials) own.set(adoption, credentials)
    },
  }
}

/** @returns the file with the documents */
export async function takeDocuments(
  adoption: number,
  address: string,
  reading: PlaceReading,
  job: Pick<JobContext<object>, 'signal' | 'progress'>,
  app: Pick<App, 'adoptions' | 'fetch'>,
): Promise<string> {
  let count = 0
  for (const asked of ASKED)
    for (let after: unknown[] | undefined; ; ) {
      const { text, page } = await pageOf(
        address,
        asked,
        after,
        app.adoptions.credentials.of(adoption),
        job.signal,
        app,
      )
      const taken = await reading.storeDocuments(text, count === 0 && after === undefined && asked === ASKED[0])
      count += taken.count
      job.progress(0, say`${{ count }} documents read from Elasticsearch`)
      if (count > MOST_DOCUMENTS)
        throw errors.unprocessable('The Elasticsearch server contains more documents than a library can have')
      if (taken.count < page || !taken.after) break
      after = taken.after
    }
  app.adoptions.credentials.forget(adoption)
  return reading.documents
}

/** Reads a page. If it is too large, requests one document; if that is too large, only its sort value. */
async function pageOf(
  ...[address, asked, ...more]: Parameters<typeof search>
): Promise<{ text: string; page: number }> {
  for (const smaller of [asked, { ...asked, page: 1 }, { ...asked, page: 1, leaveOut: ['*'] }]) {
    const text = await search(address, smaller, ...more)
    if (Buffer.byteLength(text) < MOST_BYTES) return { text, page: smaller.page ?? PAGE }
  }
  throw errors.unprocessable(
    say`${{ host: new URL(address).host }} sent an answer of more than ${{ bytes: MOST_BYTES }} bytes`,
  )
}

async function search(
  address: string,
  { index, order, leaveOut, page = PAGE, only, isOptional = false }: Asked,
  after: unknown[] | undefined,
  credentials: Credentials | undefined,
  signal: AbortSignal,
  app: Pick<App, 'fetch'>,
): Promise<string> {
  const url = `${address.replace(/(?<!\/)\/+$/, '')}/${index}/_search?filter_path=hits.hits&ignore_unavailable=${isOptional}`
  const { host } = new URL(address)
  const reply = await app.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(credentials && { authorization: basic(credentials) }) },
    body: JSON.stringify({
      size: page,
      sort: [{ [order]: 'asc' }],
      _source: { excludes: leaveOut },
      query: only,
      search_after: after,
    }),
    maxBytes: MOST_BYTES,
    excess: 'cut',
    redirect: 'manual',
    signal,
  })
  if (reply.status === 200) return reply.text()
  if (reply.status === 401 || reply.status === 403)
    throw errors.unprocessable(
      say`${{ host }} requires a login: scan again with the username (by default “elastic”) and password of its Elasticsearch`,
    )
  if (reply.status === 404)
    throw errors.unprocessable(say`${{ host }} has no ${{ index }}, so it does not belong to TubeArchivist`)
  throw errors.unavailable(
    say`${{ host }} answered with status ${{ status: reply.status }}: correct that, then scan again`,
  )
}

const basic = ({ username, password }: Credentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
