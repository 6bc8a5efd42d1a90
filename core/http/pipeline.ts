/** Takes each request through its steps, in this order: match → who → may → check → handle → reply. Read this first. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TSchema, Type } from 'typebox'
import type { Settings } from '../../config/schema.ts'
import { type Actor, type InQuery, openAuthentication } from '../accounts/authentication.ts'
import type { Credentials } from '../accounts/credentials.ts'
import { clientOf } from '../base/address.ts'
import type { Clock } from '../base/clock.ts'
import { errors, isAppError } from '../base/error.ts'
import { withinTime } from '../base/limit.ts'
import { madeOnce } from '../base/made-once.ts'
import { Quota } from '../base/quota.ts'
import { Rate } from '../base/rate.ts'
import { say } from '../base/say.ts'
import { type AnswerTold, answers } from '../diagnostics.ts'
import { withinView, withinViewFrom } from '../index/view.ts'
import type { Preferences } from '../ledger/preferences.ts'
import type { Log } from '../log.ts'
import {
  defineRoute,
  type HookName,
  type ItemForm,
  type PageForm,
  type Plugin,
  type Reply,
  type Route,
  type WholeApp,
} from '../plugin/define.ts'
import { askedBy, tellSecurity } from '../security-log.ts'
import type { Touched } from '../sources.ts'
import {
  type BodyShare,
  checkBodyHeaders,
  drain,
  hasBody,
  isWriting,
  openBodyMemory,
  rawBody,
  readBody,
} from './body.ts'
import { checkBody } from './check.ts'
import { MOST_OF_ADDRESS } from './connection-limit.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { openEnvelope } from './envelope.ts'
import { type FaultForm, withExtra } from './fault.ts'
import { forgetBuffers } from './file-stream.ts'
import { type Input, openSignals, RequestInput, serverCloses } from './input.ts'
import { type Origin, openOrigins } from './origin.ts'
import { type PageWindow, pageBlock, pageParams, pageWindow } from './pagination.ts'
import { type QueryShape, queryTexts, readQuery } from './query.ts'
import { nextRequestId } from './refusal.ts'
import { BytesReply, EventStream, FileReply, JsonText, jsonOf, NotModified } from './reply.ts'
import { CachedReply, hasTag, isAnyKnown, isKnown, openReplyCache, tagOf } from './reply-cache.ts'
import { belowBase, type Match, openRouter } from './router.ts'
import {
  type Exchange,
  openHandlerHeaders,
  sendBytes,
  sendCached,
  sendEmpty,
  sendEvents,
  sendFault,
  sendJson,
  varyBy,
} from './send.ts'
import { sendFileReply } from './send-file.ts'
import { forgetSmallFiles } from './small-files.ts'

export interface PipelineParts {
  routes: readonly Route[]
  /** The app that a route's handler receives; called when the handler runs. */
  app: (route: Route) => WholeApp
  /** Runs code of a route's plugin. @throws unavailable  the plugin is stopped */
  within: <Result>(route: Route, work: () => Result) => Result
  ownerOf: (route: Route) => RouteOwner | undefined
  settings: Pick<
    Settings,
    'basePath' | 'trustedProxies' | 'forwardedUser' | 'sendFileHeader' | 'corsOrigins' | 'pageSize' | 'publicUrl'
  >
  log: Log
  clock: Clock
  credentials: Credentials
  preferences: Preferences
  /** The plugins' contributions to the `config` object of envelopes, in order. */
  envelopes: ReadonlyArray<NonNullable<Plugin['envelope']>>
  /** The plugins' conversions of errors, in order. */
  faultForms: () => readonly FaultForm[]
  /** Headers that plugins add to every reply; filled in once the plugins are set up. */
  replyHeaders: Readonly<Record<string, string>>
  /** The implementations of a hook, for routes with `queryHook`. */
  hook: (name: HookName) => ReadonlyArray<unknown>
  /** false: every route except `/health` answers 503. */
  isReady: () => boolean
  /** The version of the values in memory that replies show. */
  touched: Touched
  /** @throws unavailable  the index is unreachable, so most requests would be refused */
  available: () => Promise<void> | void
}

