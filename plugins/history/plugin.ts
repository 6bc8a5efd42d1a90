/** History: changes on the platform since videos, channels and playlists were archived (contract 9.32). */
import { definePlugin } from 'archivolt'
import type { Loss } from '../video/schema.ts'
import type { App } from './app.ts'
import { checkLost } from './check-task.ts'
import { dictionaryTable } from './dictionary.ts'
import { noteAnswer } from './doubts.ts'
import { type History, openHistory } from './history.ts'
import { mayReplace } from './length-change.ts'
import { lossTables } from './loss-rows.ts'
import { history } from './preferences.ts'
import { hear } from './record-changes.ts'
import { declineRescue, listRescues, rescueChannel, rescueTable } from './rescue.ts'
import { listChanges, showNumbers, showOldPicture } from './routes.ts'
import { historyTables } from './rows.ts'
import { compareLosses, pendingTable, settleHistory } from './settle.ts'
import { shelvesFor } from './shelves.ts'

const compare = (app: App) => () => compareLosses(app)

export default definePlugin({
  name: 'history',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download'],
  migrations: [historyTables, lossTables, dictionaryTable, rescueTable, pendingTable],
  preferences: { history },
  events: ['video.lost', 'video.returned', 'channel.lost', 'channel.returned'],
  services: (app) => ({ history: openHistory(app) }),
  implements: {
    'session.shelves': (app) => (actor) => shelvesFor(actor, app),
    'platform.answered': (app) => async (answer) => {
      await noteAnswer(answer, app)
      await hear(answer, app)
    },
    'media.replacing': (app) => (picture) => app.history.pictures.mayReplace(picture),
    'download.begin': (app) => (item, asked) => mayReplace(item, asked, app),
    'video.belongings': (app) => app.history.belongings,
    'channel.belongings': (app) => app.history.channelBelongings,
    'video.remove': ({ videos, history }) =>
      videos.removal((ids, step) => step('history.forget', () => history.forget('video', ids))),
    'channel.remove': (app) => (id, step) => step('history.forget', () => app.history.forget('channel', [id])),
  },
  on: {
    'video.removed':
      (app) =>
      ({ id }) =>
        app.history.pictures.removeOf('video', id),
    'server.ready': (app) => async () => void (await app.jobs.start(settleHistory)),
    'index.replaced': compare,
    'ledger.replaced': compare,
  },
  tasks: [checkLost, settleHistory],
  routes: [listChanges, showNumbers, showOldPicture, listRescues, rescueChannel, declineRescue],
})

declare module 'archivolt' {
  interface Events {
    /**
     * Emitted when the platform certainly no longer has an archived video. If its whole channel is lost, only
     * `channel.lost` is emitted.
     */
    'video.lost': { id: string; channelId: string; kind: Loss }
    /** Emitted when the platform has a lost video again. */
    'video.returned': { id: string; channelId: string }
    /** Emitted when the platform certainly no longer has a channel. `videos`: how many are lost with it. */
    'channel.lost': { id: string; kind: Loss; videos: number }
    /** Emitted when the platform has a lost channel again. */
    'channel.returned': { id: string }
  }
  interface Services {
    history: {
      history: History
    }
  }
}
