/** Notifications: what is shown while tasks run, the event stream of pages, and messages to the outside. */
import { definePlugin, Type } from 'archivolt'
import { tellLostApprise } from './apprise.ts'
import { type Live, openLive } from './live.ts'
import { lookAtRequests } from './look-at-requests-task.ts'
import { type Outgoing, openOutgoing } from './outgoing.ts'
import { openRequests, type Requests, requestTables } from './requests.ts'
import { listNotifications, streamEvents } from './routes.ts'
import { testOutgoing } from './test-route.ts'

export default definePlugin({
  name: 'notification',
  needs: ['platform', 'task', 'video', 'download'],
  migrations: requestTables,
  settings: {
    apprise: {
      env: 'AV_APPRISE',
      schema: Type.Union([Type.String({ minLength: 1 }), Type.Null()], { description: 'a path' }),
      default: null,
      isPath: true,
      meaning: 'a Python venv with Apprise; unset: our own tools/',
    },
  },
  hooks: ['notification.carrier'],
  routes: [listNotifications, streamEvents, testOutgoing],
  tasks: [lookAtRequests],
  services: (app) => ({ live: openLive(app), outgoing: openOutgoing(app), requests: openRequests(app) }),
  on: {
    'queue.changed':
      (app) =>
      async ({ id }) => {
        await app.live.queueChanged(id)
        if (id !== undefined) await app.requests.changed(id)
        else if (app.requests.hasOpen()) await app.jobs.start(lookAtRequests)
      },
    'index.replaced': (app) => async () => {
      if (app.requests.hasOpen()) await app.jobs.start(lookAtRequests)
    },
    'ledger.replaced': (app) => async () => {
      if (app.requests.hasOpen()) await app.jobs.start(lookAtRequests)
    },
    'queue.asked':
      (app) =>
      ({ userId, ids }) =>
        app.requests.asked(userId, ids),
  },
  async setup(app) {
    app.live.begin()
    app.requests.begin((userId) => app.live.tellMessages(userId))
    // What has ended while nobody was told: after a crash, or in a queue that a restore has replaced.
    if (app.requests.hasOpen()) await app.jobs.start(lookAtRequests)
    app.outgoing.begin()
    await tellLostApprise(app)
  },
  async close(app) {
    app.live.end()
    app.requests.end()
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
      /** What accounts have asked for, and what has become of it. */
      requests: Requests
    }
  }
}
