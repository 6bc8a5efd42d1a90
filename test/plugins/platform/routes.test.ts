/**
 * The platform's status and the parsing of texts over HTTP, in a server with only this plugin and implementations of
 * its hooks.
 */
import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin, errors } from 'archivolt'
import { openLog } from '../../../core/log.ts'
import type { PlatformService } from '../../../plugins/platform/platform.ts'
import platformPlugin from '../../../plugins/platform/plugin.ts'
import { PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { NO_PLATFORM, startTestPlatform } from '../../platform/start.ts'
import { testClock } from '../../support/clock.ts'
import { testApp } from '../../support/testing.ts'
import { givenVenv } from '../../support/venv.ts'

const isError = ({ level }: { level: string }) => level === 'error'

const filler = definePlugin({
  name: 'filler',
  needs: ['platform'],
  implements: {
    'platform.pending': () => async () => 3,
    'platform.waiting': () => async () => ({ gone: 2, login_required: 1 }),
    'platform.space': () => async () => ({ free: 1000, total: 5000 }),
    'platform.cookie': () => () => ({ state: 'valid', stored: 1, ended: 0, checked: 2, lived: [3] }),
    'platform.known': () => async (target) => target.id === VIDEO.fog,
  },
})

test('its status lists what waits, the tools, and the free space', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin, filler], settings })

  const reply = await app.as('admin').get('/api/platform/')

  assert.equal(reply.status, 200)
  const { since, downloader, tools, health, ...rest } = reply.body
  assert.deepEqual(rest, {
    state: 'open',
    reason: '',
    next_attempt: 0,
    pending: 3,
    waiting: { gone: 2, login_required: 1 },
    space: { media_free: 1000, media_total: 5000 },
    missing: [],
  })
  assert.equal(since, app.clock.now() / 1000)
  assert.equal(downloader.version, tools['yt-dlp'])
  assert.match(tools.ffmpeg, /^\d/)
  const { name, version, solved_ms: milliseconds, ...runtime } = health.runtime
  assert.ok(name && version && milliseconds > 0)
  assert.deepEqual(
    { ...health, runtime, solver: health.solver.state },
    {
      runtime: { state: 'works', checked: since, message: '' },
      solver: 'works',
      downloader: {
        state: 'current',
        version: downloader.version,
        age_days: 0,
        checked: 0,
        next_check: 0,
        tried: '',
        message: '',
      },
      token_provider: { state: 'none', address: '', last_token: 0, message: '' },
      budget: { address: { used: 0, limit: null, per_hour: null, learned: false }, cookie: null },
      cookie: { state: 'valid', stored: 1, ended: 0, checked: 2, lived: [3] },
    },
  )
})

test('an update that ends while the status is read still counts as running: the version is the previous one', async (t) => {
  const app = await testApp(t, { plugins: [platformPlugin, filler], settings: NO_PLATFORM })
  const { jobs } = app.app
  const platform = app.app.platform as PlatformService
  const report = platform.report.bind(platform)
  let isOver = false
  t.mock.method(jobs, 'active', () => (isOver ? undefined : {}))
  t.mock.method(platform, 'report', async () => {
    isOver = true
    return report()
  })

  const { body } = await app.as('admin').get('/api/platform/')

  assert.equal(body.health.downloader.state, 'updating')
})

test('an old yt-dlp, or one without its solver scripts, is reported', async (t) => {
  const ytdlp = await givenVenv(t, { without: ['yt_dlp_ejs'] })
  const app = await testApp(t, {
    plugins: [platformPlugin, filler],
    settings: { ...NO_PLATFORM, ytdlp },
    clock: testClock('2027-06-01T12:00:00Z'),
  })

  const { health, missing } = (await app.as('admin').get('/api/platform/')).body

  assert.deepEqual([health.solver.state, health.solver.version, health.downloader.state], ['missing', '', 'old'])
  assert.ok(health.downloader.age_days > 200)
  assert.ok(missing.includes('yt-dlp-ejs'))
})

