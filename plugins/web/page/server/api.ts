/** The HTTP client: sends requests with the session and the CSRF value, and turns every failure into a sentence. */
import { signal } from '@preact/signals'
import { parse } from '../texts/direction.ts'
import { inWords, moreTexts, type Said, t } from '../texts/lookup.ts'
import { answerTo, cacheAnswer, forgetAnswers } from './answers.ts'
import { cookie, under } from './base.ts'
import { endOf, inTurn } from './in-turn.ts'
import { sendFile } from './send-file.ts'

type QueryValue = string | number | boolean | undefined
export type Query = Record<string, QueryValue>

export interface AskOptions {
  query?: Query
  body?: object
  signal?: AbortSignal
  /** The document may be closing: the browser then sends the request nevertheless. */
  isLast?: boolean
  /**
   * The id of what a writing request changes, if the path does not tell: it does not wait for requests that change
   * something else, and the browser also sends it if the document closes meanwhile. Its body must be short.
   */
  part?: string
  /** Bytes instead of a JSON body. */
  upload?: { content: Blob; type: string; onProgress?: (share: number) => void }
  headers?: Record<string, string>
}

interface ErrorBody {
  message?: string
  code?: string
  fields?: Record<string, string>
  said?: Said | undefined
  /** Some errors have further keys. */
  [more: string]: unknown
}

/** A request that the server refused, or that got no reply. `message` is a sentence for people. */
export class Failure extends Error {
  /** 0: there was no reply. */
  readonly status: number
  readonly code: string
  /** Errors by the name of the field. */
  readonly fields: Record<string, string>
  readonly retryAfterSeconds: number | undefined
  /** The whole reply. */
  readonly body: Readonly<Record<string, unknown>>
  /** Whether the reply is from the server, not from a proxy. */
  readonly isOurs: boolean

  constructor(status: number, body: ErrorBody, retryAfterSeconds?: number, isOurs = false) {
    super(sentence(status, body, retryAfterSeconds))
    this.status = status
    this.code = body.code ?? ''
    this.fields = Object.fromEntries(
      Object.entries(body.fields ?? {}).map(([field, rule]) => [field, inWords(rule, body.said)]),
    )
    this.retryAfterSeconds = retryAfterSeconds
    this.body = body
    this.isOurs = isOurs
  }
}

function sentence(status: number, { message = '', said }: ErrorBody, retryAfterSeconds?: number): string {
  if (status === 0) return t('failure.lost')
  if (status === 401) return t('failure.session')
  if (status === 403) return t('failure.denied')
  if (status === 429)
    return retryAfterSeconds ? t('failure.throttled', { count: retryAfterSeconds }) : t('failure.throttledSoon')
  if (status === 503 && message !== '') return t('failure.unavailable', { reason: inWords(message, said) })
  if (status >= 500) return t('failure.internal')
  return inWords(message, said) || t('failure.unreadable')
}

export const isAborted = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'
export const toFailure = (error: unknown): Failure => (error instanceof Failure ? error : new Failure(200, {}))
/** Whether there was no reply, or only that of a proxy which cannot reach the server. */
export function isAway(error: unknown): boolean {
  const { status, isOurs } = toFailure(error)
  return status === 0 || ([502, 503, 504].includes(status) && !isOurs)
}
/** Whether a retry may succeed. */
export const isPassing = (error: unknown): boolean => isAway(error) || [429, 503].includes(toFailure(error).status)

/** false after a 401 reply: the frame then shows the sign-in. */
export const isSignedIn = signal<boolean | undefined>(undefined)
isSignedIn.subscribe(forgetAnswers)
/**
 * Registers a function that is called when the session ends, so that the next account in this document sees no data of
 * this one.
 */
export const whenOver = (act: () => void): void => void isSignedIn.subscribe((isThere) => isThere === false && act())
/** The number of sign-ins. A 401 reply to a request from an earlier session does not end the current one. */
let visits = 0
isSignedIn.subscribe((isThere) => void (isThere && visits++))

/**
 * The CSRF value of the session that the page shows. If another account has signed in in another tab, requests of this
 * page have its cookies; because of this value, the server then refuses writing requests.
 */
export const shownSession: { csrf?: string | undefined } = {}

/** Whether there is another session than the page shows. */
export const isOtherSession = (): boolean =>
  shownSession.csrf !== undefined && cookie('csrftoken') !== shownSession.csrf

/**
 * Set by the session's store: whether the other session belongs to the account that the page shows. Otherwise, the page
 * is reloaded for that session's account.
 */
