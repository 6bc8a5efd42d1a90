/** The recipes for plugin authors: complete plugins in a folder, each doing what plugins/guide.md says. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findOutside } from '../../config/cli/find-plugins.ts'
import { FILM_FILE, PICTURE_FILE } from '../support/film.ts'
import { temporaryFolder } from '../support/folder.ts'
import { aChannel, aVideo, type TestApp, type TestOptions, testApp } from '../support/plugin-testing.ts'
import { ROOT } from '../support/sources.ts'
import '../support/long.ts'

/** Loaded as from AV_PLUGINS_DIR. */
async function recipeApp(t: TestContext, name: string, options: TestOptions = {}): Promise<TestApp> {
  const [found] = await findOutside([join(ROOT, 'test/data/plugins', name)], await temporaryFolder(t))
  return testApp(t, { ...options, plugins: [found!.plugin] })
}

interface Receiver {
  url: string
  host: string
  told: Array<{ path: string; body: string }>
  answer: { status: number; body?: string }
  /** Resolves with the next message. */
  next(): Promise<unknown>
}

/** Another server on this machine, which collects its messages. */
async function aReceiver(t: TestContext, answer: Receiver['answer'] = { status: 200 }): Promise<Receiver> {
  const told: Receiver['told'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    told.push({ path: request.url!, body: Buffer.concat(chunks).toString() })
    response.writeHead(receiver.answer.status).end(receiver.answer.body)
    server.emit('told')
  }).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const receiver: Receiver = { url: `http://${host}/`, host, told, answer, next: () => once(server, 'told') }
  return receiver
}

const settings = { privateHosts: ['127.0.0.1'] }

test('webhook: additions, removals and failures are posted, and posted again if nobody accepted them', async (t) => {
  const receiver = await aReceiver(t, { status: 500 })
  const { url, told } = receiver
  const app = await recipeApp(t, 'webhook', { settings })
  assert.equal((await app.as('admin').post('/api/config/', { webhook: { url: 'file:///etc/passwd' } })).status, 400)
  await app.as('admin').post('/api/config/', { webhook: { url } })

  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))
  receiver.answer = { status: 200 }
  await app.clock.advance(30_000)
  await app.settled()
  await app.as('admin').delete('/api/video/v1/')
  await app.settled()

  assert.deepEqual(
    told.map(({ body }) => JSON.parse(body)),
    [
      { event: 'video.added', id: 'v1', channelId: 'UC1', why: 'new' },
      { event: 'video.added', id: 'v1', channelId: 'UC1', why: 'new' },
      { event: 'video.removed', id: 'v1', channelId: 'UC1', path: join(app.dataDir, 'media/UC1/v1.mp4') },
    ],
  )
})

test('feed: a client with a token in its address gets the newest videos, and a child those of its view', async (t) => {
  const app = await recipeApp(t, 'feed')
  await app.given(aChannel(), aChannel({ id: 'UC2' }))
  await app.given(aVideo({ id: 'v1', title: 'Fog & <tide>' }), aVideo({ id: 'v2', channelId: 'UC2', title: 'Nets' }))
  const { accounts } = app.app
  const child = await accounts.create({
    ...{ username: 'mia', password: 'a long enough one', isStaff: false },
    view: { channel: ['UC2'] },
  })
  const feedOf = async (id: number) => {
    const reply = await app.as('nobody').get(`/api/feed/?token=${await accounts.token(id)}`)
    assert.equal(reply.headers.get('content-type'), 'application/rss+xml; charset=utf-8')
    return [...reply.text.matchAll(/<item><title>(.*?)<\/title><link>(.*?)<\/link>/g)]
      .map(([, ...parts]) => parts)
      .sort()
  }

  assert.deepEqual(await feedOf(accounts.firstAdmin()!.id), [
    ['Fog &amp; &lt;tide&gt;', `${app.url}video/v1/`],
    ['Nets', `${app.url}video/v2/`],
  ])
  assert.deepEqual(await feedOf(child.id), [['Nets', `${app.url}video/v2/`]])
  assert.equal((await app.as('nobody').get('/api/feed/')).status, 401)
})

