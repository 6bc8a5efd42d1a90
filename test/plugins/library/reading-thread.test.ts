/** The thread that reads places: what does not answer in time is given up, and the next one reads on. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { startReading } from '../../../plugins/library/reading-thread.ts'
import { lastFirst } from '../../support/last-first.ts'

test('who waits for a disk that does not answer is told, and the next thread reads on', async (t) => {
  const scope = lastFirst(t)
  // A thread takes longer to begin.
  const late = startReading({ limitMs: 1 })
  scope.after(() => late.end())
  const next = startReading()
  scope.after(() => next.end())
  const args = { path: tmpdir(), roots: [], endings: [] }

  await assert.rejects(late.ask('open', args), /The disk does not answer; try again later/)

  await late.end()
  assert.equal(await next.ask('open', args), 1)
})
