/** Titles and thumbnails that viewers propose, from the community service DeArrow. */
import { definePlugin } from 'archivolt'
import { ServiceUrl } from '../community-kit/ask.ts'
import { beginRounds } from '../community-kit/refresh-rounds.ts'
import { cutPictures, openPictures } from './pictures.ts'
import { dearrow } from './preferences.ts'
import { refreshTitles } from './refresh-task.ts'
import { listTitles, showPicture } from './routes.ts'
import { openDeArrow } from './titles.ts'

export default definePlugin({
  name: 'dearrow',
  needs: ['user', 'media', 'video'],
  settings: {
    dearrowUrl: {
      env: 'AV_DEARROW_URL',
      schema: ServiceUrl,
      default: 'https://sponsor.ajay.app',
      meaning: 'the service for titles and thumbnails by viewers',
    },
  },
  preferences: { dearrow },
  lanes: { dearrow: 1, stills: 1 },
  routes: [listTitles, showPicture],
  tasks: [refreshTitles, cutPictures],
  services: (app) => ({ dearrow: openDeArrow(app), pictures: openPictures(app) }),
  implements: {
    'session.community':
      ({ dearrow }) =>
      () =>
        dearrow.isWanted() ? ['titles'] : [],
    'video.keys': (app) => (ids) => app.pictures.keysOf(ids),
    'video.remove': ({ videos, pictures }) =>
      videos.removal((ids, step) => step('dearrow.drop', () => pictures.drop(ids))),
  },
  on: {
    'video.added':
      (app) =>
      async ({ id }) => {
        // The video may have a new file.
        await app.pictures.drop([id])
        if (app.dearrow.isWanted()) await app.jobs.start(refreshTitles)
      },
    'video.changed':
      ({ jobs, pictures }) =>
      async ({ id, what }) => {
        if (what !== 'file') return
        await pictures.drop([id])
        await jobs.start(cutPictures)
      },
    'index.replaced': (app) => () => app.pictures.dropUnknown((ids) => app.videos.known(ids)),
    'ledger.replaced': (app) => () => app.pictures.dropUnknown((ids) => app.videos.known(ids)),
  },
  async setup(app) {
    await app.pictures.begin()
    let wasWanted = app.dearrow.isWanted()
    app.preferences.watch(() => {
      const isWanted = app.dearrow.isWanted()
      if (isWanted === wasWanted) return
      wasWanted = isWanted
      // If titles are switched off, the task removes the stored ones.
      app.jobs
        .start(refreshTitles)
        .catch((err: unknown) => app.log.warn({ err }, 'the refresh of titles by viewers could not be started'))
    })
    await beginRounds(refreshTitles, app.dearrow.isWanted, app)
  },
})
