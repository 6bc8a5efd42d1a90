/** The parts of a plugin: definePlugin, defineRoute, defineTask and others, and App, which plugins receive. */
import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { SettingDefinition, Settings } from '../../config/schema.ts'
import type { Access } from '../accounts/access.ts'
import type { Actor } from '../accounts/authentication.ts'
import type { Accounts, CredentialsDefinition } from '../accounts/credentials.ts'
import type { Scope } from '../accounts/scope.ts'
import type { Clock } from '../base/clock.ts'
import type { ErrorCode } from '../base/error.ts'
import type { EventName, Events, Listener, ListenerToAll } from '../events.ts'
import type { Reserve, ReserveParts } from '../full-disk.ts'
import type { FaultForm } from '../http/fault.ts'
import type { PageWindow } from '../http/pagination.ts'
import type { QueryOf, QueryShape } from '../http/query.ts'
import type { BytesReply, EventStream, FileReply, JsonText, Listing, ReplyHeaders } from '../http/reply.ts'
import type { IndexAdapterDefinition } from '../index/adapter.ts'
import type { IndexDefinition } from '../index/mapping.ts'
import type { Index } from '../index/port.ts'
import type { StoredDocuments } from '../index/stored-documents.ts'
import type { View } from '../index/view.ts'
import type { Schedules } from '../jobs/scheduler.ts'
import type { AnyTask, TaskSpec } from '../jobs/task-definition.ts'
import type { Jobs } from '../jobs/types.ts'
import type { LaneRule } from '../lane-rules.ts'
import type { ToldRows } from '../ledger/follow.ts'
import type { Migration } from '../ledger/migrate.ts'
import type { PreferenceSections, Preferences } from '../ledger/preferences.ts'
import type { LedgerRecovery, Salvage } from '../ledger/recovery.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { API } from './api.ts'
import type { AsideCommand, CommandForm, CommandInput } from './command.ts'

/** Plugin → its services: `declare module 'archivolt' { interface Services { atlas: { maps: Maps } } }`. */
export interface Services {}

/** The app with these plugins' services: `type App = AppOf<'atlas'>`. `definePlugin` demands that they are needed. */
export type AppOf<Names extends string> = App & Joined<Services[Names & keyof Services]>

type NotNeeded = { [Name in keyof Services]: `Add '${Name}' to \`needs\`` }
interface Missing {
  readonly isMissing: true
}

/** What a plugin is handed that needs these plugins. In the place of the others' services stands a sentence. */
type Handed<Names extends string> = AppOf<Names> &
  Joined<
    {
      [Name in keyof Services]: { readonly [Service in keyof Services[Name]]: NotNeeded[Name] & Missing }
    }[Exclude<keyof Services, Names>]
  >

/** The app with all services. */
export type WholeApp = AppOf<keyof Services>

/** The intersection of a union's members. */
type Joined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** An earlier plugin calls a hook, later ones implement it: `'map.remove': (id: string) => Promise<void>`. */
export interface Hooks {
  /** Asked to back up and restore documents in a plugin's own tables. Any plugin may implement or call it. */
  'archive.documents': StoredDocuments
  /** What plugins store for no single document, for a record of the archive. Any plugin may implement or call it. */
  'archive.belongings': ArchiveBelongings
}

/** A plugin's part of a record of the archive. */
export interface ArchiveBelongings {
  /** The key under which it is stored. */
  of: string
  /** Where it is stored: whoever keeps the record finds out by these that it has changed. */
  rows: readonly ToldRows[]
  /** JSON, without secrets. */
  collect(): unknown
  /** It belongs to accounts, so these are restored first. */
  needsAccounts?: true
  /**
   * Adds what is missing. Called before accounts and documents are restored. Data from the disk is checked first.
   * @returns converts the view of an account, if views contain ids of this data and these may now be different
   */
  restore(stored: unknown): Promise<((view: View) => View) | void>
}
export type HookName = keyof Hooks & string

/** What every plugin receives besides the services it needs. Extended by `interface App { fetch: FetchOutside }`. */
export interface App extends CoreApp {}

