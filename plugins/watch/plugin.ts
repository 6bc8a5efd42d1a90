/** What each account has watched, and its playback positions (contract 9.1, 9.2). */
import { definePlugin } from 'archivolt'
import { forgetGone, indexMarks, markVideos, relearnMarks, settleMarks } from './bulk-mark-tasks.ts'
import { markingTables } from './bulk-marks.ts'
import { markTables } from './mark-rows.ts'
import { positionTables, removalTables } from './positions.ts'
import { offWhereInUse, progress } from './preferences.ts'
import { clearProgress, markAsWatched, markChosen, setProgress, showProgress, undoMarking } from './routes.ts'
import type { Watch } from './types.ts'
import { undoTables } from './undoing.ts'
import { listFilter } from './video-filter.ts'
import { openWatch } from './watch.ts'

export default definePlugin({
  name: 'watch',
  needs: ['platform', 'user', 'channel', 'video', 'playlist'],
  migrations: [positionTables, markTables, offWhereInUse, markingTables, undoTables, removalTables],
  preferences: { progress },
  events: ['marks.changed'],
  hooks: ['watch.reported'],
  hookRules: { 'watch.reported': { otherwise: () => undefined } },
  implements: {
    'video.tail': (app) => (ids, actor) => app.watch.tailsOf(ids, actor.id),
    'video.filter': listFilter,
    'video.belongings': (app) => app.watch.belongings,
    'video.remove': ({ videos, watch }) =>
      videos.removal((ids, step) => step('watch.forget', () => watch.forgetAll(ids))),
  },
  routes: [markAsWatched, markChosen, undoMarking, showProgress, setProgress, clearProgress],
  tasks: [markVideos, forgetGone, indexMarks, settleMarks, relearnMarks],
  on: {
    'index.replaced': (app) => async () => {
      await app.jobs.start(forgetGone)
      await app.jobs.start(settleMarks)
    },
    'ledger.replaced': (app) => async () => {
      await app.jobs.start(forgetGone)
      await app.jobs.start(relearnMarks)
    },
    'video.added':
      (app) =>
      ({ id }) =>
        app.watch.settleVideo(id),
    'user.removed': (app) => async () => void (await app.jobs.start(indexMarks)),
  },
  services: (app) => ({ watch: openWatch(app) }),
  setup: (app) => app.watch.begin(),
})

declare module 'archivolt' {
  interface Events {
    /** Emitted after marks that an account has set or removed have been written to the index, in batches. */
    'marks.changed': { userId: number; ids: string[] }
  }
  interface Hooks {
    /** Asked to record each position that a player reports during playback. */
    'watch.reported': (report: { userId: number; videoId: string; position: number }) => Promise<void>
  }
  interface Services {
    watch: {
      watch: Watch
    }
  }
}
