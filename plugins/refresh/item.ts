/**
 * Refreshes one document: replaces the platform's data, or marks the document as no longer on the platform (contract
 * 9.8).
 */
import { epochSeconds, type JobContext, type Words } from 'archivolt'
import type { App } from './app.ts'
import type { Item, Kind } from './queue.ts'

type Run = JobContext<object>

/** @throws errors of the platform; nothing has changed then */
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
  // the video was removed in the meantime
  if (!(await app.videos.refreshWith(metadata, { signal: job.signal }))) return false
  await app.segments.refresh(id, job.signal)
  await app.dislikes.note(id)
  await app.extras.fetch(id, job)
  return true
}

/** Records whether the platform still has these documents. @returns the number of those that are archived */
export function setActive(kind: Kind, ids: readonly string[], isActive: boolean, app: App): Promise<number> {
  const home = { video: app.videos, channel: app.channels, playlist: app.playlists }[kind]
  return home.setActive(ids, isActive)
}

/**
 * Called if the request gave no information: delays the document until its next turn, so that it is not refreshed again
 * at once.
 */
export async function putBehindOthers({ kind, id }: Item, app: App): Promise<void> {
  const set = { refreshed_at: epochSeconds(app.clock) }
  if (kind === 'video') await app.videos.collection.patch(id, { set })
  else if (kind === 'channel') await app.channels.collection.patch(id, { set })
  else await app.playlists.collection.patch(id, { set })
}

/**
 * Those of these documents that may be on the platform: archived, and not custom playlists. At most as many as a window
 * contains.
 */
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
