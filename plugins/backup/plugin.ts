/** Backups, which are all documents in a zip: creates, rotates, uploads, compares and restores them. */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { definePlugin, openFolder } from 'archivolt'
import { openBackups } from './backups.ts'
import { backup, compare, restore } from './commands.ts'
import {
  deleteBackup,
  downloadBackup,
  listBackups,
  previewRestore,
  showBackup,
  startBackup,
  startRestore,
  takeInBackup,
} from './routes.ts'
import { restoreBackup, runBackup } from './run-and-restore-tasks.ts'
import { backups } from './whole/preferences.ts'
import { rehearsalFolder } from './whole/rehearsal.ts'
import {
  deleteReplaced,
  deleteWhole,
  downloadWhole,
  dropRestore,
  listWhole,
  previewWhole,
  restoreWhole,
  uploadWhole,
} from './whole/routes.ts'
import { wholeTables } from './whole/rows.ts'
import { backUpAll, rehearseRestore, restoreAll } from './whole/tasks.ts'
import { openWholeBackups } from './whole/wholes.ts'

export default definePlugin({
  name: 'backup',
  needs: ['media', 'user'],
  hooks: ['backup.form'],
  events: ['index.replaced'],
  routes: [
    listBackups,
    startBackup,
    showBackup,
    startRestore,
    takeInBackup,
    deleteBackup,
    downloadBackup,
    previewRestore,
    listWhole,
    downloadWhole,
    uploadWhole,
    deleteWhole,
    previewWhole,
    restoreWhole,
    dropRestore,
    deleteReplaced,
  ],
  lanes: { whole: 1 },
  tasks: [runBackup, restoreBackup, backUpAll, rehearseRestore, restoreAll],
  commands: [backup, restore, compare],
  migrations: [wholeTables],
  preferences: { backups },
  services: (app) => ({ backups: openBackups(app), wholeBackups: openWholeBackups(app) }),
  on: { 'server.ready': (app) => () => app.wholeBackups.tell() },
  async setup(app) {
    const folder = join(app.settings.dataDir, 'backups')
    if (existsSync(folder)) await openFolder('folder for backups', folder, { isPrivate: true })
    await app.backups.clearUnfinished()
    await rm(rehearsalFolder(app), { recursive: true, force: true })
    await app.wholeBackups.load()
  },
})
