/** Cookie or token → actor; may this actor use this route. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { errors } from '../error.ts'
import type { Access } from './access.ts'
import type { Credentials, Identity } from './credentials.ts'
import { includes, type Scope, type Scoped, scopeRefusal } from './scope.ts'

/** Who asks. Id 0: nobody has signed in. */
export interface Actor extends Identity {
  via: 'token' | 'session' | 'none'
  /** Of the access token, where it asks by one: what it may change is that much alone. */
  scope?: Scope
  /** Hash of the session's id, with `via: 'session'`. */
  session?: string
}

export interface InQuery {
  token?: string
  link?: { path: string; signed: string }
}

export interface Authentication {
  /**
   * Who asks. An open route takes credentials that hold, and ignores others.
   * @param inQuery  of a route that takes such there; headers count first
   * @throws not_authenticated, invalid_token, csrf_failed
   */
  who(request: IncomingMessage, access: Access, inQuery?: InQuery): Actor
  /** Its role, and the scope of its access token. @throws permission_denied */
  may(actor: Actor, route: Scoped): void
}

const NOBODY: Actor = Object.freeze({ id: 0, username: '', isAdmin: false, mayDownload: false, via: 'none' })
const SESSION_COOKIE = 'sessionid'

const TOKEN_HEADER = /^token ([0-9a-f]{40})$/i
const KEY = /^[0-9a-f]{40}$/
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * @param isCrossSite    the browser says that another site's page sent the request
 * @param forwardedUser  who has signed in at a trusted proxy: a session of anybody else has ended
 */
export function openAuthentication({
  credentials,
  isCrossSite,
  forwardedUser,
}: {
  credentials: Credentials
  isCrossSite: (request: IncomingMessage) => boolean
  forwardedUser: (request: IncomingMessage) => string | undefined
}): Authentication {
  function bySession(request: IncomingMessage): { actor: Actor; csrfToken: string } | undefined {
    const cookie = sessionCookie(request)
    const found = cookie === undefined ? undefined : credentials.bySession(cookie)
    const there = found && forwardedUser(request)
    if (there !== undefined && there !== found?.account.username) return undefined
    return (
      found && {
        actor: { ...found.account, via: 'session', session: found.session.hash },
        csrfToken: found.session.csrfToken,
      }
    )
  }

  function byToken(request: IncomingMessage): Actor | undefined {
    const header = request.headers.authorization
    // The scheme may be written in any case, the key may not.
    const key = header === undefined ? undefined : TOKEN_HEADER.exec(header)?.[1]
    return key === undefined ? undefined : ofKey(key, request)
  }

  function ofKey(key: string, { method }: IncomingMessage): Actor | undefined {
    const holder = KEY.test(key) ? credentials.byToken(key) : undefined
    if (!holder) return undefined
    const actor: Actor = { ...holder.account, via: 'token' }
    return holder.scope === undefined ? actor : within(holder.scope, actor, SAFE_METHODS.has(method!))
  }

  function ofLink({ path, signed }: { path: string; signed: string }): Actor | undefined {
    const account = credentials.byLink(path, signed)
    return account && { ...account, via: 'token' }
  }

  return {
    who(request, access, { token, link } = {}) {
      const isSafe = SAFE_METHODS.has(request.method!)
      if (access === 'open') return isSafe ? (bySession(request)?.actor ?? byToken(request) ?? NOBODY) : NOBODY
      const session = bySession(request)
      if (session) {
        if (!isSafe) proveOwnPage(request, session.csrfToken)
        return session.actor
      }
      const actor =
        byToken(request) ??
        (isSafe && token !== undefined ? ofKey(token, request) : undefined) ??
        (isSafe && link ? ofLink(link) : undefined)
      if (actor) return actor
      if (
        token === undefined &&
        link === undefined &&
        request.headers.authorization === undefined &&
        sessionCookie(request) === undefined
      )
        throw errors.notAuthenticated('Sign in, or send the header Authorization: Token <key>')
      throw errors.invalidToken()
    },

    may(actor, route) {
      const refusal = scopeRefusal(actor, route) ?? refusalOf(actor, route.access)
      if (refusal !== undefined) throw errors.permissionDenied(refusal)
    },
  }

  /**
   * A cookie goes along with whatever page makes the browser send a request: only our own page knows the CSRF value.
   */
  function proveOwnPage(request: IncomingMessage, csrfToken: string): void {
    if (isCrossSite(request)) throw errors.crossSite()
    const given = request.headers['x-csrftoken']
    if (typeof given !== 'string' || !isSame(given, csrfToken))
      throw errors.csrfFailed('The header X-CSRFToken must have the value of the cookie csrftoken')
  }
}

/** It sees what its user sees; where it changes something, handlers are told of no right that its scope leaves out. */
const within = (scope: Scope, actor: Actor, isSafe: boolean): Actor => ({
  ...actor,
  isAdmin: actor.isAdmin && (isSafe || includes(scope, 'admin')),
  mayDownload: actor.mayDownload && (isSafe || includes(scope, 'download')),
  scope,
})

function refusalOf(actor: Actor, access: Access): string | undefined {
  if (access === 'open' || access === 'viewer') return undefined
  if (access === 'admin' && actor.needsSecondFactor)
    return 'This server asks admins for a second factor: set up an authenticator app in Settings → Account'
  if (actor.view) return 'This account may only watch what was chosen for it'
  if (access === 'admin' && !actor.isAdmin) return 'Only an admin may do this'
  if (access === 'downloader' && !actor.mayDownload) return 'This account may not download; an admin can allow it'
  return undefined
}

/** Whether who has signed in may use routes, and see pages, of this access. */
export const mayUse = (actor: Actor, access: Access): boolean => refusalOf(actor, access) === undefined

function sessionCookie(request: IncomingMessage): string | undefined {
  const header = request.headers.cookie
  // Most calls have a token and no cookie at all.
  return header === undefined || !header.includes(SESSION_COOKIE) ? undefined : parseCookie(header)[SESSION_COOKIE]
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
