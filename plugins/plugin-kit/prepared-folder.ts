/**
 * Prepares a folder with which the next start replaces the current data (`core/ledger/restored-folder.ts`), and lists
 * the folders with earlier replaced data.
 */
import { renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../core/base/whole-file.ts'
import { offeredOf, offeredStamps, replacedFolderOf, replacedStamps } from '../../core/ledger/restored-folder.ts'

/** Where a restore prepares a folder; leftovers of an interrupted restore are useless. */
export const preparedFolder = (dataDir: string): string => join(dataDir, 'restored.part')

/**
 * Makes the next start use the prepared folder; an earlier one that no start has used is deleted.
 * @returns the folder, in the data folder, to which the replaced files will be moved
 */
export async function offerRestored(dataDir: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  syncFolder(preparedFolder(dataDir))
  await dropOffered(dataDir)
  renameSync(preparedFolder(dataDir), join(dataDir, offeredOf(stamp)))
  syncFolder(dataDir)
  return replacedFolderOf(stamp)
}

/** Deletes the folder that the next start would use. */
export async function dropOffered(dataDir: string): Promise<void> {
  for (const stamp of offeredStamps(dataDir)) await rm(join(dataDir, offeredOf(stamp)), { recursive: true })
}

export interface AsideFolder {
  name: string
  /** Epoch seconds: when the restore was prepared. */
  at: number
}

/** Folders with data that restores have replaced, newest first. */
export const asideFolders = (dataDir: string): AsideFolder[] =>
  replacedStamps(dataDir)
    .map((stamp) => ({ name: replacedFolderOf(stamp), at: secondsOf(stamp) }))
    .sort((one, other) => other.at - one.at)

/** When the folder that the next start uses was prepared, in epoch seconds; undefined: there is none. */
export const offeredAt = (dataDir: string): number | undefined => offeredStamps(dataDir).map(secondsOf)[0]

const secondsOf = (stamp: string): number =>
  Date.parse(stamp.replace(/^(....)(..)(..)T(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z')) / 1000
