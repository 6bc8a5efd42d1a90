/** The page that people read first fits on a screen, and the targets of the Makefile are told where one works on it. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './support/sources.ts'

const read = (path: string) => readFile(join(ROOT, path), 'utf8')

test('the README says in one screen what it is, how it runs and how one signs in', async () => {
  const readme = await read('README.md')

  assert.ok(readme.split('\n').length <= 60)
  assert.match(readme, /make run/)
  assert.match(readme, /first-password/)
  assert.equal(readme.match(/config\/pictures\/\w+\.jpg/g)?.length, 4)
})

test('every target of the Makefile that people call is told, with a line of its own in its list', async () => {
  const [makefile, contributing] = await Promise.all([read('Makefile'), read('.github/CONTRIBUTING.md')])
  const targets = [...makefile.matchAll(/^([a-z-]+):.*## \S/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help')

  assert.deepEqual(targets, [
    'run',
    'check',
    'test',
    'test-release',
    'dev',
    'bench',
    'soak',
    'demo',
    'pictures',
    'rotate-key',
    'index-move',
    'release',
    'package',
    'format',
    'clean',
  ])
  for (const name of targets) assert.ok(contributing.includes(`make ${name}`), name)
})
