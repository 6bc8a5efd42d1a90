/** Checks whether the caller may see the video of a request. */
import { errors } from 'archivolt'
import type { App } from './app.ts'

/** @throws not_found: it is not in the archive, or not in the caller's view */
export async function mustBeSeen(id: string, { videos }: Pick<App, 'videos'>): Promise<void> {
  if (!(await videos.has(id))) throw errors.notFound('video', id)
}
