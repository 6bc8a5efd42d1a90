/** The page that people read first tells of every setting and every target, and of none that is not there. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { declaredVariables } from './support/settings.ts'
import { ROOT } from './support/sources.ts'

const readme = await readFile(join(ROOT, 'README.md'), 'utf8')

test('the README lists every setting of core and plugins, and no other', async () => {
  const declared = await declaredVariables()

  const told = new Set(
    readme
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => line.match(/AV_[A-Z_]+/g) ?? []),
  )

  assert.deepEqual([...told].sort(), declared.sort())
})

test('the first screen says how to run and test it', () => {
  const screen = readme.split('\n').slice(0, 12).join('\n')

  assert.match(screen, /make run/)
  assert.match(screen, /make test/)
})

test('every target of the Makefile that people call is told, with a line of its own in its list', async () => {
  const makefile = await readFile(join(ROOT, 'Makefile'), 'utf8')
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
    'rotate-key',
    'index-move',
    'release',
    'package',
    'format',
    'clean',
  ])
  for (const name of targets) assert.ok(readme.includes(`make ${name}`), name)
})