export interface CoreApp {
  /** The settings from the environment and `config.json`, read at the start. */
  readonly settings: Readonly<Settings>
  /** The version of the program. */
  readonly version: string
  /** The time, and timers; stopped in tests. */
  readonly clock: Clock
  /** Writes one JSON object per line, with the name of the plugin: `log.info({ id }, 'a sentence')`. */
  readonly log: Log
  /** Documents and search: `index.collection(definition)` finds, reads and writes the documents of an index. */
  readonly index: Index
  /** The SQLite file with the plugin's own tables: `ledger.sql(…).all(…)`; changes within `ledger.write(…)`. */
  readonly ledger: Ledger
  /** Starts tasks, lists jobs, and notifies people. */
  readonly jobs: Jobs
  /** When tasks start by themselves. */
  readonly schedules: Schedules
  /** Users, their rights and tokens. */
  readonly accounts: Accounts
  /** Values that admins change while the server runs: `preferences.section('tide').height`. */
  readonly preferences: Preferences
  /** Everything registered: plugins, routes, tasks. */
  readonly registry: Registry
  /** The plugins and the last failure of each. */
  readonly plugins: PluginBook
  /** Call it when replies have changed without a write to the index or the ledger: all cached ones are made again. */
  touch(): void
  /** The public address, with a final slash: AV_PUBLIC_URL, otherwise the request's. undefined: neither is known. */
  publicUrl(request?: Pick<RouteInput<never, never, never>['request'], 'host' | 'isSecure'>): string | undefined
  /** Emits an event; resolves when all listeners have handled it. */
  emit<Name extends EventName>(name: Name, event: Events[Name]): Promise<void>
  /** The implementations of a hook, in the order of needs. */
  hook<Name extends HookName>(name: Name): ReadonlyArray<Hooks[Name]>
}

export interface PluginRecord {
  name: string
  /** '': none declared. */
  version: string
  isBuiltIn: boolean
  /** As its manifest or its package.json says. */
  title?: string
  description?: string
  author?: string
  homepage?: string
  /** `archivolt plugin` has added it, and can update and remove it. */
  isAdded: boolean
  isOn: boolean
  /** It is off because it failed repeatedly, until somebody starts it again. */
  isStopped: boolean
  isSwitchedOff: boolean
  /** Why it could not be started, and was left out. */
  fault?: string
  needs: readonly string[]
  routes: number
  tasks: number
  /** The last failure since the start. */
  lastFailure?: { atMs: number; message: string }
}

interface PluginBook {
  /** In the order of needs, switched-off plugins last. */
  list(): PluginRecord[]
  /** Starts a stopped plugin again. @throws not_found; conflict: it is not stopped */
  startAgain(name: string): void
  /**
   * Switches an external plugin off or on, at once and for the next starts; one left out is on after the next start.
   * @throws not_found; conflict: it is built in, or AV_PLUGINS_OFF has switched it off
   */
  switch(name: string, isOn: boolean): Promise<void>
  readonly pages: readonly BuiltPage[]
}

export type PageAccess = Exclude<Access, 'open'>

/** A request of a plugin's page: `GET /api/note/:noteId/` for a whole route, `GET /api/note/first/` for one path. */
export type Question = `${Method} /api/${string}`

/** Code of a plugin that runs in browsers: its own page, or the action of a button. */
export interface PluginPage {
  /** Shown in the navigation and as heading; for a button, its label in the menu. */
  title: string
  /** Its ES module for browsers, in TypeScript or JavaScript: `new URL('./page.ts', import.meta.url)`. */
  module: URL
  /** Who sees it; default: `user`. */
  access?: PageAccess
  /** Requests beyond its plugin's own routes. It never has more rights than the signed-in account. */
  asks?: readonly Question[]
}

/** A plugin's page or button action, bundled for browsers. */
export interface BuiltPage {
  plugin: string
  /** `navigation`: a page; `player`: a button in the player. */
  place: 'navigation' | 'player'
  title: string
  access: PageAccess
  asks: readonly Question[]
  /** The file name of its module, which changes with the content. */
  file: string
  code: string
}

/** Everything registered, for plugins that list it (openapi, task). */
export interface Registry {
  readonly plugins: readonly Plugin[]
  readonly routes: readonly Route[]
  readonly tasks: ReadonlyMap<string, Task>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type ItemForm = 'enveloped' | 'merged' | 'bare'
/** Whether an empty page after the first is a 404 (`strict`) or an empty list. */
export type PageForm = 'strict' | 'lenient'

export interface RouteInput<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  /** The asking account. Id 0: not signed in, on an open route. */
  actor: Actor
  /** The requested window, on routes with `envelope: 'page'`. */
  page: PageWindow
  /** Aborted when the client disconnects or the server closes. */
  signal: AbortSignal
  /** For the few handlers that need the request itself: headers in lower case, the client's address, the raw body. */
  request: {
    headers: Readonly<Record<string, string | undefined>>
    address: string
    isSecure: boolean
    /** The host and port by which the client calls the server; trusted proxies may override it. '': malformed. */
    host: string
    /** The browser says that another site's page sent it: session writes are refused, open routes decide themselves. */
    isCrossSite: boolean
    /** The user signed in at a trusted proxy (AV_FORWARDED_USER). */
    forwardedUser?: string | undefined
    stream: Readable
    requestId: string
  }
  headers: ReplyHeaders
}

