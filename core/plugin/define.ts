/** What a plugin is made of: definePlugin, defineRoute, defineTask and friends, and App, what a plugin is handed. */
import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { SettingDefinition, Settings } from '../../config/schema.ts'
import type { Access } from '../accounts/access.ts'
import type { Actor } from '../accounts/authentication.ts'
import type { Accounts, CredentialsDefinition } from '../accounts/credentials.ts'
import type { Scope } from '../accounts/scope.ts'
import type { Clock } from '../clock.ts'
import type { ErrorCode } from '../error.ts'
import type { EventName, Events, Listener, ListenerToAll } from '../events.ts'
import type { FetchOutside } from '../fetch.ts'
import type { FaultForm } from '../http/fault.ts'
import type { PageWindow } from '../http/pagination.ts'
import type { QueryOf, QueryShape } from '../http/query.ts'
import type { EventStream, FileReply, JsonText, Listing, ReplyHeaders } from '../http/reply.ts'
import type { IndexAdapterDefinition } from '../index/adapter.ts'
import type { KeptDocuments } from '../index/kept-documents.ts'
import type { IndexDefinition } from '../index/mapping.ts'
import type { Index } from '../index/port.ts'
import type { Lanes } from '../jobs/lanes.ts'
import type { Schedules } from '../jobs/scheduler.ts'
import type { AnyTask, TaskSpec } from '../jobs/task.ts'
import type { Jobs } from '../jobs/types.ts'
import type { LaneRule } from '../lane-rules.ts'
import type { PreferenceSections, Preferences } from '../ledger/preferences.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { API } from './api.ts'

/**
 * Services by the plugin that offers them: `declare module 'archivolt' { interface Services { atlas: { maps: Maps } }
 * }`.
 */
export interface Services {}

/**
 * The app with the services of these plugins: `type App = AppOf<'atlas'>`. What is handed it belongs to a plugin of
 * that name, or one that needs it; `definePlugin` refuses any other.
 */
export type AppOf<Names extends string> = App & Joined<Services[Names & keyof Services]>

/** With all services, as it is once every plugin has been opened. */
export type WholeApp = AppOf<keyof Services>

/** A union's members joined to one type. */
type Joined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/**
 * Hooks: what an earlier plugin asks of whoever comes later. `interface Hooks { 'map.remove': (id: string, step: Step)
 * => Promise<void> }`.
 */
export interface Hooks {
  /**
   * Asked where documents are backed up or restored, for those that a plugin keeps in tables of its own. Core's: any
   * plugin may answer it, or ask.
   */
  'archive.documents': KeptDocuments
}
export type HookName = keyof Hooks & string

/**
 * What every handler, task and service is handed, beside the services that its plugin needs (`AppOf`). `log` names the
 * plugin that holds it.
 */
export interface App {
  /** What the environment and `config.json` said at the start. */
  readonly settings: Readonly<Settings>
  /** Of the program. */
  readonly version: string
  /** The time, and timers; stopped in tests. */
  readonly clock: Clock
  /** One JSON object a line, with the name of the plugin: `log.info({ id }, 'a sentence')`. */
  readonly log: Log
  /** Documents and search: `index.collection(definition)` finds, reads and writes those of an index. */
  readonly index: Index
  /** The SQLite file with the plugin's own tables: `ledger.sql(…).all(…)`; changes within `ledger.write(…)`. */
  readonly ledger: Ledger
  /** Starts tasks, tells what runs, and notifies people. */
  readonly jobs: Jobs
  /** Waits for a turn where one item at a time is worked on. */
  readonly lanes: Lanes
  /** When tasks start by themselves. */
  readonly schedules: Schedules
  /** Users, their rights and tokens. */
  readonly accounts: Accounts
  /** What people have set while it runs: `preferences.section('tide').height`. */
  readonly preferences: Preferences
  /** All that was registered: plugins, routes, tasks. */
  readonly registry: Registry
  /** Which plugins there are, and what last went wrong in each. */
  readonly plugins: PluginBook
  /** Call this when what replies show has changed without a write to the index: replies kept in memory are dropped. */
  touch(): void
  /**
   * Where people reach this server, with its final slash: AV_PUBLIC_URL, else as the request says, for links in a
   * reply. Undefined: neither says.
   */
  publicUrl(request?: Pick<RouteInput<never, never, never>['request'], 'host' | 'isSecure'>): string | undefined
  /**
   * Asks a server outside, whose address may come from people or from other servers: within 30 s, at most 5 MB, through
   * at most five redirects, through the proxy that AV_FETCH_PROXY names, and none in a private network unless
   * AV_PRIVATE_HOSTS names it. Any status is an answer.
   * @throws bad_request: an address that is not asked; unavailable: no answer
   */
  readonly fetch: FetchOutside
  /** Tells an event; resolves when all listeners have heard. */
  emit<Name extends EventName>(name: Name, event: Events[Name]): Promise<void>
  /** What later plugins put into a hook, in the order of needs. */
  hook<Name extends HookName>(name: Name): ReadonlyArray<Hooks[Name]>
}

