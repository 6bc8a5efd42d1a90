/**
 * Requests an estimate from the public service that estimates dislikes, by a video's id; its answer is checked and
 * limited.
 */
import { Type } from 'archivolt'
import { askService } from '../community-kit/ask.ts'

const MOST_BYTES = 64 * 1024
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/**
 * @returns undefined: the service has no data about this video
 * @throws TooMany, or the error that prevents an answer
 */
export async function askForDislikes(
  baseUrl: string,
  videoId: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answer = await askService({
    url: `${baseUrl}/votes?videoId=${encodeURIComponent(videoId)}`,
    service: 'The service that estimates dislikes',
    schema: Type.Object({ id: Type.Literal(videoId), dislikes: Count }),
    maxBytes: MOST_BYTES,
    signal,
  })
  return answer?.dislikes
}
