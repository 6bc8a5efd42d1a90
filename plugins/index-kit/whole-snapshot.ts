/** Finds the snapshot to restore, and refuses while one is being taken. */
import { errors } from '../../core/base/error.ts'
import { say } from '../../core/base/say.ts'
import type { SnapshotRecord, Snapshots } from '../../core/index/port.ts'

export const snapshotRuns = () => errors.conflict('A snapshot is being taken; try again when it has ended')

/** @throws not_found; conflict: the snapshot is not complete */
export async function wholeSnapshot(snapshots: Pick<Snapshots, 'get'>, id: string): Promise<SnapshotRecord> {
  const record = await snapshots.get(id)
  if (!record) throw errors.notFound('snapshot', id)
  if (record.state !== 'SUCCESS')
    throw errors.conflict(say`The snapshot is in state ${{ state: record.state }}: only a complete one can be restored`)
  return record
}
