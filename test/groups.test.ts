/** The distribution of test files to processes, which keeps all processors busy until the end. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from './support/folder.ts'
import { groupsOf, loaderOf } from './support/groups.ts'
import type { TestFile } from './support/needs.ts'
import { ROOT } from './support/sources.ts'

const fileOf = (path: string): TestFile => ({ path, needs: new Set(), without: new Set() })

test('each file is in one group; long files start first, and groups become smaller', () => {
  const times = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}.test.ts`, at === 7 ? 90_000 : 5000]))
  const files = Object.keys(times).map(fileOf)

  const groups = groupsOf(files, times, 4)

  assert.deepEqual(
    groups.flat().toSorted((a, b) => files.indexOf(a) - files.indexOf(b)),
    files,
  )
  assert.deepEqual(
    groups[0]!.map(({ path }) => path),
    ['7.test.ts'],
  )
  const sizes = groups.slice(1).map(({ length }) => length)
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => b - a),
  )
  assert.ok(sizes[0]! > 4 && sizes.at(-1)! <= 2, String(sizes))
})

test('a long file shares its group with long ones alone', () => {
  const long = ['a', 'b'].map((name): TestFile => ({ ...fileOf(`${name}.test.ts`), needs: new Set(['long']) }))

  const groups = groupsOf([fileOf('c.test.ts'), ...long, fileOf('d.test.ts')], {}, 1)

  assert.deepEqual(groups.slice(0, -1).flat(), long)
  assert.deepEqual(groups.at(-1), [fileOf('c.test.ts'), fileOf('d.test.ts')])
})

test('a file that has not run here yet is estimated by its needs', () => {
  const heavy: TestFile = { ...fileOf('z.test.ts'), needs: new Set(['chromium']) }

  const [first] = groupsOf([fileOf('a.test.ts'), heavy], {}, 4)

  assert.deepEqual(first, [heavy])
})

/** Throws while the test of the other file creates its server. */
const THROWS = `import { setImmediate } from 'node:timers/promises'
while (!globalThis.hasBegun) await setImmediate()
globalThis.hasThrown = true
document.title = 'a page'
`
const SERVES = `import { createServer } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
test('it serves', async (t) => {
  globalThis.hasBegun = true
  while (!globalThis.hasThrown) await setImmediate()
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  const server = createServer().listen(0)
  t.after(() => server.close())
})
`

async function runGroup(
  t: TestContext,
  files: Record<string, string>,
  { reporter = 'tap', ...more }: NodeJS.ProcessEnv & { reporter?: string } = {},
) {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, `${name}.test.js`), content)
  await writeFile(join(folder, 'group.test.mjs'), loaderOf(Object.keys(files).map((name) => `${name}.test.ts`)))

  const unfollowed = `--require=${join(ROOT, 'test/support/unfollowed.cjs')}`
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, ...more }
  const child = spawn(
    process.execPath,
    [unfollowed, '--test', `--test-reporter=${reporter}`, join(folder, 'group.test.mjs')],
    {
      ...{ env, timeout: 60_000, killSignal: 'SIGKILL' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = once(child, 'exit')
  return { said: await text(child.stdout), ended: await ended }
}

test('a file that throws while it is loaded fails by its name, and the tests of its group run and end', async (t) => {
  const { said, ended } = await runGroup(t, { serves: SERVES, throws: THROWS })

  assert.match(said, /^not ok \d+ - throws\.test\.ts can be loaded$/m)
  assert.match(said, /document is not defined/)
  assert.match(said, /^ok \d+ - it serves$/m)
  assert.deepEqual(ended, [1, null])
})

test('a test that hangs is reported with what its process waits for, and ends its group', async (t) => {
  const waits = `import { test } from 'node:test'
test('it waits', () => new Promise(() => setInterval(() => undefined, 1000)))
`
  const { said, ended } = await runGroup(t, { waits }, { TEST_LIMIT_MS: '200' })

  assert.match(said, /"it waits", or what comes after it, stands still; the process waits for .*Timeout/)
  assert.deepEqual(ended, [1, null])
})

test('a test that announces a long duration, for itself or all, is not ended; one that hangs shows its registered report', async (t) => {
  const hanging = JSON.stringify(pathToFileURL(join(ROOT, 'test/support/hanging.ts')).href)
  const waits = `import { test } from 'node:test'
import { eachMayTake, mayTake, whenHanging } from ${hanging}
test('it is slow', async () => {
  mayTake(60)
  await new Promise((resolve) => setTimeout(resolve, 500))
  eachMayTake(60)
})
test('so is this', () => new Promise((resolve) => setTimeout(resolve, 500)))
test('it hangs', () => {
  mayTake(0.2)
  whenHanging(async (name) => 'a picture of ' + name)
  return new Promise(() => setInterval(() => undefined, 1000))
})
`
  const { said } = await runGroup(t, { waits }, { TEST_LIMIT_MS: '200', NODE_OPTIONS: '--import tsx' })

  assert.match(said, /^ok \d+ - it is slow$/m)
  assert.match(said, /^ok \d+ - so is this$/m)
  assert.match(said, /"it hangs", or what comes after it, stands still/)
  assert.match(said, /a picture of it hangs/)
})

test('the report of a run gives the reason why a process ended, and the groups that hung without a failure', async (t) => {
  const outcome = join(await temporaryFolder(t), 'outcome.json')
  const waitsAfter = (first: string) => `import { test } from 'node:test'
test('the first', () => ${first})
test('it waits', () => new Promise(() => setInterval(() => undefined, 1000)))
`
  // Uses one file, because the files of a group load in parallel and their order varies.
  const reported = async (first: string) => {
    const reporter = join(ROOT, 'test/support/summary.mjs')
    const { said } = await runGroup(
      t,
      { waits: waitsAfter(first) },
      { TEST_LIMIT_MS: '200', TEST_OUTCOME: outcome, reporter },
    )
    const { failed, stoodStill } = JSON.parse(await readFile(outcome, 'utf8'))
    return { said, failed, stoodStill: stoodStill.map((path: string) => basename(path)) }
  }

  const { said, ...alone } = await reported('undefined')
  assert.match(said, /its process ended with exit code 70; the end of its log:\n.*"it waits", or what comes after it/)
  assert.deepEqual(alone, { failed: 0, stoodStill: ['group.test.mjs'] })
  assert.equal((await reported('Promise.reject(new Error())')).failed, 1)
})
