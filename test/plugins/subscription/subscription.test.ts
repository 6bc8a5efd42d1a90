/** Subscriptions through the API, with the real yt-dlp at the loopback platform. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { addLargeChannel, CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { NO_PLATFORM, startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

async function given(t: TestContext): Promise<{ app: TestApp; loopback: TestPlatform }> {
  const loopback = await startTestPlatform(t)
  return { app: await testApp(t, { settings: loopback.settings }), loopback }
}

const post = (app: TestApp, path: string, data: unknown) => app.as('admin').post(path, { data } as object)

async function scan(app: TestApp): Promise<string | null> {
  const { body } = await app.as('admin').post('/api/task-name/update_subscribed/')
  return (await app.app.jobs.ended(body.task_id)).result
}

async function queued(app: TestApp): Promise<string[]> {
  const { body } = await app.as('admin').get('/api/download/')
  return body.data.map(({ platform_id }: { platform_id: string }) => platform_id)
}

test('channels are subscribed to by id, handle, URL or one of their videos; unsubscribing needs no task', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(aChannel({ id: CHANNEL.orbit, channel_subscribed: true }))
  const { baseUrl } = loopback.platform
  const data = [
    { channel_id: CHANNEL.orbit, channel_subscribed: false },
    { channel_id: '@HarbourAndTide', channel_subscribed: true },
    { channel_id: `${baseUrl}/watch?v=${VIDEO.stool}`, channel_subscribed: true },
    { channel_id: 'UCunknown000000000000000', channel_subscribed: false },
  ]

  const reply = await post(app, '/api/channel/', data)

  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.body, { data, message: 'subscribe task started', task_id: reply.body.task_id })
  assert.equal((await app.doc('channel', CHANNEL.orbit)).channel_subscribed, false)
  assert.equal((await app.app.jobs.ended(reply.body.task_id)).state, 'SUCCESS')
  assert.deepEqual(await app.ids('channel'), [CHANNEL.harbour, CHANNEL.workshop, CHANNEL.orbit].sort())
  for (const id of [CHANNEL.harbour, CHANNEL.workshop])
    assert.equal((await app.doc('channel', id)).channel_subscribed, true)
  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_name, 'Harbour & Tide')
  assert.deepEqual(await queued(app), [], 'no scan is started')

  const ended = await post(app, '/api/channel/', [{ channel_id: '@harbourandtide', channel_subscribed: false }])
  assert.equal(ended.body.task_id, null)
  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_subscribed, false)
})

test('a subscription that is impossible fails its task and is named; the others are subscribed to', async (t) => {
  const { app } = await given(t)

  const { body } = await post(app, '/api/channel/', [
    { channel_id: '@nobody-has-this-name', channel_subscribed: true },
    { channel_id: '@OrbitNotes', channel_subscribed: true },
  ])
  const { state, result } = await app.app.jobs.ended(body.task_id)

  assert.equal(state, 'FAILURE')
  assert.match(result!, /^@nobody-has-this-name: /)
  assert.equal((await app.doc('channel', CHANNEL.orbit)).channel_subscribed, true)
  const told = (await app.as('admin').get('/api/notification/')).body.filter(
    ({ level }: { level: string }) => level === 'error',
  )
  assert.deepEqual(
    told.map(({ messages }: { messages: string[] }) => messages),
    [[result]],
  )
})

test('subscribing to an archived playlist sends no request to the platform', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(aChannel({ id: CHANNEL.harbour }), aPlaylist({ id: PLAYLIST.coast, playlist_subscribed: false }))
  loopback.platform.faults.set('global', { name: 'api_status', status: 503 })

  const { body } = await post(app, '/api/playlist/', [{ playlist_id: PLAYLIST.coast, playlist_subscribed: true }])

  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
  assert.equal((await app.doc('playlist', PLAYLIST.coast)).playlist_subscribed, true)
  assert.deepEqual(loopback.platform.requests, [])
})

test('a playlist is indexed with its channel; its archived videos name it', async (t) => {
  const { app } = await given(t)
  await app.given(
    aVideo({ id: VIDEO.ferry, channelId: CHANNEL.harbour }),
    aPlaylist({ id: PLAYLIST.mixed, playlist_subscribed: true }),
  )

  const reply = await post(app, '/api/playlist/', [
    { playlist_id: PLAYLIST.coast, playlist_subscribed: true },
    { playlist_id: PLAYLIST.mixed, playlist_subscribed: false },
    { playlist_id: PLAYLIST.joinery, playlist_subscribed: false },
  ])
  await app.app.jobs.ended(reply.body.task_id)

  const playlist = await app.doc('playlist', PLAYLIST.coast)
  assert.deepEqual(
    [playlist.playlist_subscribed, playlist.playlist_name, playlist.playlist_entries.length],
    [true, 'The coast in five films', 5],
  )
  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_subscribed, false)
  assert.deepEqual((await app.doc('video', VIDEO.ferry)).playlist, [PLAYLIST.coast])
  assert.equal((await app.doc('playlist', PLAYLIST.mixed)).playlist_subscribed, false)
  assert.equal(await app.doc('playlist', PLAYLIST.joinery), undefined)
})

test('who unsubscribes before the platform has answered stays unsubscribed', async (t) => {
  const { app } = await given(t)
  const { platform } = app.app
  const lineBreaks = () => {
    throw new Error('the line broke')
  }
  const broken = [t.mock.method(platform, 'channel', lineBreaks), t.mock.method(platform, 'playlist', lineBreaks)]
  const change = async (isSubscribed: boolean) => [
    await post(
      app,
      '/api/channel/',
      [CHANNEL.orbit, CHANNEL.harbour].map((channel_id) => ({ channel_id, channel_subscribed: isSubscribed })),
    ),
    await post(app, '/api/playlist/', [{ playlist_id: PLAYLIST.coast, playlist_subscribed: isSubscribed }]),
  ]
  const started = await change(true)
  await app.settled()
  assert.deepEqual(
    started.map(({ body }) => app.app.jobs.get(body.task_id)?.state),
    ['RETRY', 'RETRY'],
  )
  await change(false)
  for (const { mock } of broken) mock.restore()
  await post(app, '/api/channel/', [{ channel_id: CHANNEL.harbour, channel_subscribed: true }])
  await app.settled()

  await app.clock.advance(61_000)

  for (const { body } of started) assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
  assert.deepEqual([await app.ids('channel'), await app.ids('playlist')], [[CHANNEL.harbour], []])
  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_subscribed, true)
})

test('unsubscribing or removing while a subscription begins ends it, at every address', async (t) => {
  const { app } = await given(t)
  const { channels, platform } = app.app
  const { ensure } = channels
  const { playlist } = platform
  const acts = [
    () => post(app, '/api/channel/', [{ channel_id: CHANNEL.orbit, channel_subscribed: false }]),
    () => app.as('admin').post(`/api/channel/${CHANNEL.orbit}/`, { channel_subscribed: false }),
    () => app.as('admin').delete(`/api/channel/${CHANNEL.orbit}/`),
  ]
  t.mock.method(channels, 'ensure', async (...given: Parameters<typeof ensure>) => {
    const channel = await ensure(...given)
    if (given[0] === CHANNEL.orbit) await acts.shift()?.()
    return channel
  })
  const ofPlaylist = [
    () => post(app, '/api/playlist/', [{ playlist_id: PLAYLIST.coast, playlist_subscribed: false }]),
    () => app.as('admin').post(`/api/playlist/${PLAYLIST.mixed}/`, { playlist_subscribed: false }),
    () => app.as('admin').delete(`/api/playlist/${PLAYLIST.mixed}/`),
  ]
  await app.given(aPlaylist({ id: PLAYLIST.mixed, playlist_active: false }))
  t.mock.method(platform, 'playlist', async (...given: Parameters<typeof playlist>) => {
    const metadata = await playlist(...given)
    await ofPlaylist.shift()?.()
    return metadata
  })
  const subscribe = async (kind: 'channel' | 'playlist', id: string) => {
    const { body } = await post(app, `/api/${kind}/`, [
      { [`${kind}_id`]: id, [`${kind}_subscribed`]: true, take: 'all' },
    ])
    assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
    return (await app.doc(kind, id))?.[`${kind}_subscribed`]
  }

  assert.deepEqual(
    [
      await subscribe('channel', CHANNEL.orbit),
      await subscribe('channel', CHANNEL.orbit),
      await subscribe('channel', CHANNEL.orbit),
      await subscribe('playlist', PLAYLIST.coast),
      await subscribe('playlist', PLAYLIST.mixed),
      await subscribe('playlist', PLAYLIST.mixed),
    ],
    [false, false, undefined, undefined, false, undefined],
  )
  assert.deepEqual(await queued(app), [])
})

test('one invalid element refuses the whole request, and nothing has changed', async (t) => {
  const { app } = await given(t)
  await app.given(
    aChannel({ id: CHANNEL.orbit, channel_subscribed: true }),
    aPlaylist({ id: PLAYLIST.coast, playlist_subscribed: true }),
    aPlaylist({ id: 'av_playlist_1', playlist_type: 'custom', playlist_active: false }),
  )
  const goodChannel = { channel_id: CHANNEL.orbit, channel_subscribed: false }
  const goodPlaylist = { playlist_id: PLAYLIST.coast, playlist_subscribed: false }

  for (const bad of [
    { channel_id: CHANNEL.orbit },
    { channel_subscribed: true },
    { channel_id: '', channel_subscribed: true },
    { channel_id: 'no channel', channel_subscribed: true },
    { channel_id: PLAYLIST.coast, channel_subscribed: true },
    { channel_id: CHANNEL.orbit, channel_subscribed: 'yes' },
    7,
  ]) {
    assert.equal((await post(app, '/api/channel/', [goodChannel, bad])).status, 400, JSON.stringify(bad))
  }
  for (const bad of [
    { playlist_id: PLAYLIST.coast },
    { playlist_subscribed: true },
    { playlist_id: 'av_playlist_1', playlist_subscribed: true },
    { playlist_id: 'TA_playlist_7', playlist_subscribed: false },
    { playlist_id: VIDEO.ferry, playlist_subscribed: true },
    null,
  ]) {
    assert.equal((await post(app, '/api/playlist/', [goodPlaylist, bad])).status, 400, JSON.stringify(bad))
  }
  for (const path of ['/api/channel/', '/api/playlist/']) {
    assert.equal((await post(app, path, 'all')).status, 400)
    assert.equal((await post(app, path, [])).body.task_id, null)
    assert.equal((await app.as('user').post(path, { data: [] })).status, 403)
  }

  assert.equal((await app.doc('channel', CHANNEL.orbit)).channel_subscribed, true)
  assert.equal((await app.doc('playlist', PLAYLIST.coast)).playlist_subscribed, true)
})

test('a scan queues new videos of each type, by the sizes of the channel or the settings', async (t) => {
  const { app } = await given(t)
  await app.given(
    aChannel({
      id: CHANNEL.harbour,
      channel_subscribed: true,
      channel_overwrites: { subscriptions_channel_size: 3, subscriptions_live_channel_size: 0 },
    }),
    aChannel({ id: CHANNEL.workshop }),
    aVideo({ id: VIDEO.charts, channelId: CHANNEL.harbour }), // the newest
  )
  await app.as('admin').post('/api/config/', { subscriptions: { shorts_channel_size: 2 } })

  assert.equal(await scan(app), '4 new videos found')

  assert.deepEqual((await queued(app)).sort(), ['mussels', 'pilots', 'wave', 'knot'].map((key) => VIDEO[key]).sort())
  const item = (await app.as('admin').get(`/api/download/${VIDEO.pilots}/`)).body.data
  assert.deepEqual(
    [item.status, item.channel_name, item.channel_indexed, item.vid_type],
    ['pending', `Channel ${CHANNEL.harbour}`, true, 'videos'],
  )
  assert.equal(await scan(app), null)
})

test('a scan ends at the first run of known videos, of 100 or of 100,000', async (t) => {
  const { app, loopback } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 100_000, key: 'bulk0', hasPictures: false })
  await app.given(aChannel({ id: channelId, channel_subscribed: true }))
  await app
    .as('admin')
    .post('/api/config/', { subscriptions: { channel_size: 100, live_channel_size: 0, shorts_channel_size: 0 } })
  const pages = () => loopback.platform.requests.length

  assert.equal(await scan(app), '100 new videos found')
  const first = pages()
  loopback.platform.catalogue.put('videos', 'brandNew001', {
    channelId,
    tab: 'videos',
    clip: 'wide-3s',
    info: { title: 'New', timestamp: 1_800_000_000, availability: 'public' },
  })
  assert.equal(await scan(app), '1 new video found')

  assert.ok(pages() - first < first, `${pages() - first} requests after ${first}`)
  assert.ok((await queued(app)).length > 0)
})

/** A subscribed channel of 400 videos, and a scan that is disturbed when its first page is queued. */
async function cutOff(t: TestContext, happens: (app: TestApp, jobId: string) => Promise<unknown> | undefined) {
  const { app, loopback } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 400, key: 'bulk0', hasPictures: false })
  await app.given(aChannel({ id: channelId, channel_subscribed: true }))
  await app
    .as('admin')
    .post('/api/config/', { subscriptions: { channel_size: 60, live_channel_size: 0, shorts_channel_size: 0 } })
  const { queue } = app.app
  const add = queue.add
  let jobId = ''
  t.mock.method(queue, 'add', async (...given: Parameters<typeof add>) => {
    const added = await add(...given)
    t.mock.restoreAll()
    await happens(app, jobId)
    return added
  })
  jobId = (await app.as('admin').post('/api/task-name/update_subscribed/')).body.task_id
  return { app, jobId, queuedCount: async () => (await app.ids('download')).length }
}

