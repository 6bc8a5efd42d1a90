/** Malicious titles, names and ids end as text in documents, never in a path, a command or a header. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { addHostileVideos } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { archivedIds, assertWhole, queuedIds } from '../support/library.ts'
import { allQuiet, startServer, until } from '../support/server.ts'
import '../support/long.ts'

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/
const SAFE_PATH = /^(?:[A-Za-z0-9_.-]+\/)*[A-Za-z0-9_.-]+$/

test('hostile titles end in safe paths, and a video with a false id is refused', async (t) => {
  const folder = await temporaryFolder(t)
  const { platform, env } = await startTestPlatform(t)
  const { channelId, videoIds } = addHostileVideos(platform.catalogue) as {
    channelId: string
    videoIds: Record<string, string>
  }
  const server = await startServer(t, folder, env)
  await server.api('POST', '/api/config/', {
    downloads: { sleep_interval: 0, add_metadata: true, add_thumbnail: true },
  })

  const asked = await server.api('POST', '/api/download/?autostart=true', {
    data: [{ youtube_id: channelId }, { youtube_id: videoIds.lyingId }],
  })
  assert.equal(asked.status, 200)
  const { lyingId, ...honest } = videoIds
  await until(
    'all honest ones are archived',
    () => archivedIds(server),
    (ids) => ids.length >= Object.keys(honest).length,
    200_000,
  )
  assert.deepEqual(await archivedIds(server), Object.values(honest).toSorted())
  await until(
    'only the liar is left',
    () => queuedIds(server),
    (ids) => ids.length === 1,
  )
  assert.deepEqual(await queuedIds(server), [lyingId])
  // It is retried for minutes, like any unknown failure, so it is stopped here.
  const running = (await server.api('GET', '/api/task-name/download_pending/')).body[0]
  if (running.status === 'PENDING') await server.api('POST', `/api/task-id/${running.task_id}/`, { command: 'kill' })
  await allQuiet(server)

  await assertWhole(server, folder)
  for (const path of await readdir(join(folder, 'media'), { recursive: true })) assert.match(path, SAFE_PATH)
  assert.deepEqual(
    (await readdir(folder, { recursive: true })).filter((path) => /escaped/.test(path)),
    [],
  )
  for (const id of Object.values(honest)) {
    const { body } = await server.api('GET', `/api/video/${id}/`)
    assert.ok(
      body.data.title.length > 0 && body.data.title.length <= 500 && !CONTROL.test(body.data.title),
      JSON.stringify(body.data.title),
    )
    assert.equal((await server.api('GET', body.data.media_url)).status, 200)
  }
  const hits = (
    await server.api('GET', `/api/search/?query=${encodeURIComponent('"; DROP TABLE video; -- AND NEAR(* :')}`)
  ).status
  assert.equal(hits, 200)
})

test('ids, headers and bodies from outside get a 4xx with the error body, whatever they contain', async (t) => {
  const folder = await temporaryFolder(t)
  const server = await startServer(t, folder)
  const long = 'x'.repeat(300)
  for (const [method, path, body, headers, status] of [
    ['GET', '/api/video/..%2f..%2fetc%2fpasswd/', undefined, {}, 404],
    ['GET', `/api/video/${long}/`, undefined, {}, 404],
    ['GET', '/api/video/%00/', undefined, {}, 404],
    ['GET', '/api/video/%E0%A4%A/', undefined, {}, 404],
    ['GET', '/media/UC1/..%2f..%2fledger.sqlite', undefined, {}, 404],
    ['GET', '/cache/videos/../../secret.key', undefined, {}, 404],
    ['GET', '/api/video/?page=-1', undefined, {}, 400],
    ['GET', '/api/video/?page=1e9', undefined, {}, 400],
    ['GET', '/api/video/?sort=;drop', undefined, {}, 400],
    ['GET', '/api/video/?before=2024-02-31', undefined, {}, 400],
    ['GET', '/api/search/?query=%20%20', undefined, {}, 400],
    ['POST', '/api/watched/', '{"id": "x", "is_watched": "true"}', {}, 400],
    ['POST', '/api/watched/', '[]', {}, 400],
    ['POST', '/api/watched/', '{"id": ', {}, 400],
    ['POST', '/api/watched/', 'id=1', { 'Content-Type': 'text/plain' }, 415],
    ['POST', '/api/watched/', JSON.stringify({ id: 'x'.repeat(3 << 20), is_watched: true }), {}, 413],
    ['POST', '/api/download/', { data: [{ youtube_id: 'file:///etc/passwd' }] }, {}, 400],
    ['POST', '/api/download/', { data: [{ youtube_id: 'http://127.0.0.1:22/watch?v=aaaaaaaaaaa' }] }, {}, 400],
    ['POST', '/api/task-id/not-a-task/', { command: 'stop' }, {}, 404],
    ['PUT', '/api/video/', {}, {}, 405],
    ['GET', '/api/nothing/', undefined, {}, 404],
    ['GET', '/api/ping/', undefined, { Authorization: `Token ${'0'.repeat(40)}` }, 401],
    ['GET', '/api/ping/', undefined, { Authorization: `Basic ${'0'.repeat(4000)}` }, 401],
  ] as const) {
    const answer = await server.api(method, path, body, headers)
    assert.equal(answer.status, status, `${method} ${path.slice(0, 60)}`)
    assert.equal(typeof answer.body?.error, 'string', `${method} ${path.slice(0, 60)}`)
    assert.ok(!/\bat .*:\d+:\d+|node_modules|sqlite/i.test(answer.bytes.toString()), 'nothing of the inside')
  }
})