export type Reply = JsonText | Listing | FileReply | EventStream | object | undefined

/** What a handler may return: a value of the schema `reply`, or a reply that is already a text, a file or a stream. */
type ReplyOf<Answer extends TSchema> =
  | ReadOnly<Static<Answer>>
  | JsonText
  | Listing
  | FileReply
  | BytesReply
  | EventStream
  | undefined

/** A handler may return the read-only lists of a service. */
type ReadOnly<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> } : Value

interface RouteDefinition<
  Params extends TObject = TObject,
  Query extends QueryShape = QueryShape,
  Body extends TSchema = TSchema,
  Given = WholeApp,
  Answer extends TSchema = TSchema,
  Returned = Reply,
> {
  method: Method
  /** Full path with its final slash, variables as `:name`. */
  path: string
  /**
   * `open`: anybody. `viewer`: any account, including accounts with a view: index reads are then limited to the view,
   * and the handler itself must limit everything else (files, tables). `user`: any account that sees the whole archive.
   * `downloader`: accounts that may download. `admin`: admins.
   */
  access: Access
  /**
   * The scope that an access token needs. Default: `read` for a GET; otherwise `admin` for `admin`, `download` for
   * `downloader`, and `watch` for other routes. `none`: no access token may use the route.
   */
  scope?: Scope | 'none'
  /** One line for the API description. */
  summary: string
  params?: Params
  query?: Query
  /** A hook whose implementations add query parameters by their `query`. They arrive in `query` too. */
  queryHook?: HookName
  /** The JSON body; checked, never coerced. Omitted: a body is ignored. */
  body?: Body
  /** A GET for programs that send no headers: takes the account's token as `token`. Warn people of such addresses. */
  tokenInQuery?: true
  /** A GET for devices without a cookie: accepts addresses that `app.accounts.link()` has signed, in `signed`. */
  signedInQuery?: true
  /**
   * For programs that keep nothing but an address, such as feed readers: the variable `:signed` of the path signs all
   * that stands before it, as `app.accounts.lastingLink()` does, and opens all below it. A POST only reads, too.
   */
  signedInPath?: true
  bodyOptional?: boolean
  /** Also accepts `application/x-www-form-urlencoded`. */
  form?: boolean
  /** Accepts a body of this media type as a stream (`request.stream`) instead, up to `maxBodyBytes`. */
  rawBody?: { contentType: string; maxBodyBytes: number }
  /** Schema of the reply without the envelope; for a page: schema of a record, or of the list. */
  reply: Answer
  /** Media type of the reply if it is not JSON. */
  replyType?: string
  /** Status on success; default 200, or 204 if the handler returns nothing. */
  status?: number
  /**
   * `item`: sends the value in `{ data, config }`; a 404 has `data: false`. `page`: the handler returns `listing(texts,
   * total)`: the records of `page.from` and `page.size` as JSON texts, and the total. Sent as `{ data: […], paginate,
   * config }`; see plugins/openapi/contract.md, 4.
   */
  envelope?: 'item' | 'page'
  /** Time limit for an external plugin's handler; default 60. With `rawBody` there is none by default. */
  withinSeconds?: number
  /** The reply depends only on stored data and the account: it gets an `ETag`, and is cached until a source changes. */
  revalidates?: true
  /** The form of an item; default: in its envelope. `merged`: its keys also appear next to `data` and `config`. */
  itemForm?: (input: Pick<RouteInput<never, never, never>, 'request'>, app: App) => ItemForm
  /** For routes with `envelope: 'page'`; default: `strict`. */
  pageForm?: (input: Pick<RouteInput<never, never, never>, 'request'>, app: App) => PageForm
  /** Names the form of the reply, if the handler has several: each form is cached separately. */
  variant?: (input: Pick<RouteInput<never, never, never>, 'request'>, app: App) => string
  /** Request headers, in lower case, on which the reply depends: sent in `Vary`. */
  vary?: readonly string[]
  /** Further error codes of the route, for the API description. */
  errors?: ErrorCode[]
  /** Further top-level keys in the errors that permitted callers get, for clients that read these keys first. */
  errorKeys?: Readonly<Record<string, unknown>>
  handle: (input: RouteInput<Static<Params>, QueryOf<Query>, Static<Body>>, app: Given) => Promise<Returned> | Returned
}

