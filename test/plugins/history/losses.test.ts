/**
 * Losses are reported once, and nothing else is, with the real yt-dlp at the loopback platform and an advanced clock.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { definePlugin } from 'archivolt'
import { CHANNEL, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { aChannel, aVideo, endSchedules, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const HOUR_MS = 3_600_000
const OF = {
  harbour: ['breakwater', 'lighthouse', 'ferry', 'nets', 'fog'],
  workshop: ['dovetail', 'plane'],
  orbit: ['comet'],
} as const
type ChannelName = keyof typeof OF

interface Scene {
  app: TestApp
  loopback: TestPlatform['platform']
  /** The events so far, oldest first. */
  events: string[]
}

async function given(t: TestContext): Promise<Scene> {
  const { platform: loopback, settings } = await startTestPlatform(t)
  const events: string[] = []
  const names = ['video.lost', 'video.returned', 'channel.lost', 'channel.returned'] as const
  const listener = definePlugin({
    name: 'listener',
    on: Object.fromEntries(
      names.map((name) => [
        name,
        () => async (event: { id: string; kind?: string; videos?: number }) =>
          void events.push([name, event.id, event.kind, event.videos].filter((one) => one !== undefined).join(' ')),
      ]),
    ),
  })
  const app = await testApp(t, { settings, outside: [listener] })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  for (const [name, videos] of Object.entries(OF) as Array<[ChannelName, readonly string[]]>) {
    await app.given(aChannel({ id: CHANNEL[name], channel_name: name }))
    await app.given(...videos.map((key) => aVideo({ id: VIDEO[key]!, channelId: CHANNEL[name], title: key })))
  }
  await endSchedules(app)
  await app.settled()
  return { app, loopback, events }
}

async function refresh({ app }: Scene, body: object): Promise<void> {
  const reply = await app.as('admin').post('/api/refresh/', body)
  await app.app.jobs.ended(reply.body.task_id)
}

const refreshAll = (scene: Scene) =>
  refresh(scene, { video: Object.values(OF).flatMap((keys) => keys.map((key) => VIDEO[key])) })

/** Does what the schedule does every hour. */
async function pass({ app }: Scene, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour++) {
    await app.clock.advance(HOUR_MS)
    if (app.app.history.isDue()) await app.app.jobs.ended((await app.app.jobs.start('check_lost')).id)
  }
}

const lost = async (scene: Scene, query = 'lost=any&sort=lost') =>
  (await scene.app.as('user').get(`/api/video/?${query}`)).body.data.map(
    ({ platform_id: id, lost: { kind } }: { platform_id: string; lost: { kind: string } }) => [id, kind],
  )

const messages = ({ app }: Scene): string[] =>
  app.app.jobs
    .notifications()
    .filter(({ group }) => group === 'history:lost')
    .flatMap(({ messages: told }) => told)

test('a removed video counts as lost after two checks, six hours apart, and is reported once', async (t) => {
  const scene = await given(t)
  const { app, loopback, events } = scene
  const id = VIDEO.ferry
  loopback.faults.set(id, 'removed')

  await refreshAll(scene)
  await refresh(scene, { video: [id] })
  await pass(scene, 5)
  assert.deepEqual([events, await lost(scene)], [[], []])
  const date = Math.floor(app.clock.now() / 1000) - 5 * 3600
  await pass(scene, 30)

  assert.deepEqual(events, [`video.lost ${id} removed`])
  assert.deepEqual(await lost(scene), [[id, 'removed']])
  assert.deepEqual(await lost(scene, 'lost=private'), [])
  const doc = await app.doc('video', id)
  assert.deepEqual([doc.lost, doc.active, doc.keep], [{ date, kind: 'removed' }, false, true])
  assert.deepEqual(messages(scene), ['YouTube no longer has “ferry” of harbour. The archive still has it'])
  const { data } = (await app.as('user').get(`/api/change/?kind=video&id=${id}&part=availability`)).body
  assert.deepEqual(
    data.map(({ before, after }: { before: string; after: string }) => [before, after]),
    [['public', 'removed']],
  )
})