test('nfo: each video has a file with its data, which is removed with it', async (t) => {
  const app = await recipeApp(t, 'nfo')
  const { media, videos } = app.app

  await app.download(aVideo({ id: 'v1', title: 'Fog & tide' }))

  const place = media.pathOf('UC1', 'v1').replace(/\.mp4$/, '.nfo')
  assert.match(await readFile(place, 'utf8'), /<title>Fog &amp; tide<\/title>/)
  await videos.change('v1', { set: { title: 'Nets' } })
  await videos.setActive(['v1'], false)
  await app.settled()
  assert.match(await readFile(place, 'utf8'), /<title>Nets<\/title>/)
  await app.as('admin').delete('/api/video/v1/')
  await app.settled()
  assert.ok(!existsSync(place))
})

test('twins: titles that several videos have are found, listed, and removed when they are unique again', async (t) => {
  const app = await recipeApp(t, 'twins')
  await app.given(aChannel())
  await app.given(...['v1', 'v2', 'v3'].map((id) => aVideo({ id, title: id === 'v2' ? 'Nets' : 'Fog' })))
  const found = async () => {
    await app.as('admin').post('/api/task-name/twins.find/')
    await app.settled()
    return (await app.as('user').get('/api/twins/')).body.data
  }

  assert.deepEqual(await found(), [{ title: 'Fog', ids: ['v1', 'v3'] }])
  await app.app.videos.remove('v3')
  assert.deepEqual(await found(), [])
  const tasks = (await app.as('admin').get('/api/task/')).body as Array<{ name: string }>
  assert.ok(tasks.some(({ name }) => name === 'twins.find'))
})

test('bell: messages of tasks go to the scheme that it adds, and a test of an address returns the reason of a failure', async (t) => {
  const { host, told, next } = await aReceiver(t)
  const app = await recipeApp(t, 'bell', { settings })
  const admin = app.as('admin')
  await admin.post('/api/schedule/notification/', { task_name: 'download_pending', url: `bell://${host}/door` })
  const isTold = next()

  await app.download(aVideo({ id: 'v1' }))
  await isTold

  assert.deepEqual(told, [
    { path: '/door', body: '✓ [Archivolt] Downloading process ended with SUCCESS\n1 video downloaded\n' },
  ])
  const { status, body } = await admin.post('/api/schedule/notification/test/', { url: 'bell://192.168.1.1/door' })
  assert.equal(status, 400)
  assert.match(body.message ?? body.error, /private network/)
})

test('captions: a video without subtitles in the language gets those of a server, which must be valid', async (t) => {
  const server = await aReceiver(t, { status: 200, body: '<html>Sign in first</html>' })
  const app = await recipeApp(t, 'captions', { settings })
  await app.as('admin').post('/api/config/', { captions: { server: server.url, language: 'de' } })
  const languages = async () => (await app.app.videos.get('v1'))?.subtitles.map(({ lang }) => lang)

  await app.download(aVideo({ id: 'v1', title: 'Fog' }))
  assert.deepEqual(await languages(), ['en'])
  server.answer = { status: 200, body: 'WEBVTT\n\n00:00.000 --> 00:01.000\nNebel im Hafen\n' }
  await app.clock.advance(30_000)
  await app.settled()

  assert.deepEqual(await languages(), ['en', 'de'])
  const { body } = await app.as('user').get('/api/search/?query=full:hafen')
  assert.equal(body.results.fulltext_results[0].platform_id, 'v1')
  assert.deepEqual(
    server.told.map(({ path }) => path),
    ['/v1.de.vtt', '/v1.de.vtt'],
  )
  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'again' })
  await app.settled()
  assert.equal(server.told.length, 2)
})

