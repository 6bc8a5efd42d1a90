/** The promise to authors: within a major version of the plugin API nothing that a plugin uses goes or changes. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { declarationFiles, readReleased } from '../../config/declaration-files.ts'
import { API, API_PACKAGE } from '../../core/plugin/api.ts'
import { apiBreaks, complaints } from '../support/api-breaks.ts'
import { temporaryFolder } from '../support/folder.ts'

let now: ReadonlyMap<string, string>
before(async () => {
  now = await declarationFiles()
})

/** The declarations of today with some lines written otherwise. */
function changed(...changes: Array<[path: string, from: string, to: string]>): Map<string, string> {
  const files = new Map(now)
  for (const [path, from, to] of changes) {
    assert.ok(files.get(path)?.includes(from), `${path} has no ${from}`)
    files.set(path, files.get(path)!.replace(from, to))
  }
  return files
}

test('a plugin for the released version finds all that it uses (what is not released yet: config/declaration-files.ts records it anew; a break on purpose: raise API in core/plugin/api.ts)', async (t) => {
  const released = await readReleased()
  if (Number.parseInt(released.version, 10) !== API) return

  assert.deepEqual(await apiBreaks(released.files, now, await temporaryFolder(t)), [])
})

test('what has gone, or takes or gives something else, is a break', async (t) => {
  const later = changed(
    ['plugins/plugin-kit/public.d.ts', 'fold, ', ''],
    ['plugins/index-kit/text.d.ts', 'function tokens(text: string', 'function tokens(text: number'],
    ['core/plugin/define.d.ts', '    owns?: string[];', ''],
    ['plugins/video/videos.d.ts', "'video.added': {", "'video.came': {"],
    ['plugins/video/videos.d.ts', "'video.remove': VideoRemoval", "'video.remove': (video: number) => void"],
    ['plugins/video/types.d.ts', 'remove(id: string, ', 'discard(id: string, '],
  )

  const breaks = await apiBreaks(now, later, await temporaryFolder(t))

  const names = new Set(breaks.map((text) => text.split(':')[0]))
  for (const name of ['fold', 'tokens', 'Plugin', 'definePlugin', 'Events', 'Hooks', 'Services', 'WholeApp'])
    assert.ok(names.has(name), `${name} is not told of: ${[...names].join()}`)
})

test('what is new is none', async (t) => {
  const later = changed(
    ['core/plugin/define.d.ts', '    touch(): void;', '    touch(): void; more(): number;'],
    ['core/plugin/define.d.ts', '    owns?: string[];', '    owns?: string[]; pages?: string[];'],
    ['plugins/video/videos.d.ts', "'video.added': {", "'video.gone': { id: string }; 'video.added': { more: string;"],
    ['plugins/video/videos.d.ts', "'video.remove': ", "'video.also': () => void; 'video.remove': "],
    ['plugins/video/videos.d.ts', "'video.filter': {", "'video.filter': { more?: string;"],
    ['plugins/video/videos.d.ts', 'interface Services {', 'interface Services { extra: { extra: number };'],
  )

  assert.deepEqual(await apiBreaks(now, later, await temporaryFolder(t)), [])
})

const HEAD = `import { type AppOf, definePlugin, defineRoute, defineTask, listing, Type } from '${API_PACKAGE}'`
const aRoute = (reply: string, handler: string): string =>
  `defineRoute({ method: 'GET', path: '/api/tide/', access: 'user', summary: 'x', reply: ${reply}, ${handler} })`
const TIDE = "Type.Object({ height: Type.Number(), kind: Type.Enum(['low', 'high']) })"
const USES_VIDEO = aRoute(
  TIDE,
  "async handle(_input, { videos }: AppOf<'video'>) { await videos.get('v1'); return { height: 1, kind: 'low' } }",
)
const A_TASK = `defineTask({ name: 'tide', title: 'x', payload: Type.Object({}), lane: 'light', run: async (_job, { videos }: AppOf<'video'>) => void (await videos.get('v1')) })`

const WRITTEN: Array<[what: string, code: string, says?: RegExp]> = [
  [
    'a route and a task of what is needed',
    `definePlugin({ name: 'tide', needs: ['video'], routes: [${USES_VIDEO}], tasks: [${A_TASK}] })`,
  ],
  [
    'a reply of literals and of read-only lists',
    aRoute(
      'Type.Object({ done: Type.Literal(true), days: Type.Array(Type.String()) })',
      "handle: () => ({ done: true, days: ['Monday'] as readonly string[] })",
    ),
  ],
  ['a page', aRoute(TIDE, 'handle: () => listing([], 0)')],
  [
    'a listener that uses what is not needed',
    "definePlugin({ name: 'tide', on: { 'video.added': ({ videos }) => async ({ id }) => void (await videos.get(id)) } })",
    /^Property 'get' does not exist on type '"Add 'video' to `needs`" & Missing'\.$/,
  ],
  [
    'a setup that uses what is needed by a needed plugin alone',
    "definePlugin({ name: 'tide', needs: ['video'], setup: (app) => void app.platform.targetsIn('v1') })",
    /^Property 'targetsIn' does not exist on type '"Add 'platform' to `needs`" & Missing'\.$/,
  ],
  [
    'a route that uses what is not needed',
    `definePlugin({ name: 'tide', routes: [${USES_VIDEO}] })`,
    /^Type 'Route<[^\n]*' is not assignable to type '"Add 'video' to `needs`"'\.$/,
  ],
  [
    'a task that does',
    `definePlugin({ name: 'tide', needs: ['channel'], tasks: [${A_TASK}] })`,
    /^Type 'Task<[^\n]*' is not assignable to type '"Add 'video' to `needs`"'\.$/,
  ],
  [
    'a handler that does not name the type of its app',
    aRoute(TIDE, "async handle(_input, app) { await app.videos.get('v1'); return { height: 1, kind: 'low' } }"),
    /^Property 'videos' does not exist on type 'App'\.$/,
  ],
  [
    'a reply without a key',
    aRoute(TIDE, 'async handle() { return { height: 1 } }'),
    /Property 'kind' is missing in type '\{ readonly height: 1; \}' but required in type '\{ readonly height: number; readonly kind: "high" \| "low"; \}'\.$/,
  ],
  [
    'a reply with another value',
    aRoute(TIDE, "handle: () => ({ height: 1, kind: 'mid' })"),
    /Type '"mid"' is not assignable to type '"high" \| "low"'\.$/,
  ],
  [
    'a list with another record',
    aRoute(`Type.Array(${TIDE})`, "async handle() { return [{ height: '1', kind: 'low' }] }"),
    /Types of property 'height' are incompatible\.\s+Type 'string' is not assignable to type 'number'\.$/,
  ],
]

test('the compiler refuses what a plugin does not need, and a reply that is not as declared, in one complaint', async (t) => {
  const told = await complaints(await temporaryFolder(t), { [API_PACKAGE]: now }, [
    HEAD,
    ...WRITTEN.map(([, code], at) => `export const p${at} = ${code}`),
  ])

  for (const [at, [what, , says]] of WRITTEN.entries()) {
    const texts = told.flatMap(({ line, text }) => (line === at + 1 ? [text] : []))
    assert.equal(texts.length, says ? 1 : 0, `${what}: ${texts.join('\n')}`)
    if (says) assert.match(texts[0]!, says, what)
  }
})
