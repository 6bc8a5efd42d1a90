/**
 * The promise to authors: within a major version of the plugin API, nothing that a plugin uses is removed or changed.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { declarationFiles, readReleased } from '../../config/declaration-files.ts'
import { API, API_PACKAGE } from '../../core/plugin/api.ts'
import { apiBreaks, complaints } from '../support/api-breaks.ts'
import { temporaryFolder } from '../support/folder.ts'
import { A_TASK, TYPES, told, USES_VIDEO } from '../support/mistakes.ts'
import '../support/long.ts'

let now: ReadonlyMap<string, string>
before(async () => {
  now = await declarationFiles()
})

/** The current declarations with some lines replaced. */
function changed(...changes: Array<[path: string, from: string, to: string]>): Map<string, string> {
  const files = new Map(now)
  for (const [path, from, to] of changes) {
    assert.ok(files.get(path)?.includes(from), `${path} has no ${from}`)
    files.set(path, files.get(path)!.replace(from, to))
  }
  return files
}

test('a plugin for the released version still compiles (for unreleased API, config/declaration-files.ts records it again; for an intended break, increase API in core/plugin/api.ts)', async (t) => {
  const released = await readReleased()
  if (Number.parseInt(released.version, 10) !== API) return

  assert.deepEqual(await apiBreaks(released.files, now, await temporaryFolder(t)), [])
})

test('a removed export, or one with other parameters or results, is a break', async (t) => {
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
  const tokens = `tokens of ${API_PACKAGE}/index`
  for (const name of ['fold', tokens, 'Plugin', 'definePlugin', 'Events', 'Hooks', 'Services', 'WholeApp'])
    assert.ok(names.has(name), `${name} is not told of: ${[...names].join()}`)
})

test('an addition is not a break', async (t) => {
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

const answering = (reply: string, handler: string): string =>
  `defineRoute({ method: 'GET', path: '/api/tide/', access: 'user', summary: 'x', reply: ${reply}, ${handler} })`
const RIGHT = [
  `definePlugin({ name: 'tide', needs: ['video'], routes: [${USES_VIDEO}], tasks: [${A_TASK}] })`,
  answering(
    'Type.Object({ done: Type.Literal(true), days: Type.Array(Type.String()) })',
    "handle: () => ({ done: true, days: ['Monday'] as readonly string[] })",
  ),
  answering('Type.Object({ height: Type.Number() })', 'handle: () => listing([], 0)'),
]

test('the compiler reports a mistake in one error, and accepts correct code', async (t) => {
  const mistakes = told('compile')
  const code = [...mistakes.map(([, , one]) => one as string), ...RIGHT]

  const said = await complaints(await temporaryFolder(t), { [API_PACKAGE]: now }, [
    TYPES,
    ...code.map((one, at) => `export const p${at} = ${one}`),
  ])

  const texts = code.map((_one, at) => said.flatMap(({ line, text }) => (line === at + 1 ? [text] : [])))
  for (const [at, [what, , , says]] of mistakes.entries()) {
    assert.equal(texts[at]!.length, 1, `${what}: ${texts[at]!.join('\n')}`)
    assert.match(texts[at]![0]!, says, what)
  }
  assert.deepEqual(texts.slice(mistakes.length), [[], [], []])
})