test('a scan that a restart interrupts within a channel queues the rest of it', async (t) => {
  let restarted: Promise<void> | undefined
  const { app, jobId, queuedCount } = await cutOff(t, (app) => {
    restarted = app.restart() // it waits for the scan
    return undefined
  })
  while (!restarted) await new Promise(setImmediate)
  await restarted

  const { state, result } = await app.app.jobs.ended(jobId)

  assert.deepEqual([state, result, await queuedCount()], ['SUCCESS', '30 new videos found', 60])
  assert.equal(await scan(app), null)
})

test('videos missed by a scan that was stopped within a channel are queued by the next one', async (t) => {
  const { app, jobId, queuedCount } = await cutOff(t, (app, jobId) => app.app.jobs.command(jobId, 'STOP'))
  await app.app.jobs.ended(jobId)
  assert.equal(await queuedCount(), 30)

  assert.equal(await scan(app), '30 new videos found')
})

test('a larger size reaches further back; after that, one page of a known channel is enough', async (t) => {
  const { app, loopback } = await given(t)
  const channelId = addLargeChannel(loopback.platform.catalogue, { videos: 400, key: 'bulk0', hasPictures: false })
  await app.given(aChannel({ id: channelId, channel_subscribed: true }))
  const sized = async (channel_size: number) => {
    await app
      .as('admin')
      .post('/api/config/', { subscriptions: { channel_size, live_channel_size: 0, shorts_channel_size: 0 } })
    const before = loopback.platform.requests.length
    return [await scan(app), loopback.platform.requests.length - before] as const
  }
  await sized(30)

  assert.equal((await sized(60))[0], '30 new videos found')

  const [found, asked] = await sized(60)
  assert.deepEqual([found, asked < 4], [null, true], `${asked} requests`)
})

