/** The library as it lies on disk: rescan, manual import, thumbnails; and whether a newer version is out. */
import { definePlugin, Type } from 'archivolt'
import { resyncThumbs } from './embed.ts'
import { manualImport } from './import.ts'
import { versionCheck } from './releases.ts'
import { rescanFilesystem } from './rescan.ts'
import { commandLibrary, showLibrary, startRescan } from './routes.ts'
import { thumbnailCheck } from './thumbnails.ts'

export default definePlugin({
  name: 'library',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download'],
  settings: {
    releasesUrl: {
      env: 'AV_RELEASES_URL',
      schema: Type.Union([Type.String({ pattern: '^https?://\\S+$' }), Type.Null()], {
        description: 'a URL that starts with http:// or https://',
      }),
      default: null,
      meaning: 'where version_check looks: JSON with `version` or `tag_name`; unset: nothing',
    },
  },
  lanes: ['library'],
  routes: [showLibrary, commandLibrary, startRescan],
  tasks: [rescanFilesystem, manualImport, thumbnailCheck, resyncThumbs, versionCheck],
  on: {
    // Restored documents come without their pictures.
    'index.replaced': (app) => async () => void (await app.jobs.start(thumbnailCheck)),
  },
})

declare module 'archivolt' {
  interface Settings {
    releasesUrl: string | null
  }
}
