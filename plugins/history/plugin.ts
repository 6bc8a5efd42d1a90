/** History: what has changed on the platform since videos, channels and playlists were archived (contract 9.32). */
import { definePlugin } from 'archivolt'
import { type History, openHistory } from './history.ts'
import { hear } from './listen.ts'
import { listChanges, showNumbers, showOldPicture } from './routes.ts'
import { historyTables } from './rows.ts'

export default definePlugin({
  name: 'history',
  needs: ['platform', 'media', 'channel', 'video', 'playlist'],
  migrations: [historyTables],
  services: (app) => ({ history: openHistory(app) }),
  implements: {
    'platform.answered': (app) => (answer) => hear(answer, app),
    'media.replacing': (app) => (picture) => app.history.pictures.mayReplace(picture),
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
  },
  routes: [listChanges, showNumbers, showOldPicture],
})

declare module 'archivolt' {
  interface Services {
    history: {
      history: History
    }
  }
}
