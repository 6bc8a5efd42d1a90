/** `npm create archivolt-plugin`: what it writes and what it refuses. test/release/ installs and tests the result. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { creatorPackage } from '../../config/build-packages.ts'
import { findBuiltIn, findOutside } from '../../config/cli/find-plugins.ts'
import { buildPages } from '../../config/cli/pages.ts'
import { registerPlugins } from '../../core/plugin/load.ts'
import { temporaryFolder } from '../support/folder.ts'

const run = promisify(execFile)

let create: string
before(async (t) => {
  create = join(await creatorPackage(await temporaryFolder(t as TestContext)), 'create.js')
})

/** @returns the folder in which the plugin is created */
async function created(t: TestContext, ...args: string[]): Promise<string> {
  const folder = await temporaryFolder(t)
  await run(process.execPath, [create, ...args], { cwd: folder })
  return folder
}

test('the server finds the created plugin', async (t) => {
  const folder = await created(t, 'tide', '--parts=')

  const [found] = await findOutside([folder], await temporaryFolder(t))

  assert.deepEqual([found?.plugin.name, found?.plugin.version], ['tide', '0.1.0'])
})

test('it creates every chosen part; hyphens of the name are replaced in tables and paths; --help lists the parts', async (t) => {
  const parts = ['route', 'event', 'task', 'preference', 'secret', 'table', 'command', 'page', 'button']
  const folder = await created(t, 'high-tide', `--parts=${parts.join()}`)
  const own = join(folder, 'archivolt-plugin-high-tide')

  const [found] = await findOutside([folder], await temporaryFolder(t))

  const { plugin } = found!
  assert.equal(plugin.name, 'hightide')
  assert.deepEqual(
    plugin.routes!.map(({ path }) => path),
    ['/api/hightide/', '/api/hightide/mark/:name/'],
  )
  assert.equal(Reflect.get(plugin.preferences!['hightide']!['key']!, 'x-secret'), 'whole')
  assert.deepEqual(
    buildPages([plugin]).map(({ place }) => place),
    ['navigation', 'player'],
  )
  registerPlugins([...(await findBuiltIn()), found!])
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: own })
  const [{ files }] = JSON.parse(stdout) as [{ files: Array<{ path: string }> }]
  assert.deepEqual(
    files.map(({ path }) => path).filter((path) => path.endsWith('.ts')),
    ['button.ts', 'page.ts', 'plugin.ts'],
  )
  const { stdout: help } = await run(process.execPath, [create, '--help'])
  for (const part of parts) assert.match(help, new RegExp(`^ {2}${part} `, 'm'))
})

const REFUSED: Array<[what: string, args: string[], says: RegExp]> = [
  ['a name that is none', ['My Tide', '--parts='], /^"My Tide" cannot be its name: use up to 40 lower-case/],
  ['no name, where nobody can be asked', [], /^The plugin has no name yet: use/],
  [
    'a word that would be ignored',
    ['tide', '--parts', 'route', 'event'],
    /^Unexpected argument: event\. Separate parts by/,
  ],
  ['a part that there is not', ['tide', '--parts=route,rout'], /^There is no part "rout": choose from route, event/],
]

for (const [what, args, says] of REFUSED) {
  test(`it refuses ${what} with a sentence`, async (t) => {
    await assert.rejects(created(t, ...args), ({ code, stderr }) => code === 1 && says.test(stderr))
  })
}

test('it overwrites no existing files', async (t) => {
  const folder = await created(t, 'tide', '--parts=')

  await assert.rejects(run(process.execPath, [create, 'tide', '--parts='], { cwd: folder }), ({ stderr }) =>
    /archivolt-plugin-tide already exists: choose another name, or remove it\n$/.test(stderr),
  )
})
