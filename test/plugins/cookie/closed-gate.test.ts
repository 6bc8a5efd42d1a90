/** What is known about a cookie while the platform cannot be asked: without the platform. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { PlatformFailure } from '../../../plugins/platform/ask-failure.ts'
import { aVideo, testApp } from '../../support/testing.ts'
import { SIGNED_IN } from '../platform/given.ts'

for (const { failure, isDeferred } of [
  { failure: 'blocked', isDeferred: true },
  { failure: 'login_required', isDeferred: true },
  { failure: 'outdated', isDeferred: false },
] as const)
  test(`the check of a cookie fails as ${failure}: the cookie stays valid, and the refresh is retried`, async (t) => {
    let expired = 0
    const listener = definePlugin({ name: 'listener', on: { 'cookie.expired': () => async () => void expired++ } })
    const app = await testApp(t, { replace: [listener] })
    const admin = app.as('admin')
    await app.given(aVideo({ id: 'v1' }))
    const check = t.mock.method(app.app.platform, 'validateCookie', async (jar: string) => ({ isValid: true, jar }))
    await admin.put('/api/cookie/', { cookie: SIGNED_IN })
    const before = (await admin.get('/api/cookie/')).body
    check.mock.mockImplementation(async () => {
      throw new PlatformFailure({ failure, message: 'HTTP Error 429' }, { isDeferred })
    })
    await app.clock.advance(60_000)

    const { body } = await admin.post('/api/refresh/', { video: ['v1'] })
    await app.settled()

    assert.deepEqual((await admin.get('/api/cookie/')).body, before)
    assert.deepEqual([before.status, app.app.cookie.health().lived, expired], [true, [], 0])
    assert.deepEqual([app.app.jobs.get(body.task_id)?.state, app.app.refreshQueue.waiting()], ['RETRY', 1])
  })
