/** Jobs that take and restore a snapshot, and one that recommends a snapshot to restore. */
import { defineTask, say, Type, Words } from 'archivolt'
import type { App } from './app.ts'

const OFFERED_FOR_SECONDS = 3600

const Named = Type.Object({ name: Type.String() })

export const createSnapshot = defineTask({
  name: 'create_snapshot',
  title: 'Take a Snapshot',
  group: 'setting:snapshot',
  payload: Named,
  lane: 'light',
  unique: true,
  async run(job, app: App) {
    const { name } = job.payload
    // Looks for damaged documents while older snapshots still have them.
    await job.step('snapshot.look', async () => app.index.findGarbled?.(job.signal))
    await job.step('snapshot.take', () =>
      app.index.snapshots.take(name, {
        signal: job.signal,
        progress: (done, total) => job.progress(total ? done / total : 0, say`Taking a snapshot`),
      }),
    )
    await job.step('snapshot.removeOld', () => app.snapshots.removeOld())
    return name
  },
})

export const restoreSnapshot = defineTask({
  name: 'restore_snapshot',
  title: 'Restore Snapshot',
  group: 'setting:restore',
  payload: Named,
  lane: 'index',
  unique: true,
  async run(job, app: App) {
    const { name } = job.payload
    const { skipped, failed } = await job.step('snapshot.restore', () =>
      app.backups.alone(() =>
        app.index.snapshots.restore(name, {
          signal: job.signal,
          accept: app.backups.accept,
          progress: (done, total) => job.progress(total ? done / total : 0, say`Restoring ${{ name }}`),
        }),
      ),
    )
    for (const { id, reason } of failed) job.log.warn({ id }, `skipped: ${reason}`)
    await app.emit('index.replaced', {})
    return skipped ? say`${{ name }}, ${{ count: skipped }} documents skipped` : name
  },
})

/** Recommends a snapshot. This is a job, because the start clears messages that are older than the first job. */
export const offerSnapshot = defineTask({
  name: 'snapshot.offer',
  title: 'Part of the archive is missing',
  payload: Type.Object({ sentence: Words }),
  lane: 'light',
  internal: true,
  async run({ payload: { sentence } }, app) {
    await app.jobs.notify({
      title: 'Part of the archive is missing',
      group: 'setting:application',
      level: 'error',
      messages: [sentence],
      shownForSeconds: OFFERED_FOR_SECONDS,
      isOver: () => app.index.lost === undefined,
    })
  },
})
