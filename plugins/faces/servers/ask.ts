/** Sends requests to a media server. Its answers are external input, and none of them is trusted. */
import { errors, say } from 'archivolt'
import type { App } from '../app.ts'

const WITHIN_SECONDS = 15
const MOST_BYTES = 5_000_000

interface Request {
  /** Default: GET, or POST with a body. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  body?: object
  /** A 404 returns undefined instead of throwing. */
  mayBeAbsent?: boolean
}

/** @returns JSON, or undefined for any other text. @throws unavailable: a sentence about the problem */
export type Ask = (path: string, request?: Request) => Promise<unknown>

/** @param server  the name of the program, such as Plex */
export function openAsk(server: string, url: string, app: Pick<App, 'fetch'>, signal: AbortSignal): Ask {
  const base = url.replace(/(?<!\/)\/+$/, '')

  return async (path, { body, method = body ? 'POST' : 'GET', headers, mayBeAbsent = false } = {}) => {
    const reply = await app.fetch(`${base}${path}`, {
      method,
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      signal,
      withinSeconds: WITHIN_SECONDS,
      maxBytes: MOST_BYTES,
      redirect: 'manual',
    })
    const { status } = reply
    if (status === 404 && mayBeAbsent) return undefined
    if (status === 401 || status === 403)
      throw errors.unavailable(say`${{ server }} rejects the key: create a new one there and enter it here`)
    if (status >= 300 && status < 400)
      throw errors.unavailable(
        say`The address redirects elsewhere (status ${{ status }}): enter the address of ${{ server }} itself`,
      )
    if (status === 404) throw errors.unavailable(say`There is no ${{ server }} at this address`)
    if (status >= 400) throw errors.unavailable(say`${{ server }} answered with status ${{ status }}`)
    const text = await reply.text()
    if (text.trim() === '') return undefined
    try {
      return JSON.parse(text)
    } catch {
      // Some servers answer a successful request with plain text, but a web page means that this is another server.
      if (!text.trimStart().startsWith('<')) return undefined
      throw errors.unavailable(say`There is a web page at this address, not ${{ server }}`)
    }
  }
}

export const withQuery = (path: string, query: Readonly<Record<string, string | number>>): string =>
  `${path}?${Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`

const PAGE = 200
/** Maximum number of pages, with more items than any library has. */
const MOST_PAGES = 5000

/** Reads page by page until a page is not full. @param read  returns the page that begins at `start` */
export async function* pagesOf<Row>(read: (start: number, size: number) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let page = 0; page < MOST_PAGES; page++) {
    const rows = await read(page * PAGE, PAGE)
    yield rows
    if (rows.length < PAGE) return
  }
}

export async function inFull<Row>(pages: AsyncIterable<Row[]>): Promise<Row[]> {
  const all: Row[] = []
  for await (const page of pages) all.push(...page)
  return all
}
