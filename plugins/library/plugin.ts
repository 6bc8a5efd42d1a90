/** The library as it lies on disk: rescan, manual import, thumbnails. */
import { definePlugin } from 'archivolt'
import { adoptVideos } from './adoption/adopt.ts'
import { goOnAfterStart, goOnIn } from './adoption/away.ts'
import { completeVideos } from './adoption/complete.ts'
import { followPlaces } from './adoption/follow.ts'
import {
  commandAdoption,
  dropAdoption,
  findLibraries,
  listAdoptionChannels,
  listAdoptions,
  listItems,
  showAdoption,
  startAdoption,
} from './adoption/routes.ts'
import { scanPlace } from './adoption/scan.ts'
import { heedEnd } from './adoption/stopping.ts'
import { undoAdoption } from './adoption/undo.ts'
import { findFilms, forgetRemoved } from './find-homes.ts'
import { manualImport } from './import.ts'
import { downloadMissing, listMissing } from './missing.ts'
import { addPlace, bringBack, changePlace, listPlaces, listTrash, removePlace } from './place-routes.ts'
import { rescanFilesystem, tellMoved } from './rescan.ts'
import { resyncThumbs } from './resync-thumbs.ts'
import { commandLibrary, showLibrary, startDownloadMissing, startImport, startRescan } from './routes.ts'
import { tables } from './tables.ts'
import { thumbnailCheck } from './thumbnail-check.ts'

export default definePlugin({
  name: 'library',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch', 'download', 'subscription'],
  lanes: { library: 4, complete: 1 },
  migrations: tables,
  async setup(app) {
    app.media.places.onBack((place) => goOnIn(place, app))
    app.jobs.onEnded((job) => {
      heedEnd(job, app).catch((err: unknown) => app.log.error({ err }, 'an adoption that was stopped seems to go on'))
    })
    await goOnAfterStart(app)
  },
  hooks: ['library.reader'],
  routes: [
    ...[showLibrary, commandLibrary, startRescan, startImport, listMissing, startDownloadMissing],
    ...[listPlaces, addPlace, changePlace, removePlace, listTrash, bringBack],
    ...[
      findLibraries,
      listAdoptions,
      startAdoption,
      showAdoption,
      commandAdoption,
      dropAdoption,
      listItems,
      listAdoptionChannels,
    ],
  ],
  tasks: [
    ...[tellMoved, rescanFilesystem, downloadMissing, manualImport, thumbnailCheck, resyncThumbs],
    ...[followPlaces, scanPlace, adoptVideos, completeVideos, undoAdoption],
    ...[findFilms, forgetRemoved],
  ],
  on: {
    'index.damaged':
      (app) =>
      async ({ documents }) => {
        if (documents.some(({ collection }) => collection === 'video')) await app.jobs.start(rescanFilesystem)
      },
    // Restored documents come without their pictures.
    'index.replaced': (app) => async () => {
      await app.jobs.start(thumbnailCheck)
      if (app.media.places.list().length > 0) await app.jobs.start(findFilms)
    },
    'ledger.replaced': (app) => async () => {
      if (app.media.places.list().length === 0) return
      await app.jobs.start(forgetRemoved)
      await app.jobs.start(findFilms)
    },
  },
})
