/** What a handler may return: JSON, nothing, a file with byte ranges, bytes, or an event stream. */
import type { Stats } from 'node:fs'

/** JSON text that is sent as it is, without being parsed or serialised again. */
export class JsonText {
  readonly text: string
  /** Overrides the route's status. */
  readonly status: number | undefined
  constructor(text: string, status?: number) {
    this.text = text
    this.status = status
  }
}

export const jsonOf = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value))

/** A page of records as ready JSON texts. */
export class Listing {
  readonly texts: readonly string[]
  readonly total: number
  constructor(texts: readonly string[], total: number) {
    this.texts = texts
    this.total = total
  }
}

/** @param size  of the whole file, in bytes. @returns whether the piece may be sent; false ends the connection */
export type Meter = (bytes: number, size: number) => boolean | Promise<boolean>

export class FileReply {
  /** Absolute path, checked by the handler: nothing from a request reaches it unchecked. */
  readonly path: string
  readonly contentType: string
  readonly options: {
    download?: string
    immutable?: boolean
    maxAgeSeconds?: number
    /** Of a file that the handler has just looked at. If it is small, it is held in memory while it is the same. */
    stats?: Stats
    /** Called with each piece before it is sent; the server then sends the file itself. */
    meter?: Meter | undefined
  }
  constructor(path: string, contentType: string, options: FileReply['options'] = {}) {
    this.path = path
    this.contentType = contentType
    this.options = options
  }
}

export class BytesReply {
  readonly bytes: Buffer | string
  readonly contentType: string
  readonly options: { version?: string }
  constructor(bytes: Buffer | string, contentType: string, options: BytesReply['options'] = {}) {
    this.bytes = bytes
    this.contentType = contentType
    this.options = options
  }
}

export class NotModified {
  readonly tag: string
  constructor(tag: string) {
    this.tag = tag
  }
}

/** Server-sent events, until the client leaves. */
export class EventStream {
  /** Called once the headers are sent. `send` drops a client that reads too slowly. Returns a function that stops. */
  readonly start: (send: (event: string, data: unknown) => void) => () => void
  constructor(start: EventStream['start']) {
    this.start = start
  }
}

export const json = (text: string, status?: number): JsonText => new JsonText(text, status)
export const listing = (texts: readonly string[], total: number): Listing => new Listing(texts, total)
export const file = (path: string, contentType: string, options?: FileReply['options']): FileReply =>
  new FileReply(path, contentType, options)
/** @param options  `version`: the `ETag`; a client that has this version gets a 304 */
export const bytes = (content: Buffer | string, contentType: string, options?: BytesReply['options']): BytesReply =>
  new BytesReply(content, contentType, options)
export const events = (start: EventStream['start']): EventStream => new EventStream(start)

interface CookieOptions {
  /** Omitted: the cookie ends with the browser session. 0: the cookie is removed. */
  maxAgeSeconds?: number
  /** Scripts of the page cannot read the cookie. */
  httpOnly?: boolean
}

export interface ReplyHeaders {
  set(name: string, value: string): void
  /** Limited to our own paths, SameSite=Lax, and Secure if the request came over https. */
  cookie(name: string, value: string, options?: CookieOptions): void
}