export interface PluginRecord {
  name: string
  /** '': it names none. */
  version: string
  isBuiltIn: boolean
  isOn: boolean
  needs: readonly string[]
  routes: number
  tasks: number
  /** Since the start. */
  lastFailure?: { atMs: number; message: string }
}

interface PluginBook {
  /** In the order of needs, those that are off last. */
  list(): PluginRecord[]
  /** Those that plugins bring. */
  readonly pages: readonly BuiltPage[]
}

/** Who may see a page. */
export type PageAccess = Exclude<Access, 'open'>

/**
 * What a plugin's page asks of the API: `GET /api/note/:noteId/` as its route says, or `GET /api/note/first/` alone.
 */
export type Question = `${Method} /api/${string}`

/** What a plugin runs in browsers: a page of its own, or what a button does. */
export interface PluginPage {
  /** In the navigation, and above it; of a button: its name in the menu. */
  title: string
  /** Its ES module for browsers, in TypeScript or JavaScript: `new URL('./page.ts', import.meta.url)`. */
  module: URL
  /** Who has it; default: `user`. */
  access?: PageAccess
  /** What it asks of the API beside the routes of its plugin. What its reader may not, it may not either. */
  asks?: readonly Question[]
}

/** A plugin's page, or what its button does, as browsers get it. */
export interface BuiltPage {
  plugin: string
  /** `navigation`: a page; `player`: a button there. */
  place: 'navigation' | 'player'
  title: string
  access: PageAccess
  asks: readonly Question[]
  /** The name of its module changes with its content. */
  file: string
  code: string
}

/** Everything that was registered, for those who list it (openapi, task). */
export interface Registry {
  readonly plugins: readonly Plugin[]
  readonly routes: readonly Route[]
  readonly tasks: ReadonlyMap<string, Task>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type ItemForm = 'enveloped' | 'merged' | 'bare'
/** Whether a page after the first without results is a 404 (`strict`), or an empty list. */
export type PageForm = 'strict' | 'lenient'

export interface RouteInput<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  /** Who asks. On an open route nobody may have signed in: then id 0. */
  actor: Actor
  /** The asked-for window, on routes with `envelope: 'page'`. */
  page: PageWindow
  /** Ends when the client goes away or the server closes. */
  signal: AbortSignal
  /**
   * For the few that need the request itself: headers in lower case, the client's address, the raw body of `rawBody`
   * routes.
   */
  request: {
    headers: Readonly<Record<string, string | undefined>>
    address: string
    isSecure: boolean
    /**
     * As the client calls the server, with its port; a trusted proxy may say. '': it does not say, or what is no host.
     */
    host: string
    /**
     * The browser says that a page of another site sent it. Session writes are refused then; an open route decides
     * itself.
     */
    isCrossSite: boolean
    /** Who has signed in at a trusted proxy, as that says (AV_FORWARDED_USER). */
    forwardedUser?: string | undefined
    stream: Readable
    requestId: string
  }
  /** Headers to send along. */
  headers: ReplyHeaders
}

