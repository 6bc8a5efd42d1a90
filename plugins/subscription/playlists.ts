/**
 * Updates playlists automatically: subscribed ones after a download run, and all playlists of a channel that has this
 * setting.
 */
import { defineTask, ID_PATTERN, inEnglish, type JobContext, say, Type, type Words } from 'archivolt'
import type { App } from './app.ts'
import { markWhereGone } from './gone.ts'

export const indexPlaylists = defineTask({
  name: 'index_playlists',
  title: 'Index Channel Playlist',
  group: 'channel:indexplaylist',
  payload: Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) }),
  lane: 'platform',
  unique: ({ channelId }) => channelId,
  resumable: true, // playlists that are already indexed are only written again
  retries: { times: 3, delaySeconds: 60 },
  async run(job, app: App) {
    const { channelId } = job.payload
    const asked = { asker: job.id, signal: job.signal }
    const found = await app.platform.playlistsOf(channelId, asked)
    for (const [index, { id, name }] of found.entries()) {
      // otherwise the playlist would add the channel again
      if (!(await app.channels.known([channelId])).has(channelId)) return
      job.progress(
        index / found.length,
        say`Indexing playlist ${{ number: index + 1 }}/${{ all: found.length }}: ${{ name }}`,
      )
      await indexOne(id, job, app)
    }
  },
})

async function indexOne(id: string, job: JobContext<object>, app: App, { mustExist = false } = {}): Promise<void> {
  const asked = { asker: job.id, signal: job.signal }
  try {
    const onCut = (told: Words) => job.log.warn({ playlist: id }, inEnglish(told))
    await app.playlists.index(await app.platform.playlist(id, asked), { ...asked, mustExist, onCut })
  } catch (error) {
    await markWhereGone({ kind: 'playlist', id }, error, job, app)
  }
}

/** The current document: reading a long list takes time, and people may change it meanwhile. */
export async function followedPlaylist(id: string, app: App) {
  const playlist = await app.playlists.get(id)
  return playlist?.playlist_subscribed && playlist.playlist_active ? playlist : undefined
}

/** Updates playlists that were indexed earlier, because videos of a download run may belong to them. */
export async function afterDownload(ingested: readonly string[], job: JobContext<object>, app: App): Promise<void> {
  if (!ingested.length) return
  const ids = await app.playlists.subscribed()
  for (const [index, id] of ids.entries()) {
    if (job.isStopping()) return
    job.progress(1, say`Refreshing playlist ${{ number: index + 1 }}/${{ all: ids.length }}`)
    if (await followedPlaylist(id, app)) await indexOne(id, job, app, { mustExist: true })
  }
  const set = new Map((await app.channels.withOverwrite('index_playlists')).map(({ id, value }) => [id, value]))
  if (!set.size) return
  const channels = new Set<string>()
  for (const id of ingested) {
    const channelId = (await app.videos.get(id))?.channel_id
    if (channelId !== undefined && set.get(channelId)) channels.add(channelId)
  }
  for (const channelId of channels) await app.jobs.start(indexPlaylists, { channelId })
}
