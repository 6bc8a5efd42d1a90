/** Finds the actor of a cookie or token, and decides whether the actor may use a route. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { errors } from '../base/error.ts'
import type { Access } from './access.ts'
import type { Credentials, Identity } from './credentials.ts'
import { includes, type Scope, type Scoped, scopeRefusal } from './scope.ts'

/** The asking account. Id 0: not signed in. */
export interface Actor extends Identity {
  via: 'token' | 'session' | 'none'
  /** Scope of the access token, if one was used: limits what the actor may change. */
  scope?: Scope
  /** Hash of the session id, with `via: 'session'`. */
  session?: string
}

export interface InQuery {
  token?: string
  link?: { path: string; signed: string; isForAnyMethod?: true }
}

interface AuthenticationParts {
  credentials: Credentials
  /** Whether the browser says that another site's page sent the request. */
  isCrossSite(request: IncomingMessage): boolean
  /** The user signed in at a trusted proxy: sessions of any other user are invalid. */
  forwardedUser(request: IncomingMessage): string | undefined
}

const NOBODY: Actor = Object.freeze({ id: 0, username: '', isAdmin: false, mayDownload: false, via: 'none' })
const SESSION_COOKIE = 'sessionid'

const TOKEN_HEADER = /^token ([0-9a-f]{40})$/i
const KEY = /^[0-9a-f]{40}$/
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function openAuthentication({ credentials, isCrossSite, forwardedUser }: AuthenticationParts) {
  function bySession(request: IncomingMessage): { actor: Actor; csrfToken: string } | undefined {
    const cookie = sessionCookie(request)
    const found = cookie === undefined ? undefined : credentials.bySession(cookie)
    const there = found && forwardedUser(request)
    if (!found || (there !== undefined && there !== found.account.username)) return undefined
    const { account, session } = found
    return { actor: { via: 'session', session: session.hash, ...account }, csrfToken: session.csrfToken }
  }

  function byToken(request: IncomingMessage): Actor | undefined {
    // The scheme is case-insensitive, the key is not.
    const key = TOKEN_HEADER.exec(request.headers.authorization ?? '')?.[1]
    return key === undefined ? undefined : ofKey(key, request)
  }

  function ofKey(key: string, { method }: IncomingMessage): Actor | undefined {
    const holder = KEY.test(key) ? credentials.byToken(key) : undefined
    if (!holder) return undefined
    const actor: Actor = { via: 'token', ...holder.account }
    return holder.scope === undefined ? actor : within(holder.scope, actor, SAFE_METHODS.has(method!))
  }

  function ofLink({ path, signed }: { path: string; signed: string }): Actor | undefined {
    const account = credentials.byLink(path, signed)
    return account && { via: 'token', ...account }
  }

  return {
    /** An open route ignores invalid credentials. @throws not_authenticated, invalid_token, csrf_failed */
    who(request: IncomingMessage, access: Access, { token, link }: InQuery = {}): Actor {
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
        (link && (isSafe || link.isForAnyMethod) ? ofLink(link) : undefined)
      if (actor) return actor
      if ((token ?? link ?? request.headers.authorization ?? sessionCookie(request)) !== undefined)
        throw errors.invalidToken()
      throw errors.notAuthenticated('Sign in, or send the header Authorization: Token <key>')
    },

    /** Checks the actor's role and the scope of its access token. @throws permission_denied */
    may(actor: Actor, route: Scoped): void {
      const refusal = scopeRefusal(actor, route) ?? refusalOf(actor, route.access)
      if (refusal !== undefined) throw errors.permissionDenied(refusal)
    },
  }

  /** A browser sends the cookie with requests of any page, but only our own page knows the CSRF value. */
  function proveOwnPage(request: IncomingMessage, csrfToken: string): void {
    if (isCrossSite(request)) throw errors.crossSite()
    const given = request.headers['x-csrftoken']
    if (typeof given !== 'string' || !isSame(given, csrfToken))
      throw errors.csrfFailed('The header X-CSRFToken must have the value of the cookie csrftoken')
  }
}

/** Reads see what the user sees. For changes, handlers see only the rights within the token's scope. */
const within = (scope: Scope, actor: Actor, isSafe: boolean): Actor => ({
  ...actor,
  isAdmin: actor.isAdmin && (isSafe || includes(scope, 'admin')),
  mayDownload: actor.mayDownload && (isSafe || includes(scope, 'download')),
  scope,
})

function refusalOf(actor: Actor, access: Access): string | undefined {
  if (access === 'open' || access === 'viewer') return undefined
  if (access === 'admin' && actor.needsSecondFactor)
    return 'This server requires admins to use a second factor: set up an authenticator app in Settings → Account'
  if (actor.view) return 'This account may only watch what was chosen for it'
  if (access === 'admin' && !actor.isAdmin) return 'Only an admin may do this'
  if (access === 'downloader' && !actor.mayDownload) return 'This account may not download; an admin can allow it'
  return undefined
}

/** Whether the actor may use routes and see pages of this access level. */
export const mayUse = (actor: Actor, access: Access): boolean => refusalOf(actor, access) === undefined

function sessionCookie(request: IncomingMessage): string | undefined {
  const header = request.headers.cookie
  // Most requests have a token and no cookie.
  return header === undefined || !header.includes(SESSION_COOKIE) ? undefined : parseCookie(header)[SESSION_COOKIE]
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
