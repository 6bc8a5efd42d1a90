/** The thread that reads places: what does not answer in time is given up, and the next one reads on. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startReading } from '../../../plugins/library/reading-thread.ts'
import { temporaryFolder } from '../../support/folder.ts'
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

test('what takes longer than a disk is waited for, and goes on, is read to its end; what stops half way is given up', async (t) => {
  const scope = lastFirst(t)
  const limitMs = 2000
  const folder = await temporaryFolder(scope)
  const path = join(folder, 'youtarr.sql')
  execFileSync('mkfifo', [path])
  const reading = startReading({ limitMs })
  scope.after(() => reading.end())
  const asked = () =>
    reading.ask('catalog', { own: join(folder, 'own'), path: folder, roots: [folder], at: path, kind: 'youtarr' })
  const film = "CREATE TABLE `Videos` (\n  `youtubeId` x,\n  `filePath` x\n);\nINSERT INTO `Videos` VALUES ('v','f');\n"

  const whole = asked()
  const dump = await open(path, 'w')
  await dump.write(film)
  for (const end = Date.now() + 2 * limitMs; Date.now() < end; ) await dump.write(`-- ${'x'.repeat(60_000)}\n`)
  await dump.close()
  assert.equal((await whole).read?.films, 1)

  const cut = asked()
  cut.catch(() => undefined)
  const stopped = await open(path, 'w')
  scope.after(() => stopped.close())
  await stopped.write(film)
  await assert.rejects(cut, /The disk does not answer; try again later/)
})