export interface RouteOwner {
  name: string
  limitMs?: number
  /** Called when a request failed because of a defect in the plugin. */
  failed(error: unknown): void
}

/** A long reply or upload, which is ended as soon as its client loses the right to it. */
interface LongAnswer {
  mayGoOn: () => boolean
  end: () => void
}

const MOST_EVENT_STREAMS = 512
const MOST_EVENT_STREAMS_OF_ACCOUNT = 16
const LISTEN_AGAIN_SECONDS = 30
const HTTPS_ONLY = 'max-age=31536000'
/** How many refusals of one address are logged: a refused client must not fill the log. */
const TOLD_REFUSALS = { most: 20, withinMs: 60_000 }
const REFUSED = new Set(['permission_denied', 'csrf_failed', 'invalid_token'])
const PAGE = Type.Integer({ minimum: 0, default: 0, description: 'Page of the list; both 0 and 1 mean the first page' })
const probe = (path: string, summary: string, text: string): Route =>
  defineRoute({
    ...{ method: 'GET', path, access: 'open', summary, reply: Type.String(), replyType: 'text/plain' },
    handle: () => new BytesReply(text, 'text/plain; charset=utf-8'),
  })
/** Reports that the process is alive, even while the server is still starting. */
const HEALTH = probe('/health', 'Whether the server runs', 'ok')
/** Readiness for load balancers and proxies: 503 while requests would be refused. */
const READY = probe('/health/ready', 'Whether requests are answered', 'ready')
/** Body schema of a writing route that declares none: any JSON object, so that garbage starts no work. */
const ANY_BODY = Type.Object({})

