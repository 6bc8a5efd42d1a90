/** A followed location: what another program adds or renames there is imported automatically. */
import assert from 'node:assert/strict'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { DAY_MS } from '../../../core/base/clock.ts'
import { openSeen } from '../../../plugins/adoption/plans/followed.ts'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import { testClock } from '../../support/clock.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { writeAtom } from '../../support/film-atom.ts'
import { garble } from '../../support/garble.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const [ONE, TWO, THREE] = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc'] as const

async function look(app: PlacesApp): Promise<void> {
  const { id } = await app.app.jobs.start('follow_places')
  assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
  await app.settled()
}
const adoptions = async (app: PlacesApp) => (await app.as('admin').get('/api/adoption/')).body.adoptions
const isFollowed = async (app: PlacesApp): Promise<boolean> =>
  (await app.as('admin').get('/api/place/')).body.places[0].follow

test('a file added to a followed location is imported, a renamed one is found again, and without changes no plan remains', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, `old/${ONE}.mp4`, infoOf(ONE))
  await look(app)
  assert.deepEqual(await app.ids('video'), [], 'nobody follows it yet')
  assert.equal((await app.as('admin').post(`/api/place/${place}/`, { follow: 'yes' })).status, 400)
  assert.equal((await app.as('admin').post('/api/place/77/', { follow: true })).status, 404)

  const { status, body } = await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  assert.deepEqual([status, body.follow], [200, true])
  await app.settled()
  assert.deepEqual(await app.ids('video'), [ONE])

  await layFilm(app, `old/${TWO}.mp4`, infoOf(TWO))
  for (const ending of ['mp4', 'info.json'])
    await rename(join(app.root, 'old', `${ONE}.${ending}`), join(app.root, 'old', `Renamed [${ONE}].${ending}`))
  await look(app)
  assert.deepEqual(await app.ids('video'), [ONE, TWO])
  assert.equal((await app.as('user').get(`/media/UCaaaaaaaaaaaaaaaaaaaaaa/${ONE}.mp4`)).status, 200)
  const before = await adoptions(app)
  assert.deepEqual(
    before.map(({ state }: { state: string }) => state),
    ['adopted', 'adopted'],
  )

  await look(app)
  assert.deepEqual(await adoptions(app), before)
})

test('a film that only the platform can identify waits for a person, and is not asked for every hour', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, `old/A film [${ONE}].mp4`)
  await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  await app.settled()
  assert.deepEqual([await app.ids('video'), await adoptions(app)], [[], []])

  await layFilm(app, `old/${TWO}.mp4`, infoOf(TWO))
  await look(app)

  assert.deepEqual(await app.ids('video'), [TWO])
  const [newest] = await adoptions(app)
  assert.deepEqual([newest.outcomes.ask.count, newest.states.planned], [1, 1])
})

test('a film in a followed location with its own metadata is imported by it, without asking the platform', async (t) => {
  const { platform, settings } = await startTestPlatform(t)
  const app = await placesApp(t, { settings })
  const place = await app.place('media')
  const [channel, film] = ['UCaaaaaaaaaaaaaaaaaaaaaa', join(app.root, 'media/UCaaaaaaaaaaaaaaaaaaaaaa', `${ONE}.mp4`)]
  await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  await app.settled()

  await makeFilm(film, ['-c:v', 'libx264', '-c:a', 'aac'])
  const video = { youtube_id: ONE, title: 'Told inside', channel: { channel_id: channel, channel_name: 'Harbour' } }
  await writeAtom(film, 'com.tubearchivist', 'ta', JSON.stringify({ video }))
  await look(app)

  assert.equal((await app.as('user').get(`/api/video/${ONE}/`)).body.title, 'Told inside')
  assert.deepEqual(
    platform.requests.filter(({ path }: { path: string }) => path.includes(ONE)),
    [],
  )
})

test('what an undo or a person has removed is not imported again', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  for (const id of [ONE, TWO]) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  await app.settled()
  await app.as('admin').delete(`/api/video/${ONE}/`)
  await layFilm(app, `old/${THREE}.mp4`, infoOf(THREE))
  await look(app)
  assert.deepEqual(await app.ids('video'), [TWO, THREE])

  for (const { id } of await adoptions(app)) {
    assert.equal((await app.as('admin').post(`/api/adoption/${id}/`, { command: 'undo' })).status, 200)
    await app.settled()
  }
  await look(app)

  assert.equal(await isFollowed(app), false)
  assert.deepEqual(await app.ids('video'), [])
})

test('there is an hourly run if a location is followed, and none otherwise', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const runs = () => app.app.jobs.list({ task: 'follow_places' }).length
  await app.clock.advance(3 * 3_600_000)
  assert.equal(runs(), 0)
  assert.ok(app.app.schedules.get('follow_places')!.next_run_at, 'it goes on being looked at')

  await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  await app.settled()
  const before = runs()
  await app.clock.advance(3_600_000)
  await app.settled()

  assert.equal(runs(), before + 1)
})

test('a catalog is read if there is something new, or it has changed, not every hour', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, `old/${ONE}.mp4`, infoOf(ONE))
  await layFilm(app, `old/A film [${THREE}].mp4`)
  const lists = (...ids: string[]) =>
    app.lay(
      'old/appdata/local_db.json',
      JSON.stringify({
        files: ids.map((id) => ({ path: `${id}.mp4`, url: infoOf(id)['webpage_url'] })),
        subscriptions: [],
        archives: [],
      }),
    )
  /** Whether the run has made notes; it first removes those of deleted plans. */
  const wasRead = async () => (await readdir(join(app.dataDir, 'adoptions')).catch(() => [])).length > 0
  await lists(ONE)
  await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  await app.settled()
  assert.deepEqual(await app.ids('video'), [ONE])
  for (const { id } of await adoptions(app)) await app.as('admin').delete(`/api/adoption/${id}/`)
  await look(app)
  assert.equal(await wasRead(), true, 'one that only the platform knows is left')

  await look(app)
  assert.equal(await wasRead(), false)
  await lists(ONE, TWO)
  await look(app)
  assert.equal(await wasRead(), true)
  await look(app)
  assert.equal(await wasRead(), false)
  await layFilm(app, `old/${TWO}.mp4`, infoOf(TWO))
  await look(app)
  assert.deepEqual(await app.ids('video'), [ONE, TWO])
})

test('an unchanged location is scanned again after a day, even if the clock was ahead at the last scan', async () => {
  const clock = testClock()
  const seen = openSeen({ clock })
  const right = clock.now()
  clock.set(right + 4000 * DAY_MS)
  seen.set(1, 'news')

  clock.set(right)
  assert.equal(seen.isStill(1, 'news'), true)
  await clock.advance(DAY_MS)

  assert.equal(seen.isStill(1, 'news'), false)
})

test('a video of a location whose document is damaged and in no snapshot is imported again', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const id = ONE
  await layFilm(app, `old/${id}.mp4`, infoOf(id))
  await commanded(app, await scanned(app, place), { command: 'adopt' })
  await app.settled()
  const { title } = await app.doc('video', id)
  garble(app, 'video', id)

  await app.as('admin').post('/api/backup/') // reads all documents
  await app.settled()

  assert.equal((await app.doc('video', id))?.title, title)
  const { media_url: url } = (await app.as('user').get(`/api/video/${id}/`)).body.data
  assert.equal((await app.as('user').get(url)).status, 200)
})
