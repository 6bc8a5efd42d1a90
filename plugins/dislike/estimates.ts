/** The public service that estimates dislikes: asked by a video's id, its answer checked and bounded. */
import { Type, Value, withLimit } from 'archivolt'

const TIMEOUT_MS = 10_000
const MOST_BYTES = 64 * 1024

const Answer = Type.Object({
  id: Type.String(),
  dislikes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})

/** It has been asked too often. */
export class TooMany extends Error {}

/**
 * @returns undefined: it knows nothing of this video
 * @throws TooMany, or whatever keeps the service from answering
 */
export function askForDislikes(baseUrl: string, videoId: string, signal: AbortSignal): Promise<number | undefined> {
  return withLimit(TIMEOUT_MS, signal, (limited) => ask(baseUrl, videoId, limited))
}

async function ask(baseUrl: string, videoId: string, signal: AbortSignal): Promise<number | undefined> {
  const response = await fetch(`${baseUrl}/votes?videoId=${encodeURIComponent(videoId)}`, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal,
  })
  if (response.ok) return readAnswer(JSON.parse(await textOf(response)), videoId)
  await response.body?.cancel()
  if (response.status === 429) throw new TooMany('The service that estimates dislikes has been asked too often')
  // 400: what is no id of the platform's.
  if (response.status === 404 || response.status === 400) return undefined
  throw new Error(`The service that estimates dislikes answered ${response.status}`)
}

function readAnswer(answer: unknown, videoId: string): number {
  if (!Value.Check(Answer, answer) || answer.id !== videoId)
    throw new Error('The service that estimates dislikes answered in a form that is not its own')
  return answer.dislikes
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MOST_BYTES) throw new Error(`The service that estimates dislikes sent more than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
