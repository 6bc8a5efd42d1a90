/** The state of the platform and what a text is, over HTTP, in a server with nothing but this plugin and what fills its slots. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import platformPlugin from '../../../plugins/platform/plugin.ts'
import { PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { testApp } from '../../support/testing.ts'

const filler = definePlugin({
  name: 'filler',
  needs: ['platform'],
  fills: {
    'platform.waiting': () => async () => ({ gone: 2, login_required: 1 }),
    'platform.space': () => async () => ({ free: 1000, total: 5000 }),
    'platform.known': () => async (target) => target.id === VIDEO.fog,
  },
})

test('its state says what waits, the tools, and the room that is left', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin, filler], settings })

  const reply = await app.as('admin').get('/api/platform/')

  assert.equal(reply.status, 200)
  const { since, downloader, tools, ...rest } = reply.body
  assert.deepEqual(rest, { state: 'open', reason: '', next_attempt: 0, waiting: { gone: 2, login_required: 1 }, space: { media_free: 1000, media_total: 5000 }, missing: [] })
  assert.equal(since, app.clock.now() / 1000)
  assert.equal(downloader.version, tools['yt-dlp'])
  assert.match(tools.ffmpeg, /^\d/)
})

test('a pause by hand holds every ask, and is still there after a restart', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin], settings })
  const paused = await app.as('admin').post('/api/platform/', { command: 'pause' })
  assert.equal(paused.body.state, 'paused')

  await app.restart()

  assert.equal((await app.as('admin').get('/api/platform/')).body.state, 'paused')
  await assert.rejects(app.app.platform.video(VIDEO.fog!, { asker: 'test', isUrgent: true }), { code: 'unavailable' })
  assert.equal((await app.as('admin').post('/api/platform/', { command: 'retry' })).status, 409)
  const asked = app.app.platform.video(VIDEO.fog!, { asker: 'test' })
  assert.equal((await app.as('admin').post('/api/platform/', { command: 'resume' })).body.state, 'open')
  assert.equal((await asked).id, VIDEO.fog)
})

test('what is no command, and who is no admin, is refused', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin], settings })

  assert.equal((await app.as('admin').post('/api/platform/', { command: 'explode' })).status, 400)
  assert.equal((await app.as('user').get('/api/platform/')).status, 403)
  assert.equal((await app.as('user').post('/api/platform/', { command: 'pause' })).status, 403)
})

test('a pasted text is taken apart by its form, and says what is known', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin, filler], settings })
  const q = encodeURIComponent(`${platform.baseUrl}/watch?v=${VIDEO.fog} and @OrbitNotes ${PLAYLIST.coast} https://example.org/`)

  const reply = await app.as('user').get(`/api/resolve/?q=${q}`)

  assert.deepEqual(reply.body, [
    { type: 'video', id: VIDEO.fog, known: true },
    { type: 'channel', id: '@OrbitNotes', known: false },
    { type: 'playlist', id: PLAYLIST.coast, known: false },
  ])
  assert.deepEqual((await app.as('user').get('/api/resolve/?q=nothing+here')).body, [])
  assert.deepEqual((await app.as('user').get('/api/resolve/')).body, [])
  assert.equal((await app.as('nobody').get(`/api/resolve/?q=${q}`)).status, 401)
})
