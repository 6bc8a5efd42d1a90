/**
 * Sends requests to public services run by viewers: with limits, and revealing as little about the archive as possible.
 */
import { createHash } from 'node:crypto'
import { withLimit } from 'archivolt'

const TIMEOUT_MS = 10_000

/** The service refuses further requests for now. */
export class TooMany extends Error {}

interface Question {
  url: string
  /** The service as the subject of an error: `The segment service`. */
  service: string
  maxBytes: number
  signal?: AbortSignal | undefined
}

/**
 * @returns the parsed JSON, unchecked; undefined: the service has no data for this request
 * @throws TooMany, or the error that prevents an answer
 */
export function askService({ url, service, maxBytes, signal }: Question): Promise<unknown> {
  return withLimit(TIMEOUT_MS, signal, async (limited) => {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: limited,
    })
    if (response.ok) return JSON.parse(await textOf(response, service, maxBytes))
    await response.body?.cancel()
    if (response.status === 429) throw new TooMany(`${service} has been asked too often`)
    // 400: not an id of the platform.
    if (response.status === 404 || response.status === 400) return undefined
    throw new Error(`${service} answered ${response.status}`)
  })
}

const PREFIX_DIGITS = 4

/**
 * The first digits of a video's hash. Thousands of videos share them, so that a service does not learn which one is
 * meant.
 */
export const hashPrefix = (videoId: string): string =>
  createHash('sha256').update(videoId).digest('hex').slice(0, PREFIX_DIGITS)

async function textOf(response: Response, service: string, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`${service} sent more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
