/** Notifications: what is shown while tasks run, the event stream of pages, and messages to the outside. */
import { definePlugin, Type } from 'archivolt'
import { tellLostApprise } from './apprise.ts'
import { type Live, openLive } from './live.ts'
import { type Outgoing, openOutgoing } from './outgoing.ts'
import { listNotifications, streamEvents } from './routes.ts'
import { testOutgoing } from './test-route.ts'

export default definePlugin({
  name: 'notification',
  needs: ['platform', 'task', 'download'],
  settings: {
    apprise: {
      env: 'AV_APPRISE',
      schema: Type.Union([Type.String({ minLength: 1 }), Type.Null()], { description: 'a path' }),
      default: null,
      isPath: true,
      meaning: 'a Python venv with Apprise; unset: our own tools/',
    },
  },
  routes: [listNotifications, streamEvents, testOutgoing],
  services: (app) => ({ live: openLive(app), outgoing: openOutgoing(app) }),
  on: {
    'queue.changed':
      (app) =>
      ({ id }) =>
        app.live.queueChanged(id),
  },
  async setup(app) {
    app.live.begin()
    app.outgoing.begin()
    await tellLostApprise(app)
  },
  async close(app) {
    app.live.end()
    await app.outgoing.end()
  },
})

declare module 'archivolt' {
  interface Services {
    notification: {
      /** Who listens to `/api/events/`. */
      live: Live
      /** Messages to URLs outside. */
      outgoing: Outgoing
    }
  }
}
