/** Marking all videos of a channel or playlist: a job, so that an interruption is finished by the next start. */
import { defineTask, ID_PATTERN, Type } from 'archivolt'

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
  async run({ payload: { userId, kind, id, isWatched, at }, signal }, app): Promise<void> {
    await app.watch.markNow(userId, { kind, id }, isWatched, at, { signal })
  },
})
