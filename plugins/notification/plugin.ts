/** Notifications: the messages of running tasks, the event stream of the page, and messages to external services. */
import { definePlugin, Type } from 'archivolt'
import { tellLostApprise } from './apprise.ts'
import { checkRequests } from './check-requests-task.ts'
import { type Live, openLive } from './live.ts'
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
      meaning: 'a Python venv with Apprise; unset: that of the installation, tools/',
    },
  },
  hooks: ['notification.carrier'],
  routes: [listNotifications, streamEvents, testOutgoing],
  tasks: [checkRequests],
  services: (app) => ({ live: openLive(app), outgoing: openOutgoing(app), requests: openRequests(app) }),
  on: {
    'queue.changed':
      (app) =>
      async ({ id }) => {
        await app.live.queueChanged(id)
        if (id !== undefined) await app.requests.changed(id)
        else if (app.requests.hasOpen()) await app.jobs.start(checkRequests)
      },
    'index.replaced': (app) => async () => {
      if (app.requests.hasOpen()) await app.jobs.start(checkRequests)
    },
    'ledger.replaced': (app) => async () => {
      if (app.requests.hasOpen()) await app.jobs.start(checkRequests)
    },
    'queue.asked':
      (app) =>
      ({ userId, ids }) =>
        app.requests.asked(userId, ids),
  },
  async setup(app) {
    app.live.begin()
    app.requests.begin((userId) => app.live.tellMessages(userId))
    // Requests may have ended without a report: after a crash, or when a restore has replaced the queue.
    if (app.requests.hasOpen()) await app.jobs.start(checkRequests)
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
      /** The listeners of `/api/events/`. */
      live: Live
      /** Messages to external URLs. */
      outgoing: Outgoing
      /** The requests of accounts, and their outcome. */
      requests: Requests
    }
  }
}