test('a scan that finds nothing new does not note that its depth is uncertain', async (t) => {
  const { app } = await given(t)
  await app.given(aChannel({ id: CHANNEL.orbit, channel_subscribed: true }))
  await scan(app)
  const depths = () => app.app.ledger.sql('SELECT tab, entries FROM subscription_depth ORDER BY tab').all()
  const [after, during]: [unknown, unknown[]] = [depths(), []]
  const { queue } = app.app
  const add = queue.add
  t.mock.method(queue, 'add', (...given: Parameters<typeof add>) => {
    during.push(depths())
    return add(...given)
  })

  const found = await scan(app)

  assert.equal(found, null)
  assert.ok(during.length > 0)
  for (const one of during) assert.deepEqual(one, after)
})

test('archived, queued or ignored videos are not queued again; upcoming ones wait for a later scan', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(
    aChannel({ id: CHANNEL.orbit, channel_subscribed: true }),
    aVideo({ id: VIDEO.comet, channelId: CHANNEL.orbit }),
  )
  await app.app.queue.add(
    [
      {
        id: VIDEO.lagrange,
        title: '',
        channelId: CHANNEL.orbit,
        channelName: '',
        durationSeconds: 0,
        published: '',
        vidType: 'videos',
      },
    ],
    'ignore',
  )
  loopback.platform.faults.set(VIDEO.eclipse, 'upcoming_premiere')

  assert.equal(await scan(app), '2 new videos found')
  assert.deepEqual(
    (await app.as('admin').get('/api/download/?filter=pending')).body.data
      .map(({ platform_id }: { platform_id: string }) => platform_id)
      .sort(),
    [VIDEO.moondust, VIDEO.reentry].sort(),
  )

  loopback.platform.faults.clear()
  assert.equal(await scan(app), '1 new video found')
})