test('files of a lost video are scrubbed first, and an upload under another id is linked', async (t) => {
  const scene = await given(t)
  const { app, loopback } = scene
  const files = [VIDEO.ferry, VIDEO.nets, VIDEO.plane].map((id) => ({ kind: 'video' as const, id, part: '' }))
  await app.app.checksums.rows.add(files)
  await app.app.ledger.write(() => app.app.ledger.sql('UPDATE checksum_file SET read_at = 1000, turn_at = 1000').run())
  await refreshAll(scene)
  const { title, player } = await app.doc('video', VIDEO.plane)
  loopback.faults.set(VIDEO.plane, 'removed')
  await refreshAll(scene)
  await pass(scene, 8)

  const turnAt = (id: string) => app.app.checksums.rows.get({ kind: 'video', id, part: '' })!.turn_at
  assert.ok(turnAt(VIDEO.plane) < turnAt(VIDEO.ferry))
  assert.equal((await app.doc('video', VIDEO.plane)).lost.again, undefined)
  loopback.catalogue.put('videos', 'planeAgain1', {
    ...{ channelId: CHANNEL.workshop, tab: 'videos', clip: 'wide-6s' },
    info: { title, timestamp: 1_700_000_000, duration: player.duration, availability: 'public' },
  })
  for await (const _ of app.app.platform.list(CHANNEL.workshop, 'videos', { asker: 'test' })) break
  assert.equal((await app.doc('video', VIDEO.plane)).lost.again, 'planeAgain1')
})

test('each kind of loss has its name', async (t) => {
  const scene = await given(t)
  const faults = { ferry: 'removed', nets: 'policy_removed', dovetail: 'copyright', plane: 'private' }
  for (const [key, fault] of Object.entries(faults)) scene.loopback.faults.set(VIDEO[key]!, fault)

  await refreshAll(scene)
  await pass(scene, 8)

  assert.deepEqual(Object.fromEntries(await lost(scene)), {
    [VIDEO.ferry]: 'removed',
    [VIDEO.nets]: 'violation',
    [VIDEO.dovetail]: 'copyright',
    [VIDEO.plane]: 'private',
  })
  assert.equal(messages(scene).length, 2, 'one a channel')
})

test('videos that are available only to some viewers are not lost, and their history says to whom', async (t) => {
  const scene = await given(t)
  const { app, loopback, events } = scene
  await refreshAll(scene)
  const faults = { ferry: 'members_only', nets: 'age_restricted', fog: 'geo_blocked', plane: 'login_required' }
  for (const [key, fault] of Object.entries(faults)) loopback.faults.set(VIDEO[key]!, fault)
  loopback.catalogue.put('videos', VIDEO.lighthouse, { info: { availability: 'unlisted' } })

  await refreshAll(scene)
  await pass(scene, 8)
  await refreshAll(scene)
  await pass(scene, 8)

  assert.deepEqual([events, await lost(scene)], [[], []])
  const { data } = (await app.as('user').get('/api/change/?part=availability')).body
  assert.deepEqual(
    Object.fromEntries(data.map(({ subject, after }: { subject: string; after: string }) => [subject, after])),
    {
      [VIDEO.ferry]: 'subscriber_only',
      [VIDEO.nets]: 'needs_auth',
      [VIDEO.fog]: 'blocked',
      [VIDEO.lighthouse]: 'unlisted',
    },
  )
})

test('a week in private is a loss, and its end is reported, too', async (t) => {
  const scene = await given(t)
  const { app, loopback, events } = scene
  const id = VIDEO.ferry
  loopback.faults.set(id, 'private')
  await refreshAll(scene)
  await pass(scene, 7 * 24)
  assert.deepEqual(await lost(scene), [[id, 'private']])
  loopback.faults.clear(id)

  await pass(scene, 3 * 24)

  assert.deepEqual(events, [`video.lost ${id} private`, `video.returned ${id}`])
  assert.deepEqual(await lost(scene), [])
  const doc = await app.doc('video', id)
  assert.deepEqual([doc.lost, doc.active, doc.keep], [undefined, true, undefined])
  assert.deepEqual(messages(scene).slice(-1), ['YouTube has “Why the old ferry still runs” of harbour again'])
  const { data } = (await app.as('user').get(`/api/change/?kind=video&id=${id}&part=availability`)).body
  assert.deepEqual(
    data.map(({ after }: { after: string }) => after),
    ['public', 'private'],
  )
})

