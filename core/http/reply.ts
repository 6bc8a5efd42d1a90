/** Returned value → JSON, empty, file with byte ranges, or event stream. */

/** JSON text that is ready to be sent: nothing parses or stringifies it again. */
export class JsonText {
  readonly text: string
  /** In place of the route's. */
  readonly status: number | undefined
  constructor(text: string, status?: number) {
    this.text = text
    this.status = status
  }
}

/** What a handler has returned, as the text that is sent. */
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

export class FileReply {
  /** Absolute path that the handler has checked: nothing from a request reaches it unchecked. */
  readonly path: string
  readonly contentType: string
  readonly options: { download?: string; immutable?: boolean; maxAgeSeconds?: number }
  constructor(path: string, contentType: string, options: FileReply['options'] = {}) {
    this.path = path
    this.contentType = contentType
    this.options = options
  }
}

/** Bytes made here, such as a page. */
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

/** The client has it already. */
export class NotModified {
  readonly tag: string
  constructor(tag: string) {
    this.tag = tag
  }
}

/** Server-sent events, until the client leaves. */
export class EventStream {
  /** Called once the head is sent; `send` drops the client when it is too slow. Returns what ends it. */
  readonly start: (send: (event: string, data: unknown) => void) => () => void
  constructor(start: EventStream['start']) {
    this.start = start
  }
}

export const json = (text: string, status?: number): JsonText => new JsonText(text, status)
export const listing = (texts: readonly string[], total: number): Listing => new Listing(texts, total)
export const file = (path: string, contentType: string, options?: FileReply['options']): FileReply =>
  new FileReply(path, contentType, options)
/** @param options  `version`: its `ETag`; who has it already is told so, and sent nothing */
export const bytes = (content: Buffer | string, contentType: string, options?: BytesReply['options']): BytesReply =>
  new BytesReply(content, contentType, options)
export const events = (start: EventStream['start']): EventStream => new EventStream(start)

interface CookieOptions {
  /** Left out: it ends with the browser. 0: it is taken away. */
  maxAgeSeconds?: number
  /** Scripts of the page cannot read it. */
  httpOnly?: boolean
}

export interface ReplyHeaders {
  set(name: string, value: string): void
  /** For our own paths, SameSite=Lax, and Secure where the request came over https. */
  cookie(name: string, value: string, options?: CookieOptions): void
}