test('a video that a playlist repeats is counted once, and displaces no other', async (t) => {
  const { app, loopback } = await given(t)
  const { comet, eclipse, lagrange } = VIDEO as Record<string, string>
  loopback.platform.catalogue.put('playlists', PLAYLIST.coast, {
    videoIds: [comet, comet, eclipse, comet, lagrange, eclipse],
  })
  await app.given(aPlaylist({ id: PLAYLIST.coast, playlist_subscribed: true }))
  await app.as('admin').post('/api/config/', { subscriptions: { channel_size: 0, playlist_size: 2 } })

  assert.equal(await scan(app), '2 new videos found')
  await app.as('admin').post('/api/download/', { data: [{ youtube_id: PLAYLIST.coast }] })
  await app.settled()

  const [task] = (await app.as('admin').get('/api/task-name/extract_download/')).body
  assert.equal(task.result, '1 video added to the queue')
  assert.deepEqual((await app.ids('download')).toSorted(), [comet, eclipse, lagrange].toSorted())
})

test('a subscribed playlist is read again and its videos are queued, at its newest end', async (t) => {
  const { app } = await given(t)
  await app.given(aPlaylist({ id: PLAYLIST.coast, playlist_subscribed: true, playlist_sort_order: 'bottom' }))
  await app.as('admin').post('/api/config/', { subscriptions: { channel_size: 0, playlist_size: 2 } })

  assert.equal(await scan(app), '2 new videos found')

  assert.deepEqual((await queued(app)).sort(), [VIDEO.fog, VIDEO.charts].sort())
  assert.equal((await app.doc('playlist', PLAYLIST.coast)).playlist_entries.length, 5)
})

