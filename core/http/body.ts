/** The request's body: its type, its size, its text. Read only when the caller is known to be allowed. */
import type { IncomingMessage } from 'node:http'
import { Readable, Transform } from 'node:stream'
import { parse as parseContentType } from 'content-type'
import type { Clock } from '../base/clock.ts'
import { errors } from '../base/error.ts'
import { overloadOf } from '../base/json-load.ts'
import { say } from '../base/say.ts'
import type { Route } from '../plugin/define.ts'

const LARGEST_BODY_BYTES = 2 * 1024 * 1024
/** On open routes: enough for a name and a password. */
const LARGEST_OPEN_BODY_BYTES = 16 * 1024
/** All bodies in memory together. The first bytes of each are not counted, so a small request is always accepted. */
const MOST_BYTES_AT_ONCE = 32 * 1024 * 1024
const UNCOUNTED_BYTES = LARGEST_OPEN_BODY_BYTES
const FIRST_BYTES = 4096
const SLOWEST_BODY_MS = 30_000
const SILENT_RAW_BODY_MS = 60_000
/** How long a refused body is read and dropped: clients read the reply only after they have sent everything. */
const DRAIN_MS = 20_000
const DEEPEST_JSON = 64
/** No valid object comes near this many, and checking 100,000 keys would take a second. */
const MOST_KEYS = 1000
/** Valid bodies have fewer; parsing two megabytes of empty lists would block the event loop for 0.4 s. */
const MOST_VALUES = 200_000
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'

const largestBody = ({ access }: Route): number => (access === 'open' ? LARGEST_OPEN_BODY_BYTES : LARGEST_BODY_BYTES)

const announcedBytes = (request: IncomingMessage): number => Number(request.headers['content-length'] ?? 0)

export const hasBody = (request: IncomingMessage): boolean =>
  announcedBytes(request) > 0 || request.headers['transfer-encoding'] !== undefined

const tooLarge = (limit: number) => errors.bodyTooLarge(say`The body may have at most ${{ limit }} bytes`)

/** Whether the body is checked even if the route does not use it. */
export const isWriting = ({ method }: IncomingMessage): boolean =>
  method === 'POST' || method === 'PUT' || method === 'PATCH'

/** Refuses what the headers alone rule out. @throws body_too_large, unsupported_media_type */
export function checkBodyHeaders(request: IncomingMessage, route: Route): void {
  if (!hasBody(request)) return
  const limit = route.rawBody?.maxBodyBytes ?? largestBody(route)
  if (announcedBytes(request) > limit) throw tooLarge(limit)
  if (request.headers['content-encoding'] !== undefined)
    throw errors.unsupportedMediaType('The body must not be compressed')
  const isWrite = isWriting(request)
  if (!route.body && !route.rawBody && !isWrite) return // nobody reads the body
  const type = mediaType(request)
  // A chunked body may turn out to be empty, and an empty one needs no type.
  if (type === undefined && (!isWrite || announcedBytes(request) === 0)) return
  const accepted = route.rawBody ? [route.rawBody.contentType] : route.form ? [JSON_TYPE, FORM_TYPE] : [JSON_TYPE]
  if (type === undefined || !accepted.includes(type))
    throw errors.unsupportedMediaType(say`The body must be ${{ types: accepted.join(' or ') }}`)
}

/** Stands for a type that cannot be parsed; no route accepts it, so the answer is 415. */
const MALFORMED = 'malformed'
const LONGEST_TYPE = 200

function mediaType(request: IncomingMessage): string | undefined {
  const header = request.headers['content-type']
  if (header === undefined || header === '') return undefined
  if (header.length > LONGEST_TYPE) return MALFORMED
  try {
    // RFC 9110 allows a semicolon at the end; the package does not.
    const { type, parameters } = parseContentType(header.replace(/(?<![;\s])[;\s]+$/, ''))
    const charset = parameters['charset']?.toLowerCase() ?? 'utf-8'
    return charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii' ? type : `${type} in ${charset}`
  } catch {
    return MALFORMED
  }
}

export type BodyShare = ReturnType<ReturnType<typeof openBodyMemory>>

/** Limits the memory of all bodies together. @returns opens one body's share; `release` it after the answer */
export function openBodyMemory() {
  let usedBytes = 0
  return () => {
    let ownBytes = 0
    /** @throws unavailable  not enough memory for a body of this size */
    const grow = (bytes: number): void => {
      const counted = Math.max(0, bytes - UNCOUNTED_BYTES)
      const nowUsed = usedBytes - ownBytes + counted
      if (counted > 0 && nowUsed > MOST_BYTES_AT_ONCE)
        throw errors.unavailable('Too many large requests at once; try again in a few seconds', {
          retryAfterSeconds: 5,
        })
      usedBytes = nowUsed
      ownBytes = counted
    }
    return { grow, release: () => grow(0) }
  }
}