test('moments: a position is stored for its account, once, and removed with its video and its account', async (t) => {
  const app = await recipeApp(t, 'moments')
  await app.given(aChannel())
  await app.given(aVideo({ id: 'v1', title: 'Fog' }), aVideo({ id: 'v2', title: 'Nets' }))
  const [user, admin] = [app.as('user'), app.as('admin')]
  const kept = async (who = user) => (await who.get('/api/moments/')).body.data

  await user.post('/api/moments/v1/', { second: 62 })
  await user.post('/api/moments/v1/', { second: 62 })
  await user.post('/api/moments/v2/', { second: 5 })
  assert.deepEqual(await kept(), [
    { video: 'v2', title: 'Nets', second: 5 },
    { video: 'v1', title: 'Fog', second: 62 },
  ])
  assert.deepEqual(await kept(admin), [])
  assert.equal((await user.post('/api/moments/none/', { second: 1 })).status, 404)
  await admin.delete('/api/video/v1/')
  await app.settled()
  assert.deepEqual(
    (await kept()).map(({ video }: { video: string }) => video),
    ['v2'],
  )
  await user.delete('/api/moments/v2/', { second: 5 })
  assert.deepEqual(await kept(), [])
})

test('moments: its button stores the current position, and sends no request that is not its own', async (t) => {
  const app = await recipeApp(t, 'moments')
  await app.given(aChannel())
  await app.given(aVideo({ id: 'v1', title: 'Fog' }))
  const { code } = app.app.plugins.pages.find(({ place }) => place === 'player')!
  const { default: press } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  const api = app.pageApi('moments')
  const texts = { clock: (seconds: number) => `${seconds} s` }
  const said: string[] = []
  const pressed = (videoId: string) =>
    press({ api, texts, playing: { videoId, position: 62.9 }, say: (text: string) => said.push(text) })

  await pressed('v1')

  assert.deepEqual(said, ['Kept: 62 s'])
  const { data } = await api.get<{ data: object[] }>('/api/moments/', { page: 1 })
  assert.deepEqual(data, [{ video: 'v1', title: 'Fog', second: 62 }])
  await assert.rejects(pressed('none'), { status: 404, code: 'not_found' })
  await assert.rejects(api.get('/api/config/'), {
    status: 403,
    message: /moments has no page that may ask GET \/api\/config\/: name it/,
  })
})

test('moments: a command counts the entries of an account, and removes them while no server runs', async (t) => {
  const app = await recipeApp(t, 'moments')
  await app.given(aChannel())
  await app.given(aVideo({ id: 'v1' }))
  for (const second of [5, 62]) await app.as('user').post('/api/moments/v1/', { second })

  assert.deepEqual(await app.command('moments forget user'), {
    code: 0,
    said: ['user has kept 2; with --yes they are removed'],
  })
  assert.equal((await app.as('user').get('/api/moments/')).body.data.length, 2)
  assert.deepEqual(await app.command(['moments', 'forget', 'user', '--yes']), { code: 0, said: ['2 removed'] })
  assert.deepEqual((await app.as('user').get('/api/moments/')).body.data, [])
  assert.deepEqual(await app.command('moments forget ann'), { code: 1, said: [], error: 'There is no account ann' })
})

/** A site with folders: each file by its path, in the requested ranges. */
async function aSite(t: TestContext, files: Map<string, Buffer>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const content = files.get(request.url!)
    asked.push(`${request.url} ${request.headers.range ?? ''}`.trim())
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (!content) response.writeHead(404).end()
    else if (from === undefined) response.end(content)
    else {
      const last = Math.min(Number(to), content.length - 1)
      response.writeHead(206, { 'content-range': `bytes ${from}-${last}/${content.length}` })
      response.end(content.subarray(Number(from), last + 1))
    }
  }).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked }
}