/** A route of another plugin at a further path, in another form, or both. For built-in plugins only. */
export interface Adaptation {
  of: `${Method} ${string}`
  /** Omitted: changes the route itself, which later adaptations then see. */
  at?: `${Method} ${string}`
  change?: (route: Route) => Partial<Omit<Route, 'method' | 'path' | 'access'>>
}

/** A route with the app of its handler. The type of its reply: `Static<(typeof route)['reply']>`. */
export type Route<Given = WholeApp, Answer extends TSchema = TSchema> = RouteDefinition<
  TObject,
  QueryShape,
  TSchema,
  Given,
  Answer
>

/** Declares one method of one path. The types of params, query, body and reply come from their schemas. */
export function defineRoute<
  Params extends TObject,
  Query extends QueryShape,
  Body extends TSchema,
  Answer extends TSchema,
  const Returned extends ReplyOf<Answer>,
  Given extends App = App,
>(definition: RouteDefinition<Params, Query, Body, Given, Answer, Returned>): Route<Given, Answer> {
  // Lists of routes erase the types; from here on the schemas check the input.
  return definition as unknown as Route<Given, Answer>
}

export type TaskDefinition<Payload extends TObject, Given = WholeApp> = TaskSpec<Payload, Given>

export type Task<Given = WholeApp> = AnyTask<Given>

/** Declares a task. The type of `job.payload` in `run` comes from the payload's schema. */
export function defineTask<Payload extends TObject, Given extends App = App>(
  definition: TaskDefinition<Payload, Given>,
): Task<Given> {
  // Code that lists or starts tasks does not know the payload types; the schema checks them.
  return definition as unknown as Task<Given>
}

/** `archivolt <name>` runs while no server does: plugins are set up, but nothing is served or started. */
export interface PluginCommand<Given = WholeApp> extends CommandForm {
  /** It also runs in a data folder without an archive, and makes a new one there. */
  makesArchive?: true
  /** The user sees an error as one sentence. */
  run: (input: CommandInput, app: Given) => Promise<void>
}

/** Declares a command. Its `run` receives the services that its plugin needs. */
export function defineCommand<Given extends App = App>(definition: PluginCommand<Given>): PluginCommand<Given> {
  return definition
}

/** One result of `archivolt check`. */
export interface Finding {
  /** What was checked, for people. */
  what: string
  isRight: boolean
  /** Its state; if it is not right, also what to do. */
  said: string
}

/** What a check receives. It may run beside a server, or before the first start. */
export interface CheckParts {
  settings: Readonly<Settings>
  clock: Clock
  log: Log
}

/** What happens if an implementation from outside fails or takes too long. */
export interface HookRule {
  /** Time limit; default 30. */
  withinSeconds?: number
  /** Its callers do not wait: an async answer counts as a failure. */
  isSync?: true
  /**
   * @returns a substitute for the result, also for one of another kind (such as none instead of a `Map`). Omitted: the
   * caller fails with `refusal`, which names the plugin
   */
  otherwise?: (args: readonly never[], refusal: Error, implementation: never) => unknown
}

/** A route or task; a sentence if it uses a plugin that is not among these. */
type Fitting<Part, Names extends string> = Part extends Route<infer Given> | Task<infer Given>
  ? [Given] extends [never]
    ? Part
    : Handed<Names> extends Given
      ? Part
      : NotNeeded[UsedBy<Given, Exclude<keyof Services, Names>>]
  : never
type UsedBy<Given, Names extends keyof Services> = {
  [Name in Names]: keyof Services[Name] & keyof Given extends never ? never : Name
}[Names]

/** @typeParam Need  names of the needed plugins: the app has their services, and the plugin's own */
interface PluginDefinition<
  Name extends string,
  Need extends string,
  OneRoute = Route<AppOf<Name | Need>>,
  OneTask = Task<AppOf<Name | Need>>,