test('an update scans playlists as far as channels were scanned; later both sizes are independent', async (t) => {
  const app = await testApp(t)
  const sizes = async () => {
    const { channel_size, playlist_size } = (await app.as('admin').get('/api/config/')).body.subscriptions
    return [channel_size, playlist_size]
  }
  await app.as('admin').post('/api/config/', { subscriptions: { channel_size: 7 } })
  assert.deepEqual(await sizes(), [7, 50])

  const ledger = new Database(join(app.dataDir, 'ledger.sqlite'))
  ledger.exec(
    `DELETE FROM migrations WHERE owner = 'subscription' AND number >= 4; DROP TABLE subscription_ended; DROP TABLE subscription_feed; DROP TABLE subscription_withdrawn`,
  )
  ledger.close()
  await app.restart()
  assert.deepEqual(await sizes(), [7, 7])
  await app.as('admin').post('/api/config/', { subscriptions: { channel_size: 9 } })
  assert.deepEqual(await sizes(), [9, 7])
})

test('a channel that is removed or unsubscribed during a scan stays so, and nothing of it is queued', async (t) => {
  const { app } = await given(t)
  const { platform } = app.app
  await app.given(
    ...[CHANNEL.harbour, CHANNEL.orbit].map((id) => aChannel({ id, channel_subscribed: true })),
    ...[PLAYLIST.coast, PLAYLIST.joinery, PLAYLIST.mixed].map((id) => aPlaylist({ id, playlist_subscribed: true })),
  )
  const [first, second] = [CHANNEL.harbour, CHANNEL.orbit].sort()
  const asked: string[] = []
  const { list, playlist } = platform
  t.mock.method(platform, 'list', async function* (...given: Parameters<typeof list>) {
    asked.push(given[0])
    await post(
      app,
      '/api/channel/',
      [first, second].map((channel_id) => ({ channel_id, channel_subscribed: false })),
    )
    await app.as('admin').delete(`/api/playlist/${PLAYLIST.joinery}/`)
    await post(app, '/api/playlist/', [{ playlist_id: PLAYLIST.mixed, playlist_subscribed: false }])
    yield* list(...given)
  })
  t.mock.method(platform, 'playlist', async (...given: Parameters<typeof playlist>) => {
    asked.push(given[0])
    const metadata = await playlist(...given)
    await app.as('admin').delete(`/api/playlist/${given[0]}/`)
    return metadata
  })

  assert.equal(await scan(app), null)

  assert.deepEqual(
    [[...new Set(asked)], await queued(app), await app.ids('playlist')],
    [[first, PLAYLIST.coast], [], [PLAYLIST.mixed]],
  )
})

