/** Routes of snapshots (contract 6.9). */
import { defineRoute, errors, ID_PATTERN, Type, tellSecurity } from 'archivolt'
import type { App } from './app.ts'

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

export const listSnapshots = defineRoute({
  method: 'GET',
  path: '/api/snapshot/',
  access: 'admin',
  summary: 'Snapshots, newest first, and when the next is taken',
  reply: Type.Object({
    next_exec: Type.Integer(),
    next_exec_str: Type.String(),
    expire_after: Type.String(),
    snapshots: Type.Array(SnapshotItem),
  }),
  handle: (_input, app: App) => app.snapshots.list(),
})

export const take = defineRoute({
  method: 'POST',
  path: '/api/snapshot/',
  access: 'admin',
  summary: 'Start a snapshot; the reply does not wait for its end',
  reply: Type.Object({ snapshot_name: Type.String() }),
  errors: ['conflict'],
  handle: async (_input, app: App) => ({ snapshot_name: await app.snapshots.start() }),
})

export const showSnapshot = defineRoute({
  method: 'GET',
  path: '/api/snapshot/:snapshotId/',
  access: 'admin',
  summary: 'One snapshot',
  params: SnapshotPath,
  reply: SnapshotItem,
  errors: ['not_found'],
  async handle({ params: { snapshotId } }, app: App) {
    const item = await app.snapshots.item(snapshotId)
    if (!item) throw errors.notFound('snapshot', snapshotId)
    return item
  },
})

export const restore = defineRoute({
  method: 'POST',
  path: '/api/snapshot/:snapshotId/',
  access: 'admin',
  summary: 'Replace all documents with those of a snapshot',
  params: SnapshotPath,
  reply: Type.Object({ accepted: Type.Boolean() }),
  errors: ['not_found', 'conflict'],
  async handle({ params: { snapshotId } }, app: App) {
    await app.snapshots.restore(snapshotId)
    tellSecurity(app.log, 'restore', { snapshot: snapshotId })
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
  errors: ['not_found', 'conflict'],
  async handle({ params: { snapshotId } }, app) {
    await app.index.snapshots.remove(snapshotId)
    return { acknowledged: true }
  },
})