export function openPipeline(parts: PipelineParts) {
  const { settings, log, clock, credentials, preferences, touched, within } = parts
  const router = openRouter([HEALTH, READY, ...parts.routes], settings.basePath)
  const origins = openOrigins(settings, log)
  const auth = openAuthentication({ credentials, ...origins })
  const envelope = openEnvelope(preferences, parts.envelopes)
  const queries = new Map<Route, QueryShape>()
  const streams = new Set<() => void>()
  const streamQuota = new Quota(MOST_EVENT_STREAMS_OF_ACCOUNT)
  const requestQuota = new Quota(MOST_OF_ADDRESS)
  const refusals = new Rate(clock, TOLD_REFUSALS)
  const longAnswers = new Set<LongAnswer>()
  const signals = openSignals()
  const bodies = openBodyMemory()
  const replyCache = openReplyCache(touched)
  const isPublicSecure = settings.publicUrl?.startsWith('https:') ?? false
  const isLogged = log.isLevelEnabled('debug')
  let count = 0
  let isClosing = false
  credentials.watch(() => {
    for (const { mayGoOn, end } of longAnswers) if (!mayGoOn()) end()
  })
  // Every request reads credentials and preferences from memory, so a change of either invalidates all cached replies.
  credentials.watch(touched.touch)
  preferences.watch(touched.touch)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    count++
    const id = nextRequestId()
    const headers: Exchange['headers'] = {
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Request-Id': id,
      ...parts.replyHeaders,
    }
    const exchange: Exchange = { request, response, id, headers }
    const startedAt = isLogged || answers.hasSubscribers ? performance.now() : 0
    let actor: Actor | undefined
    let asked: Route | undefined
    let thrown: unknown
    let errorKeys: Route['errorKeys']
    let share: BodyShare | undefined
    let origin: Origin | undefined
    try {
      if (request.httpVersion === '1.1' && request.headers.host === undefined)
        throw errors.badRequest('The request has no Host header')
      origin = origins.of(request)
      if (origin.isProxied) exchange.sendFileHeader = settings.sendFileHeader
      if (origin.isSecure || isPublicSecure) exchange.headers['Strict-Transport-Security'] = HTTPS_ONLY
      takeRequestSlot(requestQuota, origin, response)
      if (request.headers.origin !== undefined)
        Object.assign(exchange.headers, corsHeaders(request, settings.corsOrigins, parts.replyHeaders))
      const [path, query] = splitUrl(request.url!)
      const match = router.match(request.method!, path)
      if (request.method === 'OPTIONS') return sendOptions(exchange, match)
      const { route, params } = found(match)
      asked = route
      // Players on other sites may embed a file whose URL carries the right to read it.
      if (route.signedInQuery || route.tokenInQuery || route.signedInPath)
        exchange.headers['Cross-Origin-Resource-Policy'] = 'cross-origin'
      if (route !== HEALTH && !parts.isReady())
        throw errors.unavailable('The server is starting; try again in a few seconds', { retryAfterSeconds: 5 })
      if (route === READY) await parts.available()

      if (route.vary) varyBy(exchange, route.vary)
      actor = auth.who(request, route.access, credentialsIn(route, request.url!))
      auth.may(actor, route)
      errorKeys = route.errorKeys

      const input = check(exchange, route, params, query, actor, origin)
      const schema = route.body ?? (isWriting(request) && !route.rawBody ? ANY_BODY : undefined)
      if (schema) input.body = (await checkedBody(exchange, route, schema, (share = bodies()))) as never
      const { view, id } = actor
      const work = () =>
        withinView(view, () =>
          route.revalidates ? revalidated(exchange, route, input, query) : enveloped(route, input, query),
        )
      const value = await (isChange(request) ? askedBy({ address: origin.address, by: id }, work) : work())

      Object.assign(exchange.headers, input.headers.values)
      await reply(exchange, route, value, input)
    } catch (error) {
      thrown =
        (errorKeys ? withExtra(error, errorKeys) : error) ?? new TypeError(`${error} was thrown instead of an error`)
    } finally {
      share?.release()
      if (thrown !== undefined) {
        refuse(exchange, thrown, asked)
        if (origin) tellRefusal(request, origin, thrown, actor)
      }
      if (hasBody(request) && !request.complete) drain(request, clock)
      if (startedAt > 0) tellEnd(exchange, startedAt, asked, actor)
    }
  }

  /** Answers for unknown paths, too: after a failed preflight, the browser would hide the 404 from the page. */
  function sendOptions(exchange: Exchange, match: Match | undefined): void {
    Object.assign(exchange.headers, preflightHeaders(exchange.request, settings.corsOrigins))
    const methods = match?.methods ?? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
    exchange.headers['Allow'] = methods.join(', ')
    exchange.headers['Content-Length'] = '0'
    sendEmpty(exchange, 200) // as the reference does; some proxies and old clients take only 200 for a preflight
  }

  /** Checks the form of the input; the body is read afterwards, and only from a sender that may send it. */
  function check(
    exchange: Exchange,
    route: Route,
    params: Record<string, unknown>,
    texts: string,
    actor: Actor,
    { address, isSecure, host, isCrossSite, forwardedUser }: Origin,
  ): Input {
    const { request, response, id } = exchange
    const query = readQuery(madeOnce(queries, route, shapeOf), queryTexts(texts))
    checkBodyHeaders(request, route)
    if (request.headers.expect !== undefined && (route.body || route.rawBody || isWriting(request)))
      response.writeContinue()
    const page = pageWindow(route.envelope === 'page' ? (query['page'] as number) : 0, pageSize(actor))
    const stream = route.rawBody ? rawBody(request, route.rawBody.maxBodyBytes) : request
    if (route.rawBody)
      whileAllowed(exchange, { mayGoOn: () => mayStill(exchange, route), end: () => request.destroy() })
    const { headers } = request as { headers: Input['request']['headers'] }
    const own = { headers, address, isSecure, host, isCrossSite, forwardedUser, stream, requestId: id }
    const replyHeaders = openHandlerHeaders(settings.basePath, isSecure)
    const checked = { params, query, actor, page, request: own, headers: replyHeaders }
    return new RequestInput(checked, signals, response) as unknown as Input
  }

  async function checkedBody({ request }: Exchange, route: Route, schema: TSchema, share: BodyShare): Promise<unknown> {
    const body = await readBody(request, route, share, clock)
    if (body === undefined && route.bodyOptional) return undefined
    const given = body === undefined ? {} : body
    checkBody(schema, given)
    return given
  }

  function shapeOf({ query, queryHook, envelope }: Route): QueryShape {
    const implementations = queryHook ? (parts.hook(queryHook) as Array<{ query?: QueryShape }>) : []
    const added = implementations.map((implementation) => implementation.query)
    return Object.assign({}, ...added, query, envelope === 'page' && { page: PAGE })
  }

  const pageSize = (actor: Actor): number => (actor.id !== 0 && credentials.pageSizeOf(actor.id)) || settings.pageSize

  /** Puts a single record into the envelope that the client asked for; a page is already in its envelope. */
  async function enveloped(route: Route, input: Input, query: string): Promise<Reply> {
    const value = await answer(route, input, query)
    return route.envelope === 'item' ? envelope.item(value, formOf(route, input)) : value
  }

  /** Puts pages into their envelope; a 404 has its keys too, with empty values, because clients read them. */
  async function answer(route: Route, input: Input, query: string): Promise<Reply> {
    const app = route === HEALTH || route === READY ? (undefined as never) : parts.app(route)
    const owner = parts.ownerOf(route)
    const run = (page: PageWindow) => {
      input.page = page
      const value = within(route, () => route.handle(input, app))
      return owner?.limitMs === undefined || !(value instanceof Promise)
        ? value
        : withinTime(clock, owner.limitMs, value, () => tooSlow(owner, route, input))
    }
    const { page } = input
    try {
      if (route.envelope === 'page') return await envelope.page(page, pageParams(query), pageFormOf(route, input), run)
      return await run(page)
    } catch (error) {
      if (!isAppError(error, 'not_found') || !route.envelope) throw error
      throw withExtra(
        error,
        route.envelope === 'item' ? { data: false } : { data: [], paginate: pageBlock(page, 0, pageParams(query)) },
      )
    }
  }

  const formOf = (route: Route, input: Input): ItemForm => route.itemForm?.(input, parts.app(route)) ?? 'enveloped'
  const pageFormOf = (route: Route, input: Input): PageForm => route.pageForm?.(input, parts.app(route)) ?? 'strict'

  function variantOf(route: Route, input: Input): string {
    const own = route.variant?.(input, parts.app(route)) ?? ''
    return `${own} ${route.pageForm ? pageFormOf(route, input) : ''}`
  }

  /** Makes the reply only if it is not cached. Each form of a reply is cached separately. */
  async function revalidated(exchange: Exchange, route: Route, input: Input, query: string): Promise<Reply> {
    const { request, headers } = exchange
    const { actor } = input
    const form = `${variantOf(route, input)} ${route.itemForm ? formOf(route, input) : ''}`
    const key = `${actor.id} ${actor.isAdmin} ${form} ${request.url}`
    const seen = replyCache.tagOf(key)
    if (seen && isKnown(request, seen)) return new NotModified(seen)
    const make = async () => jsonOf(await enveloped(route, input, query))
    const reply = replyCache.get(key) ?? (await replyCache.make(key, actor.id, make, hasTag(request)))
    if (isAnyKnown(request) || isKnown(request, reply.tag)) return new NotModified(reply.tag)
    headers['ETag'] = reply.tag
    return reply
  }

  function tooSlow({ name, limitMs = 0, failed }: RouteOwner, { method, path }: Route, { request }: Input): Error {
    const reason = new Error(`${method} ${path}: no answer within ${limitMs / 1000} s`)
    log.error({ err: reason, plugin: name, request: request.requestId }, 'a handler did not answer in time')
    failed(reason)
    return errors.unavailable(say`The plugin ${{ name }} did not answer in time`, { cause: reason })
  }

  function reply(exchange: Exchange, route: Route, value: Reply, input: Input): Promise<void> | void {
    const { request, response } = exchange
    if (response.destroyed) return // the client has gone
    if (value instanceof NotModified) return notModified(exchange, value.tag)
    if (value === undefined) return sendEmpty(exchange, route.status ?? 204)
    const status = route.status ?? 200
    if (value instanceof CachedReply) return sendCached(exchange, status, value)
    if (value instanceof JsonText) return sendJson(exchange, value.status ?? status, value.text)
    if (value instanceof FileReply) {
      const { actor } = input
      if (route.access !== 'open')
        whileAllowed(exchange, {
          mayGoOn: () => mayStill(exchange, route, (now) => now.view === actor.view),
          end: () => response.destroy(),
        })
      return sendFileReply(exchange, value)
    }
    if (value instanceof BytesReply) {
      const tag = value.options.version && tagOf(value.options.version)
      if (tag && (isAnyKnown(request) || isKnown(request, tag))) return notModified(exchange, tag)
      if (tag) exchange.headers['ETag'] = tag
      return sendBytes(exchange, status, value)
    }
    if (value instanceof EventStream) return startEvents(exchange, route, value, input)
    return sendJson(exchange, status, JSON.stringify(value))
  }

  function notModified(exchange: Exchange, tag: string): void {
    exchange.headers['ETag'] = tag
    sendEmpty(exchange, 304)
  }

  function startEvents(exchange: Exchange, route: Route, stream: EventStream, { actor, request }: Input): void {
    if (isClosing) throw serverCloses()
    if (streams.size >= MOST_EVENT_STREAMS) throw errors.unavailable('Too many clients are connected for live updates')
    const giveBack = streamQuota.take(actor.id === 0 ? clientOf(request.address) : String(actor.id))
    // The oldest stream is not ended: its client would reconnect at once and push out the next one.
    if (!giveBack)
      throw errors.throttled(say`Too many open tabs for this account (${{ count: MOST_EVENT_STREAMS_OF_ACCOUNT }})`, {
        retryAfterSeconds: LISTEN_AGAIN_SECONDS,
      })
    exchange.response.on('close', giveBack)
    // Rights decide which events are sent: when they change, the stream ends and the client reconnects.
    const mayListen = () => mayStill(exchange, route, (now) => isAlike(now, actor))
    // Node tracks every promise while a view applies, so built-in streams limit what they send themselves.
    const view = parts.ownerOf(route) ? actor.view : undefined
    const [end, leaveView] = withinViewFrom(view, () =>
      within(route, () => sendEvents(exchange, stream, clock, mayListen)),
    )
    exchange.response.on('close', leaveView)
    streams.add(end)
    exchange.response.on('close', () => streams.delete(end))
    whileAllowed(exchange, { mayGoOn: mayListen, end })
  }

  /** Whether the same request would be allowed now. */
  function mayStill({ request, id }: Exchange, route: Route, isSame: (actor: Actor) => boolean = () => true): boolean {
    try {
      const actor = auth.who(request, route.access, credentialsIn(route, request.url!))
      auth.may(actor, route)
      return isSame(actor)
    } catch (error) {
      if (!isAppError(error)) log.error({ err: error, request: id }, 'the rights of a client could not be checked')
      return false
    }
  }

  function credentialsIn(route: Route, url: string): InQuery | undefined {
    const { tokenInQuery, signedInQuery, signedInPath } = route
    if (!tokenInQuery && !signedInQuery && !signedInPath) return undefined
    const [target, query] = splitUrl(url)
    const path = belowBase(target, settings.basePath) ?? target
    if (signedInPath) return { link: { ...signatureIn(path, route), isForAnyMethod: true } }
    const [token, signed] = ['token', 'signed'].map((name) => new URLSearchParams(query).get(name))
    return { ...(tokenInQuery && token && { token }), ...(signedInQuery && signed && { link: { path, signed } }) }
  }

  function whileAllowed({ response }: Exchange, answer: LongAnswer): void {
    longAnswers.add(answer)
    response.on('close', () => longAnswers.delete(answer))
  }

  function refuse(exchange: Exchange, thrown: unknown, route: Route | undefined): void {
    const isGone = exchange.response.destroyed
    const fault = sendFault(exchange, thrown, parts.faultForms())
    if (fault.isDefect && !isGone) {
      const owner = route && parts.ownerOf(route)
      owner?.failed(thrown)
      const { request, id } = exchange
      const facts = { request: id, method: request.method, path: pathOf(request) }
      log.error({ err: thrown, plugin: owner?.name, ...facts }, 'a request failed')
    } else if (isAppError(thrown) && thrown.cause !== undefined)
      log.debug({ err: thrown, request: exchange.id }, 'a request was refused')
  }

  function tellRefusal(request: IncomingMessage, { address }: Origin, thrown: unknown, actor: Actor | undefined): void {
    if (!isAppError(thrown) || !REFUSED.has(thrown.code) || !refusals.take(clientOf(address))) return
    const path = pathOf(request)
    const facts = { account: actor?.id, address, code: thrown.code, method: request.method, path }
    tellSecurity(log, 'request_refused', facts)
  }

  function tellEnd(
    { request, response, id }: Exchange,
    startedAt: number,
    route: Route | undefined,
    actor: Actor | undefined,
  ): void {
    const elapsedMs = performance.now() - startedAt
    const { statusCode: status } = response
    const { method = '', path = '' } = route ?? {}
    if (answers.hasSubscribers)
      answers.publish({ settings, method, route: path, status, seconds: elapsedMs / 1000 } satisfies AnswerTold)
    if (!isLogged) return
    const tookMs = Math.round(elapsedMs * 10) / 10
    const told = { method: request.method, path: pathOf(request), status, user: actor?.id, tookMs }
    log.debug({ request: id, ...told }, 'request')
  }

  return {
    handle,
    /** Ends all event streams and accepts no new ones: the server closes. */
    endStreams(): void {
      isClosing = true
      for (const end of streams) end()
    },
    /** Aborts the `signal` of running handlers: the server closes. */
    abort: (): void => signals.abort(),
    /** Requests since the start. */
    requests: (): number => count,
    /** Drops all cached replies and files. */
    clearCaches(): void {
      replyCache.clear()
      forgetSmallFiles()
      forgetBuffers()
    },
  }
}

