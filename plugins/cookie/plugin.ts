/** The cookie for requests to the platform: import, validate, renew, forget. */
import { definePlugin } from 'archivolt'
import { cookieLives, cookieTables, openCookie } from './cookie.ts'
import { cookieExpired } from './expired.ts'
import { importCookie, removeCookie, showCookie, validateCookie } from './routes.ts'

export default definePlugin({
  name: 'cookie',
  needs: ['platform', 'download'],
  events: ['cookie.changed', 'cookie.expired'],
  tasks: [cookieExpired],
  migrations: [cookieTables, cookieLives],
  routes: [showCookie, validateCookie, importCookie, removeCookie],
  services: (app) => ({ cookie: openCookie(app) }),
  implements: { 'platform.cookie': (app) => () => app.cookie.health() },
  on: {
    // Items that failed because they need an account may succeed with the new cookie.
    'cookie.changed':
      (app) =>
      async ({ isEnabled }) => {
        if (isEnabled) await app.queue.retryWithAccount()
        await app.degraded.fetchSoon()
      },
  },
  setup: (app) => app.cookie.load(),
})
