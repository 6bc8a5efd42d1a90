/**
 * Reads one document again: what is found replaces what the platform says of it, what is gone is marked so (contract
 * 9.8).
 */
import { epochSeconds, type JobContext } from 'archivolt'
import type { App } from './app.ts'
import type { Item, Kind } from './queue.ts'

type Run = JobContext<object>

/** @throws what the platform throws; then nothing has changed */
export async function refreshItem({ kind, id }: Item, job: Run, app: App): Promise<boolean> {
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
      return app.playlists.index(await app.platform.playlist(id, asked), { ...asked, mustExist: true })
  }
}

async function refreshVideo(id: string, job: Run, app: App): Promise<boolean> {
  if (!(await app.videos.has(id))) return false
  const metadata = await app.platform.video(id, { asker: job.id, signal: job.signal })
  if (!(await app.videos.refreshWith(metadata, { signal: job.signal }))) return false // removed meanwhile
  await app.segments.refresh(id, job.signal)
  await app.dislikes.note(id)
  // Without these the rest is as good as before.
  await orLog(`no subtitles of ${id}`, job, app, () => refreshSubtitles(id, job, app))
  await orLog(`no comments of ${id}`, job, app, () => refreshComments(id, job, app))
  return true
}

async function refreshSubtitles(id: string, job: Run, app: App): Promise<void> {
  const { subtitle, subtitle_source, subtitle_index } = app.preferences.section('downloads')
  // one that is downloaded anew brings its own, by the same staging folder
  if (!subtitle || (await app.queue.items.known([id])).has(id)) return
  const folder = await app.media.staging(id)
  try {
    const wanted = { folder, languages: subtitle, source: subtitle_source || ('user' as const) }
    const staged = await app.platform.subtitles(id, wanted, { asker: job.id, signal: job.signal })
    if (staged.length) await app.videos.setSubtitles(id, staged, { isIndexed: subtitle_index })
  } finally {
    await app.media.clearStaging(id)
  }
}

async function refreshComments(id: string, job: Run, app: App): Promise<void> {
  const { comment_max: max, comment_sort: sort } = app.preferences.section('downloads')
  if (max)
    await app.videos.setComments(
      id,
      await app.platform.comments(id, { max, sort }, { asker: job.id, signal: job.signal }),
    )
}

async function orLog(what: string, job: Run, app: App, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const failure = app.platform.failureOf(error)
    if (!failure) throw error
    job.log.warn({ failure: failure.failure }, `${what}: ${failure.message}`)
  }
}

/** Whether the platform has them. @returns how many were ours */
export function setActive(kind: Kind, ids: readonly string[], isActive: boolean, app: App): Promise<number> {
  const home = { video: app.videos, channel: app.channels, playlist: app.playlists }[kind]
  return home.setActive(ids, isActive)
}

/** Nothing new could be learned: its turn comes again with the others', not at once. */
export async function putBehindOthers({ kind, id }: Item, app: App): Promise<void> {
  const set = { refreshed_at: epochSeconds(app.clock) }
  if (kind === 'video') await app.videos.collection.patch(id, { set })
  else if (kind === 'channel') await app.channels.collection.patch(id, { set })
  else await app.playlists.collection.patch(id, { set })
}

/** Which of these the platform could have: archived, and no custom playlist. At most as many as a window holds. */
export async function knownOf(kind: Kind, ids: readonly string[], app: App): Promise<Set<string>> {
  if (kind === 'video') return app.videos.known(ids)
  if (kind === 'channel') return app.channels.known(ids)
  const { hits } = await app.playlists.collection.find({
    ids,
    filter: { eq: ['playlist_type', 'regular'] },
    size: ids.length,
    withoutTotal: true,
  })
  return new Set(hits.map(({ id }) => id))
}
