/** The whole order of a request: match → who → may → check → handle → reply. Read this first. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TSchema, Type } from 'typebox'
import type { Settings } from '../../config/schema.ts'
import { type Actor, type InQuery, openAuthentication } from '../accounts/authentication.ts'
import type { Accounts, Credentials } from '../accounts/types.ts'
import { clientOf } from '../address.ts'
import type { Clock } from '../clock.ts'
import { withinTime } from '../concurrency/limit.ts'
import { Quota } from '../concurrency/quota.ts'
import { type AnswerTold, answers } from '../diagnostics.ts'
import { errors, isAppError } from '../error.ts'
import { withinView } from '../index/view.ts'
import type { Preferences } from '../ledger/preferences.ts'
import type { Log } from '../log.ts'
import {
  defineRoute,
  type HookName,
  type ItemForm,
  type Plugin,
  type QueryShape,
  type Reply,
  type Route,
  type WholeApp,
} from '../plugin/define.ts'
import { say } from '../say.ts'
import { BodyMemory, type BodyShare, checkBodyHeaders, drain, hasBody, isWriting, rawBody, readBody } from './body.ts'
import { checkBody } from './check.ts'
import { MOST_OF_ADDRESS } from './connection-limit.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { decodeQuery, queryInt, queryTexts } from './decode.ts'
import { openEnvelope } from './envelope.ts'
import { type FaultForm, withExtra } from './fault.ts'
import { Input, RunningSignals } from './input.ts'
import { isKnown, KeptReplies, tagOf, tagOfText } from './kept-replies.ts'
import { type Origin, openOrigins } from './origin.ts'
import { type PageWindow, pageBlock, pageParams, pageWindow } from './pagination.ts'
import { BytesReply, EventStream, FileReply, JsonText, jsonOf, NotModified } from './reply.ts'
import { belowBase, type Match, openRouter } from './router.ts'
import {
  type Exchange,
  HandlerHeaders,
  sendBytes,
  sendEmpty,
  sendEvents,
  sendFault,
  sendFileReply,
  sendJson,
} from './send.ts'

export interface PipelineParts {
  routes: readonly Route[]
  /** What a route's handler is handed; asked for when one runs. */
  app: (route: Route) => WholeApp
  /** Whose route it is. */
  ownerOf?: (route: Route) => RouteOwner | undefined
  settings: Pick<Settings, 'basePath' | 'trustedProxies' | 'forwardedUser' | 'corsOrigins' | 'pageSize'>
  log: Log
  clock: Clock
  accounts: Pick<Accounts, 'userPreferences'> & Credentials
  preferences: Preferences
  /** What plugins say about the `config` object of envelopes, in their order. */
  envelopes: ReadonlyArray<NonNullable<Plugin['envelope']>>
  /** What plugins make of errors, in their order. */
  faultForms?: () => readonly FaultForm[]
  /** What plugins send with every answer. They come once the plugins are at work. */
  replyHeaders?: Readonly<Record<string, string>>
  /** What was put into a hook, for routes with `queryHook`. */
  hook: (name: HookName) => ReadonlyArray<unknown>
  /** false: everything but `/health` is 503. */
  isReady: () => boolean
  /** Another one after each write that a reply may show; undefined: that cannot be told. */
  stamp?: () => string | undefined
  /** @throws unavailable  most requests are refused now, as what keeps the documents is away */
  available?: () => Promise<void> | void
}

export interface RouteOwner {
  /** The plugin that brought it. */
  name: string
  /** How long its handler may take. */
  limitMs?: number
  /** It has failed at a request, by a fault of its own. */
  failed(error: unknown): void
}

/** A stream: it ends as soon as its reader may no longer have it. */
interface LongAnswer {
  mayGoOn: () => boolean
  end: () => void
}

export interface Pipeline {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  endStreams(): void
  /** Tells running handlers (`signal`) that the server closes. */
  abort(): void
  /** Requests since the start. */
  requests(): number
  /** Replies that were kept for who asks the same. */
  forgetReplies(): void
}

