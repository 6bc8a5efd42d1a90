/** The library as it lies on disk: rescan, manual import, thumbnails; and whether a newer version is out. */
import { definePlugin, Type } from 'archivolt'
import { adoptVideos } from './adoption/adopt.ts'
import { goOnAfterStart, goOnIn } from './adoption/away.ts'
import { completeVideos } from './adoption/complete.ts'
import { followPlaces, followTables, onlyTables } from './adoption/follow.ts'
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
import { adoptionTables, againTables, alongTables, catalogTables, mapTables } from './adoption/tables.ts'
import { undoAdoption } from './adoption/undo.ts'
import { Copies } from './copies/copies.ts'
import { makeCopy } from './copies/make.ts'
import { dropCopy, showCopy, showCopyFile, startCopy } from './copies/routes.ts'
import { findFilms, forgetRemoved } from './find-homes.ts'
import { manualImport } from './import.ts'
import { makeLink } from './link-route.ts'
import { downloadMissing, listMissing } from './missing.ts'
import { addPlace, bringBack, changePlace, listPlaces, listTrash, removePlace } from './place-routes.ts'
import { playback } from './preferences.ts'
import { makePreviews } from './previews/make.ts'
import { offerTables, Previews, previewTables, shareTables } from './previews/previews.ts'
import { showPreviews, showSheet, wantPreviews } from './previews/routes.ts'
import { openReleases, type Releases, releaseTables, versionCheck } from './releases.ts'
import { rescanFilesystem, tellMoved } from './rescan.ts'
import { resyncThumbs } from './resync-thumbs.ts'
import { commandLibrary, showLibrary, startDownloadMissing, startImport, startRescan } from './routes.ts'
import { thumbnailCheck } from './thumbnail-check.ts'

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
  lanes: { library: 4, complete: 1, copy: 1, preview: 1 },
  preferences: { playback },
  migrations: [
    ...[releaseTables, adoptionTables, catalogTables, alongTables, followTables, onlyTables, previewTables],
    ...[mapTables, offerTables, againTables, shareTables],
  ],
  services: (app) => ({ releases: openReleases(app), copies: new Copies(app), previews: new Previews(app) }),
  async setup(app) {
    await app.copies.begin()
    await app.previews.begin()
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
    ...[showCopy, startCopy, dropCopy, showCopyFile, makeLink],
    ...[showPreviews, wantPreviews, showSheet],
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
    ...[tellMoved, rescanFilesystem, downloadMissing, manualImport, thumbnailCheck, resyncThumbs, versionCheck],
    ...[followPlaces, scanPlace, adoptVideos, completeVideos, undoAdoption],
    ...[makeCopy, makePreviews, findFilms, forgetRemoved],
  ],
  implements: {
    'video.keys': (app) => (ids) => app.copies.keysOf(ids),
    'video.storyboard': (app) => async (id, storyboard) => {
      if (await app.previews.offer(id, storyboard)) await app.jobs.start(makePreviews)
    },
    'video.remove': ({ videos, copies, previews }) =>
      videos.removal(async (ids, step) => {
        await step('copy.drop', () => copies.drop(ids))
        await step('preview.drop', () => previews.drop(ids))
      }),
  },
  on: {
    // Its file is another one now.
    'video.added':
      (app) =>
      async ({ id }) => {
        await app.copies.drop([id])
        await app.previews.drop([id])
      },
    'index.damaged':
      (app) =>
      async ({ documents }) => {
        if (documents.some(({ collection }) => collection === 'video')) await app.jobs.start(rescanFilesystem)
      },
    // Restored documents come without their pictures.
    'index.replaced': (app) => async () => {
      await app.jobs.start(thumbnailCheck)
      await app.copies.dropUnknown((ids) => app.videos.known(ids))
      await app.previews.dropUnknown((ids) => app.videos.known(ids))
      if (app.media.places.list().length > 0) await app.jobs.start(findFilms)
    },
    'ledger.replaced': (app) => async () => {
      await app.copies.dropUnknown((ids) => app.videos.known(ids))
      await app.previews.dropUnknown((ids) => app.videos.known(ids))
      if (app.media.places.list().length === 0) return
      await app.jobs.start(forgetRemoved)
      await app.jobs.start(findFilms)
    },
  },
})

declare module 'archivolt' {
  interface Services {
    library: {
      /** Whether a newer version is out. */
      releases: Releases
      /** Copies that play, of films that some browsers do not. */
      copies: Copies
      /** Seek previews: small pictures of a film, in sheets. */
      previews: Previews
    }
  }
  interface Settings {
    releasesUrl: string | null
  }
}
