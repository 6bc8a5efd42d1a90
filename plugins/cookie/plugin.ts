/** The cookie that the platform is asked with: import, validate, renew, forget. */
import { definePlugin } from 'archivolt'
import { cookieTables, openCookie } from './cookie.ts'
import { importCookie, removeCookie, showCookie, validateCookie } from './routes.ts'

export default definePlugin({
  name: 'cookie',
  needs: ['platform', 'download'],
  events: ['cookie.changed'],
  migrations: [cookieTables],
  routes: [showCookie, validateCookie, importCookie, removeCookie],
  services: (app) => ({ cookie: openCookie(app) }),
  on: {
    // What needed an account may be had with this one.
    'cookie.changed':
      (app) =>
      async ({ isEnabled }) => {
        if (isEnabled) await app.queue.retryWithAccount()
      },
  },
  setup: (app) => app.cookie.load(),
})
