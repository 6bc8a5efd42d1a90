/**
 * A live Elasticsearch of TubeArchivist, in place of its backup: what it holds is asked for in pages and put beside our
 * notes, where the reading child takes it for a backup. Nothing is written there. Name and password are kept in memory
 * alone, for as long as the scan has to be made.
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
  /** The field that they are put in order by. */
  order: string
  leaveOut: string[]
  /** So many are asked for at a time; left out: `PAGE`. */
  page?: number
  only?: object
  /** Older ones have none. */
  isOptional?: boolean
}

/** Which documents, and what of them is read. */
const ASKED: readonly Asked[] = [
  { index: 'ta_channel', order: 'channel_id', leaveOut: ['channel_description'] },
  { index: 'ta_video', order: 'youtube_id', leaveOut: ['vid_thumb_base64', 'channel.channel_description'] },
  { index: 'ta_playlist', order: 'playlist_id', leaveOut: ['playlist_description'] },
  { index: 'ta_download', order: 'youtube_id', leaveOut: ['vid_thumb_base64'], only: { term: { status: 'ignore' } } },
  {
    index: 'ta_comment',
    order: 'youtube_id',
    leaveOut: ['comment_comments.comment_time_text'],
    page: 10, // all of a video are one document
    isOptional: true,
  },
]
const PAGE = 100
const MOST_BYTES = 8_000_000
const MOST_DOCUMENTS = 2_000_000

export const isAddress = (catalog: string): boolean => /^https?:\/\//i.test(catalog)

/** @throws unprocessable: it is no address, or has name and password in it, which would be shown */
export function checkAddress(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url) throw errors.unprocessable(say`${{ address }} is no address`)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw errors.unprocessable('Name and password stand in "credentials", and nothing else in the address of a server')
}

/** By adoption, for the only scan that may use them: those of others are forgotten where that is over. */
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

/** @returns the file that stands for a backup */
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
      const taken = await reading.keepDocuments(text, count === 0 && after === undefined && asked === ASKED[0])
      count += taken.count
      job.progress(0, say`${{ count }} documents of its Elasticsearch`)
      if (count > MOST_DOCUMENTS) throw errors.unprocessable('Its Elasticsearch holds more than a library can')
      if (taken.count < page || !taken.after) break
      after = taken.after
    }
  app.adoptions.credentials.forget(adoption)
  return reading.documents
}

/** As large as it may be: else one document, and of one that is too large nothing but its place in the order. */
async function pageOf(
  ...[address, asked, ...more]: Parameters<typeof search>
): Promise<{ text: string; page: number }> {
  for (const smaller of [asked, { ...asked, page: 1 }, { ...asked, page: 1, leaveOut: ['*'] }]) {
    const text = await search(address, smaller, ...more)
    if (Buffer.byteLength(text) < MOST_BYTES) return { text, page: smaller.page ?? PAGE }
  }
  throw errors.unprocessable(
    say`${{ host: new URL(address).host }} answers with more than ${{ bytes: MOST_BYTES }} bytes`,
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
      say`${{ host }} refuses: look again with name and password of its Elasticsearch (by default “elastic”)`,
    )
  if (reply.status === 404)
    throw errors.unprocessable(say`${{ host }} has no ${{ index }}: it is none of TubeArchivist`)
  throw errors.unavailable(say`${{ host }} answers ${{ status: reply.status }}: look after it, then look again`)
}

const basic = ({ username, password }: Credentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
