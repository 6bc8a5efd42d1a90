/**
 * Self-repair of downloads: a video in lower quality is downloaded again once a newer yt-dlp has proved itself, a bad
 * yt-dlp is rejected, and a server that is killed during an update continues with the old one.
 */
import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { VIDEO } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { SIGNED_IN } from '../plugins/platform/given.ts'
import { temporaryFolder } from '../support/folder.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { anEjs, asClient, aYtDlp, KEEPS_BACK, startTestIndex } from '../support/wheels.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const EJS = '0.8.0'
const [ferry, nets, fog] = [VIDEO.ferry, VIDEO.nets, VIDEO.fog] as [string, string, string]
/** What the platform withholds from outdated clients. */
const WITHHELD = {
  name: 'formats_withheld',
  only: ['18'],
  warning: 'Some tv client https formats have been skipped as they are missing a URL',
  unless: 'new-client',
}

async function given(t: TestContext) {
  const { platform, env } = await startTestPlatform(t)
  const index = await startTestIndex(t)
  const folder = await temporaryFolder(t)
  const start = (more: Record<string, string> = {}) =>
    startServer(t, folder, { ...env, AV_PACKAGE_INDEX: index.url, ...more })
  const laid = () => readdir(join(folder, 'yt-dlp/updates')).catch(() => [])
  return { platform, index, folder, start, laid }
}

async function download(server: Server, id: string): Promise<void> {
  await server.api('POST', '/api/config/', { downloads: { sleep_interval: 0 } })
  await server.api('POST', '/api/download/?autostart=true', { data: [{ platform_id: id }] })
  await allQuiet(server)
}

const shownOf = async (server: Server, id: string) => (await server.api('GET', `/api/video/${id}/`)).body.data
const healthOf = async (server: Server) => (await server.api('GET', '/api/platform/')).body.health
const askForUpdate = (server: Server) => server.api('POST', '/api/platform/', { command: 'update' })

/** The status of yt-dlp after a manual update. */
async function update(server: Server) {
  await askForUpdate(server)
  return until(
    'the update is over',
    async () => (await healthOf(server)).downloader,
    ({ state }) => state !== 'updating',
  )
}

const told = async (server: Server): Promise<string> =>
  JSON.stringify(
    (await server.api('GET', '/api/notification/')).body.map(({ messages }: { messages: string[] }) => messages),
  )

test('a degraded video improves by itself once a newer yt-dlp has proved itself; a bad yt-dlp and an expired cookie are reported', async (t) => {
  const { platform, index, folder, start, laid } = await given(t)
  const server = await start()
  await download(server, ferry)
  const { version: own } = (await healthOf(server)).downloader

  await index.publish(aYtDlp('2027.3.8', { added: KEEPS_BACK }), anEjs(EJS))
  const refused = await update(server)

  assert.deepEqual([refused.state, refused.version, refused.tried], ['refused', own, '2027.3.8'])
  assert.match(refused.message, /is offered only in 360p; it was offered in 720p before$/)
  assert.match(await told(server), /yt-dlp 2027\.3\.8 is not used: /)
  assert.deepEqual(await laid(), [])
  await download(server, nets)
  assert.deepEqual((await shownOf(server, nets)).receipt.got.height, 720)

  platform.faults.set('global', WITHHELD)
  await download(server, fog)
  const before = await shownOf(server, fog)
  assert.deepEqual([before.receipt.got.height, before.degraded.reasons], [360, ['protocol']])
  await index.publish(aYtDlp('2027.3.9', { added: asClient('new-client') }))
  const mended = await update(server)

  assert.deepEqual([mended.state, mended.version, mended.message], ['current', '2027.3.9', ''])
  const after = await until(
    'the degraded video is better',
    () => shownOf(server, fog),
    ({ degraded }) => degraded === undefined,
  )
  await allQuiet(server)
  const { receipt, date_downloaded } = after
  assert.deepEqual([receipt.quality, receipt.got.height, receipt.downloader], ['best', 720, '2027.3.9'])
  assert.equal(date_downloaded, before.date_downloaded)
  const trash = join(folder, 'media/.trash')
  const [old, ...others] = (await readdir(trash, { recursive: true })).filter((name) => name.endsWith('.mp4'))
  assert.deepEqual([(await stat(join(trash, old!))).size, others], [before.media_size, []])
  assert.deepEqual(await laid(), ['yt-dlp-2027.3.9'])
  assert.match(await told(server), /yt-dlp 2027\.3\.9 is now in use/)

  assert.equal((await server.api('PUT', '/api/cookie/', { cookie: SIGNED_IN })).status, 200)
  assert.equal((await healthOf(server)).cookie.state, 'valid')
  platform.faults.set('LL', 'playlist_missing')
  await server.api('POST', '/api/refresh/', { video: [ferry] })
  await allQuiet(server)
  assert.equal((await healthOf(server)).cookie.state, 'invalid')
  assert.match(await told(server), /The cookie is no longer valid: add a new one, or remove it/)
})

test('killed during an update, the next start uses the old version, and the next check succeeds', async (t) => {
  const { index, start, laid } = await given(t)
  await index.publish(aYtDlp('2027.3.9'), anEjs(EJS))
  const dying = (point: string) => start({ AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })
  const servesWithTheOld = async (server: Server) => {
    const { downloader } = await healthOf(server)
    assert.notEqual(downloader.version, '2027.3.9')
    assert.notEqual(downloader.version, '')
    assert.deepEqual(await laid(), [])
  }

  index.isEndless = true
  const first = await dying('update.try:before')
  await askForUpdate(first)
  await until(
    'a file of the package is on its way',
    async () => index.requests,
    (paths) => paths.some((path) => path.endsWith('.whl')),
  )
  assert.notDeepEqual(await laid(), [])
  await first.end('SIGKILL')
  await until(
    'pip has ended with the server that has started it',
    async () => index.left,
    (left) => left === 1,
  )
  index.isEndless = false

  let server = await dying('update.try:before')
  for (const next of ['update.take:before', 'no more']) {
    await servesWithTheOld(server)
    await askForUpdate(server).catch(() => undefined)
    assert.equal(await server.ended, null, 'it was killed')
    assert.deepEqual(await laid(), ['next'])
    server = await dying(next)
  }

  await servesWithTheOld(server)
  assert.deepEqual((await update(server)).version, '2027.3.9')
  assert.deepEqual(await laid(), ['yt-dlp-2027.3.9'])
})
