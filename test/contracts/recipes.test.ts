/** The recipes for authors of plugins: whole plugins from a folder, each doing what plugins/README.md says of it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findOutside } from '../../core/plugin/find.ts'
import { temporaryFolder } from '../support/folder.ts'
import { aChannel, aVideo, type TestApp, type TestOptions, testApp } from '../support/plugin-testing.ts'
import { ROOT } from '../support/sources.ts'

/** As from AV_PLUGINS_DIR. */
async function recipeApp(t: TestContext, name: string, options: TestOptions = {}): Promise<TestApp> {
  const [found] = await findOutside([join(ROOT, 'test/data/plugins', name)], await temporaryFolder(t))
  return testApp(t, { ...options, plugins: [found!.plugin] })
}

test('webhook: what comes, goes and fails is posted, and posted again where nobody took it', async (t) => {
  const told: Array<Record<string, unknown>> = []
  let status = 500
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    told.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>)
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const app = await recipeApp(t, 'webhook', { settings: { privateHosts: ['127.0.0.1'] } })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  assert.equal((await app.as('admin').post('/api/config/', { webhook: { url: 'file:///etc/passwd' } })).status, 400)
  await app.as('admin').post('/api/config/', { webhook: { url } })

  await app.download(aVideo({ id: 'v1', channelId: 'UC1' }))
  status = 200
  await app.clock.advance(30_000)
  await app.settled()
  await app.as('admin').delete('/api/video/v1/')
  await app.settled()

  assert.deepEqual(told, [
    { event: 'video.added', id: 'v1', channelId: 'UC1', why: 'new' },
    { event: 'video.added', id: 'v1', channelId: 'UC1', why: 'new' },
    { event: 'video.removed', id: 'v1', channelId: 'UC1' },
  ])
})

test('feed: a reader with a token in its address gets the newest videos, and a child those that were chosen for it', async (t) => {
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

test('nfo: a file lies beside each video, says what it says, and goes with it', async (t) => {
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

test('twins: titles that several videos have are found, listed, and forgotten when they are single again', async (t) => {
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
