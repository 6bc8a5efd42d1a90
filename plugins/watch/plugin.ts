/** Watching: what has been watched by anybody, and how far each user has come (contract 9.1, 9.2). */
import { definePlugin, type PreferencesOf, Type } from 'archivolt'
import { listFilter } from './filter.ts'
import { positionTables } from './positions.ts'
import { clearProgress, markAsWatched, setProgress, showProgress } from './routes.ts'
import { forgetGone, markVideos } from './tasks.ts'
import { openWatch, type Watch } from './watch.ts'

const progress = {
  autoWatched: Type.Boolean({
    default: false,
    title: 'Mark as watched at the end',
    description: 'Also when an app reports the position.',
    'x-group': 'watching',
  }),
}

export default definePlugin({
  name: 'watch',
  needs: ['platform', 'channel', 'video', 'playlist'],
  migrations: [positionTables],
  preferences: { progress },
  implements: {
    'video.tail': (app) => (ids, actor) => app.watch.progressOf(ids, actor.id),
    'video.filter': listFilter,
    'video.remove': (app) => (video, step) => step('watch.forget', () => app.watch.forget(video.id)),
  },
  routes: [markAsWatched, showProgress, setProgress, clearProgress],
  tasks: [markVideos, forgetGone],
  on: { 'index.replaced': (app) => async () => void (await app.jobs.start(forgetGone)) },
  services: (app) => ({ watch: openWatch(app) }),
})

declare module 'archivolt' {
  interface Services {
    watch: {
      watch: Watch
    }
  }
  interface PreferenceValues {
    progress: PreferencesOf<typeof progress>
  }
}