export type Reply = JsonText | Listing | FileReply | EventStream | object | undefined

interface RouteDefinition<
  Params extends TObject = TObject,
  Query extends QueryShape = QueryShape,
  Body extends TSchema = TSchema,
  Given = WholeApp,
> {
  method: Method
  /** Full path with its final slash, variables as `:name`. */
  path: string
  /**
   * `open`: anybody. `viewer`: any account, also one that sees a part of the archive only: what its handler reads of
   * the index is that part, what it has from elsewhere (files, tables) is its own care. `user`: any account that sees
   * the whole archive. `downloader`: those that may download. `admin`: accounts with the flag.
   */
  access: Access
  /**
   * What it asks of an access token, where it is not what its method and `access` say: a GET `read`; else `admin` for
   * admins, `download` for downloaders, `watch` for all others. `none`: no access token may use it, whatever its scope.
   */
  scope?: Scope | 'none'
  /** One line for the API description. */
  summary: string
  params?: Params
  query?: Query
  /** A hook whose implementations bring further query parameters: each has a `query`. They arrive in `query` too. */
  queryHook?: HookName
  /** The JSON body; checked, never coerced. Left out: a body is not looked at. */
  body?: Body
  /**
   * A GET for programs that send no header, such as readers of feeds: the account's token may stand in the query, as
   * `token`. Who has its address has the token, so let people know.
   */
  tokenInQuery?: true
  /** A GET for devices that have no cookie: an address that `app.accounts.link()` has signed, as `signed`. */
  signedInQuery?: true
  /** The body may be missing. */
  bodyOptional?: boolean
  /** Also takes `application/x-www-form-urlencoded`. */
  form?: boolean
  /** Takes a body of this media type as a stream instead (`request.stream`), up to `maxBodyBytes`. */
  rawBody?: { contentType: string; maxBodyBytes: number }
  /** The form of the reply's value, without the envelope; of a page: that of a record, or of the list. */
  reply: TSchema
  /** Media type of the reply where it is not JSON. */
  replyType?: string
  /** Status on success; default 200, 204 where the handler returns nothing. */
  status?: number
  /**
   * `item`: the value goes into `{ data, config }` and a 404 says `data: false`.
   * `page`: the handler returns `listing(texts, total)`, the records of `page.from` and `page.size` as JSON texts and
   * how many there are in all. It is sent as `{ data: […], paginate, config }`; plugins/openapi/contract.md, 4.
   */
  envelope?: 'item' | 'page'
  /**
   * How long the handler of a plugin from outside may take; default 60. What takes a stream of bytes has no limit
   * unless it names one.
   */
  withinSeconds?: number
  /**
   * A GET whose reply follows from what is stored and from who asks: it carries an `ETag`, who has it already is
   * answered 304, and it is kept until something is written or `app.touch` is called.
   */
  revalidates?: true
  /**
   * In which form an item is sent; left out: in its envelope. `merged`: its keys stand beside `data` and `config` too.
   */
  itemForm?: (input: Pick<RouteInput<never, never, never>, 'request'>, app: App) => ItemForm
  /** On routes with `envelope: 'page'`; left out: `strict`. */
  pageForm?: (input: Pick<RouteInput<never, never, never>, 'request'>, app: App) => PageForm
  /** Names the form in which the handler answers, where it has several: replies of each are kept by themselves. */
  variant?: (input: Pick<RouteInput<never, never, never>, 'request'>, app: App) => string
  /** Request headers, in lower case, that its answer depends on: they are named in `Vary`. */
  vary?: readonly string[]
  /** Further codes it may answer with, for the API description. */
  errors?: ErrorCode[]
  /** Further keys of each error that who may ask is answered with: its readers look at them first. */
  errorKeys?: Readonly<Record<string, unknown>>
  handle: (input: RouteInput<Static<Params>, QueryOf<Query>, Static<Body>>, app: Given) => Promise<Reply> | Reply
}

/**
 * Another plugin's route under one more path, in another form, or both. Whose it is and who may ask stays; where its
 * plugin is left out, so is this. For built-in plugins only.
 */
