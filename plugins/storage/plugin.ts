/**
 * Storage: reports what uses the space of the library's disk, what could be removed, and whether the data folder is on
 * a share (contract 9.30).
 */
import { definePlugin } from 'archivolt'
import { listProposals, showDataFolder, showStorage } from './routes.ts'
import { reportShare } from './share.ts'
import { openStorage, type Storage } from './storage.ts'

export default definePlugin({
  name: 'storage',
  needs: ['platform', 'media', 'channel', 'video', 'watch', 'bin'],
  routes: [showStorage, listProposals, showDataFolder],
  services: (app) => ({ storage: openStorage(app) }),
  on: { 'server.ready': (app) => () => reportShare(app) },
})

declare module 'archivolt' {
  interface Services {
    storage: {
      storage: Storage
    }
  }
}