test('harbour: films of a second platform are requested, subscribed to, downloaded and reported as gone, together with those of the first', async (t) => {
  const film = await readFile(FILM_FILE)
  const listed = (...films: object[]) => Buffer.from(JSON.stringify({ name: 'The quay', films }))
  const fog = { film: 'fog1', title: 'Fog', published: '2024-03-01', seconds: 1 }
  const nets = { film: 'nets', title: 'Nets', published: '2024-03-02', seconds: 1 }
  const files = new Map([
    ['/quay/index.json', listed(fog)],
    ['/quay/fog1.mp4', film],
    ['/quay/nets.mp4', film],
  ])
  const { url, asked } = await aSite(t, files)
  const app = await recipeApp(t, 'harbour', { settings })
  const admin = app.as('admin')
  await admin.post('/api/config/', { harbour: { site: url } })
  const ask = async (text: string) => {
    await admin.post('/api/download/?autostart=true', { data: [{ platform_id: text, status: 'pending' }] })
    await app.settled()
  }
  const staged = join(await app.app.media.staging('harbour-quay-fog1'), 'harbour-quay-fog1.mp4.part')
  await writeFile(staged, film.subarray(0, 1000)) // an interrupted attempt

  await app.download(aVideo({ id: 'v1', title: 'Of the first' }))
  await ask(`${url}quay/fog1.mp4`)

  const { data } = (await app.as('user').get('/api/video/harbour-quay-fog1/')).body
  assert.deepEqual(
    [data.title, data.channel.channel_name, data.channel.channel_id, data.published, data.player.duration],
    ['Fog', 'The quay', 'harbour-channel-quay', '2024-03-01', 1],
  )
  assert.deepEqual(await readFile(app.app.media.pathOf('harbour-channel-quay', 'harbour-quay-fog1')), film)
  assert.ok(asked.includes('/quay/fog1.mp4 bytes=1000-4000999'), 'it goes on where it was cut off')

  await admin.post('/api/channel/', { data: [{ channel_id: `${url}quay/`, channel_subscribed: true }] })
  await app.settled()
  files.set('/quay/index.json', listed(nets, fog))
  await admin.post('/api/task-name/update_subscribed/')
  await app.settled()
  await admin.post('/api/task-name/download_pending/')
  await app.settled()
  assert.equal((await app.as('user').get('/api/video/harbour-quay-nets/')).body.data.title, 'Nets')

  files.set('/quay/index.json', listed(nets))
  await ask('harbour-quay-fog2')
  const gone = (await admin.get('/api/download/?error_class=gone')).body.data
  assert.match(gone[0].message, /Harbour no longer has harbour-quay-fog2/)
  await admin.post('/api/refresh/', { video: ['harbour-quay-fog1'] })
  await app.settled()
  assert.equal((await app.as('user').get('/api/video/harbour-quay-fog1/')).body.data.active, false)
  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.title, 'Of the first')
})

