/** Refreshes one document: replaces the platform's data, or marks the document as gone (contract 9.8). */
import { epochSeconds, type JobContext, type Words } from 'archivolt'
import type { App } from './app.ts'
import type { Item, Kind } from './queue.ts'

type Run = JobContext<object>

/** @throws what the platform throws; nothing has changed then */
export async function refreshItem(
  { kind, id }: Item,
  job: Run,
  app: App,
  onCut: (told: Words) => void,
): Promise<boolean> {
  const asked = { asker: job.id, signal: job.signal }
  switch (kind) {
    case 'video':
      return refreshVideo(id, job, app)
    case 'channel':
      return (
        (await app.channels.known([id])).has(id) &&
        app.channels.refreshWith(await app.platform.channel(id, asked), asked)
      )
    case 'playlist':
      if (!(await knownOf(kind, [id], app)).has(id)) return false
      return app.playlists.index(await app.platform.playlist(id, asked), { ...asked, mustExist: true, onCut })
  }
}

async function refreshVideo(id: string, job: Run, app: App): Promise<boolean> {
  if (!(await app.videos.has(id))) return false
  const metadata = await app.platform.video(id, { asker: job.id, signal: job.signal })
  if (!(await app.videos.refreshWith(metadata, { signal: job.signal }))) return false // removed meanwhile
  await app.segments.refresh(id, job.signal)
  await app.dislikes.note(id)
  await app.extras.fetch(id, job)
  return true
}

/** Whether the platform has them. @returns the number of archived ones */
export function setActive(kind: Kind, ids: readonly string[], isActive: boolean, app: App): Promise<number> {
  const home = { video: app.videos, channel: app.channels, playlist: app.playlists }[kind]
  return home.setActive(ids, isActive)
}

/** Nothing could be learned: it is refreshed again in its turn, not at once. */
export async function putBehindOthers({ kind, id }: Item, app: App): Promise<void> {
  const set = { refreshed_at: epochSeconds(app.clock) }
  if (kind === 'video') await app.videos.collection.patch(id, { set })
  else if (kind === 'channel') await app.channels.collection.patch(id, { set })
  else await app.playlists.collection.patch(id, { set })
}

/** Which of these may be on the platform: archived, and not custom playlists. At most as many as a window holds. */
export async function knownOf(kind: Kind, ids: readonly string[], app: App): Promise<Set<string>> {
  if (kind === 'video') return app.videos.known(ids)
  if (kind === 'channel') return app.channels.known(ids)
  const { hits } = await app.playlists.collection.find({
    ids,
    filter: { eq: ['playlist_type', 'regular'] },
    size: ids.length,
    withoutTotal: true,
    withoutTexts: true,
  })
  return new Set(hits.map(({ id }) => id))
}