/** @returns undefined: an empty body. @throws bad_request, body_too_large, unsupported_media_type, unavailable */
export async function readBody(
  request: IncomingMessage,
  route: Route,
  share: BodyShare,
  clock: Clock,
): Promise<unknown> {
  if (!hasBody(request)) return undefined
  const content = await readBytes(request, largestBody(route), share, clock)
  if (content.length === 0) return undefined
  const text = decodeText(content)
  const type = mediaType(request)
  if (type === undefined && request.method !== 'DELETE')
    throw errors.unsupportedMediaType(say`The body must be ${{ types: JSON_TYPE }}`)
  return type === FORM_TYPE ? parseForm(text) : parseJson(text)
}

function readBytes(request: IncomingMessage, limitBytes: number, share: BodyShare, clock: Clock): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // One growing buffer: a list of chunks costs hundreds of bytes per chunk, and a chunk may hold a single byte.
    let content = Buffer.allocUnsafe(Math.min(FIRST_BYTES, announcedBytes(request) || FIRST_BYTES))
    let sizeBytes = 0
    const timer = clock.after(SLOWEST_BODY_MS, () => end(errors.badRequest('The body did not arrive in time')))
    const onData = (chunk: Buffer) => {
      const neededBytes = sizeBytes + chunk.length
      if (neededBytes > limitBytes) return end(tooLarge(limitBytes))
      if (neededBytes > content.length) {
        const grownBytes = Math.min(limitBytes, Math.max(neededBytes, 2 * content.length))
        try {
          share.grow(grownBytes)
        } catch (error) {
          return end(error as Error)
        }
        const grown = Buffer.allocUnsafe(grownBytes)
        content.copy(grown, 0, 0, sizeBytes)
        content = grown
      }
      chunk.copy(content, sizeBytes)
      sizeBytes = neededBytes
    }
    const onEnd = () => end()
    const onClose = () => end(errors.badRequest('The body was cut off'))
    const end = (error?: Error) => {
      timer.cancel()
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      if (error) reject(error)
      else resolve(content.subarray(0, sizeBytes))
    }
    if (request.destroyed) onClose()
    else request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function decodeText(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (cause) {
    throw errors.badRequest('The body is not UTF-8', { cause })
  }
}

function parseForm(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  let count = 0
  for (const [key, value] of new URLSearchParams(text)) {
    if (++count > MOST_KEYS) throw errors.badRequest(TOO_MANY_KEYS)
    if (key !== '__proto__') values[key] = value
  }
  return values
}

const TOO_MANY_KEYS = `The body may have at most ${MOST_KEYS} keys in one object`
const OVERLOADS = {
  keys: TOO_MANY_KEYS,
  values: say`The body may have at most ${{ most: MOST_VALUES }} values`,
  depth: say`The body may be nested at most ${{ most: DEEPEST_JSON }} deep`,
}

function parseJson(text: string): unknown {
  const overload = overloadOf(text, { values: MOST_VALUES, depth: DEEPEST_JSON, keys: MOST_KEYS })
  if (overload) throw errors.badRequest(OVERLOADS[overload])
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw errors.badRequest('The body is not JSON', { cause })
  }
  // Any character of `__proto__` may be written as an escape.
  if (/__proto__|\\u00(5f|6f|7[024])/i.test(text)) dropProto(value)
  return value
}

/** `__proto__` would change later merges. Dropped after parsing: a reviver costs more than the parsing itself. */
function dropProto(value: unknown): void {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null) continue
    if (Object.hasOwn(one, '__proto__')) delete (one as Record<string, unknown>)['__proto__']
    for (const part of Object.values(one)) if (typeof part === 'object') open.push(part)
  }
}

/** The body as it arrives. Past the limit it ends with `body_too_large`; if the client leaves, with an error. */
export function rawBody(request: IncomingMessage, maxBodyBytes: number): Readable {
  if (!hasBody(request)) return Readable.from([])
  let sizeBytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      sizeBytes += chunk.length
      if (sizeBytes > maxBodyBytes) next(tooLarge(maxBodyBytes))
      else next(null, chunk)
    },
  })
  counted.on('error', () => undefined) // the reader gets the error, now or at its next read
  request.setTimeout(SILENT_RAW_BODY_MS, () => request.destroy())
  // The handler may take longer to process the body, without traffic.
  request.on('end', () => request.setTimeout(0))
  // stream.pipeline would destroy the socket, and with it the reply. If a client leaves, unread bytes are lost too.
  request.on('close', () => {
    if (!request.readableEnded) counted.destroy(errors.badRequest('The body was cut off'))
  })
  return request.pipe(counted)
}

export function drain(request: IncomingMessage, clock: Clock): void {
  request.unpipe()
  request.resume()
  const timer = clock.after(DRAIN_MS, () => request.socket.destroy())
  request.on('close', () => timer.cancel())
}
