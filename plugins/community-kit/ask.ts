/**
 * Sends requests to public services run by viewers: with limits, and revealing as little about the archive as possible.
 */
import { createHash } from 'node:crypto'
import { type Static, type TSchema, Type, Value, withLimit } from 'archivolt'

const TIMEOUT_MS = 10_000

/** The form of a setting with the base URL of a service. */
export const ServiceUrl = Type.String({
  pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
  description: 'an http(s) URL without a trailing slash',
})

/** The service refuses further requests for now. */
export class TooMany extends Error {}

interface Question<Answer extends TSchema> {
  url: string
  /** The service as the subject of an error: `The segment service`. */
  service: string
  /** The form of the answer; any other is an error. */
  schema: Answer
  maxBytes: number
  signal?: AbortSignal | undefined
}

/**
 * @returns undefined: the service has no data for this request
 * @throws TooMany, or the error that prevents an answer
 */
export function askService<Answer extends TSchema>(question: Question<Answer>): Promise<Static<Answer> | undefined> {
  const { url, service, schema, maxBytes, signal } = question
  return withLimit(TIMEOUT_MS, signal, async (limited) => {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: limited,
    })
    if (response.ok) {
      const answer: unknown = JSON.parse(await textOf(response, service, maxBytes))
      if (!Value.Check(schema, answer)) throw new Error(`${service} sent an unexpected answer`)
      return answer
    }
    await response.body?.cancel()
    if (response.status === 429) throw new TooMany(`${service} refuses further requests for now`)
    // 400: not an id of the platform.
    if (response.status === 404 || response.status === 400) return undefined
    throw new Error(`${service} answered with status ${response.status}`)
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
