/** Whether who asks sees the video that a route of files of it is about. */
import { errors } from 'archivolt'
import type { App } from './app.ts'

/** In the archive, and in the view of who asks. @throws not_found */
export async function mustBeSeen(id: string, { videos }: Pick<App, 'videos'>): Promise<void> {
  if (!(await videos.has(id))) throw errors.notFound('video', id)
}
