/** Routes for signing in with the provider: redirect, return, and linking an existing account. */
import { defineRoute, errors, json, type RouteInput, Type, tellSecurity } from 'archivolt'
import { parseCookie } from 'cookie'
import type { App } from './app.ts'
import { AWAY_SECONDS, type Away } from './away.ts'
import { Refused } from './links.ts'

const COOKIE = 'av_oidc'
const BACK = 'login/oidc/back/'
const LONGEST_PASSWORD = 1024
/** The page on which an account is linked. */
const CONNECTING = '/settings/account/'

type Request = RouteInput<never, never, never>['request']

function redirect(headers: RouteInput<never, never, never>['headers'], to: string) {
  headers.set('Location', to)
  headers.set('Cache-Control', 'no-store')
  return json('{}')
}

/** Accepts only a path of this page: nothing that a browser could read as another host. */
function pathOnly(text: string | undefined): string {
  const base = 'http://page.invalid'
  if (text === undefined || !text.startsWith('/') || !URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  return origin === base && !pathname.startsWith('//') ? pathname + search + hash : '/'
}

const withinPage = ({ settings }: App, path: string): string => settings.basePath + path.slice(1)

/** The page that shows the reason: the sign-in page, or the account page. */
const refusedAt = (app: App, reason: string, isConnecting = false): string =>
  withinPage(app, `${isConnecting ? CONNECTING : '/login/'}?refused=${reason}`)

function providerOf(app: App) {
  if (!app.oidc.provider) throw errors.notFound('provider')
  return app.oidc.provider
}

/** The redirect address, which the provider compares with its configuration. */
function backTo(app: App, request: Request): string {
  const here = app.publicUrl(request)
  if (here === undefined) throw errors.badRequest('Set AV_PUBLIC_URL: the provider needs the address of this server')
  return here + BACK
}

async function begin(
  app: App,
  { request, headers }: Pick<RouteInput<never, never, never>, 'request' | 'headers'>,
  more: Pick<Away, 'next' | 'isRemembered' | 'userId'>,
): Promise<string> {
  const redirectUri = backTo(app, request)
  const { url, ...secrets } = await providerOf(app).begin(redirectUri)
  const away = app.oidc.away.leave({ ...secrets, ...more, redirectUri })
  headers.cookie(COOKIE, away, { maxAgeSeconds: AWAY_SECONDS, httpOnly: true })
  return url
}

export const showProvider = defineRoute({
  method: 'GET',
  path: '/api/oidc/',
  access: 'open',
  summary: 'The name of the OpenID Connect provider, as the page shows it; null: there is none',
  reply: Type.Object({ name: Type.Union([Type.String(), Type.Null()]) }),
  handle: (_input, { oidc, settings }: App) => ({ name: oidc.provider ? settings.oidcName : null }),
})

export const goThere = defineRoute({
  method: 'GET',
  path: '/login/oidc/',
  access: 'open',
  summary: 'Redirect the browser to the OpenID Connect provider, or to /login/ with a reason',
  query: {
    next: Type.Optional(Type.String({ maxLength: 2000, description: 'path of the page to open after the sign-in' })),
    remember_me: Type.Optional(
      Type.Boolean({ description: 'start a long session, like `remember_me` of a sign-in with a password' }),
    ),
  },
  reply: Type.Object({}, { description: 'empty: the browser is redirected' }),
  status: 302,
  errors: ['not_found', 'unavailable'],
  async handle({ query, request, headers }, app: App) {
    providerOf(app)
    try {
      const isRemembered = query.remember_me === true
      return redirect(headers, await begin(app, { request, headers }, { next: pathOnly(query.next), isRemembered }))
    } catch (error) {
      if (app.oidc.limits.mayLog(request.address))
        app.log.warn({ err: error }, 'the OpenID Connect provider cannot be reached')
      return redirect(headers, refusedAt(app, 'away'))
    }
  },
})

const ANSWER = { maxLength: 4000 }

export const comeBack = defineRoute({
  method: 'GET',
  path: '/login/oidc/back/',
  access: 'open',
  summary: 'Return address for the OpenID Connect provider: starts a session, or links an account',
  query: {
    code: Type.Optional(Type.String(ANSWER)),
    state: Type.Optional(Type.String(ANSWER)),
    iss: Type.Optional(Type.String(ANSWER)),
    error: Type.Optional(Type.String(ANSWER)),
    error_description: Type.Optional(Type.String(ANSWER)),
  },
  reply: Type.Object({}, { description: 'empty: the browser is redirected' }),
  status: 302,
  errors: ['not_found'],
  async handle({ query, request, headers, actor }, app: App) {
    const provider = providerOf(app)
    const { limits } = app.oidc
    if (limits.isBarred(request.address)) return redirect(headers, refusedAt(app, 'busy'))
    const away = app.oidc.away.comeBack(parseCookie(request.headers['cookie'] ?? '')[COOKIE] ?? '')
    headers.cookie(COOKIE, '', { maxAgeSeconds: 0, httpOnly: true })
    if (!away) return redirect(headers, refusedAt(app, 'expired'))
    try {
      const answered = new URL(away.redirectUri)
      for (const [name, value] of Object.entries(query)) if (value !== undefined) answered.searchParams.set(name, value)
      const identity = await provider.finish(answered, away)
      if (away.userId === undefined) {
        const proof = await app.oidc.links.accountOf(identity)
        await app.signIns.start({ proof, isRemembered: away.isRemembered, way: 'provider' }, { request, headers })
        tellSecurity(app.log, 'sign_in', { account: proof.account.id, address: request.address, at: 'provider' })
      } else {
        // Another account may have signed in here meanwhile.
        if (actor.via !== 'session' || actor.id !== away.userId) throw new Refused('other')
        await app.oidc.links.connect(away.userId, identity)
      }
      return redirect(headers, withinPage(app, away.next))
    } catch (error) {
      const reason = error instanceof Refused ? error.reason : query.error === 'access_denied' ? 'denied' : 'failed'
      if (reason === 'failed') {
        limits.fail(request.address)
        if (limits.mayLog(request.address))
          app.log.warn({ err: error }, 'an answer of the OpenID Connect provider was refused')
      }
      return redirect(headers, refusedAt(app, reason, away.userId !== undefined))
    }
  },
})

export const showLink = defineRoute({
  method: 'GET',
  path: '/api/oidc/link/',
  access: 'viewer',
  summary: 'Whether the caller’s account is linked to an account at the provider',
  reply: Type.Object({ connected: Type.Boolean() }),
  handle: ({ actor }, { oidc }: App) => ({ connected: oidc.links.isConnected(actor.id) }),
})

export const beginLink = defineRoute({
  method: 'POST',
  path: '/api/oidc/link/',
  access: 'viewer',
  scope: 'none',
  summary: 'Start linking the caller’s account to one at the provider: the browser continues at the returned address',
  body: Type.Object({ current_password: Type.String({ maxLength: LONGEST_PASSWORD }) }),
  reply: Type.Object({ url: Type.String() }),
  errors: ['not_found', 'throttled'],
  async handle({ body, actor, request, headers, signal }, app: App) {
    providerOf(app)
    if (!(await app.accounts.checkOwnPassword(actor.id, body.current_password, request.address, signal)))
      throw errors.badRequest('The password is wrong', { fields: { current_password: 'is wrong' } })
    try {
      return {
        url: await begin(app, { request, headers }, { next: CONNECTING, isRemembered: false, userId: actor.id }),
      }
    } catch (error) {
      throw errors.unavailable('The provider cannot be reached; the log says why', { cause: error })
    }
  },
})

export const removeLink = defineRoute({
  method: 'DELETE',
  path: '/api/oidc/link/',
  access: 'viewer',
  scope: 'none',
  summary: 'Unlink the caller’s account from its account at the provider',
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['permission_denied'],
  async handle({ actor }, { oidc, signIns }: App) {
    signIns.refuseUnproven(actor)
    await oidc.links.disconnect(actor.id)
    return { success: true as const }
  },
})