export const isSameAccount: { now?: () => Promise<boolean> } = {}

/**
 * Set by the frame: asks for the password again if the server requires a recent proof.
 * @returns whether the proof was given
 */
export const asksProof: { now?: () => Promise<boolean> } = {}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Sends a request. Writing requests to one path are sent one after the other, so that the last choice wins on a slow
 * connection. Requests with different `part`s do not wait for each other.
 * @param path  as in the contract, with its final slash
 * @throws Failure  the server has refused, or there was no reply; DOMException `AbortError` if `signal` aborted it
 */
export function ask<Reply>(method: Method, path: string, options: AskOptions = {}): Promise<Reply> {
  if (method === 'GET' || options.isLast) return sendProved(method, path, options)
  return inTurn(path, () => sendProved<Reply>(method, path, options), options.part)
}

async function sendProved<Reply>(method: Method, path: string, options: AskOptions): Promise<Reply> {
  try {
    return await send<Reply>(method, path, options)
  } catch (error) {
    if (!(error instanceof Failure) || options.isLast) throw error
    const mayRepeat =
      error.body['confirm_required'] === true
        ? await asksProof.now?.()
        : error.status === 403 && isOtherSession() && (await isSameAccount.now?.())
    if (!mayRepeat) throw error
    return send<Reply>(method, path, options)
  }
}

async function send<Reply>(method: Method, path: string, options: AskOptions): Promise<Reply> {
  const { query, body, upload, isLast = false, part } = options
  const headers: Record<string, string> = { accept: 'application/json', 'x-api-form': 'v0.4', ...options.headers }
  if (method !== 'GET') headers['x-csrftoken'] = shownSession.csrf ?? cookie('csrftoken') ?? ''
  if (body) headers['content-type'] = 'application/json'
  if (upload) headers['content-type'] = upload.type
  const url = under(path) + toQuery(query)
  const known = method === 'GET' ? answerTo(url) : undefined
  if (known) headers['if-none-match'] = known.tag
  const visit = visits
  let response: Response
  try {
    response = upload?.onProgress
      ? await sendFile(url, { method, headers, ...upload, onProgress: upload.onProgress, signal: options.signal })
      : await fetch(url, {
          method,
          headers,
          credentials: 'same-origin',
          keepalive: isLast || part !== undefined,
          ...(body && { body: JSON.stringify(body) }),
          ...(upload && { body: upload.content }),
          ...(options.signal && { signal: options.signal }),
        })
  } catch (error) {
    if (isAborted(error)) throw error
    throw new Failure(0, {})
  }
  // While a sign-out is pending, 401 is ignored: its reply deletes the session cookie, so nobody may sign in before it
  // has arrived.
  if (response.status === 401 && visit === visits && !endOf('/logout/')) isSignedIn.value = false
  if (response.status === 304 && known) return parse(known.text) as Reply
  if (!response.ok) throw await refusal(response)
  if (response.status === 204) return undefined as Reply
  try {
    const text = await response.text()
    if (method === 'GET' && isSignedIn.peek() !== false) cacheAnswer(url, response.headers.get('etag'), text)
    return parse(text) as Reply
  } catch (error) {
    if (isAborted(error)) throw error
    throw new Failure(response.status, {})
  }
}

async function refusal(response: Response): Promise<Failure> {
  const body = await response
    .text()
    .then((text) => parse(text) as ErrorBody)
    .catch((): ErrorBody => ({})) // an HTML page of a proxy: the status is sufficient
  if (response.status !== 401) await moreTexts().catch(() => undefined) // on failure, the English text is shown
  const retryAfter = Number(response.headers.get('retry-after'))
  const isOurs = response.headers.has('x-request-id')
  return new Failure(response.status, body, retryAfter > 0 ? retryAfter : undefined, isOurs)
}

/** Leaves out undefined and empty values. */
export function toQuery(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

export const get = <Reply>(path: string, query?: Query, signal?: AbortSignal): Promise<Reply> =>
  ask('GET', path, { ...(query && { query }), ...(signal && { signal }) })
export const post = <Reply = unknown>(path: string, body?: object, query?: Query): Promise<Reply> =>
  ask('POST', path, { ...(body && { body }), ...(query && { query }) })
export const put = <Reply = unknown>(path: string, body: object): Promise<Reply> => ask('PUT', path, { body })
export const remove = <Reply = unknown>(path: string, options: AskOptions = {}): Promise<Reply> =>
  ask('DELETE', path, options)
