/** Memory is released when the server becomes idle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseWhenIdle } from '../../core/idle-memory.ts'
import { openLog } from '../../core/log.ts'
import { testClock } from '../support/clock.ts'

const MINUTE_MS = 60_000

test('once in each idle time after a start or a busy time, not during requests', async () => {
  const clock = testClock(Date.UTC(2026, 0, 1))
  let requests = 0
  let released = 0
  const watch = releaseWhenIdle({
    clock,
    log: openLog('silent'),
    requests: () => requests,
    release: async () => void released++,
  })
  const minutes = async (asked: readonly number[]): Promise<number> => {
    const before = released
    for (const count of asked) {
      requests += count
      await clock.advance(MINUTE_MS)
    }
    return released - before
  }

  assert.equal(await minutes([0, 0, 0, 0, 0]), 1, 'of the start')
  assert.equal(await minutes([500, 2, 2]), 0)
  assert.equal(await minutes([2]), 1, 'a health check asks too')
  assert.equal(await minutes([2, 2, 2, 2, 2]), 0)
  assert.equal(await minutes([500, 0, 0, 500, 0, 0]), 0)
  assert.equal(await minutes([0]), 1)
  watch.close()
  assert.equal(await minutes([500, 0, 0, 0, 0]), 0)
})

test('a release that is interrupted by the end of the server is no error, any other failure is', async () => {
  const warnings = async (isEnding: boolean): Promise<number> => {
    const clock = testClock(Date.UTC(2026, 0, 1))
    let warned = 0
    const log = { ...openLog('silent'), warn: () => void warned++ } as never
    let breakOff = (_error: Error): void => undefined
    const release = () => new Promise<void>((_resolve, reject) => void (breakOff = reject))
    const watch = releaseWhenIdle({ clock, log, requests: () => 0, release })
    await clock.advance(MINUTE_MS)
    if (isEnding) watch.close()
    breakOff(new Error('The archive is closing'))
    await clock.advance(MINUTE_MS)
    watch.close()
    return warned
  }
  assert.deepEqual([await warnings(true), await warnings(false)], [0, 1])
})
