/** Subjects of commits are short and say where: `download: an item waits for the disk`. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { ROOT } from './support/sources.ts'

/** Older commits do not follow the rule. */
const SINCE = '2026-11-25T00:00:00Z'
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

test('all subjects since then follow the rule, as far as the history is available', (t) => {
  const log = git('log', '--no-merges', `--since=${SINCE}`, '--format=%s')
  if (log === undefined) return t.skip('there is no history here, or git does not read it')

  assert.deepEqual(
    log.split('\n').filter((subject) => subject !== '' && !isFit(subject)),
    [],
  )
})
