/** Downloads damaged files again from the platform, if it still has them; the damaged film is kept in the bin. */
import { epochSeconds, type JobContext } from 'archivolt'
import type { App } from './app.ts'
import { isArtKind } from './files.ts'
import type { Row } from './rows.ts'

type Run = JobContext<object>

/** @returns whether the file was downloaded or is queued; false: the damaged file is the only copy */
export async function mend(row: Row, job: Run, app: App): Promise<boolean> {
  const isBegun = row.kind === 'picture' ? await mendPicture(row, job, app) : await mendVideo(row, job, app)
  // A file that has already been downloaded has a new row, which is not changed.
  await app.checksums.rows.set(row, { mending_at: isBegun ? epochSeconds(app.clock) : null })
  return isBegun
}

async function mendVideo(row: Row, job: Run, app: App): Promise<boolean> {
  const { id, kind } = row
  const doc = await app.videos.get(id)
  if (!doc?.active) return false
  if (kind === 'subtitle') {
    await app.extras.fetch(id, job)
    return app.checksums.rows.get(row)?.state !== row.state
  }
  if (!app.media.isOurs(id)) return false
  const outline = await app.videos.outline(id)
  if (!outline) return false
  await job.step('checksum.queue', () => app.queue.add([outline], 'priority', { force: true }))
  return true
}

async function mendPicture({ id, part }: Row, job: Run, app: App): Promise<boolean> {
  if (!isArtKind(part)) return false
  const url = await addressOf(id, part, app)
  return url !== undefined && app.media.fetchArt(part, id, url, job.signal)
}

async function addressOf(id: string, part: string, app: App): Promise<string | undefined> {
  if (part === 'video') return (await app.videos.get(id))?.art
  if (part === 'playlist') return (await app.playlists.collection.get(id))?.art
  const art = (await app.channels.collection.get(id))?.art
  try {
    const url: unknown = (JSON.parse(art ?? '{}') as Record<string, unknown> | null)?.[part.replace('channel_', '')]
    return typeof url === 'string' ? url : undefined
  } catch {
    return undefined
  }
}
