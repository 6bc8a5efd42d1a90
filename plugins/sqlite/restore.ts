/** Reads a snapshot file for a restore. */

import type { RestoreOptions, RestoreResult } from 'archivolt'
import { errors, isAppError } from 'archivolt'
import { type IndexAdapter, restoreAll, type StoredCollection } from 'archivolt/index'
import type { Link } from './link.ts'
import type { SnapshotDoc } from './protocol.ts'

export async function restoreSnapshot(
  link: Link,
  index: IndexAdapter,
  path: string,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const present = await link.call('snapshotOpen', { path }).catch((error: unknown) => {
    if (isAppError(error, 'unavailable')) throw error
    throw errors.unprocessable('This is not a snapshot, or it is damaged', { cause: error })
  })
  const stored = Object.entries(present).map(([name, about]): [string, StoredCollection] => [
    name,
    { ...about, batches: () => batches(name) },
  ])
  try {
    return await restoreAll(index, Object.fromEntries(stored), options)
  } finally {
    await link.call('snapshotClose', null)
  }

  async function* batches(name: string): AsyncGenerator<SnapshotDoc[]> {
    let after = -1
    for (;;) {
      const batch = await link.call('snapshotRead', { name, after })
      if (!batch) return
      yield batch.docs
      after = batch.last
    }
  }
}