const MOST_EVENT_STREAMS = 512
const MOST_EVENT_STREAMS_OF_ACCOUNT = 16
const LISTEN_AGAIN_SECONDS = 30
const PAGE = queryInt({ fallback: 0, description: 'Page of the list; 0 and 1 are the first' })
/** A route of core's own: it says that the process lives, also while it is still starting. */
const HEALTH = defineRoute({
  method: 'GET',
  path: '/health',
  access: 'open',
  summary: 'Whether the server runs',
  reply: Type.String(),
  replyType: 'text/plain',
  handle: () => new BytesReply('ok', 'text/plain; charset=utf-8'),
})
/** For load balancers and proxies: 503 while requests would be refused. */
const READY = defineRoute({
  method: 'GET',
  path: '/health/ready',
  access: 'open',
  summary: 'Whether requests are answered',
  reply: Type.String(),
  replyType: 'text/plain',
  handle: () => new BytesReply('ready', 'text/plain; charset=utf-8'),
})
/** The body of a route that declares none: it may have any keys, but must be JSON, so that garbage starts no work. */
const ANY_BODY = Type.Object({})
/** Tells this life of the process apart from others in request ids. */
const LIFE = process.hrtime.bigint().toString(36).slice(-6)

export function openPipeline(parts: PipelineParts): Pipeline {
  const { settings, clock, log } = parts
  const router = openRouter([HEALTH, READY, ...parts.routes], settings.basePath)
  const origins = openOrigins(settings, log)
  const auth = openAuthentication({ credentials: parts.accounts, ...origins })
  const envelope = openEnvelope(parts.preferences, parts.envelopes)
  const decoders = new Map<Route, QueryShape>()
  const streams = new Set<() => void>()
  const streamQuota = new Quota(MOST_EVENT_STREAMS_OF_ACCOUNT)
  const requestQuota = new Quota(MOST_OF_ADDRESS)
  const longAnswers = new Set<LongAnswer>()
  parts.accounts.watch(() => {
    for (const { mayGoOn, end } of longAnswers) if (!mayGoOn()) end()
  })
  const signals = new RunningSignals()
  const bodies = new BodyMemory()
  const kept = new KeptReplies(LIFE, parts.stamp ?? (() => undefined))
  const isLogged = log.isLevelEnabled('debug')
  let count = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange: Exchange = {
      request,
      response,
      id: `${LIFE}-${(++count).toString(36)}`,
      headers: { 'X-Content-Type-Options': 'nosniff', ...parts.replyHeaders },
    }
    exchange.headers['X-Request-Id'] = exchange.id
    const startedAt = isLogged || answers.hasSubscribers ? performance.now() : 0
    let actor: Actor | undefined
    let asked: Route | undefined
    let thrown: unknown
    let errorKeys: Route['errorKeys']
    let share: BodyShare | undefined
    try {
      const origin = origins.of(request)
      takePlace(requestQuota, origin, response)
      if (request.headers.origin !== undefined)
        Object.assign(exchange.headers, corsHeaders(request, settings.corsOrigins, parts.replyHeaders))
      const [path, query] = splitUrl(request.url!)
      const match = router.match(request.method!, path)
      if (request.method === 'OPTIONS') return sendOptions(exchange, match)
      const { route, params } = found(match)
      asked = route
      if (route !== HEALTH && !parts.isReady())
        throw errors.unavailable('The server is starting; try again in a few seconds', { retryAfterSeconds: 5 })
      if (route === READY) await parts.available?.()

      if (route.vary) varyBy(exchange, route.vary)
      actor = auth.who(request, route.access, credentialsIn(route, request.url!))
      auth.may(actor, route)
      errorKeys = route.errorKeys

      const input = check(exchange, route, params, query, actor, origin)
      const schema = route.body ?? (isWriting(request) && !route.rawBody ? ANY_BODY : undefined)
      if (schema) input.body = (await checkedBody(exchange, route, schema, (share = bodies.open()))) as never
      const value = await withinView(actor.view, () =>
        route.revalidates ? revalidated(exchange, route, input, query) : enveloped(route, input, query),
      )

      Object.assign(exchange.headers, input.headers.values)
      await reply(exchange, route, value, input)
    } catch (error) {
      thrown = errorKeys ? withExtra(error, errorKeys) : error
    } finally {
      share?.release()
      if (thrown !== undefined) refuse(exchange, thrown, asked)
      if (hasBody(request) && !request.complete) drain(request, clock)
      if (startedAt > 0) tellEnd(exchange, startedAt, asked, actor)
    }
  }

  /** On every path: a browser that is refused here shows its page no error, not even that there is no such path. */
  function sendOptions(exchange: Exchange, match: Match | undefined): void {
    Object.assign(exchange.headers, preflightHeaders(exchange.request, settings.corsOrigins))
    exchange.headers['Allow'] = (match?.methods ?? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).join(
      ', ',
    )
    exchange.headers['Content-Length'] = '0'
    sendEmpty(exchange, 200) // as the reference does; some proxies and old clients take only 200 for a preflight
  }

  /**
   * Checks the form, so that handlers only check the meaning. The body is read last, once its
   * sender is known to have the right.
   */
  function check(
    exchange: Exchange,
    route: Route,
    params: Record<string, string>,
    texts: string,
    actor: Actor,
    { address, isSecure, host, isCrossSite, forwardedUser }: Origin,
  ): Input {
    const { request, response, id } = exchange
    const query = decodeQuery(decodersOf(route), queryTexts(texts))
    checkBodyHeaders(request, route)
    if (request.headers.expect !== undefined && (route.body || route.rawBody || isWriting(request)))
      response.writeContinue()
    const page = pageWindow(route.envelope === 'page' ? (query['page'] as number) : 0, pageSize(actor))
    const stream = route.rawBody ? rawBody(request, route.rawBody.maxBodyBytes) : request
    if (route.rawBody)
      whileAllowed(exchange, { mayGoOn: () => mayStill(exchange, route), end: () => request.destroy() })
    const own = {
      headers: request.headers as Record<string, string | undefined>,
      address,
      isSecure,
      host,
      isCrossSite,
      forwardedUser,
      stream,
      requestId: id,
    }
    return new Input(
      { params, query, actor, page },
      own,
      new HandlerHeaders(settings.basePath, isSecure),
      signals,
      response,
    )
  }

  async function checkedBody({ request }: Exchange, route: Route, schema: TSchema, share: BodyShare): Promise<unknown> {
    const body = await readBody(request, route, share, clock)
    if (body === undefined && route.bodyOptional) return undefined
    const given = body === undefined ? {} : body
    checkBody(schema, given)
    return given
  }

  function decodersOf(route: Route): QueryShape {
    let shape = decoders.get(route)
    if (!shape) {
      const implementations = route.queryHook ? (parts.hook(route.queryHook) as Array<{ query?: QueryShape }>) : []
      shape = Object.assign(
        {},
        ...implementations.map((implementation) => implementation.query),
        route.query,
        route.envelope === 'page' && { page: PAGE },
      )
      decoders.set(route, shape!)
    }
    return shape!
  }

  function pageSize(actor: Actor): number {
    const own = actor.id === 0 ? undefined : parts.accounts.userPreferences(actor.id)['page_size']
    return typeof own === 'number' && own > 0 ? own : settings.pageSize
  }

  const enveloped = async (route: Route, input: Input, query: string): Promise<Reply> =>
    inForm(route, input, await answer(route, input, query))

  /** One record stands in its envelope as its reader asks; a page has been put into its own. */
  const inForm = (route: Route, input: Input, value: Reply): Reply =>
    route.envelope === 'item' ? envelope.item(value, formOf(route, input)) : value

  /** Runs the handler; what lists pages into their envelope, and into a 404 the keys that its envelope's readers look at. */
  async function answer(route: Route, input: Input, query: string): Promise<Reply> {
    const app = route === HEALTH || route === READY ? (undefined as never) : parts.app(route)
    const owner = parts.ownerOf?.(route)
    const run = (page: PageWindow) => {
      input.page = page
      const value = route.handle(input, app)
      return owner?.limitMs === undefined || !(value instanceof Promise)
        ? value
        : withinTime(clock, owner.limitMs, value, () => tooSlow(owner, route, input))
    }
    const { page } = input
    try {
      if (route.envelope === 'page') return await envelope.page(page, pageParams(query), run)
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

  /** The reply is made only where neither the client nor this server has it already. In which form, is no matter of what is kept. */
  async function revalidated(exchange: Exchange, route: Route, input: Input, query: string): Promise<Reply> {
    const { request, headers } = exchange
    const state = kept.stateFor(input.actor)
    const tag = state && tagOf(state, route.itemForm && formOf(route, input))
    if (tag !== undefined && isKnown(request, tag)) return new NotModified(tag)
    const text = (state && kept.get(state, request.url!)) ?? jsonOf(await answer(route, input, query))
    if (state !== undefined) kept.keep(state, request.url!, text)
    const reply = jsonOf(inForm(route, input, new JsonText(text)))
    const current = tag ?? tagOfText(reply)
    if (tag === undefined && isKnown(request, current)) return new NotModified(current)
    headers['ETag'] = current
    return new JsonText(reply)
  }

  function tooSlow({ name, limitMs = 0, failed }: RouteOwner, { method, path }: Route, { request }: Input): Error {
    const reason = new Error(`${method} ${path}: no answer within ${limitMs / 1000} s`)
    log.error({ err: reason, plugin: name, request: request.requestId }, 'a handler did not answer in time')
    failed(reason)
    return errors.unavailable(say`The plugin ${{ name }} did not answer in time`, { cause: reason })
  }

  function reply(exchange: Exchange, route: Route, value: Reply, input: Input): Promise<void> | void {
    const { response } = exchange
    if (response.destroyed) return // the client has gone
    if (value instanceof NotModified) {
      exchange.headers['ETag'] = value.tag
      return sendEmpty(exchange, 304)
    }
    if (value === undefined) return sendEmpty(exchange, route.status ?? 204)
    const status = route.status ?? 200
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
    if (value instanceof BytesReply) return sendBytes(exchange, status, value)
    if (value instanceof EventStream) return startEvents(exchange, route, value, input)
    return sendJson(exchange, status, JSON.stringify(value))
  }

  function startEvents(exchange: Exchange, route: Route, stream: EventStream, { actor, request }: Input): void {
    if (streams.size >= MOST_EVENT_STREAMS) throw errors.unavailable('Too many clients are listening')
    const giveBack = streamQuota.take(actor.id === 0 ? clientOf(request.address) : String(actor.id))
    // The oldest stream is not ended: its client would connect again at once and push out the next.
    if (!giveBack)
      throw errors.throttled(say`This account listens ${{ count: MOST_EVENT_STREAMS_OF_ACCOUNT }} times already`, {
        retryAfterSeconds: LISTEN_AGAIN_SECONDS,
      })
    exchange.response.on('close', giveBack)
    // Other rights get other events, so the stream ends and its client connects again.
    const mayListen = () => mayStill(exchange, route, (now) => isAlike(now, actor))
    const end = sendEvents(exchange, stream, clock, mayListen)
    streams.add(end)
    exchange.response.on('close', () => streams.delete(end))
    whileAllowed(exchange, { mayGoOn: mayListen, end })
  }

  /** Whether the same request would be let in now. */
  function mayStill({ request, id }: Exchange, route: Route, isSame: (actor: Actor) => boolean = () => true): boolean {
    try {
      const actor = auth.who(request, route.access, credentialsIn(route, request.url!))
      auth.may(actor, route)
      return isSame(actor)
    } catch (error) {
      if (!isAppError(error)) log.error({ err: error, request: id }, 'a client could not be checked')
      return false
    }
  }

  function credentialsIn({ tokenInQuery, signedInQuery }: Route, url: string): InQuery | undefined {
    if (!tokenInQuery && !signedInQuery) return undefined
    const [target, query] = splitUrl(url)
    const path = belowBase(target, settings.basePath) ?? target
    const [token, signed] = ['token', 'signed'].map((name) => new URLSearchParams(query).get(name))
    return { ...(tokenInQuery && token && { token }), ...(signedInQuery && signed && { link: { path, signed } }) }
  }

  function whileAllowed({ response }: Exchange, answer: LongAnswer): void {
    longAnswers.add(answer)
    response.on('close', () => longAnswers.delete(answer))
  }

  function refuse(exchange: Exchange, thrown: unknown, route: Route | undefined): void {
    const isGone = exchange.response.destroyed
    const fault = sendFault(exchange, thrown, parts.faultForms?.() ?? [])
    if (fault.isDefect && !isGone) {
      const owner = route && parts.ownerOf?.(route)
      owner?.failed(thrown)
      log.error(
        {
          err: thrown,
          ...(owner && { plugin: owner.name }),
          request: exchange.id,
          method: exchange.request.method,
          path: pathOf(exchange.request),
        },
        'a request failed',
      )
    } else if (isAppError(thrown) && thrown.cause !== undefined)
      log.debug({ err: thrown, request: exchange.id }, 'why a request was refused')
  }

  function tellEnd(
    { request, response, id }: Exchange,
    startedAt: number,
    route: Route | undefined,
    actor: Actor | undefined,
  ): void {
    const elapsedMs = performance.now() - startedAt
    if (answers.hasSubscribers)
      answers.publish({
        settings,
        method: route?.method ?? '',
        route: route?.path ?? '',
        status: response.statusCode,
        seconds: elapsedMs / 1000,
      } satisfies AnswerTold)
    if (!isLogged) return
    const tookMs = Math.round(elapsedMs * 10) / 10
    log.debug(
      {
        request: id,
        method: request.method,
        path: pathOf(request),
        status: response.statusCode,
        user: actor?.id,
        tookMs,
      },
      'request',
    )
  }

  return {
    handle,
    endStreams() {
      for (const end of streams) end()
    },
    abort: () => signals.abort(),
    requests: () => count,
    forgetReplies: () => kept.clear(),
  }
}

function varyBy({ headers }: Exchange, names: readonly string[]): void {
  headers['Vary'] = [headers['Vary'] ?? [], names].flat().join(', ')
}

/** @throws throttled  its address has as many requests under way as it may */
function takePlace(quota: Quota, { address, isLimited }: Origin, response: ServerResponse): void {
  if (!isLimited) return
  const giveBack = quota.take(clientOf(address))
  if (!giveBack)
    throw errors.throttled('Too many requests at once from your address; try again in a few seconds', {
      retryAfterSeconds: 5,
    })
  response.on('close', giveBack)
}

/** Whether the account may still do and see what it could. */
const isAlike = (now: Actor, before: Actor): boolean =>
  now.id === before.id &&
  now.isAdmin === before.isAdmin &&
  now.mayDownload === before.mayDownload &&
  now.scope === before.scope &&
  now.view === before.view

/** Without the query: it may have what people searched for. */
const pathOf = (request: IncomingMessage): string => request.url!.split('?', 1)[0]!.slice(0, 500)

/** The form of a request's target: a path, or a whole URL as proxies send it. The host in it does not matter. */
function splitUrl(url: string): [path: string, query: string] {
  const target = url.startsWith('/') || url === '*' ? url : withoutHost(url)
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function withoutHost(url: string): string {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) throw errors.badRequest('The request does not name a path')
  const { pathname, search } = new URL(url)
  return pathname + search
}

function found(match: Match | undefined): { route: Route; params: Record<string, string> } {
  if (!match) throw errors.notFound('path')
  if (!match.route) throw errors.methodNotAllowed(match.methods)
  return { route: match.route, params: match.params }
}
