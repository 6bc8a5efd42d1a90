/** The library as it lies on disk: rescan, manual import, thumbnails; and whether a newer version is out. */
import { definePlugin, Type } from 'archivolt'
import { adoptVideos } from './adoption/adopt.ts'
import { completeVideos } from './adoption/complete.ts'
import {
  commandAdoption,
  dropAdoption,
  listAdoptions,
  listItems,
  showAdoption,
  startAdoption,
} from './adoption/routes.ts'
import { scanPlace } from './adoption/scan.ts'
import { adoptionTables, alongTables, catalogTables } from './adoption/tables.ts'
import { undoAdoption } from './adoption/undo.ts'
import { resyncThumbs } from './embed.ts'
import { manualImport } from './import.ts'
import { addPlace, changePlace, listPlaces, removePlace } from './place-routes.ts'
import { openReleases, type Releases, releaseTables, versionCheck } from './releases.ts'
import { rescanFilesystem, tellMoved } from './rescan.ts'
import { commandLibrary, showLibrary, startImport, startRescan } from './routes.ts'
import { thumbnailCheck } from './thumbnails.ts'

export default definePlugin({
  name: 'library',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch', 'download', 'subscription'],
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
  migrations: [releaseTables, adoptionTables, catalogTables, alongTables],
  services: (app) => ({ releases: openReleases(app) }),
  hooks: ['library.reader'],
  routes: [
    ...[showLibrary, commandLibrary, startRescan, startImport],
    ...[listPlaces, addPlace, changePlace, removePlace],
    ...[listAdoptions, startAdoption, showAdoption, commandAdoption, dropAdoption, listItems],
  ],
  tasks: [
    ...[tellMoved, rescanFilesystem, manualImport, thumbnailCheck, resyncThumbs, versionCheck],
    ...[scanPlace, adoptVideos, completeVideos, undoAdoption],
  ],
  on: {
    // Restored documents come without their pictures.
    'index.replaced': (app) => async () => void (await app.jobs.start(thumbnailCheck)),
  },
})

declare module 'archivolt' {
  interface Services {
    library: {
      releases: Releases
    }
  }
  interface Settings {
    releasesUrl: string | null
  }
}