test('a terminated channel is one event with the number of its videos', async (t) => {
  const scene = await given(t)
  const { app, loopback, events } = scene
  await app.given(
    ...Array.from({ length: 45 }, (_, at) =>
      aVideo({ id: `harbour-${String(at).padStart(3, '0')}`, channelId: CHANNEL.harbour }),
    ),
  )
  loopback.faults.set(CHANNEL.harbour, ['channel_terminated', 'terminated'])

  await refreshAll(scene)
  const asked = loopback.requests.length
  await pass(scene, 48)

  assert.deepEqual(events, [`channel.lost ${CHANNEL.harbour} account 50`])
  assert.equal((await app.as('user').get('/api/video/?lost=account')).body.paginate.total_hits, 50)
  assert.deepEqual(messages(scene), ['YouTube no longer has the channel harbour. Its videos in the archive: 50'])
  assert.equal((await app.doc('channel', CHANNEL.harbour)).channel_active, false)
  assert.ok(loopback.requests.length - asked < 60, 'the videos are not asked for one by one')

  loopback.faults.clear(CHANNEL.harbour)
  await pass(scene, 8 * 24)
  assert.deepEqual(events.slice(1), [`channel.returned ${CHANNEL.harbour}`])
  assert.deepEqual(
    (await Promise.all(OF.harbour.map((key) => app.doc('video', VIDEO[key]!)))).map(({ active }) => active),
    OF.harbour.map(() => true),
  )
})

test('a day of bot checks reports nothing', async (t) => {
  const scene = await given(t)
  await refreshAll(scene)
  scene.loopback.faults.set('global', 'bot_check')
  const job = await scene.app.as('admin').post('/api/refresh/', { video: [VIDEO.ferry, VIDEO.plane] })
  for (let hour = 0; hour < 24; hour++) await scene.app.clock.advance(HOUR_MS)
  scene.loopback.faults.clear('global')
  await scene.app.clock.advance(HOUR_MS)
  await scene.app.app.jobs.ended(job.body.task_id)
  await pass(scene, 24)
  assert.deepEqual([scene.events, await lost(scene)], [[], []])
})

test('doubts that were put off while the clock was ahead are decided once it is right', async (t) => {
  const scene = await given(t)
  const { app, loopback, events } = scene
  await refreshAll(scene)
  loopback.faults.set(VIDEO.ferry, 'removed')
  await refresh(scene, { video: [VIDEO.ferry] })
  await app.clock.advance(2 * HOUR_MS)
  const right = app.clock.now()
  app.clock.set(right + 4000 * 24 * HOUR_MS)
  loopback.faults.set('global', 'unavailable')
  await pass(scene, 2)

  loopback.faults.clear('global')
  app.clock.set(right)
  await pass(scene, 12)

  assert.deepEqual(events, [`video.lost ${VIDEO.ferry} removed`])
})

test('a platform that calls every video unavailable reports nothing', async (t) => {
  const scene = await given(t)
  scene.loopback.faults.set('global', 'unavailable')
  await refreshAll(scene)
  await pass(scene, 10)
  assert.deepEqual([scene.events, await lost(scene)], [[], []])

  scene.loopback.faults.clear('global')
  await pass(scene, 10)
  assert.deepEqual([scene.events, await lost(scene)], [[], []])
  assert.equal((await scene.app.doc('video', VIDEO.ferry)).active, true, 'asked again')
})

