/** What the routes share: their parameters, and the check that the caller may see the video of a request. */
import { errors, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export const VideoId = Type.String({ pattern: ID_PATTERN })
export const VideoParams = Type.Object({ videoId: VideoId })
/** The allowed characters of a file name in a URL. */
export const FileName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' })

/** @throws not_found: it is not in the archive, or not in the caller's view */
export async function mustBeSeen(id: string, { videos }: Pick<App, 'videos'>): Promise<void> {
  if (!(await videos.has(id))) throw errors.notFound('video', id)
}
