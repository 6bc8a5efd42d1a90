/** Jobs that finish interrupted work at the next start: removals, and documents that are older than their rows. */
import { defineTask, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

/** Result of a removal whose playlist is in the bin. */
export const BINNED = 'kept'

export const removePlaylist = defineTask({
  name: 'playlist.remove',
  title: 'Remove a playlist',
  payload: Type.Object({
    id: Type.String({ pattern: ID_PATTERN }),
    withVideos: Type.Boolean(),
    /** The bin's id for everything that is removed together. */
    removal: Type.Optional(Type.String()),
    /** The account that requested it; omitted: the playlist does not go into the bin. */
    by: Type.Optional(Type.Integer()),
  }),
  lane: 'light',
  unique: ({ id }) => id,
  internal: true,
  resumable: true,
  /** @returns `BINNED`: the playlist is in the bin */
  async run({ id: jobId, payload, step, signal, progress }, app: App): Promise<string> {
    const { id, withVideos, removal = jobId, by } = payload
    const bin = by === undefined ? undefined : app.hook('playlist.bin').find(({ isOn }) => isOn())
    const told = bin ? BINNED : ''
    if (!(await app.playlists.exists(id))) return told // an earlier run has completed the removal
    if (withVideos) await app.playlists.removeVideos(id, { signal, progress, removal, ...(by !== undefined && { by }) })
    const belongings = bin && (await app.playlists.collectBelongings(id))
    if (bin && belongings) await step('playlist.keep', () => bin.keep(jobId, removal, by!, belongings))
    try {
      await step('playlist.drop', () => app.playlists.finishRemoval(id, { isArtKept: belongings?.doc !== undefined }))
    } catch (thrown) {
      await bin?.takeBack(jobId)
      throw thrown
    }
    return told
  },
})

/** Corrects all playlists, so one such job is enough. */
const CORRECTION = {
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  internal: true,
  resumable: true,
  retries: { times: 5, delaySeconds: 60, factor: 2 },
} as const

export const addTwins = defineTask({
  ...CORRECTION,
  name: 'playlist.add_twins',
  title: 'Store the second id key of playlist entries',
  run: ({ signal }, app: App): Promise<void> => app.playlists.addTwins(signal),
})

export const settlePlaylists = defineTask({
  ...CORRECTION,
  name: 'playlist.settle',
  title: 'Write custom playlists to the index',
  run: ({ step }, app: App): Promise<void> => app.playlists.settle(step),
})
