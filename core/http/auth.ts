/** Cookie or token → actor; may this actor use this route. */

import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import proxyaddr from 'proxy-addr'
import { errors } from '../error.ts'
import type { AccountRecord, Credentials } from '../ledger/users.ts'

export type { AccountRecord, Accounts, Credentials, Proof } from '../ledger/users.ts'

export interface Actor {
  /** 0: nobody has signed in. */
  id: number
  username: string
  isAdmin: boolean
  via: 'token' | 'session' | 'none'
  /** Hash of the session's id, with `via: 'session'`. */
  session?: string
}

export type Access = 'open' | 'user' | 'admin'

/** Where a request comes from, as far as the socket and trusted proxies tell. */
export interface Origin {
  address: string
  /** Limits by address are for clients: this machine and trusted proxies speak for many. */
  isLimited: boolean
  isSecure: boolean
  /** The browser says that another site's page sent it. */
  isCrossSite: boolean
}

export interface Auth {
  origin(request: IncomingMessage): Origin
  /**
   * Who asks. An open route takes credentials that hold, and ignores others.
   * @throws not_authenticated, invalid_token, csrf_failed
   */
  who(request: IncomingMessage, access: Access): Actor
  /** @throws permission_denied */
  may(actor: Actor, access: Access): void
}

export const NOBODY: Actor = Object.freeze({ id: 0, username: '', isAdmin: false, via: 'none' })
export const SESSION_COOKIE = 'sessionid'
export const CSRF_COOKIE = 'csrftoken'

const TOKEN_HEADER = /^token ([0-9a-f]{40})$/i
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
const LONGEST_ADDRESS = 64

/**
 * Whether limits by address are for this one. Without a proxy that says who its clients are, all of them come from this
 * machine.
 */
export function openLimits(trustedProxies: readonly string[]): (address: string) => boolean {
  const isExempt = proxyaddr.compile(['loopback', ...trustedProxies])
  return (address) => !isExempt(address, 0)
}

/** @param trustedProxies  addresses, ranges, or `loopback`, `linklocal`, `uniquelocal`; only they may name a client */
export function openAuth({
  credentials,
  trustedProxies,
}: {
  credentials: Credentials
  trustedProxies: readonly string[]
}): Auth {
  const isTrusted = proxyaddr.compile([...trustedProxies])
  const isLimited = openLimits(trustedProxies)

  /** The first value of a forwarding header, where a trusted proxy sent it. */
  function forwarded(request: IncomingMessage, name: string): string | undefined {
    const value = request.headers[name]
    if (typeof value !== 'string' || !isTrusted(request.socket.remoteAddress ?? '', 0)) return undefined
    return value.split(',', 1)[0]!.trim().toLowerCase()
  }

  function isCrossSite(request: IncomingMessage): boolean {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    if (site === 'cross-site') return true
    if (origin === undefined) return false
    const asked = forwarded(request, 'x-forwarded-host') ?? host?.toLowerCase()
    return !URL.canParse(origin) || new URL(origin).host !== withoutDefaultPort(asked, origin)
  }

  function bySession(request: IncomingMessage): { actor: Actor; csrfToken: string } | undefined {
    const cookie = sessionCookie(request)
    const found = cookie === undefined ? undefined : credentials.bySession(cookie)
    return found && { actor: toActor(found.account, 'session', found.session.hash), csrfToken: found.session.csrfToken }
  }

  function byToken(request: IncomingMessage): Actor | undefined {
    const header = request.headers.authorization
    // The scheme may be written in any case, the key may not.
    const key = header === undefined ? undefined : TOKEN_HEADER.exec(header)?.[1]
    const account = key === undefined || key !== key.toLowerCase() ? undefined : credentials.byToken(key)
    return account && toActor(account, 'token')
  }

  return {
    origin(request) {
      const address =
        trustedProxies.length === 0
          ? (request.socket.remoteAddress ?? '')
          : proxyaddr(request, isTrusted).slice(0, LONGEST_ADDRESS)
      const isSecure = 'encrypted' in request.socket || forwarded(request, 'x-forwarded-proto') === 'https'
      return { address, isLimited: isLimited(address), isSecure, isCrossSite: isCrossSite(request) }
    },

    who(request, access) {
      const isSafe = SAFE_METHODS.has(request.method!)
      if (access === 'open') return isSafe ? (bySession(request)?.actor ?? byToken(request) ?? NOBODY) : NOBODY
      const session = bySession(request)
      if (session) {
        if (!isSafe) proveOwnPage(request, session.csrfToken)
        return session.actor
      }
      const actor = byToken(request)
      if (actor) return actor
      if (request.headers.authorization === undefined && sessionCookie(request) === undefined)
        throw errors.notAuthenticated('Sign in, or send the header Authorization: Token <key>')
      throw errors.invalidToken()
    },

    may(actor, access) {
      if (access === 'admin' && !actor.isAdmin) throw errors.permissionDenied('Only an admin may do this')
    },
  }

  /**
   * A cookie goes along with whatever page makes the browser send a request: only our own page knows the CSRF value.
   */
  function proveOwnPage(request: IncomingMessage, csrfToken: string): void {
    if (isCrossSite(request)) throw errors.csrfFailed('This request was sent by a page of another site')
    const given = request.headers['x-csrftoken']
    if (typeof given !== 'string' || !isSame(given, csrfToken))
      throw errors.csrfFailed('The header X-CSRFToken must have the value of the cookie csrftoken')
  }
}

function sessionCookie(request: IncomingMessage): string | undefined {
  const header = request.headers.cookie
  // Most calls have a token and no cookie at all.
  return header === undefined || !header.includes(SESSION_COOKIE) ? undefined : parseCookie(header)[SESSION_COOKIE]
}

const toActor = (account: AccountRecord, via: 'token' | 'session', session?: string): Actor => ({
  id: account.id,
  username: account.username,
  isAdmin: account.is_staff,
  via,
  ...(session !== undefined && { session }),
})

/** `Host` may spell out the port that goes without saying in an origin. */
function withoutDefaultPort(host: string | undefined, origin: string): string | undefined {
  return host?.replace(origin.startsWith('https:') ? /:443$/ : /:80$/, '')
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
