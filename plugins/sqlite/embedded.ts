/** Opens the index in the data folder with its holdings and its snapshots. */
import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { say, snapshotName } from 'archivolt'
import type { AdapterParts, OpenedAdapter } from 'archivolt/index'
import { openSqliteIndex } from './open.ts'
import { openSnapshotFolder } from './snapshot-folder.ts'

export async function openEmbedded(parts: AdapterParts): Promise<OpenedAdapter> {
  const { settings, definitions, log, clock, version, holdings, onFull, onGarbled } = parts
  const { dataDir, prefix } = settings
  const snapshots = { folder: join(dataDir, 'snapshots'), clock, log }
  const file = join(dataDir, 'index.sqlite')
  const size = statSync(file, { throwIfNoEntry: false })?.size
  // The snapshot folder is created when an index is first opened, so its existence also proves an earlier index.
  if (!size && (holdings.opened || existsSync(snapshots.folder)))
    await holdings.noteLost(
      size === undefined
        ? say`The index file ${{ file: basename(file) }} was missing`
        : say`The index file ${{ file: basename(file) }} was empty`,
    )
  const index = await openSqliteIndex({
    ...{ file, definitions, log, clock, onFull, onGarbled },
    onDamaged: (movedTo) =>
      holdings.noteLost(say`The index file was damaged and has been moved to ${{ file: basename(movedTo) }}`),
    async beforeRebuild(snapshotTo) {
      const restoreFrom = () => Promise.reject(new Error('the index is being brought up to date'))
      const folder = await openSnapshotFolder({ ...snapshots, index: { version, snapshotTo, restoreFrom } })
      // Continues without a snapshot: an interrupted rebuild loses nothing, the snapshot only serves a return to the
      // older version.
      await folder
        .take(snapshotName(prefix, 'upgrade'))
        .catch((error: unknown) => log.error({ err: error }, 'no snapshot could be taken before the rebuild'))
    },
  })
  return { index, openSnapshots: (guarded) => openSnapshotFolder({ ...snapshots, index: guarded }) }
}
