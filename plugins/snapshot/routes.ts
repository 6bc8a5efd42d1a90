/** What HTTP sees of snapshots (contract 6.9). */
import { defineRoute, errors, ID_PATTERN, Type, type App } from 'archivolt'
import { restoreSnapshot } from './tasks.ts'

const SnapshotPath = Type.Object({ snapshotId: Type.String({ pattern: ID_PATTERN }) })
const SnapshotItem = Type.Object({
  id: Type.String(),
  state: Type.Enum(['IN_PROGRESS', 'SUCCESS', 'PARTIAL', 'FAILED']),
  index_version: Type.String(),
  es_version: Type.String(),
  start_date: Type.String(),
  end_date: Type.String(),
  end_stamp: Type.Integer(),
  duration_s: Type.Integer(),
})

async function existing(id: string, app: App) {
  const item = await app.snapshots.item(id)
  if (!item) throw errors.notFound('snapshot', id)
  return item
}

export const listSnapshots = defineRoute({
  method: 'GET',
  path: '/api/snapshot/',
  access: 'admin',
  summary: 'Snapshots, newest first, and when the next is taken',
  reply: Type.Object({ next_exec: Type.Integer(), next_exec_str: Type.String(), expire_after: Type.String(), snapshots: Type.Array(SnapshotItem) }),
  handle: (_input, app) => app.snapshots.list(),
})

export const take = defineRoute({
  method: 'POST',
  path: '/api/snapshot/',
  access: 'admin',
  summary: 'Take a snapshot; answers before it is complete',
  reply: Type.Object({ snapshot_name: Type.String() }),
  errors: ['conflict'],
  async handle(_input, app) {
    if (app.jobs.active('create_snapshot')) throw errors.conflict('A snapshot is being taken; try again when it has ended')
    return { snapshot_name: await app.snapshots.start() }
  },
})

export const showSnapshot = defineRoute({
  method: 'GET',
  path: '/api/snapshot/:snapshotId/',
  access: 'admin',
  summary: 'One snapshot',
  params: SnapshotPath,
  reply: SnapshotItem,
  handle: ({ params: { snapshotId } }, app) => existing(snapshotId, app),
})

export const restore = defineRoute({
  method: 'POST',
  path: '/api/snapshot/:snapshotId/',
  access: 'admin',
  summary: 'Replace all documents by those of a snapshot',
  params: SnapshotPath,
  reply: Type.Object({ accepted: Type.Boolean() }),
  errors: ['conflict'],
  async handle({ params: { snapshotId } }, app) {
    const { state } = await existing(snapshotId, app)
    if (state !== 'SUCCESS') throw errors.conflict(`The snapshot is in state ${state}: only a complete one can be restored`)
    if (app.jobs.active('restore_snapshot') || app.jobs.active('restore_backup')) throw errors.conflict('A restore is running; try again when it has ended')
    await app.jobs.start(restoreSnapshot, { name: snapshotId })
    return { accepted: true }
  },
})

export const deleteSnapshot = defineRoute({
  method: 'DELETE',
  path: '/api/snapshot/:snapshotId/',
  access: 'admin',
  summary: 'Delete a snapshot',
  params: SnapshotPath,
  reply: Type.Object({ acknowledged: Type.Boolean() }),
  errors: ['conflict'],
  async handle({ params: { snapshotId } }, app) {
    await app.index.snapshots.remove(snapshotId)
    return { acknowledged: true }
  },
})
