/** Writes to the socket: JSON, bytes, event streams, errors. Files: `send-file.ts`. */
import { type IncomingMessage, type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { stringifySetCookie } from 'cookie'
import type { Settings } from '../../config/schema.ts'
import type { Clock } from '../base/clock.ts'
import { acceptsGzip, compressed, isWorthCompressing } from './compression.ts'
import { type Fault, type FaultForm, toFault } from './fault.ts'
import { HTML_DEFAULTS } from './html-defaults.ts'
import type { BytesReply, EventStream, ReplyHeaders } from './reply.ts'
import { type CachedReply, LONG_TEXT } from './reply-cache.ts'

const JSON_HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' }
export const COMPRESSIBLE = /^(text\/|application\/(json|javascript|manifest\+json)|image\/svg)/
const HEARTBEAT_MS = 20_000
/** A client with this much unsent data does not read: its stream is closed. */
const SLOW_CLIENT_BYTES = 1024 * 1024

/** One request and what is already settled about its reply. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  id: string
  /** Sent with every reply to this request. */
  headers: Record<string, string | string[]>
  /** The proxy that the request comes from sends files itself where this header names one. */
  sendFileHeader?: Settings['sendFileHeader']
}

export interface HandlerHeaders extends ReplyHeaders {
  readonly values: Record<string, string | string[]>
}

/** Headers set by a handler replace the defaults. */
export function openHandlerHeaders(cookiePath: string, isSecure: boolean): HandlerHeaders {
  const values: HandlerHeaders['values'] = {}
  const cookies: string[] = []
  return {
    values,
    set(name, value) {
      // Refused here, where it is the handler's error: once it is among the headers, no reply can be sent.
      validateHeaderName(name)
      validateHeaderValue(name, value)
      values[canonical(name)] = value
    },
    cookie(name, value, { maxAgeSeconds: maxAge, httpOnly = false } = {}) {
      cookies.push(
        stringifySetCookie(name, value, { path: cookiePath, sameSite: 'lax', secure: isSecure, httpOnly, maxAge }),
      )
      values['Set-Cookie'] = cookies
    },
  }
}

/** One spelling, so that a handler's header replaces the default. */
const canonical = (name: string): string => name.toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())

export function sendEmpty(exchange: Exchange, status: number): void {
  exchange.response.writeHead(status, Object.assign({ 'Cache-Control': 'no-store' }, exchange.headers)).end()
}

type Sent = Promise<void> | void

export const sendJson = (exchange: Exchange, status: number, text: string): Sent =>
  sendCached(exchange, status, contentOf(text))

/** Takes the compressed form from the cache: compressing costs seven times as much as everything else of a hit. */
export const sendCached = (exchange: Exchange, status: number, reply: Content): Sent =>
  sendContent(exchange, status, reply, JSON_HEADERS)

export function sendBytes(exchange: Exchange, status: number, { bytes, contentType }: BytesReply): Sent {
  const isPage = contentType.startsWith('text/html')
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', ...(isPage && HTML_DEFAULTS) }
  return sendContent(exchange, status, contentOf(bytes), headers)
}

const contentOf = (plain: string | Buffer): Content => ({
  length: plain.length,
  plain,
  compressed: () => compressed(plain),
})

/** What is sent: a text or bytes, or a cached reply, which holds its compressed form. */
type Content = Pick<CachedReply, 'length' | 'plain' | 'compressed'>

function sendContent(exchange: Exchange, status: number, content: Content, own: Record<string, string>): Sent {
  const mayCompress = isWorthCompressing(content) && COMPRESSIBLE.test(own['Content-Type']!)
  if (mayCompress) varyBy(exchange, 'Accept-Encoding')
  if (!mayCompress || !acceptsGzip(exchange.request)) return finish(exchange, status, content.plain, own)
  return content.compressed().then((bytes) => finish(exchange, status, bytes, { 'Content-Encoding': 'gzip', ...own }))
}

export function varyBy({ headers }: Exchange, names: string | readonly string[]): void {
  const more = typeof names === 'string' ? names : names.join(', ')
  headers['Vary'] = headers['Vary'] === undefined ? more : `${headers['Vary']}, ${more}`
}

function finish(
  { response, headers }: Exchange,
  status: number,
  content: string | Buffer,
  own: Record<string, string>,
): void {
  if (response.destroyed) return
  const length = Buffer.byteLength(content)
  const encoding = length === content.length ? 'latin1' : 'utf8' // plain ASCII is copied instead of encoded
  for (const name in own) headers[name] ??= own[name]!
  headers['Content-Length'] = String(length)
  response.writeHead(status, headers)
  // A short text goes out with the headers. A long one may wait for its reader: bytes do not occupy the heap.
  if (typeof content === 'string' && length >= LONG_TEXT) response.end(Buffer.from(content, encoding))
  else response.end(content, encoding)
}

export function sendFault(exchange: Exchange, thrown: unknown, forms: readonly FaultForm[] = []): Fault {
  const fault = forms.reduce((one, form) => form(one, exchange.request.headers), toFault(thrown))
  // Part of the reply is sent: closing the connection is the only way left to report that it is incomplete.
  if (exchange.response.headersSent) exchange.response.destroy()
  else finish(exchange, fault.status, fault.body, { ...JSON_HEADERS, ...fault.headers })
  return fault
}

/** @param mayListen  asked at each heartbeat: the session may have ended. @returns ends the stream */
export function sendEvents(
  exchange: Exchange,
  stream: EventStream,
  clock: Clock,
  mayListen: () => boolean,
): () => void {
  const { response, request } = exchange
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
    ...exchange.headers,
  })
  if (request.method === 'HEAD') {
    response.end()
    return () => undefined
  }
  response.write(': connected\n\n')
  const write = (text: string) => {
    if (response.writableEnded || response.destroyed) return
    if (response.writableLength + text.length > SLOW_CLIENT_BYTES) response.destroy()
    else response.write(text)
  }
  const stop = stream.start((event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
  const beat = () => {
    if (!mayListen()) return void response.end()
    write(': still here\n\n')
    timer = clock.after(HEARTBEAT_MS, beat)
  }
  let timer = clock.after(HEARTBEAT_MS, beat)
  response.on('close', () => {
    timer.cancel()
    stop()
  })
  return () => void response.end()
}
