/** Taking and restoring a snapshot, as jobs that people can watch. */
import { defineTask, Type } from 'archivolt'

const Named = Type.Object({ name: Type.String() })

export const createSnapshot = defineTask({
  name: 'create_snapshot',
  title: 'Take a Snapshot',
  group: 'setting:snapshot',
  payload: Named,
  lane: 'light',
  single: true,
  async run(job, app) {
    await app.index.snapshots.take(job.payload.name, {
      signal: job.signal,
      progress: (done, total) => job.progress(total ? done / total : 0, 'Taking a snapshot'),
    })
    await app.snapshots.removeOld()
    return job.payload.name
  },
})

export const restoreSnapshot = defineTask({
  name: 'restore_snapshot',
  title: 'Restore Snapshot',
  group: 'setting:restore',
  payload: Named,
  lane: 'index',
  single: true,
  async run(job, app) {
    const { name } = job.payload
    const { skipped, failed } = await app.index.snapshots.restore(name, {
      signal: job.signal,
      progress: (done, total) => job.progress(total ? done / total : 0, `Restoring ${name}`),
    })
    for (const { id, reason } of failed) job.log.warn({ id }, `skipped: ${reason}`)
    await app.tell('index.replaced', {})
    return skipped ? `${name}, ${skipped} documents skipped` : name
  },
})