test('it answers whatever fails: an offline library, index or data folder, or a disk that does not answer', async (t) => {
  const stuck = definePlugin({
    name: 'stuck',
    needs: ['platform'],
    implements: {
      'platform.pending': () => async () => {
        throw errors.unavailable('the index is away')
      },
      'platform.waiting': () => async () => {
        throw errors.unavailable('the index is away')
      },
      'platform.space': () => () => new Promise<never>(() => undefined),
    },
  })
  const app = await testApp(t, {
    plugins: [platformPlugin, stuck],
    settings: { ytdlp: '/nowhere', ffmpeg: '/nowhere/ffmpeg' } as never,
  })
  await rm(join(app.dataDir, 'yt-dlp'), { recursive: true })
  await writeFile(join(app.dataDir, 'yt-dlp'), 'in the way')

  const asked = app.as('admin').get('/api/platform/')
  let isThere = false
  void asked.then(() => (isThere = true))
  while (!isThere) await app.clock.advance(5_000)
  const { status, body } = await asked

  assert.deepEqual(
    [status, body.pending, body.waiting, body.space, body.downloader],
    [200, 0, {}, { media_free: 0, media_total: 0 }, { version: '', channel: '' }],
  )
  assert.deepEqual(body.missing.slice(0, 2), ['yt-dlp', 'ffmpeg'])
})

test('configured programs that are missing are reported at the start, by the name of the setting and without a path', async (t) => {
  const lines: string[] = []
  const log = openLog('error', { write: (line) => void lines.push(line) })
  const settings = {
    ytdlp: '/nowhere/venv',
    ytdlpPlugins: '/nowhere/plugins',
    ffmpeg: '/nowhere/ffmpeg',
    ffprobe: 'no-such-ffprobe',
    apprise: '/nowhere/apprise',
  } as never
  const app = await testApp(t, { settings, log })

  const told = (await app.as('user').get('/api/notification/')).body
    .filter(isError)
    .flatMap(({ messages }: { messages: string[] }) => messages)

  assert.deepEqual(told.map((sentence: string) => sentence.split(' ', 1)[0]).sort(), [
    'AV_APPRISE',
    'AV_FFMPEG',
    'AV_FFPROBE',
    'AV_YTDLP',
    'AV_YTDLP_PLUGINS',
  ])
  assert.doesNotMatch(told.join(), /nowhere/)
  for (const path of Object.values(settings))
    assert.ok(
      lines.some((line) => (JSON.parse(line) as { path: string }).path === path),
      path as string,
    )
})

test('existing programs are not reported', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { ...settings, ffmpeg: process.execPath, ffprobe: 'ffmpeg' } as never })

  assert.deepEqual((await app.as('user').get('/api/notification/')).body.filter(isError), [])
})

test('without the library its status lacks the free space, but has everything else', async (t) => {
  const app = await testApp(t)
  await rm(app.app.settings.mediaDir, { recursive: true })

  const { status, body } = await app.as('admin').get('/api/platform/')

  assert.deepEqual([status, body.space], [200, { media_free: 0, media_total: 0 }])
})

test('a manual pause stops every request, and survives a restart', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin], settings })
  const paused = await app.as('admin').post('/api/platform/', { command: 'pause' })
  assert.equal(paused.body.state, 'paused')

  await app.restart()

  assert.equal((await app.as('admin').get('/api/platform/')).body.state, 'paused')
  await assert.rejects(app.app.platform.video(VIDEO.fog, { asker: 'test', isUrgent: true }), { code: 'unavailable' })
  assert.equal((await app.as('admin').post('/api/platform/', { command: 'retry' })).status, 409)
  const asked = app.app.platform.video(VIDEO.fog, { asker: 'test' })
  assert.equal((await app.as('admin').post('/api/platform/', { command: 'resume' })).body.state, 'open')
  assert.equal((await asked).id, VIDEO.fog)
})

test('an invalid command, and one of a user, is refused', async (t) => {
  const { settings } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin], settings })

  assert.equal((await app.as('admin').post('/api/platform/', { command: 'explode' })).status, 400)
  assert.equal((await app.as('user').get('/api/platform/')).status, 403)
  assert.equal((await app.as('user').post('/api/platform/', { command: 'pause' })).status, 403)
})

test('a pasted text is parsed by its form, with what is known about it', async (t) => {
  const { settings, platform } = await startTestPlatform(t)
  const app = await testApp(t, { plugins: [platformPlugin, filler], settings })
  const q = encodeURIComponent(
    `${platform.baseUrl}/watch?v=${VIDEO.fog} and @OrbitNotes ${PLAYLIST.coast} https://example.org/`,
  )

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
