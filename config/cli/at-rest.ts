/**
 * Runs commands of plugins with the whole app on a data folder that no server is using, without serving requests or
 * starting jobs.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openApp } from '../../core/app.ts'
import { openFolder } from '../../core/folder.ts'
import { offeredStamps } from '../../core/ledger/restored-folder.ts'
import type { CommandInput } from '../../core/plugin/command.ts'
import type { PluginCommand } from '../../core/plugin/define.ts'
import { readSources } from '../load-settings.ts'
import { findPlugins } from './find-plugins.ts'
import { buildPages } from './pages.ts'

/** @throws a sentence if the folder has no archive, a server is using it, or it belongs to another user */
export async function runAtRest(command: PluginCommand, input: CommandInput): Promise<void> {
  const sources = readSources()
  refuseFolder(sources.dataDir, command.makesArchive === true)
  const { app, close } = await openApp({ sources, findPlugins, buildPages, log: input.log, isAtRest: true })
  try {
    await command.run(input, app)
  } finally {
    await close()
  }
}

/** A typing error must not create a new archive. */
function refuseFolder(dataDir: string, makesArchive: boolean): void {
  if (!existsSync(makesArchive ? dataDir : join(dataDir, 'ledger.sqlite')) && offeredStamps(dataDir).length === 0)
    throw noArchiveIn(dataDir)
  refuseOtherUser(dataDir)
}

export const noArchiveIn = (dataDir: string): Error =>
  new Error(
    `There is no archive in ${dataDir}: set AV_DATA_DIR to its data folder, or start the server once to create one`,
  )

/** @throws a sentence if it belongs to another user, or cannot be written. The lock handles a missing one. */
export async function refuseUnusable(dataDir: string): Promise<void> {
  refuseOtherUser(dataDir)
  if (existsSync(dataDir)) await openFolder('data folder', dataDir, { setting: 'AV_DATA_DIR' })
}

/** Root must not create files that the server cannot write. A missing folder has no owner. */
export function refuseOtherUser(dataDir: string): void {
  const { uid = 0 } = statSync(dataDir, { throwIfNoEntry: false }) ?? {}
  if (process.getuid?.() === 0 && uid !== 0)
    throw new Error(
      `The archive in ${dataDir} belongs to another user: run the command as that user, with sudo -u '#${uid}' in front of it`,
    )
}
