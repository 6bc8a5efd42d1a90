/** The schema of a manifest: its keys and the form of each value. `check.ts` checks the rest. */
import { type Static, Type } from 'typebox'
import { ACCESS } from '../accounts/access.ts'
import { SCOPES } from '../accounts/scope.ts'
import { isBlank } from '../base/blank.ts'
import { inEnglish, type Words } from '../base/say.ts'
import { firstFaultIn } from '../base/validation.ts'
import type { Plugin } from './define.ts'

/** Must fit next to an icon, also on a phone. */
const LONGEST_TITLE = 40
/** Of a description or an author, in characters. */
const LONGEST_TEXT = 300
/** Most slots of one lane. */
const MOST_AT_ONCE = 16

/** A rule that no JSON Schema keyword can express. */
const where = (words: Words, isRight: (value: unknown) => boolean) =>
  Type.Refine(Type.Unknown({ 'x-words': words }), isRight)
const open = Type.Unknown()
const some = <Schema extends Parameters<typeof Type.Optional>[0]>(schema: Schema) => Type.Optional(schema)
const named = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema) => Type.Record(Type.String(), schema)

const Fn = where('a function', (value) => typeof value === 'function')
const Names = Type.Array(Type.String())
const Title = where(
  `a title of at most ${LONGEST_TITLE} characters`,
  (value) => typeof value === 'string' && !isBlank(value) && value.length <= LONGEST_TITLE,
)

const Route = Type.Object({
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: Type.String({
    pattern: '^/([^/]+/)*[^/]*$',
    'x-words': 'a path that starts with a slash and has no empty part',
  }),
  access: Type.Enum([...ACCESS]),
  scope: some(Type.Enum([...SCOPES, 'none'])),
  query: some(named(Type.Object({}))),
  reply: Type.Object({}),
  handle: Fn,
})

const Task = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_.-]*$', 'x-words': 'a letter, then letters, digits, _, . and -' }),
  payload: Type.Object({ type: where('Type.Object({ … })', (value) => value === 'object') }),
  run: Fn,
})

const Command = Type.Object({
  name: Type.String({ pattern: '^[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?$', 'x-words': 'one or two words in lower case' }),
  run: Fn,
})

const Page = Type.Object({
  title: Title,
  module: where(
    "a file of the plugin: new URL('./page.ts', import.meta.url)",
    (value) => value instanceof URL && value.protocol === 'file:',
  ),
  access: some(Type.Enum(ACCESS.filter((access) => access !== 'open'))),
  asks: some(
    Type.Array(
      Type.String({
        pattern: '^(GET|POST|PUT|PATCH|DELETE) /api/(?:[^/\\s]+/)+$',
        'x-words': 'a route of the API, such as GET /api/note/',
      }),
    ),
  ),
})

const Index = Type.Object({
  name: Type.String(),
  doc: Type.Object({}),
  fields: named(Type.Object({ type: Type.String() })),
})

const Lane = Type.Union([Type.Literal('turns'), Type.Integer({ minimum: 1, maximum: MOST_AT_ONCE })], {
  'x-words': `'turns', or how many jobs run at once: 1 to ${MOST_AT_ONCE}`,
})

const Manifest = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9]*$', 'x-words': 'lower-case letters and digits, a letter first' }),
    api: some(open),
    version: some(Type.String()),
    title: some(Title),
    description: some(Type.String({ maxLength: LONGEST_TEXT })),
    author: some(Type.String({ maxLength: LONGEST_TEXT })),
    homepage: some(
      Type.String({ pattern: '^https?://[^\\s]+$', 'x-words': 'an address that begins with http:// or https://' }),
    ),
    needs: some(Names),
    settings: some(
      named(
        Type.Object({
          env: Type.String({ pattern: '^AV_(?!TEST_)[A-Z0-9_]+$', 'x-words': 'AV_…, and not AV_TEST_…' }),
          schema: Type.Object({}),
        }),
      ),
    ),
    preferences: some(named(named(Type.Object({})))),
    envelope: some(Fn),
    lanes: some(Type.Union([Names, named(Lane)])),
    indexes: some(Type.Array(Index)),
    indexAdapter: some(Type.Object({ title: Type.String({ minLength: 1 }), open: Fn, chosenBy: some(Type.String()) })),
    credentials: some(Type.Object({ open: Fn })),
    recovery: some(Type.Object({ faultOf: Fn, replace: Fn })),
    reserve: some(Type.Object({ open: Fn })),
    salvage: some(Fn),
    owns: some(Names),
    migrations: some(Type.Array(Type.Object({ number: Type.Integer(), sql: Type.String() }))),
    secretColumns: some(Names),
    routes: some(Type.Array(Route)),
    tasks: some(Type.Array(Task)),
    commands: some(Type.Array(Command)),
    asideCommands: some(Type.Array(Command)),
    checks: some(Fn),
    page: some(Page),
    playerButton: some(Page),
    adaptations: some(Type.Array(Type.Object({ of: Type.String() }))),
    faults: some(Fn),
    replyHeaders: some(Fn),
    hooks: some(Names),
    hookRules: some(named(Type.Object({}))),
    implements: some(named(Fn)),
    events: some(Names),
    on: some(named(Fn)),
    onEvery: some(Fn),
    services: some(Fn),
    setup: some(Fn),
    close: some(Fn),
  } satisfies Record<keyof Plugin, Parameters<typeof Type.Optional>[0]>,
  { additionalProperties: false },
)

/** The first fault in the form of a manifest, as a sentence; undefined: none. */
export function formFault(plugin: unknown): string | undefined {
  const fault = firstFaultIn(Manifest, plugin)
  if (!fault) return undefined
  const [path, rule] = fault
  if (inEnglish(rule) === 'is unknown') return `definePlugin has no key ${path}`
  const [key = '', at = '', ...rest] = path.split('.')
  const list = Reflect.get(plugin as object, key) as Array<Partial<Static<typeof Route & typeof Task>>> | undefined
  const one = Array.isArray(list) ? list[Number(at)] : undefined
  const what =
    one === undefined || typeof (one.name ?? one.path) !== 'string'
      ? `its ${path}`
      : key === 'routes'
        ? `its route ${one.method} ${one.path}: ${rest.join('.')}`
        : `its ${key === 'indexes' ? 'index' : key.replace(/s$/, '')} ${one.name}: ${rest.join('.')}`
  return `${what} ${inEnglish(rule)}`
}
