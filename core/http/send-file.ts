/** Sends files: whole or in byte ranges, with headers for caches; or has the proxy in front of the server send them. */
import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { basename } from 'node:path'
import type sendFile from 'send'
import type { SendStream } from 'send'
import { errors } from '../base/error.ts'
import { say } from '../base/say.ts'
import { streamFile } from './file-stream.ts'
import { HTML_DEFAULTS } from './html-defaults.ts'
import type { FileReply, Meter } from './reply.ts'
import { isAnyKnown, isKnown, tagOf } from './reply-cache.ts'
import { COMPRESSIBLE, type Exchange } from './send.ts'
import { smallFile } from './small-files.ts'

const FILE_MAX_AGE_SECONDS = 300
const YEAR_SECONDS = 31_536_000
/** Requests with one of these headers are left to the package `send`, which answers all their cases. */
const CONDITIONS = ['range', 'if-range', 'if-match', 'if-modified-since', 'if-unmodified-since', 'cache-control']
/** The codes of a missing file. A symbolic link that leads to itself counts as missing too. */
const MISSING = new Set(['ENOENT', 'ENAMETOOLONG', 'ENOTDIR', 'ELOOP'])
/** The location of this machine's files in `config/proxies/nginx.conf`; clients cannot request it. */
const PROXY_LOCATION = '/_archivolt'

/** Loaded at first use: the package's list of all media types takes 1.5 MB of memory. */
let send: Promise<{ default: typeof sendFile }> | undefined

/** By the proxy, from memory, or by the package `send`. @throws not_found, invalid_range, conflict, unavailable */
export function sendFileReply(exchange: Exchange, reply: FileReply): Promise<void> {
  const { request, response, headers } = exchange
  const { download, immutable, meter, maxAgeSeconds = immutable ? YEAR_SECONDS : FILE_MAX_AGE_SECONDS } = reply.options
  const own = {
    'Content-Type': reply.contentType,
    'Cache-Control': `private, max-age=${maxAgeSeconds}${immutable ? ', immutable' : ''}`,
    ...(reply.contentType.startsWith('text/html') && HTML_DEFAULTS),
    ...(download !== undefined && {
      'Content-Disposition': `attachment; filename="${download.replace(/[^\w.-]/g, '_')}"`,
    }),
    ...headers,
  }
  // A proxy would drop the `Content-Encoding` of compressed files.
  if (exchange.sendFileHeader && !meter && !COMPRESSIBLE.test(reply.contentType))
    return leaveToProxy(response, exchange.sendFileHeader, reply.path, own)
  if (reply.options.stats && !CONDITIONS.some((name) => request.headers[name] !== undefined))
    return sendSmall(exchange, reply.path, reply.options.stats, own)
  return sendStream(exchange, reply.path, own, meter)
}

/** From memory, if it is small. */
async function sendSmall(exchange: Exchange, path: string, stats: Stats, own: OutgoingHttpHeaders): Promise<void> {
  const { request, response } = exchange
  // The same tag as the package makes, so that a client may continue a file from here with a range (If-Range).
  const tag = tagOf(`${stats.size.toString(16)}-${stats.mtime.getTime().toString(16)}`)
  const headers = { 'Accept-Ranges': 'bytes', 'Last-Modified': stats.mtime.toUTCString(), ETag: tag, ...own }
  if (isAnyKnown(request) || isKnown(request, tag)) return void response.writeHead(304, headers).end()
  const bytes = await smallFile(path, stats).catch(() => undefined)
  if (!bytes) return sendStream(exchange, path, own)
  if (!response.destroyed) response.writeHead(200, { 'Content-Length': bytes.length, ...headers }).end(bytes)
}

async function sendStream(
  { request, response }: Exchange,
  path: string,
  own: OutgoingHttpHeaders,
  meter?: Meter,
): Promise<void> {
  const { default: open } = await (send ??= import('send'))
  if (response.destroyed) return
  for (const [name, value] of Object.entries(own)) response.setHeader(name, value!)
  return new Promise((resolve, reject) => {
    response.on('close', resolve)
    // `send` decodes the path as if it came from a URL. Dot folders are allowed: the path is ours and may contain one.
    const stream: SendStream = open(request, encodeURIComponent(path), {
      cacheControl: false,
      dotfiles: 'allow',
      index: false,
    })
    let whole = 0
    const measure = meter && ((bytes: number) => meter(bytes, whole))
    stream.stream = (found, part) =>
      void streamFile(found, part ?? {}, response, measure).catch((error: Error) => stream.onStatError(error))
    const refuse = (status: number, error?: NodeJS.ErrnoException) => {
      if (!response.headersSent)
        for (const name of response.getHeaderNames()) if (name !== 'content-range') response.removeHeader(name)
      reject(fileFault(path, error, status))
    }
    // A request for more last bytes than the file has means all of it (RFC 9110); the package refuses such a range.
    stream.on('file', (_path: string, { size }: Stats) => {
      whole = size
      const [, last] = /^bytes=-(\d+)$/.exec(request.headers.range ?? '') ?? []
      if (last !== undefined && Number(last) > size && size > 0) request.headers.range = 'bytes=0-'
    })
    stream.on('directory', () => refuse(404))
    stream.on('error', (error: Error & { status?: number }) => refuse(error.status ?? 500, error))
    stream.pipe(response)
  })
}

/** @throws not_found, unavailable */
async function leaveToProxy(
  response: ServerResponse,
  header: NonNullable<Exchange['sendFileHeader']>,
  path: string,
  own: OutgoingHttpHeaders,
): Promise<void> {
  const found = await stat(path).catch((error) => Promise.reject(fileFault(path, error)))
  if (!found.isFile()) throw errors.notFound('file')
  const url = path.split('/').map(encodeURIComponent).join('/') // all proxies decode it
  response.writeHead(200, { ...own, [header]: header === 'X-Accel-Redirect' ? PROXY_LOCATION + url : url }).end()
}

function fileFault(path: string, cause?: NodeJS.ErrnoException, status?: number): unknown {
  const { code = '' } = cause ?? {}
  if (status === 404 || MISSING.has(code)) return errors.notFound('file', undefined, { cause })
  if (status === 416) return errors.invalidRange('The range lies outside the file', { cause })
  if (status === 412)
    return errors.conflict('The file has changed: If-Match or If-Unmodified-Since does not match', { cause })
  const words = say`${{ asked: basename(path) }} cannot be read (${{ code }}): check its disk`
  return code === '' ? cause : errors.unavailable(words, { cause })
}