test('harbour: queue items, videos and channels show their picture, and link to their page there', async (t) => {
  const picture = await readFile(PICTURE_FILE)
  const fog = { film: 'fog1', title: 'Fog', published: '2024-03-01', seconds: 1, picture: true }
  const { url } = await aSite(
    t,
    new Map([
      ['/quay/index.json', Buffer.from(JSON.stringify({ name: 'The quay', picture: true, films: [fog] }))],
      ['/quay/fog1.mp4', await readFile(FILM_FILE)],
      ['/quay/fog1.jpg', picture],
      ['/quay/channel.jpg', picture],
    ]),
  )
  const app = await recipeApp(t, 'harbour', { settings })
  const [admin, { media }] = [app.as('admin'), app.app]
  const lies = async (path: string) => {
    const { platform_name: name, platform_url: address } = (await admin.get(path)).body.data
    return [name, address]
  }
  await admin.post('/api/config/', { harbour: { site: url } })

  await admin.post('/api/download/', { data: [{ platform_id: 'harbour-quay-fog1', status: 'pending' }] })
  await app.settled()
  assert.deepEqual(await lies('/api/download/harbour-quay-fog1/'), ['Harbour', `${url}quay/fog1.mp4`])
  assert.ok(await media.hasArt('video', 'harbour-quay-fog1'))
  await admin.post('/api/task-name/download_pending/')
  await app.settled()
  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))

  assert.deepEqual(await lies('/api/video/harbour-quay-fog1/'), ['Harbour', `${url}quay/fog1.mp4`])
  assert.deepEqual(await lies('/api/channel/harbour-channel-quay/'), ['Harbour', `${url}quay/`])
  assert.ok(await media.hasArt('channel_thumb', 'harbour-channel-quay'))
  assert.deepEqual(await lies('/api/video/v1/'), ['YouTube', 'https://www.youtube.com/watch?v=v1'])
  assert.deepEqual(await lies('/api/channel/UC1/'), ['YouTube', 'https://www.youtube.com/channel/UC1'])
  await admin.post('/api/config/', { harbour: { site: '' } })
  assert.deepEqual(await lies('/api/video/harbour-quay-fog1/'), [undefined, undefined])
  assert.equal((await admin.get('/api/video/')).body.data.length, 2)
})

test('rewind: videos published a year ago this week are listed, and announced on Monday', async (t) => {
  const archive = await recipeApp(t, 'rewind')
  await archive.given(aVideo({ id: 'v1', title: 'Fog', published: '2025-01-17' }))
  await archive.given(aVideo({ id: 'v2', title: 'Nets', published: '2025-06-01' }))
  const { body } = await archive.as('user').get('/api/rewind/')
  await archive.clock.advance((3 * 24 + 21) * 3600_000)
  await archive.settled()

  assert.deepEqual(body.data, [{ video_id: 'v1', title: 'Fog' }])
  const told = archive.app.jobs.notifications().find(({ group }) => group === 'rewind:week')
  assert.deepEqual(told?.messages, ['Fog'])
})

test('newest: only the newest of a channel and those that a person keeps stay; no scan downloads the others, which are in the bin', async (t) => {
  const archive = await recipeApp(t, 'newest')
  const admin = archive.as('admin')
  for (const [at, id] of ['v1', 'v2', 'v3', 'v4'].entries())
    await archive.download(aVideo({ id, channelId: 'UC1', published: `2025-01-0${at + 1}` }))
  await admin.post('/api/channel/', { data: [{ channel_id: 'UC1', channel_subscribed: true }] })
  await archive.app.videos.setKept('v1', true)
  const run = async (task: string) => {
    const { task_id: id } = (await admin.post(`/api/task-name/${task}/`)).body
    await archive.settled()
    return (await admin.get(`/api/task-id/${id}/`)).body.result
  }

  assert.equal(await run('newest.sweep'), 'All videos are kept')
  await admin.post('/api/channel/UC1/preference/', { newest: { count: 4 } })
  await admin.post('/api/config/', { newest: { count: 1 } })
  assert.equal(await run('newest.sweep'), 'All videos are kept')
  await admin.post('/api/channel/UC1/preference/', { newest: { count: null } })
  await admin.post('/api/config/', { newest: { count: 2 } })
  assert.equal(await run('newest.sweep'), 'Removed: 1. Not removed: 1')
  await run('update_subscribed')
  await run('download_pending')

  assert.deepEqual((await archive.ids('video')).sort(), ['v1', 'v3', 'v4'])
  const [entry] = (await admin.get('/api/bin/')).body.data
  assert.deepEqual([entry.platform_id, entry.note], ['v2', 'Not among the newest of its channel'])
  await admin.post('/api/bin/restore/', { entries: [entry.id] })
  assert.deepEqual((await archive.ids('video')).sort(), ['v1', 'v2', 'v3', 'v4'])
})
