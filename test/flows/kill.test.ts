/** Kills the server at every step of a download and of a deletion: the next start finishes them. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { VIDEO } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { archivedIds, assertWhole, queuedIds } from '../support/library.ts'
import { WITH_TEXTS } from '../support/preferences.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const DOWNLOAD_POINTS = [
  'download.stage:after',
  'download.fetch:before',
  'download.fetch:after',
  'download.note:after',
  'video.art:after',
  'video.adopt:after',
  'video.subtitles:after',
  'video.document:after',
  'video.added:after',
  'download.mark:after',
  'download.done:after',
  'download.comments:before',
]
const REMOVAL_POINTS = [
  'video.trash:before',
  'video.trash:after',
  'video.removeWith:after',
  'video.drop:before',
  'video.drop:after',
  'video.hold:after',
  'video.keep:after',
]

const RESTORE_POINTS = ['bin.files:before', 'bin.files:after', 'bin.documents:after', 'bin.end:before', 'bin.end:after']

async function binnedIds(server: Server): Promise<string[]> {
  const { body } = await server.api('GET', '/api/bin/')
  return (body.data as Array<{ platform_id: string }>).map((entry) => entry.platform_id)
}

const isOnly =
  (id: string | undefined) =>
  (found: readonly string[]): boolean =>
    found.length === 1 && found[0] === id

async function restoreAll(server: Server): Promise<void> {
  const { status, body } = await server.api('POST', '/api/bin/restore/', { all: true })
  assert.deepEqual([status, body], [200, { restored: 1, refused: [] }])
  await allQuiet(server)
}

/** A request that kills the server has no answer. */
async function isCutOff(asked: Promise<unknown>): Promise<void> {
  await asked.then(
    () => undefined,
    (error: Error) => assert.match(String(error.cause ?? error), /other side closed|ECONNRESET|terminated|socket/i),
  )
}

async function killedAt(point: string, server: Server, ask: (server: Server) => Promise<unknown>): Promise<void> {
  await isCutOff(ask(server))
  assert.equal(
    await Promise.race([server.ended, new Promise((resolve) => setTimeout(resolve, 60_000, 'still alive').unref())]),
    null,
    `killed at ${point}`,
  )
}

test('a download that is interrupted anywhere is finished by the next start', async (t) => {
  const folder = await temporaryFolder(t)
  const { platform, env } = await startTestPlatform(t)
  const ids = [
    'breakwater',
    'lighthouse',
    'ferry',
    'nets',
    'fog',
    'pilots',
    'mussels',
    'charts',
    'gull',
    'knot',
    'wave',
    'comet',
  ].map((key) => VIDEO[key] as string)
  for (const [index, point] of DOWNLOAD_POINTS.entries()) {
    await t.test(point, async (t) => {
      const doomed = await startServer(t, folder, { ...env, AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })
      assert.equal((await doomed.api('POST', '/api/config/', { downloads: WITH_TEXTS })).status, 200)
      await killedAt(point, doomed, (server) =>
        server.api('POST', '/api/download/?autostart=true', { data: [{ youtube_id: ids[index] }] }),
      )

      const server = await startServer(t, folder, env)
      await allQuiet(server)
      await assertWhole(server, folder)
      assert.deepEqual(await queuedIds(server), [])
      assert.deepEqual(await archivedIds(server), ids.slice(0, index + 1).toSorted())
      const { body } = await server.api('GET', `/api/video/${ids[index]}/`)
      assert.equal(
        body.data.comment_count ?? 0,
        platform.catalogue
          .video(ids[index] as string)
          .comments?.flatMap((thread: { replies?: unknown[] }) => [thread, ...(thread.replies ?? [])]).length ?? 0,
        'comments came after all',
      )
      assert.equal(await server.end('SIGTERM'), 0)
    })
  }
})

test('a download that is interrupted within a file resumes it', async (t) => {
  const folder = await temporaryFolder(t)
  const { platform, env } = await startTestPlatform(t)
  platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 150_000 })
  const first = await startServer(t, folder, env)
  await first.api('POST', '/api/download/?autostart=true', { data: [{ youtube_id: VIDEO.breakwater }] })
  const staging = join(folder, 'media/.staging', VIDEO.breakwater as string)
  await until(
    'a part file has grown',
    async () => {
      const { body } = await first.api('GET', `/api/download/${VIDEO.breakwater}/`)
      return body?.data?.progress?.fraction ?? 0
    },
    (fraction) => fraction > 0.1,
  )
  assert.ok(
    (await readdir(staging)).some((name) => name.endsWith('.part')),
    'it was in the middle of a file',
  )
  await first.end('SIGKILL')

  platform.faults.clear()
  platform.requests.length = 0
  const second = await startServer(t, folder, env)
  await until(
    'the queue is empty',
    () => queuedIds(second),
    (ids) => ids.length === 0,
  )
  await allQuiet(second)
  await assertWhole(second, folder)
  const resumed = platform.requests.filter(
    ({ path, range }: { path: string; range?: string }) =>
      path.startsWith('/media/') && range && !range.startsWith('bytes=0-'),
  )
  assert.ok(resumed.length > 0, 'only the rest was asked for')
})

test('a deletion or its undo that is interrupted anywhere is finished by the next start', async (t) => {
  const folder = await temporaryFolder(t)
  const { env } = await startTestPlatform(t)
  const ids = ['breakwater', 'lighthouse', 'ferry', 'nets', 'fog', 'pilots', 'mussels'].map(
    (key) => VIDEO[key] as string,
  )
  const filling = await startServer(t, folder, env)
  await filling.api('POST', '/api/config/', { downloads: WITH_TEXTS })
  await filling.api('POST', '/api/download/?autostart=true', { data: ids.map((id) => ({ youtube_id: id })) })
  await until(
    'all are archived',
    () => archivedIds(filling),
    (found) => found.length === ids.length,
  )
  await allQuiet(filling)
  assert.equal(await filling.end('SIGTERM'), 0)

  for (const [at, point] of RESTORE_POINTS.entries()) {
    await t.test(point, async (t) => {
      const doomed = await startServer(t, folder, { ...env, AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })
      assert.equal((await doomed.api('DELETE', `/api/video/${ids[at]}/`)).status, 200)
      await killedAt(point, doomed, (server) => server.api('POST', '/api/bin/restore/', { all: true }))

      const server = await startServer(t, folder, env)
      await until(
        'the bin is empty',
        () => binnedIds(server),
        (left) => left.length === 0,
      )
      await allQuiet(server)
      await assertWhole(server, folder)
      assert.deepEqual(await archivedIds(server), ids.toSorted())
      assert.equal(await server.end('SIGTERM'), 0)
    })
  }

  for (const [index, point] of REMOVAL_POINTS.entries()) {
    await t.test(point, async (t) => {
      const doomed = await startServer(t, folder, { ...env, AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })
      await killedAt(point, doomed, (server) => server.api('DELETE', `/api/video/${ids[index]}/`))

      const server = await startServer(t, folder, env)
      await until(
        'the deletion is finished',
        () => archivedIds(server),
        (found) => !found.includes(ids[index] as string),
      )
      await until('it lies in the bin', () => binnedIds(server), isOnly(ids[index]))
      await restoreAll(server)
      await assertWhole(server, folder)
      assert.deepEqual(await archivedIds(server), ids.toSorted())
      assert.equal(await server.end('SIGTERM'), 0)
    })
  }
})
