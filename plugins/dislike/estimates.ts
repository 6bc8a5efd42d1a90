/**
 * Requests an estimate from the public service that estimates dislikes, by a video's id; its answer is checked and
 * limited.
 */
import { Type, Value } from 'archivolt'
import { askService } from '../community-kit/ask.ts'

const SERVICE = 'The service that estimates dislikes'
const MOST_BYTES = 64 * 1024

const Answer = Type.Object({
  id: Type.String(),
  dislikes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})

/**
 * @returns undefined: the service has no data about this video
 * @throws TooMany, or the error that prevents an answer
 */
export async function askForDislikes(
  baseUrl: string,
  videoId: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const url = `${baseUrl}/votes?videoId=${encodeURIComponent(videoId)}`
  const answer = await askService({ url, service: SERVICE, maxBytes: MOST_BYTES, signal })
  if (answer === undefined) return undefined
  if (!Value.Check(Answer, answer) || answer.id !== videoId)
    throw new Error(`${SERVICE} answered in a form that is not its own`)
  return answer.dislikes
}