export interface Adaptation {
  of: `${Method} ${string}`
  /** Left out: it is changed where it stands, and adaptations after this one see it so. */
  at?: `${Method} ${string}`
  change?: (route: Route) => Partial<Omit<Route, 'method' | 'path' | 'access'>>
}

/**
 * What its handler is given comes first. The type of its reply is for clients that are written in TypeScript:
 * `Static<(typeof route)['reply']>`.
 */
export type Route<Given = WholeApp, Answer extends TSchema = TSchema> = RouteDefinition<
  TObject,
  QueryShape,
  TSchema,
  Given
> & { reply: Answer }

/** Declares one method of one path. Types of params, query and body come from their schemas. */
export function defineRoute<
  Params extends TObject,
  Query extends QueryShape,
  Body extends TSchema,
  Answer extends TSchema,
  Given extends App = App,
>(definition: RouteDefinition<Params, Query, Body, Given> & { reply: Answer }): Route<Given, Answer> {
  // From here on it is one of many: its schemas say what it takes, and types no longer.
  return definition as unknown as Route<Given, Answer>
}

export type TaskDefinition<Payload extends TObject, Given = WholeApp> = TaskSpec<Payload, Given>

export type Task<Given = WholeApp> = AnyTask<Given>

/** Declares a task. The type of what `run` is given comes from the payload's schema. */
export function defineTask<Payload extends TObject, Given extends App = App>(
  definition: TaskDefinition<Payload, Given>,
): Task<Given> {
  // Who lists or starts tasks knows nothing of their payloads; they are checked against the schema.
  return definition as unknown as Task<Given>
}

export interface CommandOption {
  type: 'boolean' | 'string'
  /** For its help. */
  meaning: string
}

export interface CommandInput {
  /** What follows the name, as `takes` says. */
  taken: readonly string[]
  options: Readonly<Record<string, string | boolean | undefined>>
  /** A line for whoever has typed it. */
  say: (text: string) => void
  /** Asks for what nobody may see; without a terminal it is the first line of standard input. */
  secret: (question: string) => Promise<string>
  log: Log
}

/**
 * What `archivolt <name>` does, while no server runs: its plugins are set up, requests are not taken and no job is
 * started.
 */
export interface PluginCommand<Given = WholeApp> {
  /** Words in lower case: `user add`. */
  name: string
  /** One line for the list of commands, without a full stop. */
  summary: string
  /** What follows the name, in order: `file`; `name?` may be left out. */
  takes?: readonly string[]
  options?: Readonly<Record<string, CommandOption>>
  /** What it throws is told in one sentence. */
  run: (input: CommandInput, app: Given) => Promise<void>
}

/** Declares a command: what its plugin needs, its `run` is given. */
export function defineCommand<Given extends App = App>(definition: PluginCommand<Given>): PluginCommand<Given> {
  return definition
}

/** One thing that `archivolt check` has looked at. */
export interface Finding {
  /** What was looked at, for people. */
  what: string
  isRight: boolean
  /** What it is like; if it is not right, with what to do. */
  said: string
}

/** What can be looked at while a server runs, or before there is one. */
export interface CheckParts {
  settings: Readonly<Settings>
  clock: Clock
  log: Log
}

interface LedgerMigration {
  /** 1, 2, 3 …: applied once, in order, each in one transaction. Never edited once released. */
  number: number
  sql: string
}

/** What a hook's owner does without an answer: an implementation from outside has failed, or has taken too long. */
export interface HookRule {
  /** How long an answer may take; default 30. */
  withinSeconds?: number
  /**
   * Stands for the answer. Left out: who asks fails, with `refusal`, which names the plugin.
   * @param args  what the implementation was asked
   */
  otherwise?: (args: readonly never[], refusal: Error, implementation: never) => unknown
}

