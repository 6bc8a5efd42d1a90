/** Files are read in a separate process: a read that hangs says nothing about the next file. */
import assert from 'node:assert/strict'
import { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openReader } from '../../../plugins/checksum/reader.ts'

const BYTES = 3 << 20

test('the late end of a process whose read hung is no answer for another file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'av-reader-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = ['1', '2', '3'].map((name) => ({ path: join(folder, name), bytes: Buffer.alloc(BYTES, name) }))
  for (const { path, bytes } of files) await writeFile(path, bytes)
  const reader = openReader()
  t.after(() => reader.end())
  // The kernel ends a process in an uninterruptible read only when the read returns.
  const hanging: ChildProcess[] = []
  const kill = t.mock.method(ChildProcess.prototype, 'kill', function (this: ChildProcess) {
    hanging.push(this)
    return true
  })
  const stop = new AbortController()
  const hung = reader.read(files[0]!.path, { bytesPerSecond: 1, signal: stop.signal })
  stop.abort(new Error('it hangs'))
  await assert.rejects(hung, /it hangs/)
  kill.mock.restore()

  const { signal } = new AbortController()
  const sums = []
  for (const { path } of files.slice(1)) {
    const sum = reader.read(path, { bytesPerSecond: BYTES, signal })
    const late = hanging.pop()
    if (late) {
      late.kill('SIGKILL')
      await once(late, 'exit')
    }
    sums.push(await sum)
  }

  assert.deepEqual(
    sums.map((sum) => ('code' in sum ? sum.code : sum.sha256.toString('hex'))),
    files.slice(1).map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')),
  )
})
