/** Where a request comes from: the client's address, the scheme and host, and whether another site's page sent it. */
import type { IncomingMessage } from 'node:http'
import proxyaddr from 'proxy-addr'
import { NETWORKS, type Settings } from '../../config/schema.ts'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'

export interface Origin {
  address: string
  isProxied: boolean
  /** Limits by address apply to clients, not to this machine and trusted proxies, which speak for many. */
  isLimited: boolean
  isSecure: boolean
  /** The host by which the client calls the server; '': missing or malformed. */
  host: string
  /** The browser says that another site's page sent the request. */
  isCrossSite: boolean
  /** The user who signed in at a trusted proxy; undefined: none is named, or the sender is not trusted. */
  forwardedUser: string | undefined
}

type OriginSettings = Pick<Settings, 'trustedProxies' | 'forwardedUser' | 'publicUrl'>

const LONGEST_ADDRESS = 64
const LONGEST_HOST = 260
const MOST_REMEMBERED = 500

/** @throws StartError: one of the ranges has the form of an address or a network, but is none */
function compiled(ranges: string[]): (address: string, hops: number) => boolean {
  try {
    return proxyaddr.compile(ranges)
  } catch (cause) {
    const { message } = cause as Error
    throw new StartError(`AV_TRUSTED_PROXIES must be ${NETWORKS} (${message})`, { cause })
  }
}

/** Remembers the answer for each address: parsing an address takes a quarter of the time of a short request. */
function openRanges(ranges: string[]): (address: string) => boolean {
  const isWithin = compiled(ranges)
  const known = new Map<string, boolean>()
  return (address) => {
    const before = known.get(address)
    if (before !== undefined) return before
    const answer = isWithin(address, 0)
    if (known.size >= MOST_REMEMBERED) known.clear()
    if (address.length <= LONGEST_ADDRESS) known.set(address, answer)
    return answer
  }
}

/** Limits by address spare trusted proxies and this machine: perhaps a local proxy does not name its clients. */
export function openLimits(trustedProxies: readonly string[]): (address: string) => boolean {
  const isExempt = openRanges(['loopback', ...trustedProxies])
  return (address) => !isExempt(address)
}

/** @param settings.trustedProxies  addresses or ranges: only these may name a client's address and user */
export function openOrigins(
  { trustedProxies, forwardedUser: header, publicUrl }: OriginSettings,
  log: Pick<Log, 'warn'>,
) {
  const isTrusted = openRanges([...trustedProxies])
  const isLimited = openLimits(trustedProxies)
  const publicOrigin = publicUrl === null ? undefined : new URL(publicUrl).origin

  /** The first value of a forwarding header, if a trusted proxy sent it. */
  function forwarded(request: IncomingMessage, name: string): string | undefined {
    const value = request.headers[name]
    if (typeof value !== 'string' || !isTrusted(request.socket.remoteAddress ?? '')) return undefined
    return value.split(',', 1)[0]!.trim().toLowerCase()
  }

  function isCrossSite(request: IncomingMessage): boolean {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    if (site === 'cross-site') return true
    const isOfProxy = publicOrigin !== undefined && forwardedUser(request) !== undefined
    if (origin === undefined) return false
    // Host does not count: the proxy may change it, and serves any host name that an attacker points at it.
    if (isOfProxy) return origin !== publicOrigin
    const asked = forwarded(request, 'x-forwarded-host') ?? host?.toLowerCase()
    return !URL.canParse(origin) || new URL(origin).host !== withoutDefaultPort(asked, origin)
  }

  let isTold = false
  function forwardedUser(request: IncomingMessage): string | undefined {
    const value = header === null ? undefined : request.headers[header]
    if (value === undefined) return undefined
    const peer = request.socket.remoteAddress ?? ''
    if (isTrusted(peer)) return Buffer.from(String(value), 'latin1').toString().trim()
    // Logged once: otherwise a client could fill the log.
    if (!isTold)
      log.warn({ header, address: peer }, 'a header that names a user was ignored: its sender is not a trusted proxy')
    isTold = true
    return undefined
  }

  return {
    isCrossSite,
    forwardedUser,
    of(request: IncomingMessage): Origin {
      const address =
        trustedProxies.length === 0
          ? (request.socket.remoteAddress ?? '')
          : proxyaddr(request, isTrusted).slice(0, LONGEST_ADDRESS)
      const isSecure = 'encrypted' in request.socket || forwarded(request, 'x-forwarded-proto') === 'https'
      const host = hostIn(forwarded(request, 'x-forwarded-host') ?? request.headers.host ?? '')
      return {
        address,
        isProxied: isTrusted(request.socket.remoteAddress ?? ''),
        isLimited: isLimited(address),
        isSecure,
        host,
        isCrossSite: isCrossSite(request),
        forwardedUser: forwardedUser(request),
      }
    },
  }
}

/** Links are built from the host: it must be a name or an address, and optionally a port. */
const hostIn = (text: string): string =>
  text.length <= LONGEST_HOST && /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text) ? text.toLowerCase() : ''

/** `Host` may spell out the default port that an origin omits. */
const withoutDefaultPort = (host: string | undefined, origin: string): string | undefined =>
  host?.replace(origin.startsWith('https:') ? /:443$/ : /:80$/, '')