> {
  name: Name
  /** The version of the plugin API that the plugin is made for. A server with another version refuses it. */
  api?: typeof API
  /** For an external plugin without a version in package.json; built-in plugins have the program's. */
  version?: string
  /** What people read under Settings → Plugins; default: its name. */
  title?: string
  /** What it does, in one or two sentences. Default: as package.json says; so are `author` and `homepage`. */
  description?: string
  author?: string
  /** An `http:` or `https:` address. */
  homepage?: string
  needs?: readonly Need[]
  settings?: Record<string, SettingDefinition>
  /** Values that admins change while the server runs, by section and key: `/api/config/` and the page's settings. */
  preferences?: PreferenceSections
  /** Adds to the `config` object in envelopes. */
  envelope?: (preferences: Preferences) => Record<string, unknown>
  /** `turns`: jobs take turns by item (`app.lanes.turn`). A number: this many run at once. Names only: one job each. */
  lanes?: string[] | Record<string, LaneRule>
  indexes?: IndexDefinition[]
  /** The plugin can store the documents of all plugins. */
  indexAdapter?: IndexAdapterDefinition
  /** The plugin manages the accounts, and resolves tokens and sessions. Exactly one plugin has it. */
  credentials?: CredentialsDefinition
  /** Replaces a ledger that cannot be used, and keeps copies for it. For built-in plugins only. */
  recovery?: LedgerRecovery
  /** Reserves space for a full disk, which `release` frees. For built-in plugins only. */
  reserve?: { open(parts: ReserveParts): Promise<Reserve> }
  /** Saves what can be read of a damaged ledger without a good copy; called before the ledger is opened. */
  salvage?: Salvage
  /** Names of its indexes other than `<plugin>` and `<plugin>_…`. */
  owns?: string[]
  /** Migrations of its tables `<plugin>_…`. */
  migrations?: Migration[]
  /** As `table.column`, for texts of `ledger.seal`: a start seals plain ones, a new secret key seals all again. */
  secretColumns?: readonly string[]
  routes?: readonly OneRoute[]
  tasks?: readonly OneTask[]
  commands?: ReadonlyArray<PluginCommand<Handed<Name | Need>>>
  /** For built-in plugins. */
  asideCommands?: readonly AsideCommand[]
  /** Checks what the plugin needs on this machine, for `archivolt check`. Must not change anything. */
  checks?: (parts: CheckParts) => Promise<Finding[]>
  /** Its own page in the navigation, at `/plugin/<name>/`. For external plugins only. */
  page?: PluginPage
  /** A button in the menu of the player. For external plugins only. */
  playerButton?: PluginPage
  adaptations?: readonly Adaptation[]
  /** Converts errors for clients that expect another form. For built-in plugins only. */
  faults?: (app: Handed<Name | Need>) => FaultForm
  /** Headers of every reply, which other origins may read too. For built-in plugins only. */
  replyHeaders?: (app: Handed<Name | Need>) => Readonly<Record<string, string>>
  /** Hooks that it calls and other plugins implement. */
  hooks?: HookName[]
  /** Rules for failing implementations from outside. */
  hookRules?: { [Name in HookName]?: HookRule }
  /** Its implementations of hooks of earlier plugins. */
  implements?: { [Hook in HookName]?: (app: Handed<Name | Need>) => Hooks[Hook] }
  /** Events that it emits and other plugins may listen to. */
  events?: EventName[]
  /** The emitter awaits built-in listeners, and repeats if one fails; others run in a job of their own, and retry. */
  on?: { [Event in EventName]?: (app: Handed<Name | Need>) => Listener<Event> }
  /** Listens to every event of every plugin. For built-in plugins only. */
  onEvery?: (app: Handed<Name | Need>) => ListenerToAll
  /** Its services, as declared in `interface Services` under its name. */
  services?: (app: Handed<Name | Need>) => Name extends keyof Services ? Services[Name] : object
  /** Called once when everything is registered and ledger and index are open, before the first request. */
  setup?: (app: Handed<Name | Need>) => Promise<void> | void
  /** Called once when the server closes, in reverse order. */
  close?: (app: Handed<Name | Need>) => Promise<void> | void
}

export type Plugin = PluginDefinition<string, string>

export function definePlugin<
  const Name extends string,
  const Need extends string = never,
  OneRoute extends Route<never> = Route<AppOf<Name | Need>>,
  OneTask extends Task<never> = Task<AppOf<Name | Need>>,
>(definition: PluginDefinition<Name, Need, Fitting<OneRoute, Name | Need>, Fitting<OneTask, Name | Need>>): Plugin {
  // At run time the app has all services; `needs` limits the types for the author.
  return definition as unknown as Plugin
}
