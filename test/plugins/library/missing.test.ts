/** Films that are missing from the library: the user's data stays, and they are downloaded again. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aChannel, aVideo } from 'archivolt/testing'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { aNewItem } from '../../support/builders.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type LibraryApp, libraryApp } from '../../support/library-app.ts'
import { handAt } from '../../support/other-work.ts'
import { placesApp, withPlaces } from '../../support/places.ts'

const { harbour } = CHANNEL
const { ferry, nets, fog } = VIDEO

const show = async (app: LibraryApp, id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data
const missingIn = async (app: Pick<LibraryApp, 'as'>) =>
  (await app.as('admin').get('/api/library/missing/')).body.data as Array<{ platform_id: string; active: boolean }>

/** Three films of a channel; the first one is marked, kept and in a playlist. */
async function withFilms(...given: Parameters<typeof libraryApp>): Promise<LibraryApp> {
  const app = await libraryApp(...given)
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  await app.given(aChannel({ id: harbour }), ...[nets, fog, ferry].map((id) => aVideo({ id, channelId: harbour })))
  for (const id of [nets, fog, ferry]) await app.film('media', harbour, `${id}.mp4`)
  await app.as('admin').post(`/api/video/${nets}/`, { keep: true })
  await app.as('user').post('/api/watched/', { id: nets, is_watched: true })
  await app.as('user').post(`/api/video/${nets}/progress/`, { position: 0.5 })
  await app.settled()
  return app
}
const written = async (app: LibraryApp) => {
  const { keep, player } = await show(app, nets)
  return { keep, watched: player.watched }
}

test("a video whose film is missing keeps the user's data, and one request downloads it again", async (t) => {
  const app = await withFilms(t)
  const before = await written(app)
  assert.deepEqual(before, { keep: true, watched: true })
  await rm(app.at('media', harbour, `${nets}.mp4`))

  const { state, result } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'SUCCESS')
  assert.match(result ?? '', /^The files of 1 of 3 videos were not found: nothing was removed/)
  assert.equal((await show(app, nets)).missing, true)
  assert.equal((await show(app, fog)).missing, undefined)
  assert.deepEqual(
    (await missingIn(app)).map(({ platform_id: id }) => id),
    [nets],
  )
  assert.equal((await app.as('user').get(`/media/${harbour}/${nets}.mp4`)).status, 404)

  const asked = await app.as('admin').post('/api/library/missing/', { command: 'download' })
  assert.equal(asked.status, 200)
  await app.settled()

  assert.ok(existsSync(app.at('media', harbour, `${nets}.mp4`)))
  assert.deepEqual(await written(app), before)
  assert.deepEqual([await missingIn(app), (await show(app, nets)).missing], [[], undefined])
  assert.equal((await app.runTask('rescan_filesystem')).result, null)
})

test('of a film that the platform no longer has only the record remains', async (t) => {
  const app = await withFilms(t)
  await app.app.videos.setActive([nets], false)
  await rm(app.at('media', harbour, `${nets}.mp4`))
  await app.runTask('rescan_filesystem')

  const { task_id: id } = (await app.as('admin').post('/api/library/missing/', { command: 'download' })).body
  const { result } = await app.app.jobs.ended(id)

  assert.match(result ?? '', /^0 videos were queued; 1 are no longer on the platform/)
  assert.deepEqual([await app.ids('download'), (await missingIn(app)).map(({ active }) => active)], [[], [false]])
  assert.deepEqual(await written(app), { keep: true, watched: true })
})

test('the folder of a channel that somebody has renamed is found by the ids of its films', async (t) => {
  const app = await withFilms(t)
  await writeFile(app.at('media', harbour, `${nets}.en.vtt`), 'WEBVTT\n\n00:00.000 --> 00:01.000\nnets at dawn\n')
  await rename(app.at('media', harbour), app.at('media', 'The harbour (2019)'))
  await app.film('media', 'The harbour (2019)', 'my own film.mp4')

  const { state, result, messages } = await app.runTask('rescan_filesystem')

  assert.deepEqual([state, result], ['SUCCESS', null])
  assert.deepEqual(await app.ids('video'), [nets, fog, ferry].sort())
  for (const name of [`${nets}.mp4`, `${nets}.en.vtt`, `${fog}.mp4`, `${ferry}.mp4`])
    assert.ok(existsSync(app.at('media', harbour, name)), name)
  assert.ok(!messages.some((text) => text.includes('my own film')), 'what is nobody’s is left alone')
  assert.deepEqual(await missingIn(app), [])
})

test('a video that is removed during a rescan is not among the missing', async (t) => {
  const removing = definePlugin({
    name: 'removing',
    needs: ['library', 'video'],
    implements: {
      'library.homeless':
        ({ videos }) =>
        () =>
          videos.remove(nets).then(() => new Set<string>()),
    },
  })
  const app = await withFilms(t, { outside: [removing] })
  for (const id of [nets, fog]) await rm(app.at('media', harbour, `${id}.mp4`))

  await app.runTask('rescan_filesystem')

  const { data, paginate } = (await app.as('admin').get('/api/library/missing/')).body
  assert.deepEqual([data.map(({ platform_id: id }: { platform_id: string }) => id), paginate.total_hits], [[fog], 1])
})

test('a film that returns is no longer missing', async (t) => {
  const app = await withFilms(t)
  await rename(app.at('media', harbour, `${nets}.mp4`), app.at('set-aside.mp4'))
  await app.runTask('rescan_filesystem')
  assert.equal((await missingIn(app)).length, 1)
  await rename(app.at('set-aside.mp4'), app.at('media', harbour, `${nets}.mp4`))

  await app.as('admin').post('/api/library/missing/', { command: 'download' })
  await app.settled()

  assert.deepEqual([await missingIn(app), await app.ids('download')], [[], []])
})

