/** How a subscription begins: the newest few, all, or only new ones; with the real yt-dlp at the loopback platform. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MAX_WINDOW } from 'archivolt'
import { addLargeChannel, CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { aChannel, aPlaylist, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const NEW = { info: { timestamp: 1_800_000_000, availability: 'public' }, tab: 'videos', clip: 'wide-3s' }

async function given(
  t: TestContext,
): Promise<{ app: TestApp; loopback: TestPlatform; publish: (id: string, channelId: string) => void }> {
  const loopback = await startTestPlatform(t)
  const app = await testApp(t, { settings: loopback.settings })
  holdDownloads(t, app)
  const publish = (id: string, channelId: string) =>
    loopback.platform.catalogue.put('videos', id, { ...NEW, channelId, info: { ...NEW.info, title: id } })
  return { app, loopback, publish }
}

/** Keeps the queued items, so that the test can check them. */
function holdDownloads(t: TestContext, app: TestApp): void {
  t.mock.method(
    app.app.platform,
    'download',
    (_id: string, _options: object, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  )
}

async function subscribe(app: TestApp, kind: 'channel' | 'playlist', id: string, take?: unknown): Promise<void> {
  const { status, body, text } = await app.as('admin').post(`/api/${kind}/`, {
    data: [{ [`${kind}_id`]: id, [`${kind}_subscribed`]: true, ...(take !== undefined && { take }) }],
  })
  assert.equal(status, 200, text)
  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
}

async function scan(app: TestApp): Promise<string | null> {
  const { body } = await app.as('admin').post('/api/task-name/update_subscribed/')
  return (await app.app.jobs.ended(body.task_id)).result
}

/** Ids by status, in the order of the queue. */
async function queued(app: TestApp): Promise<string[]> {
  const { items } = await app.app.queue.list({ from: 0, size: MAX_WINDOW })
  return items.map(({ status, platform_id: id }) => `${status} ${id}`).sort()
}

test('the newest ten are queued and downloaded at once; later scans queue new videos, and none of the others', async (t) => {
  const { app, loopback, publish } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 200, key: 'bulk0', hasPictures: false })

  await subscribe(app, 'channel', channelId, 10)

  const first = await queued(app)
  assert.equal(first.length, 10)
  assert.ok(
    first.every((item) => item.startsWith('priority ')),
    first.join(),
  )
  assert.equal(app.app.jobs.list({ task: 'download_pending' }).length, 1)
  assert.equal(await scan(app), null)
  publish('brandNew001', channelId)
  assert.equal(await scan(app), '1 new video found')
  assert.deepEqual(await queued(app), [...first, 'pending brandNew001'].sort())
  await app.as('admin').post('/api/config/', { subscriptions: { channel_size: 150 } })
  assert.equal(await scan(app), null, 'a larger size does not reach beyond what was passed over')
})

test('with "only new" no existing video is ever queued: not after a restart, not when the newest is deleted or another moves to the top', async (t) => {
  const { app, loopback, publish } = await given(t)
  const { catalogue } = loopback.platform
  const channelId = addLargeChannel(catalogue, { videos: 200, key: 'bulk0', hasPictures: false })
  for (const id of ['knownVid001', 'knownVid002', 'knownVid003']) publish(id, channelId)

  await subscribe(app, 'channel', channelId, 'new')

  assert.deepEqual(await queued(app), [])
  assert.equal(app.app.jobs.list({ task: 'download_pending' }).length, 0, 'there is nothing to download')
  await app.restart()
  holdDownloads(t, app)
  assert.equal(await scan(app), null)
  catalogue.videos.delete('knownVid002')
  catalogue.put('videos', 'knownVid001', {
    ...NEW,
    channelId,
    info: { ...NEW.info, title: 'Shown again', timestamp: 1_900_000_000 },
  })
  publish('brandNew001', channelId)
  publish('brandNew002', channelId)
  assert.equal(await scan(app), '2 new videos found')
  assert.deepEqual(await queued(app), ['pending brandNew001', 'pending brandNew002'])
})

test('"all" has no limit, in each tab that is not switched off', async (t) => {
  const { app, loopback } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 80, key: 'bulk0', hasPictures: false })
  loopback.platform.catalogue.put('videos', 'aShort00001', { ...NEW, channelId, tab: 'shorts', clip: 'tall-2s' })
  await app.as('admin').post('/api/config/', { subscriptions: { shorts_channel_size: 0 } })

  await subscribe(app, 'channel', channelId, 'all')

  assert.equal((await queued(app)).length, 80)
  assert.equal(await scan(app), null)
})

test('for a playlist the newest few are queued; additions are found at either end', async (t) => {
  const { app, loopback, publish } = await given(t)
  const { catalogue } = loopback.platform
  const { videoIds } = catalogue.playlists.get(PLAYLIST.coast)!

  await subscribe(app, 'playlist', PLAYLIST.coast, 2)

  const first = videoIds.slice(0, 2).map((id: string) => `priority ${id}`)
  assert.deepEqual(await queued(app), first.toSorted())
  assert.equal(await scan(app), null)
  publish('brandNew001', CHANNEL.harbour)
  publish('brandNew002', CHANNEL.harbour)
  catalogue.put('playlists', PLAYLIST.coast, { videoIds: ['brandNew001', ...videoIds, 'brandNew002'] })
  assert.equal(await scan(app), '2 new videos found')
  assert.deepEqual(await queued(app), [...first, 'pending brandNew001', 'pending brandNew002'].toSorted())
})