/** @typeParam Need  names of the plugins that it needs: their services are there, and its own */
interface PluginDefinition<Name extends string, Need extends string> {
  name: Name
  /** The version of the plugin API that it is made for; a start with another one refuses it. */
  api?: typeof API
  /** Of a plugin from outside, unless its package.json says; the built-in ones have the program's. */
  version?: string
  needs?: readonly Need[]
  settings?: Record<string, SettingDefinition>
  /** What people change while it runs, by section and key: `/api/config/`, and the settings of the page. */
  preferences?: PreferenceSections
  /** Parts of the `config` object in envelopes. */
  envelope?: (preferences: Preferences) => Record<string, unknown>
  /**
   * Lanes of its tasks, and how each goes: `turns`, several jobs are started and take turns by item (`app.lanes.turn`);
   * or how many jobs run at once. Only named: one, which may take turns with what services do.
   */
  lanes?: string[] | Record<string, LaneRule>
  indexes?: IndexDefinition[]
  /** It can keep the documents of all plugins. */
  indexAdapter?: IndexAdapterDefinition
  /** It keeps the accounts of this archive, and knows whose a token or a session is. One plugin does. */
  credentials?: CredentialsDefinition
  /** Names of indexes outside `<plugin>` and `<plugin>_…` that are its own. */
  owns?: string[]
  /** Tables `<plugin>_…`. */
  migrations?: LedgerMigration[]
  /**
   * Columns of its tables, as `table.column`, whose texts are sealed: what it writes there comes from `ledger.seal`.
   * What lies plain in them is sealed at the start, and all of it anew when the secret key changes.
   */
  secretColumns?: readonly string[]
  routes?: ReadonlyArray<Route<AppOf<Name | Need>>>
  tasks?: ReadonlyArray<Task<AppOf<Name | Need>>>
  /** What people may type beside starting the server. */
  commands?: ReadonlyArray<PluginCommand<AppOf<Name | Need>>>
  /** Looks at what the plugin needs on this machine, for `archivolt check`. Changes nothing. */
  checks?: (parts: CheckParts) => Promise<Finding[]>
  /** A page of its own in the navigation, at `/plugin/<name>/`. For plugins from outside only. */
  page?: PluginPage
  /** A button in the menu of the player. For plugins from outside only. */
  playerButton?: PluginPage
  adaptations?: readonly Adaptation[]
  /** Puts errors into another form, for clients that expect one. For built-in plugins only. */
  faults?: (app: AppOf<Name | Need>) => FaultForm
  /** Sent with every answer; readable for other origins too. For built-in plugins only. */
  replyHeaders?: (app: AppOf<Name | Need>) => Readonly<Record<string, string>>
  /** Hooks it asks others to implement. */
  hooks?: HookName[]
  /** What its hooks do without the answer of a plugin from outside. */
  hookRules?: { [Name in HookName]?: HookRule }
  /** Hooks of earlier plugins that it implements. */
  implements?: { [Hook in HookName]?: (app: AppOf<Name | Need>) => Hooks[Hook] }
  /** Events it tells, that others may listen to. */
  events?: EventName[]
  /**
   * Events it listens to. Built-in ones are awaited by who tells, whose work is done again where one fails. Those from
   * outside hear by a job of their own, in order, tried three times.
   */
  on?: { [Event in EventName]?: (app: AppOf<Name | Need>) => Listener<Event> }
  /** Hears every event of every plugin, whatever its name, as `on` hears some. For built-in plugins only. */
  onEvery?: (app: AppOf<Name | Need>) => ListenerToAll
  /** As `interface Services` declares them under its name. */
  services?: (app: AppOf<Name | Need>) => Name extends keyof Services ? Services[Name] : object
  /** Called once when everything is registered and the ledger and index are open, before the first request. */
  setup?: (app: AppOf<Name | Need>) => Promise<void> | void
  /** Called once when the server closes, in reverse order. */
  close?: (app: AppOf<Name | Need>) => Promise<void> | void
}

/** Any plugin. */
export type Plugin = PluginDefinition<string, string>

export function definePlugin<const Name extends string, const Need extends string = never>(
  definition: PluginDefinition<Name, Need>,
): Plugin {
  // The server hands it an app with all services; that it names those it needs is for whoever writes it.
  return definition as unknown as Plugin
}
