/** Requests a playable copy of a film and waits for it. */
import { Failure, get, post } from '../server/api.ts'
import type { CopyState, Video } from '../server/records.ts'
import { t } from '../texts/lookup.ts'

const ASK_MS = 1000

/**
 * @param show  receives the progress, 0 to 1
 * @returns its URL
 * @throws Failure  the reason why it cannot be made; AbortError if the caller no longer waits
 */
export async function copied(video: Video, show: (fraction: number) => void, signal: AbortSignal): Promise<string> {
  const path = `/api/video/${video.platform_id}/copy/`
  // If the first copy does not play either, another one is made by encoding.
  let now = await post<CopyState>(path, video.copy_url === undefined ? {} : { encode: true })
  while (now.state === 'making') {
    show(now.progress)
    await pause(signal)
    now = await get<CopyState>(path, {}, signal)
  }
  if (now.copy_url !== undefined) return now.copy_url
  throw new Failure(422, now.reason ? { message: now.reason, said: now.said } : { message: t('adding.stopped') })
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ASK_MS)
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true })
  })
