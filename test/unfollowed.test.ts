/** Runs do not track the promises of their tests, and still report the same as if they did. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { temporaryFolder } from './support/folder.ts'
import { ROOT } from './support/sources.ts'

const UNFOLLOWED = `--require=${join(ROOT, 'test/support/unfollowed.cjs')}`

const SAMPLE = `
import { executionAsyncId } from 'node:async_hooks'
import { after, afterEach, describe, test } from 'node:test'

const never = () => new Promise((resolve) => setTimeout(resolve, 60_000).unref())
after(() => undefined)
describe('outer', () => {
  afterEach(() => undefined)
  describe('inner', () => {
    test('deep', () => undefined)
  })
  test('beside it', (t) => t.test('within', () => undefined))
})
test('a timer throws', async (t) => {
  await t.test('this one is over', () => undefined)
  setTimeout(() => {
    throw new Error('late')
  }, 1)
  await never()
})
test('nobody hears of it', async () => {
  void Promise.reject(new Error('unheard'))
  await never()
})
test('all is well', async () => {
  await null
  console.error(executionAsyncId() === 0 ? 'not followed' : 'followed')
})
`

/** The output of a run of the sample: its results, indented by nesting, and the errors. */
async function runSample(file: string, ...args: string[]): Promise<{ code: unknown; results: string[]; said: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [...args, '--test-reporter=tap', file], { env })
  const code = new Promise((resolve) => child.once('exit', resolve))
  const [output, said] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, results: output.match(/^ *((not )?ok \d.*|error: .*|# fail .*)$/gm) ?? [], said }
}

test('tests without promise tracking nest, pass and fail as usual', async (t) => {
  const file = join(await temporaryFolder(t), 'sample.mjs')
  await writeFile(file, SAMPLE)

  const [followed, unfollowed] = await Promise.all([runSample(file), runSample(file, UNFOLLOWED)])

  assert.equal(unfollowed.said.trim(), 'not followed')
  assert.deepEqual(unfollowed.results, followed.results)
  assert.equal(unfollowed.code, 1)
  assert.ok(unfollowed.results.includes("  error: 'late'"), unfollowed.results.join('\n'))
  assert.ok(unfollowed.results.includes("  error: 'unheard'"), unfollowed.results.join('\n'))
})