const isChange = (request: IncomingMessage): boolean => isWriting(request) || request.method === 'DELETE'

/** @throws throttled  the address has too many requests in progress */
function takeRequestSlot(quota: Quota, { address, isLimited }: Origin, response: ServerResponse): void {
  if (!isLimited) return
  const giveBack = quota.take(clientOf(address))
  if (!giveBack)
    throw errors.throttled('Too many requests at once from your address; try again in a few seconds', {
      retryAfterSeconds: 5,
    })
  response.on('close', giveBack)
}

/** Whether the account has the same rights and view as before. */
const isAlike = (now: Actor, before: Actor): boolean =>
  (['id', 'isAdmin', 'mayDownload', 'scope', 'view'] as const).every((key) => now[key] === before[key])

/** Splits a path of a route with `signedInPath` into the signed path and its signature. */
function signatureIn(path: string, route: Route): { path: string; signed: string } {
  const at = route.path.split('/').indexOf(':signed')
  const parts = path.split('/')
  return { path: parts.slice(0, at).join('/'), signed: parts[at] ?? '' }
}

/** In a path, of `signedInPath`; whether a route was found does not matter. */
const SIGNATURE = /\/(?:\d+\.)?[\w-]{43}(?=\/|$)/g

/** The path for the log: without the query, which may contain what people searched for, and without a signature. */
const pathOf = ({ url }: IncomingMessage): string => url!.split('?', 1)[0]!.replace(SIGNATURE, '/***').slice(0, 500)

/** Splits a request target: a path, or a whole URL as proxies send it, whose host is ignored. */
function splitUrl(url: string): [path: string, query: string] {
  const target = url.startsWith('/') || url === '*' ? url : withoutHost(url)
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function withoutHost(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw errors.badRequest('The request target is neither a path nor an http URL')
  const { pathname, search } = new URL(url)
  return pathname + search
}

function found(match: Match | undefined): { route: Route; params: Record<string, unknown> } {
  if (!match) throw errors.notFound('path')
  if (!match.route) throw errors.methodNotAllowed(match.methods)
  return { route: match.route, params: match.params }
}
