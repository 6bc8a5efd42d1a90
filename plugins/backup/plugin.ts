/** Backups, which are all documents in a zip: makes, rotates, uploads, compares and restores them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { definePlugin, openFolder } from 'archivolt'
import { openBackups } from './backups.ts'
import { backup, restore } from './commands.ts'
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

export default definePlugin({
  name: 'backup',
  needs: ['media'],
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
  ],
  tasks: [runBackup, restoreBackup],
  commands: [backup, restore],
  services: (app) => ({ backups: openBackups(app) }),
  async setup(app) {
    const folder = join(app.settings.dataDir, 'backups')
    if (existsSync(folder)) await openFolder('folder for backups', folder, { isPrivate: true })
    await app.backups.clearUnfinished()
  },
})
