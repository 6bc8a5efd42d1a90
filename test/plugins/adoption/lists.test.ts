/** Custom playlists of another program are imported as private ones, and removed by an undo. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aVideo } from 'archivolt/testing'
import { commanded, scanned } from '../../support/adopting.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/slow.ts'

const [FERRY, COMET, FOG, OWN] = ['ferryFerry1', 'cometComet1', 'fogFogFogFo', 'ownOwnOwnOw'] as const

async function lists(app: PlacesApp, who: 'admin' | 'user' = 'admin'): Promise<Record<string, string[]>> {
  const { data } = (await app.as(who).get('/api/playlist/?visibility=private')).body
  const found: Record<string, string[]> = {}
  for (const { playlist_id: id, playlist_name: name } of data) {
    const { body } = await app.as(who).get(`/api/video/?playlist=${id}`)
    found[name] = body.data.map((video: Record<string, string>) => video['platform_id']).sort()
  }
  return found
}

async function anApp(t: Parameters<typeof placesApp>[0]) {
  const app = await placesApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: OWN, channelId: 'UC1' }))
  const place = await app.place('material/video')
  const files = [FERRY, COMET, FOG].map((id) => ({
    uid: id,
    url: `https://www.youtube.com/watch?v=${id}`,
    path: `video/${id}.mp4`,
  }))
  for (const id of [FERRY, COMET]) await layFilm(app, `material/video/${id}.mp4`, infoOf(id))
  const list = (id: string, name: string, ...uids: string[]) => ({ id, name, uids })
  const playlists = [
    list('p1', 'Evenings', FERRY, FOG, COMET, 'gone'),
    list('p2', 'Mine', FERRY),
    list('p3', 'Nothing here', FOG),
  ]
  await app.lay('material/appdata/local_db.json', JSON.stringify({ files, subscriptions: [], playlists }))
  return { app, place }
}
const ADOPT = { command: 'adopt', along: { kinds: ['list'] } }

test('each becomes a private playlist of the importing account, once, next to existing ones; only if it is chosen', async (t) => {
  const { app, place } = await anApp(t)
  await app.as('admin').post('/api/playlist/custom/', { playlist_name: 'Mine', playlist_visibility: 'private' })
  const id = await scanned(app, place)
  const plan = (await app.as('admin').get(`/api/adoption/${id}/`)).body
  assert.deepEqual(plan.along, [{ kind: 'list', owner: '', count: 3 }])

  await commanded(app, id, { command: 'adopt', along: { kinds: [] } })
  assert.deepEqual(await lists(app), { Mine: [] })

  await commanded(app, id, ADOPT)
  assert.deepEqual(await lists(app), { Evenings: [COMET, FERRY], Mine: [] })
  assert.deepEqual(await lists(app, 'user'), {})

  await commanded(app, id, ADOPT)
  await commanded(app, await scanned(app, place), ADOPT)
  assert.deepEqual(await lists(app), { Evenings: [COMET, FERRY], Mine: [] })
})

test('an undo removes imported entries, and keeps those that somebody has added', async (t) => {
  const { app, place } = await anApp(t)
  const id = await scanned(app, place)
  await commanded(app, id, ADOPT)
  assert.deepEqual(Object.keys(await lists(app)).sort(), ['Evenings', 'Mine'])
  const { data } = (await app.as('admin').get('/api/playlist/?visibility=private')).body
  const own = data.find((one: Record<string, string>) => one['playlist_name'] === 'Evenings').playlist_id
  const put = await app.as('admin').post(`/api/playlist/custom/${own}/`, { action: 'create', video_id: OWN })
  assert.equal(put.status, 200, JSON.stringify(put.body))

  await commanded(app, id, { command: 'undo' })

  assert.deepEqual(await lists(app), { Evenings: [OWN] })
  assert.deepEqual(await app.ids('video'), [OWN])
})
