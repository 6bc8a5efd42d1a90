/** Playlists of the platform that another program knows are imported with its data, and removed by an undo. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commanded, scanned } from '../../support/adopting.ts'
import { expectedOf, makeLibraries } from '../../support/libraries.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'
import '../../support/long.ts'

type Entry = { platform_id: string; title: string; downloaded: boolean }

async function anApp(t: Parameters<typeof placesApp>[0], name: string) {
  const app = await placesApp(t)
  await makeLibraries(app.root, [name])
  const { library } = await expectedOf(app.root, name)
  return { app, place: await app.place(`${name}/${library}`) }
}

async function playlists(app: PlacesApp): Promise<Array<Record<string, unknown>>> {
  return (await app.as('admin').get('/api/playlist/')).body.data
}
const entriesOf = (playlist: Record<string, unknown> | undefined) => playlist!['playlist_entries'] as Entry[]
const requests = (app: PlacesApp) => app.app.jobs.active('subscribe_to')

test('a playlist of TubeArchivist is imported with its order and missing entries, without a subscription, and removed by an undo', async (t) => {
  const { app, place } = await anApp(t, 'tubearchivist-v05')
  const id = await scanned(app, place)

  await commanded(app, id, { command: 'adopt' })

  const [coast, ...others] = await playlists(app)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [coast!['playlist_name'], coast!['playlist_subscribed'], coast!['playlist_type']],
    ['The coast in five films', false, 'regular'],
  )
  assert.deepEqual(
    entriesOf(coast).map(({ title, downloaded }) => [title !== '', downloaded]),
    [true, false, true, false, false].map((isHere) => [true, isHere]),
  )
  const [first] = entriesOf(coast)
  const { body: video } = await app.as('admin').get(`/api/video/${first!.platform_id}/`)
  assert.ok(video.playlist.includes(coast!['playlist_id']), 'its videos say so')
  assert.equal(requests(app), undefined)

  await commanded(app, id, { command: 'undo' })
  assert.deepEqual(await playlists(app), [])
})

test('a playlist that somebody has subscribed to since stays, an existing one is not changed, and none is imported unless chosen', async (t) => {
  const { app, place } = await anApp(t, 'tubearchivist-v05')
  const id = await scanned(app, place)
  await commanded(app, id, { command: 'adopt', along: { kinds: ['keep'] } })
  assert.deepEqual(await playlists(app), [])
  await commanded(app, id, { command: 'undo' })

  const again = await scanned(app, place)
  await commanded(app, again, { command: 'adopt' })
  const coast = String((await playlists(app))[0]!['playlist_id'])
  await app.app.playlists.setSubscribed(coast, true)
  await commanded(app, again, { command: 'undo' })

  assert.deepEqual(
    (await playlists(app)).map((one) => [one['playlist_id'], one['playlist_subscribed']]),
    [[coast, true]],
  )

  await app.app.playlists.setSubscribed(coast, false)
  const third = await scanned(app, place)
  await commanded(app, third, { command: 'adopt' })
  await commanded(app, third, { command: 'undo' })
  assert.equal((await playlists(app)).length, 1)
})

for (const [name, title] of [
  ['pinchflat', 'The coast in five films'],
  ['tubesync', 'Sounds'],
] as const)
  test(`what ${name} downloads as a playlist becomes one, with the present videos in the same order`, async (t) => {
    const { app, place } = await anApp(t, name)

    await commanded(app, await scanned(app, place), { command: 'adopt' })

    const own = (await playlists(app)).find((one) => one['playlist_name'] === title)
    assert.equal(own?.['playlist_subscribed'], false)
    assert.ok(entriesOf(own).some(({ downloaded }) => downloaded))
  })
