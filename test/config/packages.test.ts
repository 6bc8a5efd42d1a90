/** What authors of plugins install, as npm packs it, in a folder that has nothing else of this project. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { buildPackages } from '../../config/build-packages.ts'
import { findOutside } from '../../core/plugin/find.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ROOT } from '../support/sources.ts'

const run = promisify(execFile)

let tarballs: string[]
before(async (t) => {
  tarballs = await buildPackages(await temporaryFolder(t as TestContext))
})

const tarball = (name: string): string => tarballs.find((path) => path.includes(`/${name}-`))!

const unpack = async (name: string, place: string): Promise<void> => {
  await mkdir(place, { recursive: true })
  await run('tar', ['xzf', tarball(name), '--strip-components=1', '-C', place])
}

/** As `npm install` would have filled it; what comes from the registry is that of this project. */
async function install(folder: string): Promise<void> {
  const place = join(folder, 'node_modules/@archivolt/plugin')
  await unpack('archivolt-plugin', place)
  const { dependencies } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) await link(folder, name)
}

async function aProject(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(t)
  await install(folder)
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files }))
    await writeFile(join(folder, name), text)
  return folder
}

async function link(folder: string, name: string): Promise<void> {
  const place = join(folder, 'node_modules', name)
  await mkdir(dirname(place), { recursive: true })
  await symlink(join(ROOT, 'node_modules', name), place)
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
})
`
const tested = (extension: string): string => TEST.replace('EXT', extension)

/** Not that of the tests that this is a part of. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _inner, NODE_OPTIONS: _options, ...env } = process.env
  return env
}

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, allowImportingTsExtensions: true },
    types: ['node'],
  },
  include: ['*.ts'],
})
const tsc = (folder: string): Promise<{ stdout: string }> =>
  run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder })

test('in an empty folder a plugin in TypeScript finds its types: services, events and hooks of all plugins', async (t) => {
  const folder = await aProject(t, { 'plugin.ts': PLUGIN, 'plugin.test.ts': tested('ts'), 'tsconfig.json': TSCONFIG })

  await tsc(folder)
  await writeFile(join(folder, 'plugin.ts'), PLUGIN.replace('videos.get(id)', 'videos.got(id)'))

  await assert.rejects(tsc(folder), ({ stdout }) => /plugin\.ts\(16,\d+\): error TS\d+: Property 'got'/.test(stdout))
})

test('a plugin in JavaScript is tested against the whole server, by node alone', async (t) => {
  const folder = await aProject(t, { 'plugin.js': PLUGIN, 'plugin.test.js': tested('js') })

  const { stdout } = await run(process.execPath, ['--test'], { cwd: folder, env: ownEnvironment() })

  assert.match(stdout, /# pass 1\n# fail 0/)
})

/** Makes a plugin as `npm create` does. @returns the folder that it is made in */
async function created(t: TestContext, ...args: string[]): Promise<string> {
  const folder = await temporaryFolder(t)
  const place = join(folder, 'node_modules/create-archivolt-plugin')
  await unpack('create-archivolt-plugin', place)
  await run(process.execPath, [join(place, 'create.js'), ...args], { cwd: folder, env: ownEnvironment() })
  return folder
}

for (const parts of ['route,event,task,preference', 'preference', '']) {
  test(`what npm create writes passes its test at once, with ${parts || 'no'} parts`, async (t) => {
    const folder = join(await created(t, 'tide', `--parts=${parts}`), 'archivolt-plugin-tide')
    await install(folder)
    for (const name of ['tsx', 'typescript']) await link(folder, name)

    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    assert.equal(scripts.test, 'tsc && node --import tsx --test plugin.test.ts')
    await tsc(folder)
    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', 'plugin.test.ts'], {
      cwd: folder,
      env: ownEnvironment(),
    })

    assert.match(stdout, /# fail 0/)
    assert.doesNotMatch(stdout, /# pass 0/)
  })
}

test('what npm create has made is a plugin that the server finds', async (t) => {
  const folder = await created(t, 'tide', '--parts=')

  const [found] = await findOutside([folder], await temporaryFolder(t))

  assert.deepEqual([found?.plugin.name, found?.plugin.version], ['tide', '0.1.0'])
})

const REFUSED: Array<[what: string, args: string[], says: RegExp]> = [
  ['a name that is none', ['My Tide', '--parts='], /^"My Tide" cannot be its name: use up to 40 lower-case/],
  ['no name, where nobody can be asked', [], /^The plugin has no name yet: use/],
  ['a part that there is not', ['tide', '--parts=route,rout'], /^There is no part "rout": choose of route, event/],
]

for (const [what, args, says] of REFUSED) {
  test(`npm create refuses ${what} with a sentence`, async (t) => {
    await assert.rejects(created(t, ...args), ({ code, stderr }) => code === 1 && says.test(stderr))
  })
}

test('npm create takes nothing away that is there', async (t) => {
  const folder = await created(t, 'tide', '--parts=')
  const create = join(folder, 'node_modules/create-archivolt-plugin/create.js')

  await assert.rejects(run(process.execPath, [create, 'tide', '--parts='], { cwd: folder }), ({ stderr }) =>
    /archivolt-plugin-tide is there already: choose another name, or remove it\n$/.test(stderr),
  )
})
