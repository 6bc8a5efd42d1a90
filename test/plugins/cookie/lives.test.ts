/** The lifetimes of cookies, as shown in the platform's status. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestPlatform } from '../../platform/start.ts'
import { testApp } from '../../support/testing.ts'
import { SIGNED_IN } from '../platform/given.ts'

const HOUR_MS = 3_600_000
const NO_COOKIE = { state: 'none', stored: 0, ended: 0, checked: 0, lived: [] }

test('a cookie that the platform no longer accepts is reported with its age, and its lifetime is remembered', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  const admin = app.as('admin')
  const cookie = async () => (await admin.get('/api/platform/')).body.health.cookie
  const seconds = () => app.clock.now() / 1000
  assert.deepEqual(await cookie(), NO_COOKIE)

  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  const stored = seconds()
  assert.deepEqual(await cookie(), { state: 'valid', stored, ended: 0, checked: stored, lived: [] })

  await app.clock.advance(30 * HOUR_MS)
  platform.faults.set('LL', 'playlist_missing')
  assert.deepEqual((await admin.post('/api/cookie/')).body, { cookie_validated: false })
  const ended = seconds()
  await app.clock.advance(HOUR_MS)
  await admin.post('/api/cookie/')
  assert.deepEqual(await cookie(), { state: 'invalid', stored, ended, checked: seconds(), lived: [30 * 3600] })

  platform.faults.clear('LL')
  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  await app.clock.advance(2 * HOUR_MS)
  platform.faults.set('LL', 'playlist_missing')
  await admin.post('/api/cookie/')
  assert.deepEqual((await cookie()).lived, [2 * 3600, 30 * 3600])

  await app.restart()
  assert.deepEqual((await cookie()).lived, [2 * 3600, 30 * 3600])
})

test('a cookie that is accepted again continues its lifetime', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { settings })
  const admin = app.as('admin')
  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  await app.clock.advance(HOUR_MS)
  platform.faults.set('LL', 'playlist_missing')
  await admin.post('/api/cookie/')
  platform.faults.clear('LL')

  await app.clock.advance(HOUR_MS)
  await admin.post('/api/cookie/')

  const { state, lived, ended } = (await admin.get('/api/platform/')).body.health.cookie
  assert.deepEqual([state, lived, ended], ['valid', [], 0])
})
