/** Locations that a person has marked as ours: what is removed there goes to the bin, on the location's own disk. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { filesOf, type PlaceTrashService, TRASH } from '../../../plugins/media/place-trash.ts'
import { lastFirst } from '../../support/last-first.ts'
import { listing, type PlacesApp, placesApp } from '../../support/places.ts'
import { smallDisk } from '../../support/small-disk.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/long.ts'

const run = promisify(execFile)
const DAY_MS = 86_400_000
const [ONE, TWO] = ['aaaaaaaaaaa', 'bbbbbbbbbbb'] as const
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nherring at dawn\n'

const mark = (app: PlacesApp, place: number, ours = true) => app.as('admin').post(`/api/place/${place}/`, { ours })
const inBin = async (app: PlacesApp): Promise<string[]> =>
  (await app.as('admin').get('/api/bin/')).body.data.map((entry: { platform_id: string }) => entry.platform_id)
const restore = (app: PlacesApp) => app.as('admin').post('/api/bin/restore/', { all: true })
/** The folders in the trash, by name. */
const trashIn = (app: PlacesApp) => readdir(join(app.root, 'films', TRASH)).catch(() => [])
const removeVideo = (app: PlacesApp, id: string) => app.as('admin').delete(`/api/video/${id}/`)
const inPlace = async (app: PlacesApp, folder = 'films') =>
  (await readdir(join(app.root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(app.root, folder).length + 1))
    .sort()

/** A location with imported films, marked as ours. */
async function ownPlace(t: TestContext): Promise<{ app: PlacesApp; place: number }> {
  const app = await placesApp(t)
  const place = await app.place('films', 'Old films')
  for (const id of [ONE, TWO]) await layFilm(app, `films/${id}.mp4`, infoOf(id), { 'en.vtt': VTT })
  const { body } = await app.as('admin').post('/api/adoption/', { place })
  await app.settled()
  await app.as('admin').post(`/api/adoption/${body.id}/`, { command: 'adopt' })
  await app.settled()
  assert.deepEqual((await mark(app, place)).body.ours, true)
  return { app, place }
}

test('a film is removed with the files that belong to it by name, and with none of another film', () => {
  const names = [
    'a.mp4',
    'a.info.json',
    'a.en.vtt',
    'a.de-orig.srt',
    'a-thumb.jpg',
    'a.jpg',
    'a.txt',
    'ab.jpg',
    'b.jpg',
  ]

  assert.deepEqual(filesOf('a.mp4', [...names, 'a.b.mp4.info.json']), [
    ...['a.mp4', 'a.info.json', 'a.en.vtt', 'a.de-orig.srt', 'a-thumb.jpg', 'a.jpg'],
  ])
  assert.deepEqual(filesOf('a.mp4', [...names, 'a.webm']), ['a.mp4'], 'what lies beside two films is of both')
  assert.deepEqual(filesOf('a.mp4', [...names, 'a.b.mp4']), ['a.mp4'])
})

test('without the mark nothing leaves a location; with it films go to its own trash, and come back complete', async (t) => {
  const { app, place } = await ownPlace(t)
  const before = await inPlace(app)
  await mark(app, place, false)
  const kept = await removeVideo(app, TWO)
  assert.deepEqual([kept.body.file, await inPlace(app)], ['kept', before])
  await mark(app, place)

  const { status, body } = await removeVideo(app, ONE)

  const { removal, ...said } = body
  assert.deepEqual([status, said], [200, { video: ONE, state: 'delete', file: 'trash' }])
  assert.match(removal, /^[\w-]{36}$/)
  assert.deepEqual(await app.ids('video'), [])
  const left = await inPlace(app)
  assert.deepEqual(
    left.filter((path) => !path.startsWith(TRASH)),
    before.filter((path) => !path.startsWith(ONE)),
  )
  assert.deepEqual([await inBin(app), (await trashIn(app)).length], [[ONE, TWO], 1])
  const [shown] = (await app.as('admin').get('/api/place/')).body.places
  assert.deepEqual([shown.ours, shown.videos], [true, 0])

  assert.equal((await restore(app)).body.restored, 2)
  await app.settled()
  assert.deepEqual([await inPlace(app), await trashIn(app)], [before, []])
  assert.deepEqual(await app.ids('video'), [ONE, TWO])
  const { data } = (await app.as('user').get(`/api/video/${ONE}/`)).body
  assert.deepEqual([data.place.state, data.subtitles.length], ['there', 1])
  assert.equal((await app.as('user').get(data.media_url)).status, 200)
})

test('a channel is removed with its films, which stay as long as the bin keeps them', async (t) => {
  const { app } = await ownPlace(t)
  await app.as('admin').post('/api/config/', { bin: { days: 60 } })

  const { body } = await app.as('admin').delete('/api/channel/UCaaaaaaaaaaaaaaaaaaaaaa/')
  assert.equal(body.files_in_trash, 2)
  assert.equal(body.files_kept, undefined)
  await app.clock.advance(59 * DAY_MS)
  await app.settled()
  assert.equal((await inPlace(app)).length, 6)
  await app.clock.advance(DAY_MS + 3_600_000)
  await app.settled()

  await until(async () => !existsSync(join(app.root, 'films', TRASH)), app)
  assert.deepEqual([await inBin(app), await inPlace(app)], [[], []])
})

test('the file of a video that the platform no longer has stays until somebody empties the bin', async (t) => {
  const { app, place } = await ownPlace(t)
  await app.app.videos.change(ONE, { set: { active: false } })
  await removeVideo(app, ONE)
  await app.clock.advance(90 * DAY_MS)
  await app.settled()
  assert.equal((await trashIn(app)).length, 1)

  await rename(join(app.root, 'films'), join(app.root, 'away'))
  assert.equal((await app.as('admin').post('/api/bin/empty/', { all: true })).body.deleted, 1)
  await rename(join(app.root, 'away'), join(app.root, 'films'))
  assert.equal(await app.app.media.places.isThere(place), true)
  assert.equal((await trashIn(app)).length, 1, 'its disk was away')
  await app.clock.advance(2 * 3_600_000)

  await until(async () => (await trashIn(app)).length === 0, app)
})

test('with a retention of no days, files in our locations are deleted at once', async (t) => {
  const { app } = await ownPlace(t)
  await app.as('admin').post('/api/config/', { bin: { days: 0 } })
  await removeVideo(app, ONE)

  await until(async () => (await trashIn(app)).length === 0, app)
  assert.equal(existsSync(join(app.root, 'films', `${ONE}.mp4`)), false)
})

test('a location gets its files back before it is removed', async (t) => {
  const { app, place } = await ownPlace(t)
  const before = await inPlace(app)
  for (const id of [ONE, TWO]) await removeVideo(app, id)

  assert.equal((await app.as('admin').delete(`/api/place/${place}/`)).status, 200)

  assert.deepEqual([await inPlace(app), existsSync(join(app.root, 'films', TRASH))], [before, false])
})

for (const [what, lose, find] of [
  [
    'away',
    (app) => rename(join(app.root, 'films'), join(app.root, 'away')),
    (app) => rename(join(app.root, 'away'), join(app.root, 'films')),
  ],
  ['read-only again', (app, place) => mark(app, place, false), (app, place) => mark(app, place)],
] satisfies Array<[string, ...Array<(app: PlacesApp, place: number) => unknown>]>)
  test(`a location that is ${what} stays while films are in its trash, until the bin lets go of them`, async (t) => {
    const { app, place } = await ownPlace(t)
    const before = await inPlace(app)
    for (const id of [ONE, TWO]) await removeVideo(app, id)
    const remove = () => app.as('admin').delete(`/api/place/${place}/`)
    await lose!(app, place)

    const refused = await remove()
    assert.equal(refused.status, 409, refused.text)
    assert.match(refused.body.message, /^“Old films” has files of removed videos in its trash \(2\)/)

    await find!(app, place)
    assert.equal((await remove()).status, 200)
    assert.deepEqual([await inPlace(app), existsSync(join(app.root, 'films', TRASH))], [before, false])
    await app.place('films', 'Old films')
    assert.equal((await restore(app)).body.restored, 2)
  })

test('a location whose disk is lost can be removed once the bin is empty', async (t) => {
  const { app, place } = await ownPlace(t)
  for (const id of [ONE, TWO]) await removeVideo(app, id)
  await rename(join(app.root, 'films'), join(app.root, 'lost'))
  assert.equal((await app.as('admin').post('/api/bin/empty/', { all: true })).status, 200)
  await app.settled()

  assert.equal((await app.as('admin').delete(`/api/place/${place}/`)).status, 200)
})

test('files that are moved back by hand are found by the next scan', async (t) => {
  const { app, place } = await ownPlace(t)
  await removeVideo(app, ONE)
  const [folder] = await readdir(join(app.root, 'films', TRASH))
  for (const name of await readdir(join(app.root, 'films', TRASH, folder!)))
    await rename(join(app.root, 'films', TRASH, folder!, name), join(app.root, 'films', name))

  await app.as('admin').post(`/api/place/${place}/`, { follow: true })
  await app.settled()

  assert.deepEqual(await app.ids('video'), [ONE, TWO])
})

test('no file is moved through a link, into another location, or over a file that has arrived meanwhile', async (t) => {
  const { app, place } = await ownPlace(t)
  await app.placed({ id: 'linked', placeId: place, path: 'inner/linked.mp4' })
  await rename(join(app.root, 'films', 'inner'), join(app.root, 'outer'))
  await symlink('../outer', join(app.root, 'films', 'inner'))
  assert.equal((await removeVideo(app, 'linked')).body.file, 'kept')
  assert.ok(existsSync(join(app.root, 'outer', 'linked.mp4')))

  const { removal } = (await removeVideo(app, ONE)).body
  await writeFile(join(app.root, 'films', `${ONE}.mp4`), 'another film')
  const refused = await app.as('admin').post('/api/bin/restore/', { removal })
  assert.equal(refused.status, 409)
  assert.match(refused.body.message, /^Another aaaaaaaaaaa\.mp4 is in “Old films”/)
  assert.equal(await readFile(join(app.root, 'films', `${ONE}.mp4`), 'utf8'), 'another film')

  await rename(join(app.root, 'films', TRASH), join(app.root, 'films', 'set aside'))
  await mkdir(join(app.root, 'elsewhere'))
  await symlink('../elsewhere', join(app.root, 'films', TRASH))
  const before = await listing(app.root)
  const { status, body } = await removeVideo(app, TWO)
  assert.equal(status, 503)
  assert.match(body.message, /nothing was removed/)
  assert.deepEqual([await app.ids('video'), await listing(app.root)], [[TWO], before])
})

test('a location that is away or read-only loses nothing, and says why', async (t) => {
  const { app, place } = await ownPlace(t)
  await rename(join(app.root, 'films'), join(app.root, 'away'))
  const { status, body } = await removeVideo(app, ONE)
  assert.equal(status, 503)
  assert.match(body.message, /^“Old films” is not available, and its files would be removed too/)
  assert.deepEqual(await app.ids('video'), [ONE, TWO])
  assert.equal((await mark(app, place)).status, 503)
  await rename(join(app.root, 'away'), join(app.root, 'films'))
  assert.equal((await removeVideo(app, ONE)).body.file, 'trash')
})

test('a read-only disk cannot be marked as ours, and no file moves between disks', async (t) => {
  const disk = await smallDisk(t, 4 << 20)
  if (!disk) return
  const app = await placesApp(t, { settings: { libraryRoots: [dirname(disk.path)] } })
  const place: number = (await app.as('admin').post('/api/place/', { path: disk.path, label: 'Disk' })).body.id
  await app.placed({ id: 'v1', placeId: place, path: 'inner/v1.mp4' })
  await app.placed({ id: 'v2', placeId: place, path: 'v2.mp4' })
  await run('mount', ['-o', 'remount,ro', disk.path])

  const { status, body } = await mark(app, place)
  assert.deepEqual(
    [status, body.message],
    [422, '“Disk” is read-only: mount its disk with write access, then try again'],
  )

  await run('mount', ['-o', 'remount,rw', disk.path])
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', join(disk.path, 'inner')])
  lastFirst(t).after(async () => void (await run('umount', ['-l', join(disk.path, 'inner')])))
  await writeFile(join(disk.path, 'inner', 'v1.mp4'), 'a film')
  assert.equal((await mark(app, place)).body.ours, true)
  assert.equal((await removeVideo(app, 'v1')).body.file, 'kept')
  assert.ok(existsSync(join(disk.path, 'inner', 'v1.mp4')))
  await run('mount', ['-o', 'remount,ro', disk.path])
  const refused = await removeVideo(app, 'v2')
  assert.equal(refused.status, 503)
  assert.match(refused.body.message, /\(EROFS\): nothing was removed$/)
  assert.deepEqual(await app.ids('video'), ['v2'])
})

test('a removal that is interrupted after the rename is undone by the next start', async (t) => {
  const { app } = await ownPlace(t)
  const before = await inPlace(app)
  await app.app.media.trash('a-job-that-is-gone', { channelId: 'UCaaaaaaaaaaaaaaaaaaaaaa', videoId: ONE })
  assert.equal(
    (await inPlace(app)).some((path) => path === `${ONE}.mp4`),
    false,
  )

  await app.restart()
  await until(async () => (await trashIn(app)).length === 0, app)

  assert.deepEqual(await inPlace(app), before)
  assert.deepEqual(await app.ids('video'), [ONE, TWO])
  assert.equal((await app.as('user').get(`/media/UCaaaaaaaaaaaaaaaaaaaaaa/${ONE}.mp4`)).status, 200)
})

test('a film stays in the trash of its location if the library disappeared at the end of its removal, even days later', async (t) => {
  const { app } = await ownPlace(t)
  const library = join(app.dataDir, 'media')
  const { videos } = app.app
  const drop = videos.dropAll
  t.mock.method(videos, 'dropAll', async (ids: readonly string[]) => {
    await drop.call(videos, ids)
    await rename(library, `${library}-gone`)
  })
  await removeVideo(app, ONE)
  await app.settled()
  await rename(`${library}-gone`, library)

  await app.clock.advance(2 * DAY_MS)
  await app.restart()
  await (app.app.media.places.trash as PlaceTrashService).begin()

  assert.equal((await trashIn(app)).length, 1)
  assert.equal(existsSync(join(app.root, 'films', `${ONE}.mp4`)), false)
  assert.deepEqual(await app.ids('video'), [TWO])
})

test('the moved files of a video that is still in the archive are returned to it', async (t) => {
  const { app } = await ownPlace(t)
  const collection = app.app.videos.collection
  const remove = collection.remove
  t.mock.method(collection, 'remove', () => Promise.reject(new Error('the index fails')))

  assert.equal((await removeVideo(app, ONE)).status, 500)

  t.mock.method(collection, 'remove', remove)
  assert.equal((await app.as('user').get(`/media/UCaaaaaaaaaaaaaaaaaaaaaa/${ONE}.mp4`)).status, 200)
})

/** Polls the disk until the condition holds; the time limit of the test ends it otherwise. */
async function until(isSo: () => Promise<boolean>, app: PlacesApp): Promise<void> {
  while (!(await isSo())) await app.settled()
}

test('a video whose folder was removed stays in the bin with a reason, and can be restored once the folder is back', async (t) => {
  const { app, place } = await ownPlace(t)
  await mark(app, place, false)
  for (const id of [ONE, TWO]) await removeVideo(app, id)
  assert.equal((await app.as('admin').delete(`/api/place/${place}/`)).status, 200)
  const restore = () => app.as('admin').post('/api/bin/restore/', { all: true })

  const refused = await restore()

  assert.deepEqual([refused.status, refused.body.restored], [200, 0], refused.text)
  assert.match(refused.body.refused[0].reason, /^Its file aaaaaaaaaaa\.mp4 is in a folder that was removed/)
  assert.deepEqual([await app.ids('video'), (await app.as('admin').get('/api/bin/')).body.paginate.total_hits], [[], 2])

  await writeFile(join(app.root, 'films', `${TWO}.mp4`), 'another film')
  await app.place('films', 'Old films')
  const { body } = await restore()

  assert.deepEqual([body.restored, body.refused.length, await app.ids('video')], [1, 1, [ONE]])
  assert.equal((await app.as('user').get((await app.as('user').get(`/api/video/${ONE}/`)).body.media_url)).status, 200)
})
