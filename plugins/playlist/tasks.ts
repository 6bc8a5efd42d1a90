/** Jobs, so that what was interrupted is finished by the next start: removals, and documents that rows have outrun. */
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

export const addTwins = defineTask({
  name: 'playlist.add_twins',
  title: 'Store the second id key of playlist entries',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  internal: true,
  resumable: true,
  retries: { times: 5, delaySeconds: 60, factor: 2 },
  run: ({ signal }, app: App): Promise<void> => app.playlists.addTwins(signal),
})

export const settlePlaylists = defineTask({
  name: 'playlist.settle',
  title: 'Bring custom playlists into the index',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  internal: true,
  resumable: true,
  retries: { times: 5, delaySeconds: 60, factor: 2 },
  run: ({ step }, app: App): Promise<void> => app.playlists.settle(step),
})
