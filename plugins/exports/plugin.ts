/** Reads exports of other programs: subscriptions, watched videos and playlists, previewed before anything changes. */
import { definePlugin } from 'archivolt'
import { previewExport, takeExport } from './routes.ts'
import { type Exports, forgetUploads, openExports } from './upload.ts'

export default definePlugin({
  name: 'exports',
  needs: ['platform', 'channel', 'video', 'playlist', 'watch'],
  routes: [previewExport, takeExport],
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
