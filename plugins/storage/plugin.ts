/** Storage: reports what fills the disk of the library, and what could be removed to free space (contract 9.30). */
import { definePlugin } from 'archivolt'
import { listProposals, showStorage } from './routes.ts'
import { openStorage, type Storage } from './storage.ts'

export default definePlugin({
  name: 'storage',
  needs: ['platform', 'media', 'channel', 'video', 'watch', 'bin'],
  routes: [showStorage, listProposals],
  services: (app) => ({ storage: openStorage(app) }),
})

declare module 'archivolt' {
  interface Services {
    storage: {
      storage: Storage
    }
  }
}
