/** What other programs export: subscriptions, read from a file or a paste before anything is subscribed to. */
import { definePlugin } from 'archivolt'
import { type Exports, forgetUploads, openExports } from './reading.ts'
import { previewExport } from './routes.ts'

export default definePlugin({
  name: 'exports',
  needs: ['platform', 'channel', 'playlist'],
  routes: [previewExport],
  services: (app) => ({ exports: openExports(app) }),
  setup: forgetUploads,
})

declare module 'archivolt' {
  interface Services {
    exports: {
      exports: Exports
    }
  }
}
