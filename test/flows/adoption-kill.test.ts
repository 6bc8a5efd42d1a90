/** The server is killed at every step of moving in and of undoing it: the next start goes on, and no file is touched. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/folder.ts'
import { lay } from '../support/lay.ts'
import { listing } from '../support/places.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { infoOf, layFilm } from '../support/ytdlp-folder.ts'

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

test('moving in and undoing it go on after a kill at any point', async (t) => {
  const folder = await temporaryFolder(t)
  const root = await temporaryFolder(t)
  for (const id of IDS) await layFilm({ lay: lay(root) }, `films/${id}.mp4`, infoOf(id), { 'en.vtt': VTT })
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
