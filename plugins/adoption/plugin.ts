/**
 * Imports libraries of other programs: films stay where they are; marks, playlists and subscriptions can be imported
 * too.
 */
import { definePlugin } from 'archivolt'
import { scanPlace } from './2-scan.ts'
import { adoptVideos } from './3-adopt.ts'
import { completeVideos } from './4-complete.ts'
import { followPlaces } from './5-follow.ts'
import { undoAdoption } from './6-undo.ts'
import { type Adoptions, openAdoptions } from './adoptions.ts'
import { resumeAfterStart, resumeIn } from './away.ts'
import { findFilms, findHomes, forgetRemoved, takeInAgain } from './find-homes.ts'
import { correctItems, listAdoptionChannels, listItems, showItemPicture } from './item-routes.ts'
import { reportMissingRoots } from './missing-roots.ts'
import { addPlace, changePlace, listPlaces, removePlace } from './place-routes.ts'
import { ownReaders } from './readers.ts'
import { commandAdoption, dropAdoption, findLibraries, listAdoptions, showAdoption, startAdoption } from './routes.ts'
import { makeRules } from './rules.ts'
import { heedEnd, startUnstarted } from './stopping.ts'

export default definePlugin({
  name: 'adoption',
  // Needs the plugin library, whose migrations create our tables, which declares the hook for readers, and whose lane
  // we share.
  needs: ['fetch', 'platform', 'media', 'channel', 'video', 'playlist', 'watch', 'download', 'subscription', 'library'],
  lanes: { complete: 1 },
  services: (app) => ({ adoptions: openAdoptions(app) }),
  async setup(app) {
    app.media.places.onBack((place) => resumeIn(place, app))
    app.jobs.onEnded((job) => {
      heedEnd(job, app).catch((err: unknown) =>
        app.log.error({ err }, 'a stopped import could not be marked as failed, so it still appears to run'),
      )
    })
    await startUnstarted(app)
    await resumeAfterStart(app)
    await reportMissingRoots(app)
  },
  routes: [
    ...[listPlaces, addPlace, changePlace, removePlace],
    ...[findLibraries, listAdoptions, startAdoption, showAdoption, commandAdoption, dropAdoption],
    ...[listItems, correctItems, showItemPicture, listAdoptionChannels, makeRules],
  ],
  tasks: [...[scanPlace, adoptVideos, completeVideos, followPlaces, undoAdoption], ...[findFilms, forgetRemoved]],
  implements: {
    'library.reader': () => ownReaders,
    'library.homeless': (app) => (ids, job) => findHomes(ids, job, app),
  },
  on: {
    'library.rescanned': (app) => () => takeInAgain(app),
    'index.replaced': (app) => async () => {
      if (app.media.places.list().length > 0) await app.jobs.start(findFilms)
    },
    'ledger.replaced': (app) => async () => {
      if (app.media.places.list().length === 0) return
      await app.jobs.start(forgetRemoved)
      await app.jobs.start(findFilms)
    },
  },
})

declare module 'archivolt' {
  interface Services {
    adoption: {
      /** Plans of imports with their rows, followed places, and libraries that were found. */
      adoptions: Adoptions
    }
  }
}
