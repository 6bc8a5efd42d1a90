/** Subjects of commits are short and say where: `download: an item waits for the disk`. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { ROOT } from './support/sources.ts'

/** The commit from which on they are held to it. */
const SINCE = '1d0917dec67e644f6fc0052df1fcb04f2b967eda'
const LONGEST = 72
const SCOPED = /^[a-z][a-z-]*(?:, [a-z][a-z-]*)*: \S/

const isFit = (subject: string): boolean => [...subject].length <= LONGEST && SCOPED.test(subject)

function git(...words: string[]): string | undefined {
  try {
    return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}

test('a subject has a scope and at most 72 characters', () => {
  assert.ok(isFit('download, web: what waits says why'))
  assert.ok(isFit(`web: ${'x'.repeat(67)}`))
  assert.ok(!isFit(`web: ${'x'.repeat(68)}`))
  assert.ok(!isFit('What waits says why'))
})

test('the subjects of all commits since then are such', (t) => {
  if (git('merge-base', '--is-ancestor', SINCE, 'HEAD') === undefined)
    return t.skip(`the history here, if there is one, does not reach back to ${SINCE.slice(0, 9)}`)

  const subjects = git('log', '--no-merges', '--format=%s', `${SINCE}..HEAD`)!.split('\n').filter(Boolean)

  assert.deepEqual(
    subjects.filter((subject) => !isFit(subject)),
    [],
  )
})
