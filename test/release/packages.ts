/** What authors of plugins install, by npm, in a folder that has nothing else of this project: `make test-release`. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { buildPackages } from '../../config/build-packages.ts'
import manifest from '../../package.json' with { type: 'json' }

/** Not the environment of the tests that this is a part of. */
const { NODE_TEST_CONTEXT: _inner, NODE_OPTIONS: _options, ...env } = process.env
const run = (program: string, args: string[], cwd: string): Promise<{ stdout: string }> =>
  promisify(execFile)(program, args, { cwd, env })

const VERSIONS: Readonly<Record<string, string>> = { ...manifest.dependencies, ...manifest.devDependencies }

/** Outside the tree: nothing of its packages is found from there. */
let folder: string
let tarballs: string[]
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archivolt-authors-'))
  tarballs = await buildPackages(join(folder, 'tarballs'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  const needed = [tarball('archivolt-plugin'), ...['tsx', 'typescript'].map((name) => `${name}@${VERSIONS[name]}`)]
  await run('npm', ['install', '--no-audit', '--no-fund', ...needed], folder)
})
after(() => rm(folder, { recursive: true, force: true }))

const tarball = (name: string): string => tarballs.find((path) => path.includes(`/${name}-`))!

async function aProject(name: string, files: Record<string, string>): Promise<string> {
  const project = join(folder, name)
  await mkdir(project)
  for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files }))
    await writeFile(join(project, path), text)
  return project
}

/** Counts what comes into the archive. */
const PLUGIN = `import { definePlugin, defineRoute, Type } from '@archivolt/plugin'

const Count = Type.Object({ count: Type.Integer() })
let count = 0
const show = defineRoute({
  method: 'GET', path: '/api/counter/', access: 'user', summary: 'What has come', reply: Count, handle: () => ({ count }),
})

export default definePlugin({
  name: 'counter',
  api: 1,
  needs: ['video'],
  routes: [show],
  on: {
    'video.added': ({ videos }) => async ({ id }) => {
      if (await videos.get(id)) count++
    },
  },
})
`
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo, testApp } from '@archivolt/plugin/testing'
import counter from './plugin.EXT'

test('what has come is counted', async (t) => {
  const app = await testApp(t, { plugins: [counter] })

  await app.download(aVideo({ id: 'v1', title: 'Fog' }))

  assert.deepEqual((await app.as('user').get('/api/counter/')).body, { count: 1 })
  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.title, 'Fog')
  assert.equal((await app.as('nobody').get('/')).status, 200)
})
`
const tested = (extension: string): string => TEST.replace('EXT', extension)

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, allowImportingTsExtensions: true },
    types: ['node'],
  },
  include: ['*.ts'],
})
const tsc = (project: string): Promise<{ stdout: string }> => run('npx', ['tsc', '-p', '.'], project)

test('a plugin in TypeScript finds its types: services, events and hooks of all plugins', async () => {
  const files = { 'plugin.ts': PLUGIN, 'plugin.test.ts': tested('ts'), 'tsconfig.json': TSCONFIG }
  const project = await aProject('typed', files)

  await tsc(project)
  await writeFile(join(project, 'plugin.ts'), PLUGIN.replace('videos.get(id)', 'videos.got(id)'))

  await assert.rejects(tsc(project), ({ stdout }) => /plugin\.ts\(16,\d+\): error TS\d+: Property 'got'/.test(stdout))
})

test('a plugin in JavaScript is tested against the whole server, by node alone', async () => {
  const project = await aProject('plain', { 'plugin.js': PLUGIN, 'plugin.test.js': tested('js') })

  const { stdout } = await run(process.execPath, ['--test'], project)

  assert.match(stdout, /# pass 1\n# fail 0/)
})

for (const parts of ['route,event,task,preference', 'preference', '']) {
  test(`what npm create writes passes its test at once, with ${parts || 'no'} parts`, async () => {
    const name = `tide${parts.split(',').length}${parts.length}`
    const creator = [
      'exec',
      '--yes',
      `--package=${tarball('create-archivolt-plugin')}`,
      '--',
      'create-archivolt-plugin',
    ]

    await run('npm', [...creator, name, `--parts=${parts}`], folder)
    const { stdout } = await run('npm', ['test'], join(folder, `archivolt-plugin-${name}`))

    assert.match(stdout, /# fail 0/)
    assert.doesNotMatch(stdout, /# pass 0/)
  })
}

/** Written with the package and plugins/README.md alone: an event, a preference, an index, a route and a page. */
const DIARY = {
  'plugin.ts': `import { type AppOf, defineIndex, definePlugin, defineRoute, listing, localDay, type PreferencesOf, Type } from '@archivolt/plugin'

