/**
 * A newer yt-dlp from a package index with real wheels, tested with films of the archive and used without a restart.
 */
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isNewer } from '../../../plugins/platform/update.ts'
import { updateDownloader } from '../../../plugins/platform/update-downloader.ts'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { testClock } from '../../support/clock.ts'
import { aChannel, aDegraded, aReceipt, aVideo, type TestApp, testApp } from '../../support/testing.ts'
import { TOOLS } from '../../support/tools.ts'
import { anEjs, aYtDlp, KEEPS_BACK, startTestIndex, type TestIndex } from '../../support/wheels.ts'
import '../../support/long.ts'

const FILMS = [VIDEO.ferry, VIDEO.nets, VIDEO.fog, VIDEO.breakwater] as string[]
const EJS = '0.8.0'
interface Given {
  app: TestApp
  index: TestIndex
  platform: Awaited<ReturnType<typeof startTestPlatform>>['platform']
  /** Runs an update by hand; returns yt-dlp's status afterwards. */
  update(): Promise<{ state: string; version: string; tried: string; message: string }>
  health(): ReturnType<Given['update']>
}

async function given(t: TestContext): Promise<Given> {
  const index = await startTestIndex(t)
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, {
    settings: { ...settings, packageIndex: index.url, ytdlpUpdate: 'stable' } as never,
    clock: testClock('2027-03-10T12:00:00Z'),
  })
  const stream = { type: 'video' as const, index: 0, codec: 'h264', bitrate: 1, width: 1280, height: 720 }
  await app.given(
    aChannel({ id: CHANNEL.harbour }),
    ...FILMS.map((id) => aVideo({ id, channelId: CHANNEL.harbour, streams: [stream] })),
  )
  const health = async () => (await app.as('admin').get('/api/platform/')).body.health.downloader
  return {
    app,
    index,
    platform,
    health,
    async update() {
      await app.as('admin').post('/api/platform/', { command: 'update' })
      await app.settled()
      return health()
    },
  }
}

const told = async (app: TestApp): Promise<string[]> =>
  (await app.as('user').get('/api/notification/')).body
    .filter(({ title }: { title: string }) => title === 'Update of yt-dlp')
    .flatMap(({ messages }: { messages: string[] }) => messages)

test('a newer one is used with its pins once its films are as good as before, and works without a restart and after one', async (t) => {
  const { app, index, platform, update } = await given(t)
  await app.app.platform.video(VIDEO.storm, { asker: 'test' })
  const deno = { name: 'deno', version: '2.99.0', scripts: { deno: `#!/bin/sh\nexec "${TOOLS}/bin/deno" "$@"\n` } }
  const pinned = aYtDlp('2027.3.9', {
    requires: [`yt-dlp-ejs==${EJS}; extra == 'default'`, "deno==2.99.0; extra == 'pin-deno'"],
  })
  await index.publish(pinned, anEjs(EJS), anEjs('9.9.9'), deno)
  platform.faults.set('global', 'challenge')
  platform.requests.length = 0
  const used = async () => (await app.as('admin').get('/api/platform/')).body.health.budget.address.used
  const before = await used()

  const after = await update()

  assert.deepEqual([after.state, after.version, after.message], ['current', '2027.3.9', ''])
  assert.equal((await used()) - before, 3, 'films that are tried count as any other')
  assert.deepEqual(await told(app), ['yt-dlp 2027.3.9 is now in use'])
  assert.ok(!index.requests.some((path) => path.includes('9.9.9')))
  const asked = platform.requests.filter(({ path }) => path.startsWith('/api/video/'))
  assert.equal(asked.length, 3)
  const fetched = platform.requests.filter(({ path }) => path.startsWith('/media/'))
  assert.deepEqual(
    fetched.map(({ range, status }) => [range, status]),
    [['bytes=0-1048575', 206]],
  )
  const home = join(app.dataDir, 'yt-dlp/updates')
  assert.deepEqual(await readdir(home), ['yt-dlp-2027.3.9'])
  const laid = await readdir(join(home, 'yt-dlp-2027.3.9'))
  if (Number.parseInt(process.versions.node, 10) < 22) assert.ok(laid.includes('bin'))
  assert.ok(laid.includes('yt_dlp_ejs'))
  const service = app.app.platform as never as { tools: { versionOf(): Promise<{ version: string }> } }
  assert.equal((await service.tools.versionOf()).version, '2027.3.9')
  assert.equal((await app.app.platform.video(VIDEO.storm, { asker: 'test' })).id, VIDEO.storm)

  await mkdir(join(home, 'next'))
  await writeFile(join(home, 'next.txt'), 'cut off')
  await app.restart()
  assert.deepEqual(await readdir(home), ['yt-dlp-2027.3.9'])
  assert.equal((await app.as('admin').get('/api/platform/')).body.downloader.version, '2027.3.9')
})

test('a release of the last two days waits, unless somebody requests it', async (t) => {
  const { app, index, update, health } = await given(t)
  await index.publish(aYtDlp('2027.3.7'), aYtDlp('2027.3.9'), anEjs(EJS))

  await app.app.jobs.start('update_downloader', { scheduled: true })
  await app.settled()
  assert.equal((await health()).version, '2027.3.7')

  assert.equal((await update()).version, '2027.3.9')
})

