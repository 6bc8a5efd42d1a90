/**
 * Jobs that mark all videos of a channel or playlist, and that correct the index after a restore or the removal of an
 * account. As jobs, they are continued at the next start after an interruption.
 */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'

export const markVideos = defineTask({
  name: 'watch.mark',
  title: 'Mark videos',
  payload: Type.Object({
    userId: Type.Integer(),
    /** Number of the account's last marking to carry out; omitted: all of them. */
    number: Type.Optional(Type.Integer()),
  }),
  lane: 'light',
  internal: true,
  resumable: true,
  async run(job, app: App): Promise<void> {
    const { userId, number } = job.payload
    await app.watch.markAll(userId, number, job)
  },
})

export const forgetGone = defineTask({
  name: 'watch.forgetGone',
  title: 'Remove positions in removed videos',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  async run({ signal, log }, app: App) {
    const forgotten = await app.watch.forgetGone(signal)
    if (forgotten) log.info({ videos: forgotten }, 'positions in videos that are missing after a restore were removed')
  },
})

export const indexMarks = defineTask({
  name: 'watch.index',
  title: 'Write marks to the index',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  retries: { times: 5, delaySeconds: 60, factor: 2 },
  run: ({ signal }, app: App) => app.watch.catchUp(signal),
})

export const settleMarks = defineTask({
  name: 'watch.settle',
  title: 'Compare marks with the index',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  run: ({ signal }, app: App) => app.watch.settleAll({ signal }),
})

export const relearnMarks = defineTask({
  name: 'watch.relearn',
  title: 'Read marks from the index',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  run: ({ signal }, app: App) => app.watch.relearnAll({ signal }),
})
