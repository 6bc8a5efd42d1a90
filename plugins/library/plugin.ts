/** Keeps the library on disk and the index consistent: rescans, the import folder, thumbnails. */
import { definePlugin } from 'archivolt'
import type { App } from './app.ts'
import { manualImport } from './import.ts'
import { type LooseFilms, openLoose } from './loose.ts'
import { downloadMissing, listMissing } from './missing.ts'
import { rescanFilesystem, tellMoved } from './rescan.ts'
import { resyncThumbs } from './resync-thumbs.ts'
import { commandLibrary, showLibrary, startDownloadMissing, startImport, startRescan } from './routes.ts'
import { tables } from './tables.ts'
import { thumbnailCheck } from './thumbnail-check.ts'

export default definePlugin({
  name: 'library',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download'],
  lanes: { library: 4 },
  migrations: tables,
  hooks: ['library.reader', 'library.homeless'],
  hookRules: {
    'library.homeless': { withinSeconds: 600, otherwise: () => new Set<string>() },
  },
  events: ['library.rescanned'],
  services: (app) => ({ looseFilms: openLoose(app) }),
  routes: [showLibrary, commandLibrary, startRescan, startImport, listMissing, startDownloadMissing],
  tasks: [tellMoved, rescanFilesystem, downloadMissing, manualImport, thumbnailCheck, resyncThumbs],
  on: {
    'index.damaged':
      (app) =>
      async ({ documents }) => {
        if (documents.some(({ collection }) => collection === 'video')) await app.jobs.start(rescanFilesystem)
      },
    'index.replaced': (app) => () => afterReplacement(app),
    'ledger.replaced': (app) => () => afterReplacement(app),
  },
})

/** After a restore, thumbnails may be missing, and comments may not be searchable. */
async function afterReplacement({ jobs, videos }: App): Promise<void> {
  await jobs.start(thumbnailCheck)
  await videos.startIndexing()
}

declare module 'archivolt' {
  interface Services {
    library: {
      /** Indexes films in the library that have no document, without the platform. */
      looseFilms: LooseFilms
    }
  }
}
