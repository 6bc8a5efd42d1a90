/** The README fits on one screen, and the Makefile's targets are documented where they are used. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './support/sources.ts'

const read = (path: string) => readFile(join(ROOT, path), 'utf8')

test('the README says in one screen what Archivolt is, how to run it and how to sign in', async () => {
  const readme = await read('README.md')

  assert.ok(readme.split('\n').length <= 60)
  assert.match(readme, /make run/)
  assert.match(readme, /first-password/)
  assert.equal(readme.match(/config\/pictures\/\w+\.jpg/g)?.length, 4)
})

test('every target of the Makefile for people is documented, with its own line in the list', async () => {
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
