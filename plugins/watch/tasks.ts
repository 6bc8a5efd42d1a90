/**
 * Marks all videos of a channel or playlist, and forgets positions in videos that are gone after a restore. These are
 * jobs, so that the next start finishes what was interrupted.
 */
import { defineTask, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export const markVideos = defineTask({
  name: 'watch.mark',
  title: 'Mark videos',
  payload: Type.Object({
    userId: Type.Integer(),
    kind: Type.Enum(['channel', 'playlist']),
    id: Type.String({ pattern: ID_PATTERN }),
    isWatched: Type.Boolean(),
    /** Epoch seconds: the date of all of them, also of those that the next start marks. */
    at: Type.Integer(),
  }),
  lane: 'light',
  internal: true,
  resumable: true,
  async run({ payload: { userId, kind, id, isWatched, at }, signal }, app: App): Promise<void> {
    await app.watch.markNow(userId, { kind, id }, isWatched, at, { signal })
  },
})

export const forgetGone = defineTask({
  name: 'watch.forgetGone',
  title: 'Forget positions in videos that are gone',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  async run({ signal, log }, app: App) {
    const forgotten = await app.watch.forgetGone(signal)
    if (forgotten) log.info({ videos: forgotten }, 'positions in videos that a restore has taken are forgotten')
  },
})
