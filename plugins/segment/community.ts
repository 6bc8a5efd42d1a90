/**
 * The community service for skip segments: queried with a prefix of a hash, so that it does not learn the id of the
 * video.
 */
import { type Static, Type, Value } from 'archivolt'
import { askService, hashPrefix } from '../community-kit/ask.ts'

export const CATEGORIES = [
  'sponsor',
  'selfpromo',
  'interaction',
  'intro',
  'outro',
  'preview',
  'filler',
  'music_offtopic',
] as const

/** Size limit of the reply, which contains every video with this prefix: hundreds at most. */
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
 * The segments of one video, in order; `[]`: none are known. Malformed ones are omitted.
 * @throws if the service does not answer
 */
export async function askForSegments(baseUrl: string, videoId: string, signal?: AbortSignal): Promise<KnownSegment[]> {
  const query = new URLSearchParams({ categories: JSON.stringify(CATEGORIES), actionTypes: '["skip"]' })
  const answer = await askService({
    url: `${baseUrl}/api/skipSegments/${hashPrefix(videoId)}?${query}`,
    service: 'The segment service',
    schema: Answer,
    maxBytes: MOST_BYTES,
    signal,
  })
  if (answer === undefined) return []
  const own = answer.find(({ videoID }) => videoID === videoId)?.segments ?? []
  return own
    .filter(
      (segment): segment is KnownSegment =>
        Value.Check(KnownSegment, segment) && segment.segment[0]! <= segment.segment[1]!,
    )
    .slice(0, MOST_SEGMENTS)
    .toSorted((a, b) => a.segment[0]! - b.segment[0]!)
}
