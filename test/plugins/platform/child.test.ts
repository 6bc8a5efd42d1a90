/** A child process of the platform by itself: its limits, how it ends, and which requests it serves. */
import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../core/base/clock.ts'
import { openLog } from '../../../core/log.ts'
import { ChildError, type Launch, openChild } from '../../../plugins/platform/child.ts'
import { openDownloadChildren } from '../../../plugins/platform/download-children.ts'
import { testClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'

const log = openLog('silent')

/** A launch whose program is this shell script instead of Python. */
async function givenProgram(t: TestContext, script: string): Promise<Launch> {
  const folder = await temporaryFolder(t)
  const python = join(folder, 'program')
  await writeFile(python, `#!/bin/sh\nread setup\necho '{"ready": {"version": "1", "channel": "stable"}}'\n${script}\n`)
  await chmod(python, 0o700)
  return {
    python,
    worker: 'worker.py',
    memoryLimitBytes: 1 << 30,
    setup: {
      platformUrl: 'http://127.0.0.1:1',
      fileHosts: [],
      paths: [],
      jsRuntimes: {},
      inputFormats: '',
      ffmpeg: null,
      cacheDir: null,
      jar: null,
      route: {},
      retryPause: 1,
      socketTimeout: 1,
    },
  }
}

const endedAs = (kind: string) => (error: unknown) => error instanceof ChildError && error.evidence.kinds.includes(kind)

test('a child that prints too much, or invalid JSON, is killed', async (t) => {
  for (const [script, kind] of [
    ['read request; head -c 5000000 /dev/zero; sleep 60', 'TooLong'],
    ["read request; echo 'not json'; sleep 60", 'BadLine'],
    ['read request; exit 3', 'ChildDied'],
  ] as const) {
    const child = openChild(await givenProgram(t, script), systemClock, log)

    await assert.rejects(child.ask({ op: 'x' }, { quietMs: 60_000 }), endedAs(kind), kind)

    await child.ended
  }
})

test('a request that was cancelled before it began ends the child instead of waiting for it', async (t) => {
  const child = openChild(await givenProgram(t, 'read request; sleep 600'), systemClock, log)
  await child.ready

  await assert.rejects(
    child.ask({ op: 'x' }, { quietMs: 60_000, signal: AbortSignal.abort(new Error('called off')) }),
    /called off/,
  )

  assert.equal(child.isEnded, true)
})

test('a child over its memory limit is killed with everything that it has started', async (t) => {
  const clock = testClock()
  const launch = await givenProgram(t, 'sleep 600 & read request; echo "{\\"id\\": 1, \\"part\\": [$!]}"; wait')
  const child = openChild({ ...launch, memoryLimitBytes: 1000 }, clock, log)
  let grandchild = 0
  const asked = assert.rejects(
    child.ask({ op: 'x' }, { quietMs: 60_000, onPart: ([pid]) => (grandchild = pid as number) }),
    endedAs('Memory'),
  )
  while (grandchild === 0) await new Promise((resolve) => setImmediate(resolve))

  await clock.advance(2000)

  await asked
  await child.ended
  while (isThere(grandchild)) await new Promise((resolve) => setImmediate(resolve))
})

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Prints its process id, renews the jar if the request says so, and fails in each way that the request names. */
const DOWNLOADS = `n=0
while read request; do
  n=$((n+1))
  case $request in
    *renew*) printf '{"id": %d, "result": {"pid": %d}, "jar": "renewed"}\\n' $n $$;;
    *refuse*) printf '{"id": %d, "error": {"kinds": ["DownloadError", "ExtractorError"], "message": "no"}}\\n' $n;;
    *cut*) printf '{"id": %d, "progress": {"downloaded": 1}}\\n{"id": %d, "error": {"kinds": ["ExtractorError"], "message": "no"}}\\n' $n $n;;
    *fail*) printf '{"id": %d, "error": {"kinds": ["FFmpegPostProcessorError"], "message": "no"}}\\n' $n;;
    *) printf '{"id": %d, "result": {"pid": %d}}\\n' $n $$;;
  esac
done`

test('the next download reuses the child of the last one, as long as the same program would be started', async (t) => {
  const clock = testClock()
  let launch = await givenProgram(t, DOWNLOADS)
  const children = openDownloadChildren({
    clock,
    log,
    launch: async () => ({ launch, onJar: () => undefined, onTokenNews: () => undefined }),
  })
  t.after(() => children.end())
  const download = async (op = 'download') => Number((await children.ask({ op }, { quietMs: 60_000 })).result.pid)
  const isGone = async (pid: number) => {
    while (isThere(pid)) await new Promise((resolve) => setImmediate(resolve))
  }

  const first = await download()
  assert.equal(getPriority(first), constants.priority.PRIORITY_BELOW_NORMAL, 'it gives way to the server')
  assert.equal(await download('renew'), first)
  launch = { ...launch, setup: { ...launch.setup, jar: 'renewed' } }
  assert.equal(await download(), first)
  const [one, other] = await Promise.all([download(), download()])
  assert.notEqual(one, other)
  assert.ok([one, other].includes(first))

  launch = { ...launch, setup: { ...launch.setup, jar: 'of somebody else' } }
  const second = await download()
  await Promise.all([one, other].map(isGone))
  await assert.rejects(download('refuse'), endedAs('DownloadError'))
  assert.equal(await download(), second, 'it was refused before it had anything')
  await assert.rejects(download('fail'), endedAs('FFmpegPostProcessorError'))
  await isGone(second)
  const third = await download()
  await assert.rejects(download('cut'), endedAs('ExtractorError'))
  await isGone(third)

  const fourth = await download()
  await clock.advance(30_000)
  await isGone(fourth)
})
