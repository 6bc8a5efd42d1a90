/**
 * Snapshots of the index: taken daily while the server runs, rotated by age and number, restored all or nothing
 * (contract 6.9, 9.9).
 */
import { definePlugin } from 'archivolt'
import { createSnapshot, offerSnapshot, restoreSnapshot } from './create-and-restore-tasks.ts'
import { openSnapshotKeeper } from './keeper.ts'
import { mendDocuments } from './mend.ts'
import { application } from './preferences.ts'
import { deleteSnapshot, listSnapshots, restore, showSnapshot, take } from './routes.ts'

export default definePlugin({
  name: 'snapshot',
  needs: ['backup'],
  preferences: { application },
  routes: [listSnapshots, take, showSnapshot, restore, deleteSnapshot],
  tasks: [createSnapshot, restoreSnapshot, offerSnapshot, mendDocuments],
  events: ['index.damaged'],
  services: (app) => ({ snapshots: openSnapshotKeeper(app) }),
  setup: (app) => app.snapshots.begin(),
  close: (app) => app.snapshots.end(),
})