test('a night without network, and a yt-dlp that understands nothing, report nothing', async (t) => {
  const scene = await given(t)
  const { app, loopback } = scene
  await refreshAll(scene)
  for (const fault of [{ name: 'api_status', status: 503 }, { name: 'api_garbage' }]) {
    loopback.faults.set('global', fault)
    const job = await app
      .as('admin')
      .post('/api/refresh/', { video: [VIDEO.ferry, VIDEO.plane, VIDEO.nets, VIDEO.fog] })
    for (let hour = 0; hour < 8; hour++) await app.clock.advance(HOUR_MS)
    loopback.faults.clear('global')
    for (let hour = 0; hour < 2; hour++) await app.clock.advance(HOUR_MS)
    await app.app.jobs.ended(job.body.task_id)
    await pass(scene, 12)
    assert.deepEqual([scene.events, await lost(scene)], [[], []], fault.name)
  }
})

test('the rest of a channel that loses videos is offered once, and downloaded first if somebody accepts', async (t) => {
  const scene = await given(t)
  const { app, loopback } = scene
  const admin = app.as('admin')
  const shelves = async () => (await admin.get('/api/session/')).body.shelves
  const rest = ['pilots', 'mussels', 'charts', 'storm', 'gull', 'knot', 'wave'].map((key) => VIDEO[key]!)
  await admin.post('/api/config/', { history: { rescue: true } })
  await refreshAll(scene)
  for (const key of ['ferry', 'nets', 'fog']) loopback.faults.set(VIDEO[key]!, 'removed')
  loopback.faults.set(VIDEO.plane, 'removed')
  await refreshAll(scene)
  await pass(scene, 8)

  const offers = (await admin.get('/api/rescue/')).body
  assert.deepEqual(
    offers.map(({ channel, name, lost: count, videos, bytes }: Record<string, unknown>) => [
      ...[channel, name, count, videos, Number(bytes) > 0],
    ]),
    [[CHANNEL.harbour, 'Harbour & Tide', 3, rest.length, true]],
  )
  assert.deepEqual(await shelves(), ['lost', 'rescue'])
  assert.deepEqual((await app.as('user').get('/api/session/')).body.shelves, ['lost'], 'offers are for admins')
  const offered = () => app.app.jobs.notifications().filter(({ group }) => group === 'history:rescue')
  assert.deepEqual(
    offered().map(({ messages: told }) => told),
    [['3 videos of Harbour & Tide were lost within a day. 7 of its other videos are not archived yet']],
  )
  assert.equal((await admin.delete(`/api/rescue/${CHANNEL.workshop}/`)).status, 404)

  await admin.post('/api/download/', { data: [{ platform_id: VIDEO.stool, status: 'pending' }] })
  await app.settled()
  const { body } = await admin.post(`/api/rescue/${CHANNEL.harbour}/`)
  await app.app.jobs.ended(body.task_id)
  await app.settled()

  assert.deepEqual([...(await app.app.videos.known([...rest, VIDEO.stool!]))].sort(), rest.toSorted())
  assert.deepEqual([(await admin.get('/api/rescue/')).body, offered(), await shelves()], [[], [], ['lost']])
  await pass(scene, 8)
  assert.deepEqual((await admin.get('/api/rescue/')).body, [], 'an answer holds')
})

test('nothing is offered unless it is switched on, nor after it was declined', async (t) => {
  const scene = await given(t)
  const admin = scene.app.as('admin')
  await refreshAll(scene)
  for (const key of ['ferry', 'nets', 'fog']) scene.loopback.faults.set(VIDEO[key]!, 'removed')
  await refreshAll(scene)
  await pass(scene, 8)
  assert.deepEqual((await admin.get('/api/rescue/')).body, [])

  await admin.post('/api/config/', { history: { rescue: true } })
  await pass(scene, 1)
  assert.equal((await admin.get('/api/rescue/')).body.length, 1)
  assert.equal((await admin.delete(`/api/rescue/${CHANNEL.harbour}/`)).status, 204)
  await pass(scene, 1)
  assert.deepEqual((await admin.get('/api/rescue/')).body, [])
  assert.equal((await admin.post('/api/rescue/UCnone/')).status, 404)
})
