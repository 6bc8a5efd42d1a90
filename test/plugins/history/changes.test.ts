/** Changes on the platform that a refresh or a scan finds, with the real yt-dlp at the loopback platform. */
import assert from 'node:assert/strict'
import { cp, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { MEDIA_FOLDER, startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { aChannel, aPlaylist, aVideo, endSchedules, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const HOUR_MS = 3_600_000
const ID = VIDEO.breakwater

async function given(
  t: TestContext,
  pluginsOff: string[] = [],
): Promise<{ app: TestApp; loopback: TestPlatform['platform'] }> {
  const { platform: loopback, settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings: { ...settings, pluginsOff } })
  // Each test starts its requests itself.
  await endSchedules(app)
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  await app.given(aChannel({ id: CHANNEL.harbour }), aVideo({ id: ID, channelId: CHANNEL.harbour }))
  const path = app.app.media.pathOf(CHANNEL.harbour, ID)
  await mkdir(dirname(path), { recursive: true })
  await cp(join(MEDIA_FOLDER, 'wide-12s', '18.mp4'), path)
  return { app, loopback }
}

async function refresh(app: TestApp, body: object): Promise<void> {
  const reply = await app.as('admin').post('/api/refresh/', body)
  assert.equal(reply.status, 200, reply.text)
  await app.app.jobs.ended(reply.body.task_id)
}

interface Row {
  id: number
  kind: string
  subject: string
  title: string
  part: string
  seen: number
  before: any
  after: any
}

/** Oldest first. */
async function changes(app: TestApp, query = ''): Promise<Row[]> {
  const reply = await app.as('user').get(`/api/change/?page_size=100${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data.toReversed()
}

const partsOf = (rows: Row[]) => rows.map(({ part }) => part).sort()

/** The first refresh completes the document that the test has written, which is not recorded as an edit. */
async function settle(app: TestApp, body: object): Promise<number> {
  await refresh(app, body)
  await app.clock.advance(HOUR_MS)
  return (await changes(app)).at(-1)?.id ?? 0
}

test('each edit of a video is recorded once, with the previous value', async (t) => {
  const { app, loopback } = await given(t)
  const last = await settle(app, { video: [ID] })
  const before = await app.doc('video', ID)

  loopback.catalogue.put('videos', ID, {
    chapters: [{ start_time: 0, title: 'High water' }],
    captions: { en: [{ start: 0, end: 1, text: 'Hello.' }], fr: [{ start: 0, end: 1, text: 'Bonjour.' }] },
    info: {
      title: 'Rebuilding the pier',
      description: `${before.description} Now with the pier.`,
      tags: ['pier'],
      categories: ['Travel'],
      duration: 8,
      availability: 'unlisted',
      view_count: 5000,
    },
  })
  await refresh(app, { video: [ID] })
  await refresh(app, { video: [ID] })

  const rows = (await changes(app, `&kind=video&id=${ID}`)).filter(({ id }) => id > last)
  const found = Object.fromEntries(rows.map(({ part, before: was, after: is }) => [part, [was, is]]))
  assert.deepEqual(partsOf(rows), [
    ...['availability', 'captions', 'category', 'chapters', 'description', 'length', 'tags', 'title'],
  ])
  assert.deepEqual(found['title'], ['Rebuilding the breakwater, stone by stone', 'Rebuilding the pier'])
  assert.deepEqual(found['description'], [before.description, `${before.description} Now with the pier.`])
  assert.deepEqual(found['tags'], [before.tags, ['pier']])
  assert.deepEqual(found['category'], [['Education'], ['Travel']])
  assert.deepEqual(found['length'], [12, 8])
  assert.deepEqual(found['availability'], ['public', 'unlisted'])
  assert.deepEqual(found['captions'], [
    ['de', 'en'],
    ['en', 'fr'],
  ])
  assert.deepEqual(found['chapters']![1], [{ start: 0, title: 'High water' }])
  assert.equal(rows[0]!.seen, Math.floor(app.clock.now() / 1000))
  const numbers = (await app.as('user').get(`/api/change/number/?kind=video&id=${ID}`)).body
  assert.deepEqual(
    numbers.map(({ views, likes }: Record<string, number>) => [views, likes]),
    [
      [1000, 4210],
      [5000, 4210],
    ],
  )
})

test('edits of a channel and a playlist are recorded, and a scan finds a new title', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(aPlaylist({ id: PLAYLIST.coast, entries: [ID] }))
  const all = { video: [ID], channel: [CHANNEL.harbour], playlist: [PLAYLIST.coast] }
  const last = await settle(app, all)

  loopback.catalogue.put('channels', CHANNEL.harbour, {
    ...{
      title: 'Harbour & Storm',
      description: 'Fast films.',
      handle: '@HarbourAndStorm',
      tags: ['storm'],
      clip: 'tall-5s',
    },
  })
  loopback.catalogue.put('playlists', PLAYLIST.coast, {
    ...{ title: 'The coast in four films', description: 'Begin here.' },
    videoIds: ['breakwater', 'lighthouse', 'ferry', 'nets'].map((key) => VIDEO[key]),
  })
  await refresh(app, { channel: all.channel, playlist: all.playlist })

  const rows = (await changes(app)).filter(({ id }) => id > last)
  const of = (kind: string) => rows.filter((row) => row.kind === kind)
  assert.deepEqual(partsOf(of('channel')), ['description', 'handle', 'name', 'picture', 'tags'])
  const named = of('channel').find(({ part }) => part === 'name')!
  assert.deepEqual([named.before, named.after], ['Harbour & Tide', 'Harbour & Storm'])
  assert.deepEqual(partsOf(of('playlist')), ['description', 'entries', 'name'])
  const row = of('playlist').find(({ part }) => part === 'entries')!
  const idsIn = (list: unknown) => (list as Array<{ id: string }>).map(({ id }) => id).sort()
  assert.deepEqual([idsIn(row.before), idsIn(row.after)], [[VIDEO.fog, VIDEO.charts].sort(), [VIDEO.nets]])

  await app.as('admin').post('/api/channel/', { data: [{ channel_id: CHANNEL.harbour, channel_subscribed: true }] })
  await app.settled()
  loopback.catalogue.put('videos', ID, { info: { title: 'Scanned title' } })
  const scanned = app.app.platform.list(CHANNEL.harbour, 'videos', { asker: 'test' })
  for await (const _ of scanned) break
  const [seen] = (await changes(app, `&kind=video&id=${ID}&part=title`)).slice(-1)
  assert.deepEqual([seen?.before, seen?.after], ['Rebuilding the breakwater, stone by stone', 'Scanned title'])
  await refresh(app, { video: [ID] })
  assert.equal((await changes(app, `&kind=video&id=${ID}&part=title`)).at(-1)?.id, seen?.id, 'once only')
})

test('a refresh sends the same requests to the platform as without the history', async (t) => {
  const askedWith = async (pluginsOff: string[]) => {
    const { app, loopback } = await given(t, pluginsOff)
    await app.given(aPlaylist({ id: PLAYLIST.coast, entries: [ID] }))
    const all = { video: [ID], channel: [CHANNEL.harbour], playlist: [PLAYLIST.coast] }
    await refresh(app, all)
    const before = loopback.requests.length
    for (const picture of ['tall-5s', 'tall-5s', 'wide-12s']) {
      loopback.catalogue.put('videos', ID, { picture, info: { title: `With ${picture}` } })
      await refresh(app, all)
      await app.clock.advance(24 * HOUR_MS)
    }
    return loopback.requests
      .slice(before)
      .map(({ method, path }) => `${method} ${path}`)
      .sort()
  }

  const [asked, without] = [await askedWith([]), await askedWith(['history'])]

  assert.notEqual(asked.length, 0)
  assert.deepEqual(asked, without)
})

test('a former title is found by a search', async (t) => {
  const { app, loopback } = await given(t)
  await settle(app, { video: [ID] })
  loopback.catalogue.put('videos', ID, { info: { title: 'Something else' } })

  await refresh(app, { video: [ID] })

  for (const query of ['stone by stone', 'video:stone']) {
    const { results } = (await app.as('user').get(`/api/search/?query=${encodeURIComponent(query)}`)).body
    assert.deepEqual(
      results.video_results.map(({ platform_id: id }: { platform_id: string }) => id),
      [ID],
      query,
    )
  }
  assert.deepEqual((await app.doc('video', ID)).former_titles.slice(-1), ['Rebuilding the breakwater, stone by stone'])
})

test('a picture that alternates with another is no change; a lasting one is, and the old one is kept', async (t) => {
  const { app, loopback } = await given(t)
  await settle(app, { video: [ID] })
  const show = async (picture: string) => {
    loopback.catalogue.put('videos', ID, { picture })
    await refresh(app, { video: [ID] })
    await app.clock.advance(24 * HOUR_MS)
    return (await changes(app, `&kind=video&id=${ID}&part=thumbnail`)).length
  }
  const shown = async (path: string) => (await app.as('user').get(path)).bytes
  const first = await shown((await app.doc('video', ID)).vid_thumb_url)

  for (const picture of ['tall-5s', 'wide-12s', 'tall-5s', 'wide-12s']) assert.equal(await show(picture), 0, picture)
  assert.deepEqual(await shown((await app.doc('video', ID)).vid_thumb_url), first)
  assert.equal(await show('tall-5s'), 0)
  assert.equal(await show('tall-5s'), 1)
  assert.equal(await show('tall-5s'), 1)

  const [change] = await changes(app, '&part=thumbnail')
  assert.deepEqual(await shown(change!.before), first)
  assert.notDeepEqual(await shown(change!.after), first)
  assert.equal((await shown(change!.after)).subarray(0, 2).toString('hex'), 'ffd8')
})

test('a downloaded video has its present picture, whatever it had when it was queued', async (t) => {
  const { app, loopback } = await given(t)
  const id = VIDEO.ferry
  const task = async (path: string, body?: object) => {
    await app.app.jobs.ended((await app.as('admin').post(path, body)).body.task_id)
    await app.settled()
  }
  const shown = async () => (await app.as('user').get(`/cache/videos/${id.charAt(0).toLowerCase()}/${id}.jpg`)).bytes
  await task('/api/download/', { data: [{ youtube_id: id, status: 'pending' }] })
  const queued = await shown()

  loopback.catalogue.put('videos', id, { picture: 'tall-5s' })
  await task('/api/task-name/download_pending/')

  assert.equal((await app.doc('video', id)).platform_id, id)
  assert.ok(!(await shown()).equals(queued))
  assert.deepEqual(await changes(app, `&kind=video&id=${id}`), [])
})

test('a removed video takes its history to the bin and back', async (t) => {
  const { app, loopback } = await given(t)
  await settle(app, { video: [ID] })
  for (const picture of ['tall-5s', 'tall-5s']) {
    loopback.catalogue.put('videos', ID, { picture, info: { title: 'Edited' } })
    await refresh(app, { video: [ID] })
    await app.clock.advance(24 * HOUR_MS)
  }
  const before = (await changes(app, `&kind=video&id=${ID}`)).map(({ id: _, ...row }) => row.after)

  assert.equal((await app.as('admin').delete(`/api/video/${ID}/`)).status, 200)
  await app.settled()
  assert.deepEqual(await changes(app), [])
  // A refresh was running.
  const late = { kind: 'video', subject: ID, part: 'category', seenAt: Math.floor(app.clock.now() / 1000) + 1 } as const
  await app.app.ledger.write(() => app.app.history.rows.add({ ...late, before: [], after: ['late'] }))
  const { data: entries } = (await app.as('admin').get('/api/bin/')).body
  const restored = await app.as('admin').post('/api/bin/restore/', { entries: [entries[0].id] })
  assert.equal(restored.status, 200, restored.text + JSON.stringify(entries))
  await app.settled()

  const after = await changes(app, `&kind=video&id=${ID}`)
  assert.deepEqual(
    after.map((row) => row.after),
    [...before, ['late']],
  )
  assert.equal((await app.as('user').get(after.find(({ part }) => part === 'thumbnail')!.before)).status, 200)

  assert.equal((await app.as('admin').delete(`/api/video/${ID}/`)).status, 200)
  await app.settled()
  const files = () => readdir(join(app.dataDir, 'history', ID.charAt(0)))
  assert.equal((await files()).length, 1)
  assert.equal((await app.as('admin').post('/api/bin/empty/', { all: true })).status, 200)
  await app.app.jobs.ended((await app.app.jobs.start('history.settle')).id)
  assert.deepEqual(await files(), [])
})
