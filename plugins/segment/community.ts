/**
 * The community service for skip segments: queried by a hash prefix, so that it does not learn which video is meant.
 */
import { createHash } from 'node:crypto'
import { type Static, Type, Value, withLimit } from 'archivolt'

const CATEGORIES = [
  'sponsor',
  'selfpromo',
  'interaction',
  'intro',
  'outro',
  'preview',
  'filler',
  'music_offtopic',
] as const

const PREFIX_DIGITS = 4
const TIMEOUT_MS = 10_000
/** The reply has every video with this prefix: hundreds at most. */
const MOST_BYTES = 4 * 1024 * 1024
const MOST_SEGMENTS = 500

const KnownSegment = Type.Object({
  UUID: Type.String({ minLength: 1, maxLength: 200 }),
  actionType: Type.String({ maxLength: 50 }),
  category: Type.Enum([...CATEGORIES]),
  segment: Type.Array(Type.Number({ minimum: 0 }), { minItems: 2, maxItems: 2 }),
  locked: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })),
  votes: Type.Optional(Type.Integer()),
  videoDuration: Type.Optional(Type.Number({ minimum: 0 })),
})
export type KnownSegment = Static<typeof KnownSegment>

const Answer = Type.Array(Type.Object({ videoID: Type.String(), segments: Type.Array(Type.Unknown()) }))

/**
 * The segments of one video, in order; none known: `[]`. Malformed ones are left out.
 * @throws if the service does not answer
 */
export function askForSegments(baseUrl: string, videoId: string, signal?: AbortSignal): Promise<KnownSegment[]> {
  return withLimit(TIMEOUT_MS, signal, (limited) => ask(baseUrl, videoId, limited))
}

async function ask(baseUrl: string, videoId: string, signal: AbortSignal): Promise<KnownSegment[]> {
  const prefix = createHash('sha256').update(videoId).digest('hex').slice(0, PREFIX_DIGITS)
  const query = new URLSearchParams({ categories: JSON.stringify(CATEGORIES), actionTypes: '["skip"]' })
  const response = await fetch(`${baseUrl}/api/skipSegments/${prefix}?${query}`, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal,
  })
  if (response.status === 404) {
    await response.body?.cancel()
    return []
  }
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`The segment service answered ${response.status}`)
  }
  const answer: unknown = JSON.parse(await textOf(response))
  if (!Value.Check(Answer, answer)) throw new Error('The segment service answered in a form that is not its own')
  const own = answer.find(({ videoID }) => videoID === videoId)?.segments ?? []
  return own
    .filter(
      (segment): segment is KnownSegment =>
        Value.Check(KnownSegment, segment) && segment.segment[0]! <= segment.segment[1]!,
    )
    .slice(0, MOST_SEGMENTS)
    .toSorted((a, b) => a.segment[0]! - b.segment[0]!)
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MOST_BYTES) throw new Error(`The segment service sent more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
