/** Error messages reveal no paths of this machine. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rename } from 'node:fs/promises'
import { test } from 'node:test'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { errors, saidBy, withoutPaths } from '../../core/base/error.ts'
import { toFault } from '../../core/http/fault.ts'
import { readEntries } from '../../plugins/backup/archive.ts'

const NOWHERE = '/srv/secret place/archive/nothing.zip'
const failureOf = (work: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(work)
    .then(
      () => assert.fail('it did not fail'),
      (error: unknown) => error,
    )

test('failures of files, programs and databases are reported without their paths', async () => {
  const failures = [
    await failureOf(() => readFile(NOWHERE)),
    await failureOf(() => rename(NOWHERE, `${NOWHERE}.it's`)),
    await failureOf(() => promisify(execFile)('/srv/secret/programs/ffprobe')),
    await failureOf(() => promisify(execFile)(process.execPath, ['/srv/secret/programs/x.js'])),
    await failureOf(() => new Database(NOWHERE)),
    new Error("[Errno 28] No space left on device: '/srv/secret/archive/x.mp4'"),
    new Error('/srv/secret/archive/x.mp4: Invalid data found'),
  ]
  for (const failure of failures) {
    const said = saidBy(failure)
    assert.doesNotMatch(said, /secret/)
    assert.ok(said.length > 5, said)
    for (const wrapped of [
      errors.unprocessable(`It cannot be read: ${said}`),
      errors.unprocessable(`Not there: ${(failures[0] as Error).message}`),
    ]) {
      assert.doesNotMatch(toFault(wrapped).body, /secret/)
    }
  }
  assert.equal(withoutPaths('Look at /api/backup/ or /media/UC1/abc.mp4'), 'Look at /api/backup/ or /media/UC1/abc.mp4')
  assert.equal(
    saidBy(new Error('http://127.0.0.1:9200/a/b/c/d does not answer')),
    'http://127.0.0.1:9200/a/b/c/d does not answer',
  )
  assert.equal(
    saidBy(new Error('plugin /srv/secret/tide: its route GET /api/tide/:place/ …')),
    'plugin …/tide: its route GET /api/tide/:place/ …',
  )
})

test('a backup that is removed while it is read is reported as missing, and nothing more', async () => {
  const failure = await failureOf(() => readEntries(NOWHERE))
  const { status, body } = toFault(failure)
  assert.equal(status, 404)
  assert.doesNotMatch(body, /srv|secret/)
})
