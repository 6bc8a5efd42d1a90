/** Routes of the cookie (contract 6.3, appendix B). No route returns its text. */
import { defineRoute, errors, isAppError, say, sentenceOf, Type, wordsOf } from 'archivolt'
import type { App } from './app.ts'

const CookieStatus = Type.Object({
  cookie_enabled: Type.Boolean(),
  status: Type.Boolean(),
  validated: Type.Integer(),
  validated_str: Type.String(),
})

const asRequest = (account: number, signal: AbortSignal) => ({ asker: 'cookie check', isUrgent: true, account, signal })

export const showCookie = defineRoute({
  method: 'GET',
  path: '/api/cookie/',
  access: 'admin',
  summary: 'Whether a cookie is in use, and whether it was valid when last checked',
  reply: CookieStatus,
  handle: (_input, app: App) => app.cookie.status(),
})

export const validateCookie = defineRoute({
  method: 'POST',
  path: '/api/cookie/',
  access: 'admin',
  summary: 'Check whether the stored cookie is valid',
  reply: Type.Object({ cookie_validated: Type.Boolean() }),
  errors: ['throttled', 'unavailable'],
  handle: async ({ actor, signal }, app: App) => ({
    cookie_validated: await app.cookie.validate(asRequest(actor.id, signal)),
  }),
})

export const importCookie = defineRoute({
  method: 'PUT',
  path: '/api/cookie/',
  access: 'admin',
  summary: 'Store a cookie jar, if the platform accepts it',
  body: Type.Object({ cookie: Type.String({ minLength: 1, description: 'Netscape cookie jar' }) }),
  reply: Type.Object({ cookie_import: Type.Literal('done'), cookie_validated: Type.Literal(true) }),
  errors: ['bad_request', 'throttled'],
  errorKeys: { cookie_import: 'fail', cookie_validated: false },
  async handle({ body: { cookie }, actor, signal }, app: App) {
    try {
      await app.cookie.import(cookie, asRequest(actor.id, signal))
    } catch (thrown) {
      if (!isAppError(thrown, 'unavailable')) throw thrown
      // The status is 400, not 503, because programs that send a cookie read the reason only from a 400.
      throw errors.badRequest(
        say`${{ reason: sentenceOf(wordsOf(thrown)) }}. The cookie may be valid: it could not be checked, and the current one stays`,
        { retryAfterSeconds: thrown.details.retryAfterSeconds ?? 60, cause: thrown },
      )
    }
    return { cookie_import: 'done', cookie_validated: true }
  },
})

export const removeCookie = defineRoute({
  method: 'DELETE',
  path: '/api/cookie/',
  access: 'admin',
  summary: 'Delete the cookie',
  reply: CookieStatus,
  handle: (_input, app: App) => app.cookie.remove(),
})
