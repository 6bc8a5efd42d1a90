/** The bundle: which files a start loads, and how the engine stores them. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { bundle } from '../../config/build.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Packages with at least 70 kB of source that few or no starts need. */
const LATER = ['mime-db', 'yaml', 'tar-stream', 'undici', 'prom-client', 'openid-client', 'marked']
const code = new Map<string, string>()

before(async (t) => {
  const folder = join(await temporaryFolder(t as TestContext), 'dist')
  await bundle(folder)
  for (const name of await readdir(folder, { recursive: true }))
    if (/\.c?js$/.test(name) && !name.startsWith('plugins/web/static/'))
      code.set(name, await readFile(join(folder, name), 'utf8'))
})

/** The files that these load by `import … from`, including themselves. */
function loadedBy(names: readonly string[]): Set<string> {
  const loaded = new Set(names)
  for (const name of loaded)
    for (const [, from] of code.get(name)!.matchAll(/^(?:import|\}) [^'"]*["'](\.[^"']+)["'];$/gm))
      loaded.add(join(dirname(name), from!))
  return loaded
}

const packagesIn = (names: Iterable<string>): Set<string> =>
  new Set(
    [...names].flatMap((name) =>
      [...code.get(name)!.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, found]) => found!),
    ),
  )

test('a start does not load packages that are needed only later', () => {
  const packages = packagesIn(
    loadedBy([...code.keys()].filter((name) => /^(main|plugins\/\w+\/plugin)\.js$/.test(name))),
  )

  assert.ok(packages.has('typebox') && packages.has('find-my-way'), [...packages].join(' '))
  assert.deepEqual(
    LATER.filter((name) => packages.has(name)),
    [],
  )
})

test('the index thread, which stays in memory, has a package for stems and no other', () => {
  assert.deepEqual([...packagesIn(['plugins/sqlite/worker.cjs'])], ['stemmer'])
})

test('no file has a character that makes the engine store it with two bytes per character', () => {
  assert.ok(code.size > 40, String(code.size))
  const wide = [...code].filter(([, text]) => /[^\0-\xff]/.test(text)).map(([name]) => name)

  assert.deepEqual(wide, [])
})
