/**
 * The one door to the server: asks with the session, proves that it is our own page, turns whatever fails into a
 * sentence.
 */
import { signal } from '@preact/signals'
import { parse } from '../texts/direction.ts'
import { inWords, moreTexts, type Said, t } from '../texts/lookup.ts'
import { answerTo, cacheAnswer, forgetAnswers } from './answers.ts'
import { cookie, under } from './base.ts'

type QueryValue = string | number | boolean | undefined
export type Query = Record<string, QueryValue>

export interface AskOptions {
  query?: Query
  body?: object
  signal?: AbortSignal
  /** The document may be going away: the browser sends it all the same. */
  isLast?: boolean
  /** Bytes instead of a JSON body. */
  upload?: { content: Blob; type: string }
}

interface ErrorBody {
  message?: string
  code?: string
  fields?: Record<string, string>
  said?: Said | undefined
  /** Some refusals say more. */
  [more: string]: unknown
}

/** Something the server refused, or could not be asked. `message` is a sentence for people. */
export class Failure extends Error {
  /** 0: there was no answer. */
  readonly status: number
  readonly code: string
  /** What is wrong, by the name of the field. */
  readonly fields: Record<string, string>
  readonly retryAfterSeconds: number | undefined
  /** All that was answered. */
  readonly body: Readonly<Record<string, unknown>>
  /** The server said so, and not a proxy for it. */
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
/** No answer, or that of a proxy whose server is not there. */
export function isAway(error: unknown): boolean {
  const { status, isOurs } = toFailure(error)
  return status === 0 || ([502, 503, 504].includes(status) && !isOurs)
}
/** It may go well later. */
export const isPassing = (error: unknown): boolean => isAway(error) || [429, 503].includes(toFailure(error).status)

/** false once any call was answered with 401: the frame then shows the sign-in. */
export const isSignedIn = signal<boolean | undefined>(undefined)
isSignedIn.subscribe(forgetAnswers)
/** How often somebody has signed in: what was asked before says nothing of who is signed in now. */
let visits = 0
isSignedIn.subscribe((isThere) => void (isThere && visits++))

/**
 * Set by the frame: asks for the password once more, where the server wants it proved lately. @returns whether it was
 * given
 */
export const asksProof: { now?: () => Promise<boolean> } = {}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Under a path, the last change that was sent. */
const underWay = new Map<string, Promise<unknown>>()

/**
 * Changes under one path go out one after another: what was chosen last holds, however slow the line.
 * @param path  as in the contract, with its final slash
 * @throws Failure  also where there is no answer; DOMException `AbortError` where `signal` ended it
 */
export function ask<Reply>(method: Method, path: string, options: AskOptions = {}): Promise<Reply> {
  if (method === 'GET' || options.isLast) return sendProved(method, path, options)
  const before = underWay.get(path) ?? Promise.resolve()
  const sent = before.then(() => sendProved<Reply>(method, path, options))
  const over = sent
    .catch(() => undefined) // whoever asked says what went wrong
    .then(() => void (underWay.get(path) === over && underWay.delete(path)))
  underWay.set(path, over)
  return sent
}

async function sendProved<Reply>(method: Method, path: string, options: AskOptions): Promise<Reply> {
  try {
    return await send<Reply>(method, path, options)
  } catch (error) {
    const isWanted = error instanceof Failure && error.body['confirm_required'] === true
    if (!isWanted || options.isLast || !(await asksProof.now?.())) throw error
    return send<Reply>(method, path, options)
  }
}

async function send<Reply>(method: Method, path: string, options: AskOptions): Promise<Reply> {
  const { query, body, upload, isLast = false } = options
  const headers: Record<string, string> = { accept: 'application/json', 'x-api-form': 'v0.4' }
  if (method !== 'GET') headers['x-csrftoken'] = cookie('csrftoken') ?? ''
  if (body) headers['content-type'] = 'application/json'
  if (upload) headers['content-type'] = upload.type
  const url = under(path) + toQuery(query)
  const known = method === 'GET' ? answerTo(url) : undefined
  if (known) headers['if-none-match'] = known.tag
  const visit = visits
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers,
      credentials: 'same-origin',
      keepalive: isLast,
      ...(body && { body: JSON.stringify(body) }),
      ...(upload && { body: upload.content }),
      ...(options.signal && { signal: options.signal }),
    })
  } catch (error) {
    if (isAborted(error)) throw error
    throw new Failure(0, {})
  }
  // The answer to a sign-out takes the session's cookies along: nobody is to sign in before it is here.
  if (response.status === 401 && visit === visits && !underWay.has('/logout/')) isSignedIn.value = false
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
    .catch((): ErrorBody => ({})) // a proxy's page: its status says enough
  if (response.status !== 401) await moreTexts().catch(() => undefined) // then it is said in English
  const retryAfter = Number(response.headers.get('retry-after'))
  const isOurs = response.headers.has('x-request-id')
  return new Failure(response.status, body, retryAfter > 0 ? retryAfter : undefined, isOurs)
}

/** Left out what is undefined or empty. */
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
