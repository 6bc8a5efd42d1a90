/**
 * Loaded with the tests of a group (`groups.ts`): reports a test that hangs, with what its process waits for and what
 * `hanging.ts` was told to show, and ends the group. Otherwise node:test would wait for the time limit of the group.
 */
import { afterEach, beforeEach } from 'node:test'

const LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 60_000)
/** Limit for what lies between tests: loading all files of the group, and starting the servers of the next tests. */
const BETWEEN_MS = 120_000
const TELLING_MS = 15_000
/** Read by `summary.mjs`. */
const STOOD_STILL = 70

/** @type {{ name: string, limitMs: number, endsAt: number, tell: Set<(name: string) => Promise<string>> }} */
const running = (globalThis[Symbol.for('archivolt.running')] = {
  name: 'the first test',
  limitMs: LIMIT_MS,
  endsAt: performance.now() + BETWEEN_MS,
  tell: new Set(),
})
beforeEach(({ name }) => {
  running.name = name
  running.endsAt = performance.now() + running.limitMs
})
afterEach(() => {
  running.endsAt = performance.now() + Math.max(running.limitMs, BETWEEN_MS)
})

const looks = setInterval(async () => {
  if (performance.now() < running.endsAt) return
  clearInterval(looks)
  const waitsFor = process.getActiveResourcesInfo().join(', ')
  process.stderr.write(`"${running.name}", or what comes after it, stands still; the process waits for ${waitsFor}\n`)
  const told = [...running.tell].map((tell) => tell(running.name).catch((error) => `It cannot be shown: ${error}`))
  const tooLong = new Promise((resolve) => setTimeout(resolve, TELLING_MS, ['It does not answer']))
  for (const text of await Promise.race([Promise.all(told), tooLong])) process.stderr.write(`${text}\n`)
  process.exit(STOOD_STILL)
}, LIMIT_MS / 20).unref()
