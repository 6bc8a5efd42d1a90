/** Locations: films of other programs are shown and played where they are, and nothing is ever written there. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { type TestApp, testApp } from 'archivolt/testing'
import { listing, placesApp } from '../../support/places.ts'
import '../../support/slow.ts'

const DAY_MS = 86_400_000
const show = async (app: TestApp, id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data
const notices = (app: TestApp) => app.app.jobs.notifications().filter(({ title }) => title === 'A folder is offline')

test('a film in a location is sent unchanged, with the type of its container and in the requested ranges', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('other program', 'Old films')
  for (const [ending, type] of [
    ['webm', 'video/webm'],
    ['mkv', 'video/x-matroska'],
    ['mov', 'video/quicktime'],
    ['m4a', 'audio/mp4'],
    ['opus', 'audio/ogg'],
    ['mp3', 'audio/mpeg'],
    ['mp4', 'video/mp4'],
  ] as const) {
    const id = `of-${ending}`
    await app.placed({ id, placeId, path: `Channel/Öl & “Wasser” [${id}].${ending}`, content: '0123456789' })
    const url = `/media/UC1/${id}.${ending}`
    const { media_url, place } = await show(app, id)
    const whole = await app.as('user').get(url)
    const part = await app.as('user').get(url, { range: 'bytes=2-4' })

    assert.deepEqual([media_url, place], [url, { label: 'Old films', state: 'there' }])
    assert.deepEqual([whole.status, whole.text, whole.headers.get('content-type')], [200, '0123456789', type])
    assert.deepEqual([part.status, part.text, part.headers.get('content-range')], [206, '234', 'bytes 2-4/10'])
    assert.equal((await app.as('nobody').get(url)).status, 401)
    for (const other of [`/media/UC2/${id}.${ending}`, `/media/UC1/${id}.avi`, `/media/UC1/${id}.txt`])
      assert.equal((await app.as('user').get(other)).status, 404, other)
  }
})

test('only a folder below one that the operator has named becomes a location, and the refusal names the setting', async (t) => {
  const app = await placesApp(t)
  const admin = app.as('admin')
  await app.place('films')
  await mkdir(join(app.root, 'films', 'within'))
  await writeFile(join(app.root, 'a file'), '')
  await symlink('/etc', join(app.root, 'way out'))
  const ask = async (path: string) => {
    const { status, body } = await admin.post('/api/place/', { path })
    return [status, body.message]
  }
  const line = (path: string) =>
    `Archivolt may not read ${path}. Start the server with AV_LIBRARY_ROOTS=${app.root},${path}`

  assert.deepEqual(await ask('/etc'), [422, line('/etc')])
  assert.deepEqual(await ask('/nowhere at all'), [422, line('/nowhere at all')])
  assert.deepEqual(await ask(`${app.root}/films/../../${basename(app.root)}-not`), [422, line(`${app.root}-not`)])
  assert.deepEqual(await ask(`${app.root}/way out`), [422, line(`${app.root}/way out`)])
  for (const name of ['none', 'a file'])
    assert.deepEqual(await ask(join(app.root, name)), [
      422,
      `There is no folder ${join(app.root, name)} that the server can read; check the path and its permissions`,
    ])
  assert.equal((await ask('films'))[0], 400)
  assert.equal((await ask('/films\n'))[0], 400)
  assert.deepEqual(
    (await admin.post('/api/place/', { path: join(app.root, 'films', 'within') })).body.path,
    join(app.root, 'films'),
    'a folder in a place belongs to that place',
  )
  assert.equal(
    (await admin.post('/api/place/', { path: join(app.root, 'films') })).body.id,
    1,
    'the same place once more',
  )
  assert.equal((await app.as('user').get('/api/place/')).status, 403)
  const { body } = await admin.get('/api/place/')
  assert.deepEqual(body, {
    roots: [app.root],
    missing: [],
    places: [
      {
        id: 1,
        path: join(app.root, 'films'),
        label: 'films',
        state: 'there',
        added_at: app.clock.now() / 1000,
        videos: 0,
        follow: false,
        ours: false,
      },
    ],
  })
})

test('a folder with a long name is called by whole characters', async (t) => {
  const app = await placesApp(t)
  const name = `${'😀'.repeat(50)}/videos`
  await mkdir(join(app.root, name), { recursive: true })

  const { status, body } = await app.as('admin').post('/api/place/', { path: join(app.root, name) })

  assert.deepEqual([status, body.label], [200, name])
})

test('a folder that is added twice at the same moment is one location', async (t) => {
  const app = await placesApp(t)
  await mkdir(join(app.root, 'old'))
  const add = () => app.as('admin').post('/api/place/', { path: join(app.root, 'old') })

  const both = await Promise.all([add(), add()])

  assert.deepEqual(
    both.map(({ status, body }) => [status, body.id]),
    [
      [200, 1],
      [200, 1],
    ],
  )
})

test('the library and folders that contain it are no locations', async (t) => {
  const app = await placesApp(t, { settings: { libraryRoots: ['/'] } })

  for (const path of [join(app.dataDir, 'media'), app.dataDir, join(app.dataDir, 'cache'), '/']) {
    const { status, body } = await app.as('admin').post('/api/place/', { path })
    assert.equal(status, 422, path)
    assert.match(body.message, /overlap: choose another folder$/)
  }
})

test('a folder of the archive itself is refused as such, without mentioning a setting that would not help', async (t) => {
  const app = await placesApp(t)

  const { status, body } = await app.as('admin').post('/api/place/', { path: join(app.dataDir, 'media') })

  assert.equal(status, 422)
  assert.match(body.message, /overlap: choose another folder$/)
})

test('by default the import folder may contain locations, and the manual import ignores them', async (t) => {
  const app = await testApp(t)
  const folder = join(app.dataDir, 'import', 'films')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'A film [aaaaaaaaaaa].mp4'), 'film')
  assert.equal((await app.as('admin').post('/api/place/', { path: folder })).status, 200)

  const job = await app.app.jobs.start('manual_import')
  assert.equal((await app.app.jobs.ended(job.id)).state, 'SUCCESS')

  assert.deepEqual(
    app.app.jobs.notifications().filter(({ level }) => level === 'error'),
    [],
    'nothing was looked at',
  )
  assert.ok(existsSync(join(folder, 'A film [aaaaaaaaaaa].mp4')))
})

test('a link that leads out of all permitted folders is 404, even if it was created after the film was found', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  await app.placed({ id: 'v1', placeId, path: 'a/v1.mp4' })
  await app.placed({ id: 'v2', placeId, path: 'b/v2.mp4' })
  await app.placed({ id: 'v3', placeId, path: 'v3.mp4' })
  await rm(join(app.root, 'films', 'a', 'v1.mp4'))
  await symlink('/etc/hostname', join(app.root, 'films', 'a', 'v1.mp4'))
  await rename(join(app.root, 'films', 'b'), join(app.root, 'b'))
  await symlink('../b', join(app.root, 'films', 'b'))

  assert.equal((await app.as('user').get('/media/UC1/v1.mp4')).status, 404)
  assert.equal((await app.as('user').get('/media/UC1/v2.mp4')).text, 'a film', 'within what may be read')
})

test('a removal deletes our data and keeps the files, and the answer says so', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  await app.placed({ id: 'v1', placeId, path: 'v1.mkv' })
  await app.placed({ id: 'v2', placeId, path: 'v2.webm' })
  await app.placed({ id: 'v3', placeId, path: 'v3.webm' })
  const subtitle = app.app.media.subtitlePathOf('UC1', 'v1', 'en')
  await mkdir(join(subtitle, '..'), { recursive: true })
  await writeFile(subtitle, 'WEBVTT')
  const before = await listing(app.root)

  const one = await app.as('admin').delete('/api/video/v1/')
  const { removal, ...told } = one.body
  assert.deepEqual([one.status, told, typeof removal], [200, { video: 'v1', state: 'delete', file: 'kept' }, 'string'])
  assert.equal(existsSync(subtitle), false)
  assert.deepEqual(await app.ids('video'), ['v2', 'v3'])
  assert.equal((await app.as('admin').delete(`/api/place/${placeId}/`)).status, 409)

  const all = await app.as('admin').delete('/api/channel/UC1/')
  const { removal: ofAll, ...said } = all.body
  assert.deepEqual(
    [all.status, said, typeof ofAll],
    [200, { channel: 'UC1', state: 'delete', files_kept: 2 }, 'string'],
  )
  assert.deepEqual(await app.ids('video'), [])
  assert.deepEqual(await listing(app.root), before)
  assert.deepEqual(app.app.media.places.wasForgotten(['v1', 'v2', 'v3', 'v4']), new Set(['v1', 'v2', 'v3']))
  assert.equal((await app.as('admin').delete(`/api/place/${placeId}/`)).status, 200)
})

test('a location that gets its first video while it is being removed stays, with what is known about the film', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  const { places } = app.app.media
  const trash = places.trash as unknown as { empty(placeId: number): Promise<void> }
  t.mock.method(trash, 'empty', () => app.placed({ id: 'v1', placeId, path: 'v1.mkv' }))

  const removed = await app.as('admin').delete(`/api/place/${placeId}/`)

  assert.equal(removed.status, 409)
  assert.equal(places.filmOf('v1')?.placeId, placeId)
})

test('rescan, pictures and the deletion of watched videos do not touch files in locations', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  for (const id of ['v1', 'v2']) await app.placed({ id, placeId, path: `${id}.mp4`, content: `film ${id}` })
  await app.as('admin').post('/api/config/', { downloads: { autodelete_days: 1 } })
  await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: true })
  await app.settled()
  await app.clock.advance(3 * DAY_MS)
  const before = await listing(app.root)

  for (const task of ['rescan_filesystem', 'resync_thumbs', 'download_pending', 'thumbnail_check']) {
    const job = await app.app.jobs.start(task, task === 'rescan_filesystem' ? { force: true } : {})
    assert.equal((await app.app.jobs.ended(job.id)).state, 'SUCCESS', task)
  }

  assert.deepEqual(await listing(app.root), before)
  assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
  assert.deepEqual(await app.ids('download'), [])
})

test('a location that is away is reported once, its videos stay and say so, and it comes back by itself', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films', 'The big disk')
  await app.placed({ id: 'v1', placeId, path: 'v1.webm' })
  const told = new Promise<void>((resolve) => {
    const unwatch = app.app.jobs.watch(() => {
      if (notices(app).length === 0) return
      unwatch()
      resolve()
    })
  })
  assert.equal((await show(app, 'v1')).place.state, 'there')
  await rename(join(app.root, 'films'), join(app.root, 'elsewhere'))
  // The mount point of its disk is an empty folder.
  await mkdir(join(app.root, 'films'))

  await app.clock.advance(5 * 60_000)
  await told
  const { status, body } = await app.as('user').get('/media/UC1/v1.webm')
  assert.deepEqual([status, body.message], [503, 'The file of this video is in “The big disk”, which is not available'])
  assert.deepEqual((await show(app, 'v1')).place, { label: 'The big disk', state: 'away' })
  const [place] = (await app.as('admin').get('/api/place/')).body.places
  assert.deepEqual([place.state, typeof place.away_since], ['away', 'number'])
  assert.equal(await app.app.media.places.isThere(placeId), false)
  assert.equal(notices(app).length, 1)
  assert.ok(!JSON.stringify(notices(app)).includes(app.root), 'no path for everybody')
  const job = await app.app.jobs.start('rescan_filesystem', { force: true })
  assert.equal((await app.app.jobs.ended(job.id)).state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), ['v1'])

  await rm(join(app.root, 'films'), { recursive: true })
  await rename(join(app.root, 'elsewhere'), join(app.root, 'films'))
  await app.restart()
  assert.equal(await app.app.media.places.isThere(placeId), true)
  assert.equal((await show(app, 'v1')).place.state, 'there')
  assert.equal((await app.as('user').get('/media/UC1/v1.webm')).text, 'a film')
})

for (const [what, rootsOf] of [
  ['names other folders', (root: string) => [join(root, 'other')]],
  ['is missing', () => [join('/', 'nowhere', 'import')]],
  ['names a file', (root: string) => [join(root, 'a-file')]],
] as const) {
  test(`if AV_LIBRARY_ROOTS ${what} at a start, locations are away: nothing counts as deleted, also for a forced rescan`, async (t) => {
    const app = await placesApp(t)
    const placeId = await app.place('films', 'The big disk')
    await app.placed({ id: 'v1', placeId, path: 'v1.webm' })
    await app.lay('other/a.txt', 'text')
    await app.lay('a-file', 'text')
    await app.close()

    const { dataDir, clock } = app
    const again = await testApp(t, { dataDir, clock, settings: { libraryRoots: rootsOf(app.root) } })
    const { status, body } = await again.as('user').get('/media/UC1/v1.webm')
    assert.deepEqual(
      [status, body.message],
      [503, 'The file of this video is in “The big disk”, which is not available'],
    )
    const job = await again.app.jobs.start('rescan_filesystem', { force: true })
    assert.equal((await again.app.jobs.ended(job.id)).state, 'SUCCESS')
    assert.deepEqual(await again.ids('video'), ['v1'])
    assert.equal((await show(again, 'v1')).place.state, 'away')
    assert.match(JSON.stringify(notices(again)), /outside of the folders in AV_LIBRARY_ROOTS/)

    await again.close()
    await app.restart()
    assert.equal(await app.app.media.places.isThere(placeId), true)
    assert.equal((await app.as('user').get('/media/UC1/v1.webm')).text, 'a film')
  })
}

test('a location whose disk is gone, except for system folders, is away', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  await app.placed({ id: 'v1', placeId, path: 'v1.webm' })
  await rename(join(app.root, 'films'), join(app.root, 'unmounted'))
  for (const name of ['.nomount', 'lost+found/x', '@eaDir/x']) await app.lay(`films/${name}`, '')

  assert.equal(await app.app.media.places.isThere(placeId), false)
  assert.equal((await app.as('user').get('/media/UC1/v1.webm')).status, 503)
})

test('a film behind a link that may not be followed any more does not count as deleted', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  for (const id of ['v1', 'v2']) await app.placed({ id, placeId, path: `${id}.mp4` })
  await rm(join(app.root, 'films', 'v1.mp4'))
  await symlink('/etc/hostname', join(app.root, 'films', 'v1.mp4'))

  const job = await app.app.jobs.start('rescan_filesystem', { force: true })
  await app.app.jobs.ended(job.id)

  assert.deepEqual(await app.ids('video'), ['v1', 'v2'])
})

test('a location that was moved is recognized by its films', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  for (const id of ['v1', 'v2', 'v3', 'v4']) await app.placed({ id, placeId, path: `${id}.webm` })
  await rename(join(app.root, 'films'), join(app.root, 'new'))
  await mkdir(join(app.root, 'other'))
  for (const id of ['v1', 'v2', 'v3'])
    await writeFile(join(app.root, 'other', `${id}.webm`), 'another film of that name')
  const move = (path: string) => app.as('admin').post(`/api/place/${placeId}/`, { path: join(app.root, path) })

  const wrong = await move('other')
  assert.equal(wrong.status, 422)
  assert.match(wrong.body.message, /^Only 0 of 4 videos were found in .+: this is not where “films” is now$/)
  assert.equal((await move('new')).body.state, 'there')
  assert.equal((await app.as('user').get('/media/UC1/v1.webm')).text, 'a film')
})

test('a video whose file is missing from a location stays listed until a rescan is told to remove it', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  for (const id of ['v1', 'v2']) await app.placed({ id, placeId, path: `${id}.webm` })
  await rename(join(app.root, 'films', 'v1.webm'), join(app.root, 'v1.webm'))
  const rescan = async (payload = {}) => {
    const job = await app.app.jobs.start('rescan_filesystem', payload)
    assert.equal((await app.app.jobs.ended(job.id)).state, 'SUCCESS')
  }

  assert.equal((await app.as('user').get('/media/UC1/v1.webm')).status, 404)
  await rescan()
  assert.deepEqual([(await show(app, 'v1')).place.state, (await show(app, 'v2')).place.state], ['missing', 'there'])
  await rename(join(app.root, 'v1.webm'), join(app.root, 'films', 'v1.webm'))
  await rescan()
  assert.equal((await show(app, 'v1')).place.state, 'there')
  await rm(join(app.root, 'films', 'v1.webm'))
  await rescan({ force: true })
  assert.deepEqual(await app.ids('video'), ['v2'])
})

test('a restored document has the current address of its film, whatever the backup says', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  await app.placed({ id: 'v1', placeId, path: 'v1.webm' })
  const run = async (task: string, payload = {}) => {
    const job = await app.app.jobs.start(task, payload)
    const { state, result } = await app.app.jobs.ended(job.id)
    assert.equal(state, 'SUCCESS', result ?? '')
  }
  await run('run_backup')
  const [{ filename }] = (await app.as('admin').get('/api/backup/')).body
  const film = app.app.media.places.filmOf('v1')!
  await app.app.media.places.keep([{ ...film, path: 'v1.mkv', ending: 'mkv' }])
  await rename(join(app.root, 'films', 'v1.webm'), join(app.root, 'films', 'v1.mkv'))

  await run('restore_backup', { filename })

  assert.equal((await show(app, 'v1')).media_url, '/media/UC1/v1.mkv')
  assert.equal((await app.as('user').get('/media/UC1/v1.mkv')).text, 'a film')
})
