/**
 * Loaded with the tests of a group (`groups.ts`): a test that stands still is named, with what its process waits for,
 * and ends the group. By itself node:test would wait until the limit of the group.
 */
import { beforeEach } from 'node:test'

/** Several times what the longest test takes on a busy machine. */
const LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 600_000)

let running = { name: 'the first test', sinceMs: performance.now() }
beforeEach((test) => {
  running = { name: test.name, sinceMs: performance.now() }
})

setInterval(() => {
  if (performance.now() - running.sinceMs < LIMIT_MS) return
  const waitsFor = process.getActiveResourcesInfo().join(', ')
  process.stderr.write(`"${running.name}", or what comes after it, stands still; the process waits for ${waitsFor}\n`)
  process.exit(1)
}, LIMIT_MS / 20).unref()
