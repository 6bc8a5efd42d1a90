/** The bundle: what a start loads of it, and how the engine holds it. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { bundle } from '../../config/build.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Packages of at least 70 kB of source for what few do, or nobody does at a start. */
const LATER = ['mime-db', 'yaml', 'tar-stream', 'undici', 'prom-client', 'openid-client', 'marked']
const code = new Map<string, string>()

before(async (t) => {
  const folder = join(await temporaryFolder(t as TestContext), 'dist')
  await bundle(folder)
  for (const name of await readdir(folder, { recursive: true }))
    if (/\.c?js$/.test(name) && !name.startsWith('plugins/web/static/'))
      code.set(name, await readFile(join(folder, name), 'utf8'))
})

/** Files that one loads by `import … from`, itself included. */
function loadedBy(names: readonly string[]): Set<string> {
  const loaded = new Set(names)
  for (const name of loaded)
    for (const [, from] of code.get(name)!.matchAll(/^(?:import|\}) [^'"]*["'](\.[^"']+)["'];$/gm))
      loaded.add(join(dirname(name), from!))
  return loaded
}

test('a start loads no package that is needed later', () => {
  const atStart = loadedBy([...code.keys()].filter((name) => /^(main|plugins\/\w+\/plugin)\.js$/.test(name)))

  const packages = new Set(
    [...atStart].flatMap((name) =>
      [...code.get(name)!.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, found]) => found!),
    ),
  )

  assert.ok(packages.has('typebox') && packages.has('find-my-way'), [...packages].join(' '))
  assert.deepEqual(
    LATER.filter((name) => packages.has(name)),
    [],
  )
})

test('no file has a character that makes the engine hold it in two bytes each', () => {
  assert.ok(code.size > 40, String(code.size))
  const wide = [...code].filter(([, text]) => /[^\0-\xff]/.test(text)).map(([name]) => name)

  assert.deepEqual(wide, [])
})