test('a channel that is gone becomes inactive and is no longer requested; the others are scanned', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(
    aChannel({ id: CHANNEL.harbour, channel_subscribed: true }),
    aChannel({ id: CHANNEL.orbit, channel_subscribed: true }),
    aPlaylist({ id: PLAYLIST.coast, playlist_subscribed: true }),
  )
  loopback.platform.faults.set(CHANNEL.harbour, 'channel_terminated')
  loopback.platform.faults.set(PLAYLIST.coast, 'playlist_missing')

  assert.equal(await scan(app), '5 new videos found')

  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_active, false)
  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_subscribed, true)
  assert.equal((await app.doc('channel', CHANNEL.orbit)).channel_active, true)
  assert.equal((await app.doc('playlist', PLAYLIST.coast)).playlist_active, false)
  const before = loopback.platform.requests.length
  loopback.platform.faults.clear()
  await scan(app)
  assert.ok(!JSON.stringify(loopback.platform.requests.slice(before)).includes(CHANNEL.harbour))
})

test('subscribing to a channel that was gone checks whether it is back, and then scans it', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(aChannel({ id: CHANNEL.orbit, channel_active: false }))
  const subscribed = async () => {
    const { body } = await post(app, '/api/channel/', [
      { channel_id: CHANNEL.orbit, channel_subscribed: true, take: 'all' },
    ])
    const { state } = await app.app.jobs.ended(body.task_id)
    const { channel_subscribed, channel_active } = await app.doc('channel', CHANNEL.orbit)
    return [state, channel_subscribed, channel_active]
  }

  loopback.platform.faults.set(CHANNEL.orbit, 'channel_terminated')
  assert.deepEqual(await subscribed(), ['FAILURE', false, false])
  loopback.platform.faults.clear()
  assert.deepEqual(await subscribed(), ['SUCCESS', true, true])
  assert.notDeepEqual(await queued(app), [])
})

