import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { aVideo, testApp } from '@archivolt/plugin/testing'
import jellyfin from './plugin.ts'

async function given(t: TestContext) {
  const told: Array<[request: string, body: any]> = []
  let failures = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (failures > 0) {
      failures--
      return void response.writeHead(500).end()
    }
    if (request.headers.authorization !== 'MediaBrowser Token="k-123"') return void response.writeHead(401).end()
    told.push([`${request.method} ${request.url}`, body === '' ? undefined : JSON.parse(body)])
    response.end(request.url === '/System/Info' ? '{"ServerName":"Den"}' : '')
  }).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const archive = await testApp(t, { plugins: [jellyfin], settings: { privateHosts: ['127.0.0.1'] } })
  const admin = archive.as('admin')
  const set = (values: object) => admin.post('/api/config/', { jellyfin: values })
  await set({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, key: 'k-123' })
  return { archive, admin, told, set, fail: (times: number) => void (failures = times) }
}

test('Jellyfin is notified of an added and a removed film, under its own path', async (t) => {
  const { archive, admin, told, set } = await given(t)
  const path = archive.app.media.pathOf('UC1', 'v1')
  await set({ folders: { [path.slice(0, path.indexOf('/UC1'))]: '/srv/tube' } })

  await archive.download(aVideo({ id: 'v1', channelId: 'UC1' }))
  await archive.settled()
  await admin.delete('/api/video/v1/')
  await archive.settled()

  const update = (UpdateType: string) => ['POST /Library/Media/Updated', { Updates: [{ Path: '/srv/tube/UC1/v1.mp4', UpdateType }] }]
  assert.deepEqual(told, [update('Created'), update('Deleted')])
})

test('a failed notification is repeated; many videos at once cause one notification', async (t) => {
  const { archive, told, fail } = await given(t)
  fail(1)

  await archive.download(aVideo({ id: 'v1' }))
  await archive.settled()
  await archive.clock.advance(30_000)
  await archive.settled()
  assert.equal(told.length, 1)
  for (const ids of [['v2'], ['v3']]) await archive.app.emit('video.adopted', { ids })
  await archive.settled()
  await archive.clock.advance(60_000)
  await archive.settled()

  assert.deepEqual(told.slice(1), [['POST /Library/Refresh', undefined]])
})

test('the address and the key can be tested, and the key is never shown', async (t) => {
  const { admin, set } = await given(t)

  assert.deepEqual((await admin.post('/api/jellyfin/try/')).body, { message: 'Den answers' })
  assert.equal((await admin.get('/api/config/')).body.jellyfin.key, '***')
  await set({ key: 'wrong' })
  const { status, body } = await admin.post('/api/jellyfin/try/')
  assert.deepEqual([status, body.message], [422, 'Jellyfin answers 401: check its address and key'])
  await set({ server: '' })
  assert.equal((await admin.post('/api/jellyfin/try/')).status, 400)
})
