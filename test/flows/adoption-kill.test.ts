/** Kills the server at every step of an import and of its undo: the next start continues, and no file is touched. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { VIDEO } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { lay } from '../support/lay.ts'
import { listing } from '../support/places.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { infoOf, layFilm, layMany } from '../support/ytdlp-folder.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const IDS = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc']
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nherring at dawn\n'
const POINTS = {
  adopt: [
    'adoption.channels:after',
    'adoption.place:after',
    'adoption.document:before',
    'adoption.document:after',
    'adoption.along:after',
    'adoption.tell:after',
    'adoption.subtitles:after',
    'adoption.measure:before',
    'adoption.measure:after',
  ],
  undo: [
    'adoption.leave:before',
    'playlist.forgetVideo:after',
    'adoption.leave:after',
    'adoption.forget:after',
    'adoption.takeBack:before',
  ],
}

const idsOf = async (server: Server): Promise<string[]> =>
  (await server.api('GET', '/api/video/')).body.data.map(({ platform_id: id }: { platform_id: string }) => id).sort()
const adoptionOf = async (server: Server, id: number) => (await server.api('GET', `/api/adoption/${id}/`)).body

const inState = (server: Server, id: number, state: string) =>
  until(
    `it is ${state}`,
    () => adoptionOf(server, id),
    (adoption) => adoption.state === state,
  )

async function diesOf(server: Server, id: number, command: string): Promise<void> {
  await server.api('POST', `/api/adoption/${id}/`, { command }).catch(() => undefined)
  assert.equal(await server.ended, null, 'it was killed')
}

test('an import and its undo continue after a kill at any point', async (t) => {
  const folder = await temporaryFolder(t)
  const root = await temporaryFolder(t)
  // For the first, only the film contains its codecs.
  const infos = [infoOf(IDS[0]!, { vcodec: undefined, acodec: undefined }), ...IDS.slice(1).map((id) => infoOf(id))]
  for (const [at, id] of IDS.entries())
    await layFilm({ lay: lay(root) }, `films/${id}.mp4`, infos[at], { 'en.vtt': VTT })
  const files = IDS.map((id) => ({ path: `films/${id}.mp4`, url: infoOf(id).webpage_url, favorite: true }))
  await lay(root)('films/appdata/local_db.json', JSON.stringify({ files, subscriptions: [], playlists: [] }))
  const before = await listing(root)
  const env = { AV_LIBRARY_ROOTS: root, AV_SEGMENTS_URL: 'http://127.0.0.1:9', AV_PLATFORM_URL: 'http://127.0.0.1:9' }
  const dying = (point: string) => startServer(t, folder, { ...env, AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })

  const first = await startServer(t, folder, env)
  const place = (await first.api('POST', '/api/place/', { path: `${root}/films` })).body.id
  assert.equal(await first.end('SIGTERM'), 0)

  for (const [at, point] of POINTS.adopt.entries()) {
    await t.test(point, async (t) => {
      const undoPoint = POINTS.undo[at % POINTS.undo.length]!
      const doomed = await dying(point)
      const { id } = (await doomed.api('POST', '/api/adoption/', { place })).body
      await inState(doomed, id, 'planned')
      await diesOf(doomed, id, 'adopt')

      const second = await dying(undoPoint)
      await inState(second, id, 'adopted')
      await allQuiet(second)
      assert.deepEqual(await idsOf(second), IDS)
      const { states } = await adoptionOf(second, id)
      assert.deepEqual([states.done, states.left], [3, 0])
      const { body } = await second.api('GET', `/api/video/${IDS[0]}/`)
      assert.deepEqual([body.data.place.state, body.data.subtitles.length, body.data.keep], ['there', 1, true])
      assert.deepEqual(body.data.streams.map(({ codec }: { codec: string }) => codec).sort(), ['aac', 'h264'])
      await diesOf(second, id, 'undo')

      const third = await startServer(t, folder, env)
      await inState(third, id, 'undone')
      await allQuiet(third)
      assert.deepEqual(await idsOf(third), [])
      assert.deepEqual((await third.api('GET', '/api/channel/')).body.data, [])
      assert.equal((await third.api('GET', '/api/place/')).body.places[0].videos, 0)
      assert.equal(await third.end('SIGTERM'), 0)
      assert.deepEqual(await listing(root), before)
    })
  }
})

test('a killed scan starts again, and its plan contains each film once', async (t) => {
  const [folder, root] = [await temporaryFolder(t), await temporaryFolder(t)]
  const films = 1000
  await layMany(join(root, 'films'), films, 1)
  await writeFile(join(root, 'films/000 nothing [aaaaaaaaaaa].mp4'), '')
  const env = { AV_LIBRARY_ROOTS: root, AV_SEGMENTS_URL: 'http://127.0.0.1:9', AV_PLATFORM_URL: 'http://127.0.0.1:9' }
  const first = await startServer(t, folder, {
    ...env,
    AV_PLUGINS_DIR: CRASH,
    AV_CRASH_AT: 'adoption.look:after',
  })
  const place = (await first.api('POST', '/api/place/', { path: `${root}/films` })).body.id
  await first.api('POST', '/api/adoption/', { place }).catch(() => undefined)
  assert.equal(await first.ended, null, 'it was killed')

  const second = await startServer(t, folder, env)
  const [{ id }] = (await second.api('GET', '/api/adoption/')).body.adoptions
  const plan = await inState(second, id, 'planned')

  assert.deepEqual([plan.outcomes.new.count, plan.problems], [films, { not_a_film: 1 }])
  assert.deepEqual(await idsOf(second), [], 'a plan changes nothing')
  assert.equal(await second.end('SIGTERM'), 0)
})

for (const next of ['goes on', 'is undone'] as const)
  test(`killed during a request to the platform about a film, an import ${next}`, async (t) => {
    const [folder, root] = [await temporaryFolder(t), await temporaryFolder(t)]
    const { platform, env: toPlatform } = await startTestPlatform(t)
    const asked = VIDEO.ferry
    await layFilm({ lay: lay(root) }, `films/Told [${IDS[0]}].mp4`, infoOf(IDS[0]!))
    await layFilm({ lay: lay(root) }, `films/Untold [${asked}].mp4`)
    const before = await listing(root)
    const env = { ...toPlatform, AV_LIBRARY_ROOTS: root, AV_SEGMENTS_URL: 'http://127.0.0.1:9' }
    platform.faults.set('global', { name: 'api_slow', ms: 30_000 })
    const first = await startServer(t, folder, env)
    const place = (await first.api('POST', '/api/place/', { path: `${root}/films` })).body.id
    const { id } = (await first.api('POST', '/api/adoption/', { place })).body
    await inState(first, id, 'planned')
    platform.requests.length = 0
    await first.api('POST', `/api/adoption/${id}/`, { command: 'adopt' })
    await until(
      'the platform is asked',
      async () => platform.requests.length,
      (count) => count > 0,
    )
    await first.end('SIGKILL')
    platform.faults.clear()

    const second = await startServer(t, folder, env)
    if (next === 'goes on') {
      await allQuiet(second)
      assert.deepEqual(await idsOf(second), [IDS[0]!, asked].sort())
      const { states } = await adoptionOf(second, id)
      assert.deepEqual([states.done, states.planned, states.left], [2, 0, 0])
    }
    await second.api('POST', `/api/adoption/${id}/`, { command: 'undo' })
    await inState(second, id, 'undone')
    await allQuiet(second)

    assert.deepEqual(await idsOf(second), [])
    assert.deepEqual((await second.api('GET', '/api/channel/')).body.data, [])
    assert.equal((await second.api('GET', '/api/place/')).body.places[0].videos, 0)
    assert.equal(await second.end('SIGTERM'), 0)
    assert.deepEqual(await listing(root), before)
  })
