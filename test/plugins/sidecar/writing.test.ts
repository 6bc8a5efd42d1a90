/** Sidecars contain changes within the hour, move with their films, and never affect folders of other programs. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { makePicture } from '../../support/ffmpeg.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { placesApp, withPlaces } from '../../support/places.ts'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from '../../support/plugin-testing.ts'
import { testApp as plainApp } from '../../support/testing.ts'

const HOUR_MS = 3_600_000

const anHour = async (app: TestApp) => {
  await app.clock.advance(HOUR_MS)
  await app.settled()
}

test('a sidecar contains changes within the hour, is written only then, and goes to the bin with its film', async (t) => {
  const app = await testApp(t)
  const { media } = app.app
  const path = join(dirname(media.pathOf('UC1', 'v1')), 'v1.archivolt.json')
  const read = async () => JSON.parse(await readFile(path, 'utf8'))
  const due = () => app.app.ledger.sql("SELECT kind, id FROM sidecar_due WHERE kind <> 'archive'").all()
  await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))

  await anHour(app)
  const first = await read()
  assert.deepEqual([first.archivolt, first.version, first.id, first.video.title], ['video', 1, 'v1', 'Herring'])
  assert.equal(first.others.checksum.length, 3)
  const { mode, mtimeMs, ino } = await stat(path)
  assert.equal(mode & 0o777, 0o600, 'it says who has watched what')
  assert.deepEqual(due(), [])

  await app.app.sidecars.noteAll()
  await anHour(app)
  assert.deepEqual([(await stat(path)).mtimeMs, (await stat(path)).ino], [mtimeMs, ino], 'nothing new, nothing written')

  await rm(path)
  await app.clock.advance(7 * 24 * HOUR_MS)
  await app.settled()
  await anHour(app)
  assert.equal((await read()).video.title, 'Herring', 'each week all of them are compared')

  await app.as('user').post('/api/video/v1/progress/', { position: 0.4 })
  await app.as('user').post('/api/playlist/watchlater/', { action: 'create', video_id: 'v1' })
  await app.app.videos.change('v1', { set: { title: 'Sprat' } })
  await app.app.emit('video.changed' as never, { id: 'v1', what: 'metadata' } as never)
  await anHour(app)
  const { video, others } = await read()
  assert.equal(video.title, 'Sprat')
  assert.deepEqual(
    others.watch.positions.map(([account, at]: unknown[]) => [account, at]),
    [['user', 0.4]],
  )
  assert.deepEqual(
    others.playlist.map(([list]: unknown[]) => list),
    ['watchlater/user'],
  )

  await app.as('admin').delete('/api/video/v1/')
  await anHour(app)
  assert.ok(!existsSync(path))
  const [entry] = (await app.as('admin').get('/api/bin/')).body.data
  await app.as('admin').post('/api/bin/restore/', { entries: [entry.id] })
  await app.settled()
  assert.equal((await read()).video.title, 'Sprat')

  await app.as('admin').post('/api/config/', { sidecars: { beside_films: false } })
  await app.app.videos.setKept('v1', true)
  await anHour(app)
  assert.equal((await read()).video.keep, undefined)
  await app.as('admin').post('/api/config/', { sidecars: { beside_films: true } })
  await anHour(app)
  assert.equal((await read()).video.keep, true, 'what has changed meanwhile was noted')
})

test('sidecars that were last compared while the clock was ahead are compared again once it is right', async (t) => {
  const app = await testApp(t)
  const path = join(dirname(app.app.media.pathOf('UC1', 'v1')), 'v1.archivolt.json')
  await app.download(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
  await anHour(app)
  const right = app.clock.now()
  app.clock.set(right + 4000 * 24 * HOUR_MS)
  await app.app.sidecars.noteAll()
  await anHour(app)

  app.clock.set(right)
  await rm(path)
  await anHour(app)
  await anHour(app)

  assert.ok(existsSync(path))
})

test('a video that is removed while its sidecar is written leaves none behind, and is restored from the bin', async (t) => {
  let tellGathered: (() => void) | undefined
  const removing = definePlugin({
    name: 'removing',
    needs: ['video', 'sidecar'],
    api: 1,
    implements: {
      'video.belongings': () => ({
        of: 'removing',
        rows: [],
        collect: async () => {
          tellGathered?.()
          return new Map()
        },
        restore: async () => {},
      }),
      // Now the film is in the bin, and the document still exists.
      'video.remove':
        ({ jobs }) =>
        async () => {
          const gathered = new Promise<void>((done) => void (tellGathered = done))
          await jobs.start('write_sidecars')
          await gathered
        },
    },
  })
  const app = await testApp(t, { plugins: [removing] })
  const path = join(dirname(app.app.media.pathOf('UC1', 'v1')), 'v1.archivolt.json')
  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))

  await app.as('admin').delete('/api/video/v1/')
  await app.settled()

  assert.equal(existsSync(path), false)
  const { data } = (await app.as('admin').get('/api/bin/')).body
  assert.equal((await app.as('admin').post('/api/bin/restore/', { entries: [data[0].id] })).body.restored, 1)
})

test('the sidecar of a film in a folder of another program is in the data folder, and finds the film again', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await temporaryFolder(scope)
  const app = await placesApp(scope, { dataDir })
  const { root } = app
  const placeId = await app.place('films', 'Films')
  await app.placed({ id: 'v1', placeId, path: 'a/v1.webm' })
  await app.given(aChannel(), aVideo({ id: 'v1', title: 'Herring' }))
  const picture = app.app.media.artPathOf('video', 'v1')
  await mkdir(dirname(picture), { recursive: true })
  await makePicture(picture)
  await app.as('admin').post('/api/task-name/write_sidecars/')
  await app.settled()
  assert.deepEqual(await readdir(join(root, 'films'), { recursive: true }), ['a', 'a/v1.webm'], 'it is only read')
  const was = app.app.media.places.filmOf('v1')
  await app.close()
  const lose = async () => {
    for (const name of await readdir(dataDir))
      if (!['media', 'sidecars'].includes(name)) await rm(join(dataDir, name), { recursive: true })
  }
  await lose()

  const forbidden = await plainApp(scope, { dataDir })
  const { said } = await forbidden.command('rebuild --yes')
  assert.ok(said.includes('videos: 1 in sidecars; 0 added'), said.join('\n'))
  assert.match(said.at(-1)!, /^Refused: v1\.archivolt\.json: Archivolt may not read /, 'and it keeps its name')
  await forbidden.close()
  await lose()

  const again = withPlaces(await plainApp(scope, { dataDir, settings: { libraryRoots: [root] } }), root)
  const done = await again.command('rebuild --yes')
  assert.deepEqual([done.code, done.error], [0, undefined])
  assert.ok(done.said.includes('videos: 1 in sidecars; 1 added'), done.said.join('\n'))
  const { media, videos } = again.app
  const film = media.places.filmOf('v1')
  assert.deepEqual({ ...film, placeId: 0 }, { ...was, placeId: 0 })
  assert.equal(media.places.get(film!.placeId).label, 'Films')
  assert.equal(await media.filmPath('UC1', 'v1'), join(root, 'films/a/v1.webm'))
  assert.equal((await videos.get('v1'))?.title, 'Herring')
  assert.ok((await stat(media.artPathOf('video', 'v1'))).size > 0, 'its picture, which no address has')

  await again.as('admin').delete('/api/video/v1/')
  await again.settled()
  await again.as('admin').post('/api/task-name/write_sidecars/')
  await again.settled()
  assert.deepEqual(await readdir(join(dataDir, 'sidecars')), [])
})

test('the sidecar of a channel has neither its podcasts nor its playlists, which have their own sidecars', async (t) => {
  const app = await testApp(t)
  const path = join(app.app.settings.mediaDir, '.archivolt', 'channels', 'UC1.archivolt.json')
  await app.given(aChannel({ id: 'UC1' }), aPlaylist({ id: 'PL1', playlist_channel_id: 'UC1' }))
  const made = await app.as('user').post('/api/podcast/', { kind: 'channel', target: 'UC1' })
  assert.equal(made.status, 200, made.text)

  await app.app.sidecars.noteAll()
  await anHour(app)

  const { channel, others } = JSON.parse(await readFile(path, 'utf8'))
  assert.deepEqual([channel.channel_id, others.podcast, others.playlist], ['UC1', undefined, undefined])
  assert.equal(others.download, true)
})

test('if a folder is faulty, the sidecars of the others are written, and its own are retried', async (t) => {
  const app = await testApp(t)
  const { ledger, media, settings } = app.app
  const ids = ['UC1', 'UC2', 'UC3']
  const folder = (id: string) => dirname(media.pathOf(id, `v${id}`))
  const sidecar = (id: string) => join(folder(id), `v${id}.archivolt.json`)
  const due = () => ledger.sql("SELECT id FROM sidecar_due WHERE kind = 'video'").all()
  await app.given(...ids.flatMap((id) => [aChannel({ id }), aVideo({ id: `v${id}`, channelId: id })]))
  await symlink('UC1', join(settings.mediaDir, 'UC1'))
  await mkdir(folder('UC2'))
  await mkdir(folder('UC3'))
  const get = app.app.videos.get
  // Simulates a disk with errors, because the test may run as root, for whom permissions do not apply.
  const broken = t.mock.method(app.app.videos, 'get', async (id: string) => {
    if (id === 'vUC2') await readFile(dirname(folder(id)))
    return get(id)
  })

  const { task_id: id } = (await app.as('admin').post('/api/task-name/write_sidecars/')).body
  const { state, result } = await app.app.jobs.ended(id)

  assert.equal(state, 'SUCCESS', result!)
  assert.match(result!, /\. 1 could not be written: the log says why$/)
  assert.deepEqual([existsSync(sidecar('UC3')), due()], [true, [{ id: 'vUC2' }]])
  broken.mock.restore()
  await anHour(app)
  assert.deepEqual([existsSync(sidecar('UC2')), due()], [true, []])
})