test('a film that returns while it waits in the queue is not downloaded again', async (t) => {
  let comesBack = async (): Promise<void> => undefined
  const app = await withFilms(t, { replace: [handAt('missing.queue', 'after', () => comesBack())] })
  const film = app.at('media', harbour, `${nets}.mp4`)
  await rename(film, app.at('set-aside.mp4'))
  const { ino } = await stat(app.at('set-aside.mp4'))
  await app.runTask('rescan_filesystem')
  comesBack = () => rename(app.at('set-aside.mp4'), film)

  const { result } = await app.runTask('download_missing')
  await app.settled()

  assert.match(result ?? '', /^1 videos were queued/)
  assert.equal((await stat(film)).ino, ino)
  assert.deepEqual([await missingIn(app), await app.ids('download')], [[], []])
})

test('a queued film that is missing counts as missing while its folder is offline, and is downloaded', async (t) => {
  const root = await temporaryFolder(t)
  const app = withPlaces(await libraryApp(t, { settings: { libraryRoots: [root] } }), root)
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  const placeId = await app.place('films')
  await app.placed({ id: nets, channelId: harbour, placeId, path: `${nets}.mp4` })
  await app.app.media.missing.replace(async () => [nets])
  await app.app.queue.add([aNewItem(nets)], 'priority', { isAsked: true })
  await rename(join(root, 'films'), join(root, 'unplugged'))

  await app.runTask('download_pending')
  await app.settled()

  assert.ok(existsSync(app.at('media', harbour, `${nets}.mp4`)))
  assert.deepEqual([await missingIn(app), await app.ids('download')], [[], []])
})

test('only a person can remove missing videos: with force, permanently', async (t) => {
  const app = await withFilms(t)
  for (const id of [nets, fog]) await rm(app.at('media', harbour, `${id}.mp4`))
  await app.runTask('rescan_filesystem')
  assert.equal((await app.ids('video')).length, 3)

  const { result } = await app.runTask('rescan_filesystem', { force: true })

  assert.deepEqual([result, await app.ids('video'), await missingIn(app)], [null, [ferry], []])
})

test('a film that comes back during a forced rescan keeps its video', async (t) => {
  let comesBack = async (): Promise<void> => undefined
  const app = await withFilms(t, { replace: [handAt('rescan.remove', 'before', () => comesBack())] })
  await rm(app.at('media', harbour, `${fog}.mp4`))
  comesBack = async () => void (await app.film('media', harbour, `${fog}.mp4`))

  await app.runTask('rescan_filesystem', { force: true })

  assert.deepEqual(await app.ids('video'), [nets, fog, ferry].sort())
  assert.ok(existsSync(app.at('media', harbour, `${fog}.mp4`)))
})

test('a film that is found while others are checked is not missing', async (t) => {
  const app = await withFilms(t)
  const { missing } = app.app.media

  await missing.replace(async () => {
    await missing.drop([nets])
    return [nets, fog]
  })

  assert.deepEqual(
    (await missingIn(app)).map(({ platform_id: id }) => id),
    [fog],
  )
})

test('a video that is removed while its place is checked is neither missing nor found again', async (t) => {
  const app = await placesApp(t)
  await app.placed({ id: 'v1', placeId: await app.place('films'), path: 'v1.mp4' })
  const { missing, places } = app.app.media
  await places.forget(['v1'])

  for (const isLost of [true, false]) await places.setLost(['v1'], isLost)

  assert.deepEqual([missing.count(), places.wasForgotten(['v1'])], [0, new Set(['v1'])])
})

test('requesting a video whose film is missing queues it without force; a list of archived videos does not', async (t) => {
  const app = await withFilms(t)
  await rm(app.at('media', harbour, `${nets}.mp4`))
  await app.runTask('rescan_filesystem')
  const ids = [nets, fog]
  assert.deepEqual(await app.app.queue.missing(ids), new Set())
  assert.deepEqual(await app.app.queue.missing(ids, { isAsked: true }), new Set([nets]))

  await app.as('admin').post('/api/download/', { data: ids.map((id) => ({ platform_id: id })) })
  await app.settled()
  assert.deepEqual(await app.ids('download'), [nets])
  await app.as('admin').post('/api/task-name/download_pending/')
  await app.settled()

  assert.ok(existsSync(app.at('media', harbour, `${nets}.mp4`)))
  assert.deepEqual(await written(app), { keep: true, watched: true })
})

test('a video whose film was missing and is in a location now is no longer missing', async (t) => {
  const app = await placesApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const job = await app.app.jobs.start('rescan_filesystem', {})
  await app.app.jobs.ended(job.id)
  assert.equal((await missingIn(app)).length, 1)

  await app.placed({ id: 'v1', placeId: await app.place('films'), path: 'v1.webm' })

  assert.deepEqual(await missingIn(app), [])
})

test('films that are gone from a location count as missing', async (t) => {
  const app = await placesApp(t)
  const placeId = await app.place('films')
  for (const id of ['v1', 'v2']) await app.placed({ id, placeId, path: `${id}.webm` })
  await rm(`${app.root}/films/v1.webm`)

  const job = await app.app.jobs.start('rescan_filesystem', {})
  const { result } = await app.app.jobs.ended(job.id)

  assert.match(result ?? '', /^The files of 1 of 2 videos were not found/)
  assert.deepEqual(
    (await missingIn(app)).map(({ platform_id: id }) => id),
    ['v1'],
  )
  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.missing, true)
})
