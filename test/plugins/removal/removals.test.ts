/** The service for automatic removals: what it spares, what stays removed, and how it is undone. */
import assert from 'node:assert/strict'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { errors } from 'archivolt'
import { placesApp } from '../../support/places.ts'
import { aChannel, aVideo } from '../../support/testing.ts'

const IDS = ['v1', 'v2', 'v3']

async function archive(t: TestContext) {
  const app = await placesApp(t)
  await app.given(aChannel({ id: 'UC1' }), ...IDS.map((id) => aVideo({ id, channelId: 'UC1' })))
  const { removals, queue, media } = app.app
  const paths = IDS.map((id) => media.pathOf('UC1', id))
  await mkdir(dirname(paths[0]!), { recursive: true })
  for (const path of paths) await writeFile(path, path)
  const ignored = () => IDS.filter((id) => queue.get(id)?.status === 'ignore')
  return { app, removals, ignored, ids: async () => (await app.ids('video')).sort() }
}

test('kept videos and films of other programs stay and are not ignored; an unknown id is skipped', async (t) => {
  const { app, removals, ignored, ids } = await archive(t)
  await app.placed({ id: 'placed', placeId: await app.place('films'), path: 'placed.mkv', channelId: 'UC1' })
  await app.app.videos.setKept('v2', true)

  const { removed, stays } = await removals.remove(['v1', 'v2', 'placed', 'unknown', 'v1'], { note: 'Too old' })

  assert.deepEqual(removed, ['v1'])
  assert.deepEqual(Object.fromEntries(stays), { v2: 'kept', placed: 'place' })
  assert.deepEqual(await ids(), ['placed', 'v2', 'v3'])
  assert.deepEqual(ignored(), ['v1'])
  const { data } = (await app.as('admin').get('/api/bin/')).body
  assert.deepEqual([data[0].platform_id, data[0].note], ['v1', 'Too old'])
})

test('a video whose film cannot be moved stays, is not ignored, and is removed by the next call', async (t) => {
  const { app, removals, ignored, ids } = await archive(t)
  const trash = join(app.dataDir, 'media/.trash')
  await rm(trash, { recursive: true, force: true })
  await writeFile(trash, 'a file stands where the trash would be')

  const { removed, stays } = await removals.remove(['v1', 'v2'])

  assert.deepEqual([removed, Object.fromEntries(stays)], [[], { v1: 'unavailable', v2: 'unavailable' }])
  assert.deepEqual([await ids(), ignored()], [IDS, []])
  await rm(trash)
  assert.deepEqual((await removals.remove(['v1', 'v2'])).removed, ['v1', 'v2'])
})

test('a removed video is ignored even if it was queued to be downloaded again; one that stays remains queued', async (t) => {
  const { app, removals, ignored, ids } = await archive(t)
  const { queue, videos } = app.app
  await queue.add(await videos.outlinesOf(['v1', 'v2']), 'pending', { force: true })
  const { removeMany } = videos
  t.mock.method(videos, 'removeMany', (...given: Parameters<typeof removeMany>) => {
    if (given[0].includes('v2')) throw errors.unavailable('Its film cannot be moved')
    return removeMany(...given)
  })

  const { removed, stays } = await removals.remove(['v1', 'v2'])

  assert.deepEqual([removed, [...stays.keys()], await ids()], [['v1'], ['v2'], ['v2', 'v3']])
  assert.deepEqual([ignored(), queue.get('v2')?.status], [['v1'], 'pending'])
})

test('while the disk of the library is offline nothing is removed or ignored', async (t) => {
  const { app, removals, ignored, ids } = await archive(t)
  const [library, away] = [join(app.dataDir, 'media'), join(app.dataDir, 'disk')]
  await rename(library, away)
  await mkdir(library)

  const { stays } = await removals.remove(['v1'])

  assert.deepEqual([Object.fromEntries(stays), await ids(), ignored()], [{ v1: 'unavailable' }, IDS, []])
  await rm(library, { recursive: true })
  await rename(away, library)
})

test('an undo restores videos from the bin, queues the others, and lists those that it cannot find; both may be repeated', async (t) => {
  const { app, removals, ignored, ids } = await archive(t)
  const { removal } = await removals.remove(['v1', 'v2'], { removal: 'nightly' })
  assert.equal(removal, 'nightly')
  assert.deepEqual((await removals.remove(['v1', 'v2', 'v3'], { removal })).removed, ['v3'])
  const { data } = (await app.as('admin').get('/api/bin/')).body
  const entries = new Map(data.map((one: { platform_id: string; id: number }) => [one.platform_id, one.id]))
  await app.as('admin').post('/api/bin/empty/', { entries: [entries.get('v2'), entries.get('v3')] })
  await app.app.queue.remove('v3')

  const back = await removals.undo(IDS, removal)
  await removals.undo(['v1'], removal)

  assert.deepEqual(
    IDS.map((id) => back.get(id)!.state),
    ['back', 'again', 'refused'],
  )
  assert.deepEqual([await ids(), ignored()], [['v1'], []])
  assert.equal(app.app.queue.get('v2')?.status, 'pending')
})

test('more videos than a folder of the bin holds are removed in parts, and a stop ends the work between two of them', async (t) => {
  const { app, removals } = await archive(t)
  const many = Array.from({ length: 150 }, (_, at) => `many${at}`)
  await app.given(...many.map((id) => aVideo({ id, channelId: 'UC1' })))
  const stop = new AbortController()
  const unwatch = app.app.jobs.watch(({ job }) => void (job?.task === 'video.remove' && stop.abort()))

  await assert.rejects(removals.remove(many, { removal: 'all', signal: stop.signal }), { name: 'AbortError' })
  unwatch()
  assert.equal((await app.ids('video')).length, 3 + 50)
  await removals.remove(many, { removal: 'all' })

  assert.equal((await app.ids('video')).length, 3)
  assert.ok([...(await removals.undo(many, 'all')).values()].every(({ state }) => state === 'back'))
})
