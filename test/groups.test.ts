/** Test files are shared out so that every processor has work until the end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsOf } from './support/groups.ts'
import type { TestFile } from './support/needs.ts'

const fileOf = (path: string): TestFile => ({ path, needs: new Set() })

test('each file is in one group; what takes long begins first, and groups grow smaller', () => {
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

test('a file that has not run here yet counts by what it needs', () => {
  const heavy: TestFile = { path: 'z.test.ts', needs: new Set(['chromium']) }

  const [first] = groupsOf([fileOf('a.test.ts'), heavy], {}, 4)

  assert.deepEqual(first, [heavy])
})
