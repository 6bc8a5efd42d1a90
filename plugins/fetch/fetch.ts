/**
 * Sends requests to external servers whose addresses come from people or from other servers: with limits, and never
 * into a private network by accident. The check applies to the address of the connection, so that a name cannot resolve
 * to another address afterwards.
 */
import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { type App, abortable, errors, isAppError, say } from 'archivolt'
import { askStraight, askThrough, type Hop, type HopAnswer } from './hop.ts'

interface FetchOptions {
  method?: Hop['method']
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** Time limit in seconds; default: 30. */
  withinSeconds?: number
  /** Size limit of the response; default: 5,000,000. */
  maxBytes?: number
  /** `cut`: cuts a longer response at `maxBytes` instead of failing. */
  excess?: 'cut'
  /** `manual`: returns a redirect instead of following it. */
  redirect?: 'manual'
}

export type FetchOutside = (url: string, options?: FetchOptions) => Promise<Response>

const WITHIN_SECONDS = 30
const MAX_BYTES = 5_000_000
const MOST_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Headers that may be sent only to the first server. */
const PERSONAL = new Set(['authorization', 'cookie', 'proxy-authorization'])

const networks = (type: 'ipv4' | 'ipv6', ...list: string[]): BlockList => {
  const block = new BlockList()
  for (const network of list) {
    const [address = '', bits] = network.split('/')
    block.addSubnet(address, Number(bits), type)
  }
  return block
}
/** Networks that are not public: private, link-local, loopback, shared, documentation, multicast, reserved. */
const NOT_PUBLIC_4 = networks(
  'ipv4',
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
)
const PUBLIC_6 = networks('ipv6', '2000::/3')
/** The same, including Teredo and 6to4, which lead to IPv4 addresses, and documentation addresses. */
const NOT_PUBLIC_6 = networks('ipv6', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20')

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC_4.check(address, 'ipv4')
  return isIP(address) === 6 && PUBLIC_6.check(address, 'ipv6') && !NOT_PUBLIC_6.check(address, 'ipv6')
}

interface FetchParts extends Pick<App, 'clock' | 'version'> {
  settings: Pick<App['settings'], 'privateHosts' | 'fetchProxy'>
}

export function openFetch({ settings: { privateHosts, fetchProxy }, clock, version }: FetchParts): FetchOutside {
  const allowed = new Set(privateHosts.map((host) => host.toLowerCase()))

  const refusal = (host: string): Error =>
    errors.badRequest(say`${{ host }} is on a private network. An admin can allow it in AV_PRIVATE_HOSTS`)

  function checked(text: string, base?: string): URL {
    if (!URL.canParse(text, base)) throw errors.badRequest('This is not a valid URL')
    const url = new URL(text, base)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw errors.badRequest(say`Only http:// and https:// addresses work, not ${{ protocol: url.protocol }}`)
    const host = hostOf(url)
    if (isIP(host) !== 0 && !isPublicAddress(host) && !allowed.has(host)) throw refusal(host)
    return url
  }

  const lookup: LookupFunction = (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '')
      if (!allowed.has(host.toLowerCase()) && !addresses.every(({ address }) => isPublicAddress(address)))
        return done(refusal(host), '')
      if (options.all) return done(null, addresses)
      done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }

  /**
   * Refuses names that resolve to a private address here. This must happen before the request, because the proxy
   * resolves names itself.
   */
  const refusePrivateName = (host: string, signal: AbortSignal): Promise<void> =>
    abortable(signal, (done, fail) =>
      resolve(host, { all: true }, (error, addresses) => {
        if (error || addresses.every(({ address }) => isPublicAddress(address))) done()
        else fail(refusal(host))
      }),
    )

  async function ask(
    url: URL,
    { method = 'GET', headers = {}, body }: FetchOptions,
    signal: AbortSignal,
  ): Promise<HopAnswer> {
    const own = { 'user-agent': `archivolt/${version}`, 'accept-encoding': 'identity' }
    const hop: Hop = { url, method, headers: { ...own, ...headers }, signal, body }
    const host = hostOf(url)
    if (fetchProxy === null || allowed.has(host)) return askStraight(hop, lookup)
    await refusePrivateName(host, signal)
    return askThrough(fetchProxy, hop)
  }

  return async (text, options = {}) => {
    const { withinSeconds = WITHIN_SECONDS } = options
    const late = new AbortController()
    const timer = clock.after(withinSeconds * 1000, () => late.abort(new Error(`no answer within ${withinSeconds} s`)))
    const signal = options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal
    let url = checked(text)
    let asked = options
    try {
      for (let hops = 0; ; hops++) {
        const answer = await ask(url, asked, signal)
        const isFollowed = options.redirect !== 'manual' && REDIRECTS.has(answer.status)
        const location = isFollowed ? answer.headers.get('location') : null
        if (location === null) return await toResponse(answer, options)
        answer.end()
        if (hops === MOST_REDIRECTS) throw new Error(`more than ${MOST_REDIRECTS} redirects`)
        const next = checked(location, url.href)
        asked = onward(asked, { status: answer.status, isSameHost: next.origin === url.origin })
        url = next
      }
    } catch (cause) {
      if (isAppError(cause)) throw cause
      options.signal?.throwIfAborted()
      const why = late.signal.aborted ? late.signal.reason : cause
      throw errors.unavailable(
        say`${{ host: url.host }} could not be reached: ${{ reason: why instanceof Error ? why.message : why }}`,
        { cause },
      )
    } finally {
      timer.cancel()
    }
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').toLowerCase()

/**
 * Follows redirects like a browser: resends the body only if the status says so, and personal headers only to the same
 * host.
 */
function onward(
  { method = 'GET', headers = {}, body, ...rest }: FetchOptions,
  { status, isSameHost }: { status: number; isSameHost: boolean },
): FetchOptions {
  const isResent = status >= 307 || method === 'GET' || method === 'HEAD'
  const names = Object.entries(headers).filter(([name]) => {
    if (!isSameHost && PERSONAL.has(name.toLowerCase())) return false
    return isResent || !name.toLowerCase().startsWith('content-')
  })
  const sent = isResent ? { method, ...(body !== undefined && { body }) } : { method: 'GET' as const }
  return { ...rest, ...sent, headers: Object.fromEntries(names) }
}

async function toResponse(answer: HopAnswer, options: FetchOptions): Promise<Response> {
  const { status, headers } = answer
  try {
    const bytes = await readWithin(answer.chunks, options)
    const isEmpty = [204, 205, 304].includes(status)
    return new Response(isEmpty ? null : bytes, { status, headers })
  } finally {
    answer.end()
  }
}

/** @throws if the response exceeds `maxBytes` and must not be cut */
async function readWithin(
  source: AsyncIterable<Buffer>,
  { maxBytes = MAX_BYTES, excess }: FetchOptions,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > maxBytes) {
      if (excess !== 'cut') throw new Error(`the response has more than ${maxBytes} bytes`)
      chunks.push(chunk.subarray(0, maxBytes - (size - chunk.length)))
      break
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