test('with auto_start new videos are downloaded at once, and subscribed playlists are read again afterwards', async (t) => {
  const { app, loopback } = await given(t)
  const video = {
    channelId: CHANNEL.orbit,
    tab: 'videos',
    clip: 'wide-3s',
    info: { title: 'New', timestamp: 1_800_000_000, availability: 'public' },
  }
  loopback.platform.catalogue.put('videos', 'brandNew001', video)
  loopback.platform.catalogue.put('playlists', PLAYLIST.mixed, { videoIds: ['brandNew001', VIDEO.fog] })
  await app.given(
    aChannel({
      id: CHANNEL.orbit,
      channel_subscribed: true,
      channel_overwrites: {
        subscriptions_channel_size: 1,
        subscriptions_live_channel_size: 0,
        subscriptions_shorts_channel_size: 0,
        index_playlists: true,
      },
    }),
    aPlaylist({ id: PLAYLIST.mixed, playlist_subscribed: true, playlist_channel_id: CHANNEL.orbit }),
  )
  await app.as('admin').post('/api/config/', {
    subscriptions: { auto_start: true, channel_size: 0, playlist_size: 0 },
    downloads: { sleep_interval: 0 },
  })

  assert.equal(await scan(app), '1 new video found')
  await app.settled()

  assert.deepEqual(await app.ids('video'), ['brandNew001'])
  assert.deepEqual((await app.doc('video', 'brandNew001')).playlist, [PLAYLIST.mixed])
  assert.deepEqual(
    (await app.doc('playlist', PLAYLIST.mixed)).playlist_entries.map(
      ({ downloaded }: { downloaded: boolean }) => downloaded,
    ),
    [true, false],
  )
  const names = (await app.as('admin').get('/api/task-name/')).body.map(({ name }: { name: string }) => name)
  for (const name of ['update_subscribed', 'download_pending', 'index_playlists'])
    assert.equal(names.filter((one: string) => one === name).length, 1, name)
})

test('a channel that is set to index its playlists has them indexed', async (t) => {
  const { app } = await given(t)
  await app.given(aChannel({ id: CHANNEL.harbour }))

  await app.as('admin').post(`/api/channel/${CHANNEL.harbour}/`, { channel_overwrites: { index_playlists: true } })
  await app.settled()

  assert.deepEqual(await app.ids('playlist'), [PLAYLIST.coast])
})

test('a damaged record of one subscription is reported, and stops the scan of no other', async (t) => {
  const app = await testApp(t, { settings: NO_PLATFORM })
  const ids = ['UCa', 'UCb', 'UCc']
  await app.given(...ids.map((id) => aChannel({ id, channel_subscribed: true })))
  const { ledger, platform, jobs } = app.app
  const damage = (id: string) =>
    ledger.sql("INSERT INTO subscription_beginning VALUES (?, 'videos', '{broken', 'job', '[]')").run(id)
  await ledger.write(() => void damage('UCa'))
  const listed = new Set<string>()
  platform.list = async function* (id) {
    listed.add(id)
  }
  const told = () => jobs.notifications().flatMap(({ messages }) => messages.filter((one) => one.includes('UCa')))

  await jobs.run('update_subscribed')
  assert.deepEqual([...listed].toSorted(), ['UCb', 'UCc'])
  assert.deepEqual(told(), ['Channel UCa: The record of this subscription is damaged: unsubscribe and subscribe again'])

  listed.clear()
  await jobs.run('subscription.new', { ids })
  assert.deepEqual([...listed].toSorted(), ['UCb', 'UCc'])
})
