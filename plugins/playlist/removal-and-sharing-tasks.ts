/**
 * The removal of a playlist, its sharing and the end of that: jobs, so that an interruption is finished by the next
 * start.
 */
import { defineTask, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export const removePlaylist = defineTask({
  name: 'playlist.remove',
  title: 'Remove a playlist',
  payload: Type.Object({ id: Type.String({ pattern: ID_PATTERN }), withVideos: Type.Boolean() }),
  lane: 'light',
  unique: ({ id }) => id,
  internal: true,
  resumable: true,
  async run({ payload: { id, withVideos }, step, signal, progress }, app: App): Promise<void> {
    if (!(await app.playlists.exists(id))) return // an earlier run has come to the end
    if (withVideos) await app.playlists.removeVideos(id, { signal, progress })
    await step('playlist.drop', () => app.playlists.finishRemoval(id))
  },
})

const PlaylistId = Type.Object({ id: Type.String({ pattern: ID_PATTERN }) })

export const sharePlaylist = defineTask({
  name: 'playlist.share',
  title: 'Share a playlist',
  payload: PlaylistId,
  lane: 'light',
  unique: ({ id }) => id,
  internal: true,
  resumable: true,
  run: ({ payload: { id }, step }, app: App): Promise<void> => app.playlists.share(id, step),
})

export const makePrivate = defineTask({
  name: 'playlist.makePrivate',
  title: 'Make a playlist private',
  payload: PlaylistId,
  lane: 'light',
  unique: ({ id }) => id,
  internal: true,
  resumable: true,
  run: ({ payload: { id }, step }, app: App): Promise<void> => app.playlists.unshare(id, step),
})