test('a manual request while a scheduled update waits makes it a manual one', () => {
  assert.deepEqual(updateDownloader.merge?.({ scheduled: true }, { at_once: true }), {
    at_once: true,
    scheduled: false,
  })
  assert.deepEqual(updateDownloader.merge?.({ scheduled: true }, { scheduled: true }), { scheduled: true })
})

test('two consecutive bad ones are rejected and remembered; the next good one is used', async (t) => {
  const { app, index, update } = await given(t)
  const before = (await app.as('admin').get('/api/platform/')).body.downloader.version
  await index.publish(aYtDlp('2027.3.8', { added: KEEPS_BACK }), anEjs(EJS))

  const first = await update()

  assert.deepEqual([first.state, first.version, first.tried], ['refused', before, '2027.3.8'])
  assert.match(first.message, /^the video \S{11} is offered only in 360p; it was offered in 720p before$/)
  assert.match((await told(app)).join(), /^yt-dlp 2027\.3\.8 is not used: .* The current version stays in use$/)

  await index.publish(aYtDlp('2027.3.9', { files: { 'yt_dlp/version.py': 'raise RuntimeError("broken")' } }))
  const second = await update()
  assert.deepEqual([second.state, second.version, second.tried], ['refused', before, '2027.3.9'])
  assert.match(second.message, /^it does not run on this machine/)

  const asked = index.requests.length
  const third = await update()
  assert.equal(third.version, before)
  assert.deepEqual(
    index.requests.slice(asked).filter((path) => path.endsWith('.whl')),
    [],
  )

  await index.publish(aYtDlp('2027.3.10'))
  assert.deepEqual((await update()).version, '2027.3.10')
})

test('formats offered in a bad hour are no measure of a version', async (t) => {
  const { app, index, update } = await given(t)
  const receipt = aReceipt('degraded', { offered: 360 })
  const newer = { channelId: CHANNEL.harbour, published: '2027-03-01', receipt, degraded: aDegraded() }
  await app.given(...Array.from({ length: 8 }, (_, at) => aVideo({ ...newer, id: `degraded00${at}` })))
  await index.publish(aYtDlp('2027.3.9', { added: KEEPS_BACK }), anEjs(EJS))

  assert.equal((await update()).state, 'refused')
})

test('a test film that is gone is replaced; while the platform refuses everybody nothing is decided', async (t) => {
  const { app, index, platform, update } = await given(t)
  const before = (await app.as('admin').get('/api/platform/')).body.downloader.version
  await index.publish(aYtDlp('2027.3.9'), anEjs(EJS))
  platform.faults.set('global', 'bot_check')

  const refused = await update()

  assert.deepEqual([refused.state, refused.version], ['old', before])
  assert.match(refused.message, /YouTube cannot be reached now/)

  platform.faults.clear()
  platform.faults.set(FILMS[0]!, 'private')
  assert.equal((await update()).version, '2027.3.9')
})

test('an index that is down, changes files, or has unknown requirements leaves the old version in use and is reported', async (t) => {
  const { app, index, update } = await given(t)
  const before = (await app.as('admin').get('/api/platform/')).body.downloader.version
  const failsAs = async (words: RegExp) => {
    const { state, version, message } = await update()
    assert.deepEqual([state, version], ['failed', before], message)
    assert.match(message, words)
    assert.deepEqual(await readdir(join(app.dataDir, 'yt-dlp/updates')).catch(() => []), [])
  }
  await failsAs(/^the package index has no version for this machine$/)

  await index.publish(
    aYtDlp('2027.3.9', { requires: ["yt-dlp-ejs==0.8.0; extra == 'default'", "leftpad; extra == 'default'"] }),
  )
  await failsAs(/requires leftpad, which is not on the list of known packages$/)

  index.withdraw()
  await index.publish(aYtDlp('2027.3.9', { requires: ["yt-dlp-ejs; extra == 'default'"] }))
  await failsAs(/does not name its version of the challenge scripts$/)

  index.withdraw()
  await index.publish(aYtDlp('2027.3.9'), anEjs(EJS))
  index.spoil('2027.3.9')
  await failsAs(/the SHA-256 of a file differs from the one in the package index$/)
})

test('a yt-dlp that no longer understands the platform is replaced at once', async (t) => {
  const { app, platform, index } = await given(t)
  platform.faults.set('global', 'api_garbage')
  for (const id of FILMS.slice(0, 3)) app.app.platform.video(id, { asker: 'test' }).catch(() => undefined)

  while (!app.app.jobs.list({ task: 'update_downloader' })[0]) await new Promise((resolve) => setImmediate(resolve))
  await app.settled()

  assert.ok(index.requests.some((path) => path === '/simple/yt-dlp/'))
  const [job] = app.app.jobs.list({ task: 'update_downloader' })
  assert.equal((job as { payload: { at_once?: boolean } }).payload.at_once, true)
})

test('versions are compared as numbers', () => {
  assert.deepEqual(
    [
      isNewer('2026.10.3', '2026.9.30'),
      isNewer('2026.10.3', '2026.10.3'),
      isNewer('2026.10.3.1', '2026.10.3'),
      isNewer('2025.12.1', '2026.1.1'),
    ],
    [true, false, true, false],
  )
})