test('"only new" and "all" for a playlist', async (t) => {
  const { app, loopback } = await given(t)
  const { videoIds } = loopback.platform.catalogue.playlists.get(PLAYLIST.coast)!

  await subscribe(app, 'playlist', PLAYLIST.coast, 'new')
  assert.equal(await scan(app), null)
  assert.deepEqual(await queued(app), [])

  await subscribe(app, 'playlist', PLAYLIST.coast, 'all')
  assert.deepEqual(await queued(app), videoIds.map((id: string) => `priority ${id}`).toSorted())
})

test('an ended subscription is forgotten: the next one begins as requested, or by the sizes', async (t) => {
  const { app } = await given(t)
  const end = (kind: 'channel' | 'playlist', id: string) =>
    app.as('admin').post(`/api/${kind}/`, { data: [{ [`${kind}_id`]: id, [`${kind}_subscribed`]: false }] })
  await subscribe(app, 'channel', CHANNEL.orbit, 'new')
  await subscribe(app, 'playlist', PLAYLIST.coast, 'new')

  await end('channel', CHANNEL.orbit)
  await end('playlist', PLAYLIST.coast)
  await subscribe(app, 'channel', CHANNEL.orbit)
  await subscribe(app, 'playlist', PLAYLIST.coast)

  assert.deepEqual(await queued(app), [], 'over the bare API no scan is started')
  assert.equal(await scan(app), '10 new videos found')
})

test('what an ended subscription has read does not end the scan of the next one early', async (t) => {
  const { app, loopback } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 200, key: 'bulk0', hasPictures: false })
  await subscribe(app, 'channel', channelId, 40)
  assert.equal((await queued(app)).length, 40)

  await app.as('admin').post('/api/channel/', { data: [{ channel_id: channelId, channel_subscribed: false }] })
  await subscribe(app, 'channel', channelId)

  assert.equal(await scan(app), '10 new videos found', 'up to the size of 50')
})

test('a first scan that a restart interrupts is repeated, and a retried task requests no second one', async (t) => {
  const { app, loopback } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 200, key: 'bulk0', hasPictures: false })
  await app.given(aChannel({ id: channelId }))
  let restarted: Promise<void> | undefined
  const { queue } = app.app
  const add = queue.add
  t.mock.method(queue, 'add', async (...args: Parameters<typeof add>) => {
    const added = await add(...args)
    restarted ??= app.restart()
    return added
  })
  const { body } = await app
    .as('admin')
    .post('/api/channel/', { data: [{ channel_id: channelId, channel_subscribed: true, take: 40 }] })
  while (!restarted) await new Promise(setImmediate)
  await restarted
  holdDownloads(t, app)

  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')

  assert.equal((await queued(app)).length, 40)
  assert.equal(await scan(app), null)
})

test('a retried long list begins where it was interrupted: scanned channels are not requested again', async (t) => {
  const { app } = await given(t)
  const [first, second] = [CHANNEL.harbour, CHANNEL.orbit]
  await app.given(...[first, second].map((id) => aChannel({ id })))
  const { platform } = app.app
  const list = platform.list
  let asked: string[] = []
  let isBroken = true
  t.mock.method(platform, 'list', (...args: Parameters<typeof list>) => {
    asked.push(args[0])
    if (isBroken && args[0] === second) throw new Error('the line broke')
    return list(...args)
  })
  const data = [first, second].map((id) => ({ channel_id: id, channel_subscribed: true, take: 'new' }))
  const { body } = await app.as('admin').post('/api/channel/', { data })
  await app.settled()
  assert.deepEqual([...new Set(asked)], [first, second])

  asked = []
  isBroken = false
  app.clock.advance(61_000)

  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
  assert.deepEqual([...new Set(asked)], [second])
  assert.deepEqual(await queued(app), [])
})

test('of two requests for a channel the later one decides, even if the earlier one is repeated after it', async (t) => {
  const { app } = await given(t)
  const broken = t.mock.method(app.app.platform, 'channel', () => {
    throw new Error('the line broke')
  })
  const data = [{ channel_id: CHANNEL.orbit, channel_subscribed: true, take: 'all' }]
  const { body } = await app.as('admin').post('/api/channel/', { data })
  await app.settled()
  assert.equal(app.app.jobs.get(body.task_id)?.state, 'RETRY')
  broken.mock.restore()
  await subscribe(app, 'channel', '@OrbitNotes', 'new')

  await app.clock.advance(61_000)

  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
  assert.deepEqual(await queued(app), [])
})

test('upcoming and live videos are not skipped: they are new once they are available', async (t) => {
  const { app, loopback } = await given(t)
  loopback.platform.faults.set(VIDEO.eclipse, 'upcoming_premiere')
  await subscribe(app, 'channel', CHANNEL.orbit, 'new')

  loopback.platform.faults.clear()

  assert.equal(await scan(app), '1 new video found')
})

test('an invalid request is refused before anything changes', async (t) => {
  const { app } = await given(t)
  await app.given(aChannel({ id: CHANNEL.orbit }), aPlaylist({ id: PLAYLIST.coast }))
  for (const take of [0, -1, 1.5, 2_000_000, 'newest', '', true, null]) {
    assert.equal(
      (
        await app
          .as('admin')
          .post('/api/channel/', { data: [{ channel_id: CHANNEL.orbit, channel_subscribed: true, take }] })
      ).status,
      400,
      String(take),
    )
    assert.equal(
      (
        await app
          .as('admin')
          .post('/api/playlist/', { data: [{ playlist_id: PLAYLIST.coast, playlist_subscribed: true, take }] })
      ).status,
      400,
      String(take),
    )
  }
  assert.equal((await app.doc('channel', CHANNEL.orbit)).channel_subscribed, false)
  assert.equal((await app.doc('playlist', PLAYLIST.coast)).playlist_subscribed, false)
})
