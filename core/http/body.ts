/** The request's body: its type, its size, its text. Read only when the caller is known to be allowed. */
import type { IncomingMessage } from 'node:http'
import { Readable, Transform } from 'node:stream'
import { parse as parseContentType } from 'content-type'
import type { Clock } from '../clock.ts'
import { errors } from '../error.ts'
import type { Route } from '../plugin/define.ts'

export const LARGEST_BODY_BYTES = 2 * 1024 * 1024
const SLOWEST_BODY_MS = 30_000
const SILENT_RAW_BODY_MS = 60_000
/** How long the rest of a body that nobody wants is read away, so that the answer gets through. */
const DRAIN_MS = 20_000
const DEEPEST_JSON = 64
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const announcedBytes = (request: IncomingMessage): number => Number(request.headers['content-length'] ?? 0)

export const hasBody = (request: IncomingMessage): boolean => announcedBytes(request) > 0 || request.headers['transfer-encoding'] !== undefined

/** Its body is looked at, also where the route has no use for one. */
export const isWriting = ({ method }: IncomingMessage): boolean => method === 'POST' || method === 'PUT'

/**
 * What the headers alone rule out.
 * @throws body_too_large, unsupported_media_type
 */
export function checkBodyHeaders(request: IncomingMessage, route: Route): void {
  if (!hasBody(request)) return
  const limit = route.rawBody?.maxBodyBytes ?? LARGEST_BODY_BYTES
  if (announcedBytes(request) > limit) throw errors.bodyTooLarge(`The body may have at most ${limit} bytes`)
  if (request.headers['content-encoding'] !== undefined) throw errors.unsupportedMediaType('The body must not be compressed')
  const isWrite = isWriting(request)
  if (!route.body && !route.rawBody && !isWrite) return // nobody looks at it
  const type = mediaType(request)
  // A chunked body may turn out to be empty, and an empty one needs no type.
  if (type === undefined && (!isWrite || announcedBytes(request) === 0)) return
  const accepted = route.rawBody ? [route.rawBody.contentType] : route.form ? [JSON_TYPE, FORM_TYPE] : [JSON_TYPE]
  if (type === undefined || !accepted.includes(type)) throw errors.unsupportedMediaType(`The body must be ${accepted.join(' or ')}`)
}

function mediaType(request: IncomingMessage): string | undefined {
  const header = request.headers['content-type']
  if (header === undefined || header === '') return undefined
  try {
    // A semicolon with nothing behind it is allowed by RFC 9110, and unknown to the package.
    const { type, parameters } = parseContentType(header.replace(/[;\s]+$/, ''))
    const charset = parameters['charset']?.toLowerCase() ?? 'utf-8'
    return charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii' ? type : `${type} in ${charset}`
  } catch {
    return 'malformed' // no accepted type is called so: 415
  }
}

/**
 * @returns the parsed JSON or form; undefined where the body is empty
 * @throws bad_request, body_too_large, unsupported_media_type
 */
export async function readBody(request: IncomingMessage, clock: Clock): Promise<unknown> {
  if (!hasBody(request)) return undefined
  const content = await readBytes(request, clock)
  if (content.length === 0) return undefined
  const text = decodeText(content)
  const type = mediaType(request)
  if (type === undefined && request.method !== 'DELETE') throw errors.unsupportedMediaType(`The body must be ${JSON_TYPE}`)
  return type === FORM_TYPE ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text)
}

function readBytes(request: IncomingMessage, clock: Clock): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let sizeBytes = 0
    const timer = clock.after(SLOWEST_BODY_MS, () => end(errors.badRequest('The body did not arrive in time')))
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length
      if (sizeBytes > LARGEST_BODY_BYTES) end(errors.bodyTooLarge(`The body may have at most ${LARGEST_BODY_BYTES} bytes`))
      else chunks.push(chunk)
    }
    const onEnd = () => end()
    const onClose = () => end(errors.badRequest('The body was cut off'))
    const end = (error?: Error) => {
      timer.cancel()
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      if (error) reject(error)
      else resolve(Buffer.concat(chunks))
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function decodeText(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (cause) {
    throw errors.badRequest('The body is not UTF-8', { cause })
  }
}

function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw errors.badRequest(`The body may be nested at most ${DEEPEST_JSON} deep`)
  try {
    // `__proto__` as a key would change what later merges do. It may be written with escapes, so both are looked at.
    return /__proto__|\\u00/i.test(text) ? JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value)) : JSON.parse(text)
  } catch (cause) {
    throw errors.badRequest('The body is not JSON', { cause })
  }
}

/** A megabyte of brackets would overflow the stack of whoever writes it out again. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (isInText) {
      if (character === 0x5c) at++
      else if (character === 0x22) isInText = false
    } else if (character === 0x22) isInText = true
    else if (character === 0x7b || character === 0x5b) {
      if (++depth > DEEPEST_JSON) return true
    } else if (character === 0x7d || character === 0x5d) depth--
  }
  return false
}

/** The body as it arrives, ended with `body_too_large` past the limit and with an error where the client goes away. */
export function rawBody(request: IncomingMessage, maxBodyBytes: number): Readable {
  if (!hasBody(request)) return Readable.from([])
  let sizeBytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      sizeBytes += chunk.length
      if (sizeBytes > maxBodyBytes) next(errors.bodyTooLarge(`The body may have at most ${maxBodyBytes} bytes`))
      else next(null, chunk)
    },
  })
  request.setTimeout(SILENT_RAW_BODY_MS, () => request.destroy())
  // What the handler does with it may take longer, in silence.
  request.on('end', () => request.setTimeout(0))
  // Not stream.pipeline: it would destroy the socket with the request, and no answer could be sent.
  request.on('close', () => {
    if (!request.complete) counted.destroy(errors.badRequest('The body was cut off'))
  })
  return request.pipe(counted)
}

export function drain(request: IncomingMessage, clock: Clock): void {
  request.unpipe()
  request.resume()
  const timer = clock.after(DRAIN_MS, () => request.socket.destroy())
  request.on('close', () => timer.cancel())
}