const Day = Type.Object({ day: Type.String(), titles: Type.Array(Type.String()) })
const diary = defineIndex({ name: 'diary', doc: Day, fields: { day: { type: 'keyword', sort: true } } })
const preferences = { diary: { most: Type.Integer({ title: 'Titles a day', minimum: 1, maximum: 100, default: 10 }) } }

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    diary: PreferencesOf<typeof preferences.diary>
  }
}

type App = AppOf<'diary' | 'video'>

const list = defineRoute({
  method: 'GET', path: '/api/diary/', access: 'user', summary: 'What came on each day', envelope: 'page', reply: Day,
  async handle({ page }, { index }: App) {
    const sort = [{ by: 'day' as const, order: 'desc' as const }]
    const { hits, total } = await index.collection(diary).find({ sort, from: page.from, size: page.size })
    return listing(hits.map(({ text }) => text), total)
  },
})

export default definePlugin({
  name: 'diary', api: 1, needs: ['video'], indexes: [diary], routes: [list], preferences,
  page: { title: 'Diary', module: new URL('./page.ts', import.meta.url) },
  on: {
    'video.added': ({ clock, index, preferences, videos }: App) => async ({ id }) => {
      const video = await videos.get(id)
      if (!video) return
      const days = index.collection(diary)
      const day = localDay(clock.now())
      const before = (await days.get(day))?.titles ?? []
      const titles = [...new Set([...before, video.title])].slice(0, preferences.section('diary').most)
      await days.put(day, { day, titles }, { visible: true })
    },
  },
})
`,
  'page.ts': `import type { Start } from '@archivolt/plugin/page'

const start: Start = async ({ root, api, texts, components }) => {
  const { data } = await api.get<{ data: Array<{ day: string; titles: string[] }> }>('/api/diary/')
  for (const { day, titles } of data)
    root.append(components.heading(texts.day(day)), components.list(titles.map((title) => ({ title }))))
  if (data.length === 0) root.append(components.empty('Nothing yet'))
}
export default start
`,
  'plugin.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo, testApp } from '@archivolt/plugin/testing'
import diary from './plugin.ts'

test('what comes is in the diary, up to as much as was chosen, and its page is there', async (t) => {
  const app = await testApp(t, { plugins: [diary] })
  await app.as('admin').post('/api/config/', { diary: { most: 1 } })

  await app.download(aVideo({ id: 'v1', title: 'Fog' }))
  await app.download(aVideo({ id: 'v2', title: 'Nets' }))

  const { body } = await app.as('user').get('/api/diary/')
  assert.deepEqual(body.data.map(({ titles }: { titles: string[] }) => titles), [['Fog']])
  const [page] = (await app.as('user').get('/api/plugin/page/')).body
  assert.deepEqual(page, { plugin: 'diary', title: 'Diary', asks: ['GET /api/diary/'] })
  assert.equal((await app.as('nobody').get('/plugin-page/diary/')).status, 200)
})
`,
  'tsconfig.json': TSCONFIG,
}

test('a ninth plugin, written from the documents alone: an event, a preference, an index, a route, a page', async () => {
  const project = await aProject('diary', DIARY)

  await tsc(project)
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', 'plugin.test.ts'], project)

  assert.match(stdout, /# pass 1\n# fail 0/)
})

test('the recipes in the package find their types', async () => {
  const project = await aProject('recipes', { 'tsconfig.json': TSCONFIG.replace('*.ts', '*/*.ts') })
  await cp(join(folder, 'node_modules/@archivolt/plugin/recipes'), project, { recursive: true })

  await tsc(project)
})
