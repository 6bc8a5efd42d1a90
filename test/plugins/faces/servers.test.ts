/** Media servers are told what has changed, against stand-ins that answer as Jellyfin, Plex and Kodi do, and worse. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aChannel, type TestApp, testApp } from '../../support/testing.ts'
import { comeIn } from './coming.ts'

interface Call {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: any
}

type Answer = (call: Call, response: ServerResponse) => unknown

/** @param answer  what is sent as JSON; undefined: it has answered by itself, or nothing with 204 */
async function standIn(t: TestContext, answer: Answer) {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { method = '', url: path = '', headers } = request
    const call = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) }
    calls.push(call)
    const said = await answer(call, response)
    if (response.writableEnded || response.destroyed) return
    response.writeHead(said === undefined ? 204 : 200, { 'content-type': 'application/json' })
    response.end(said === undefined ? undefined : JSON.stringify(said))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function given(t: TestContext) {
  const archive = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
  await archive.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
  const admin = archive.as('admin')
  const root = join(archive.dataDir, 'faces', 'tv')
  const { status, text } = await admin.post('/api/face/', { name: 'TV', root, form: 'shows', selection: {} })
  assert.equal(status, 200, text)
  await archive.settled()
  return { archive, admin, root }
}

const film = (archive: TestApp, id: string) => comeIn(archive, { id, title: 'To sea', published: '2026-01-02' })
const SEASON = 'Boats [UC1]/Season 2026'

test('Jellyfin is told of single paths in its own words; where it has the face elsewhere is found out', async (t) => {
  const { archive, admin, root } = await given(t)
  const jellyfin = await standIn(t, ({ path }) =>
    path === '/Library/VirtualFolders' ? [{ Locations: ['/films', '/media/tv'] }] : undefined,
  )

  const added = await admin.post('/api/face/server/', { name: 'Den', kind: 'jellyfin', url: jellyfin.url, key: 'k1' })
  assert.deepEqual([added.status, added.body.error, added.body.paths], [200, '', [[root, '/media/tv']]])
  assert.ok(!added.text.includes('k1'))
  await film(archive, 'v1')

  const updates = jellyfin.calls.filter(({ path }) => path === '/Library/Media/Updated')
  assert.equal(updates[0]!.headers.authorization, 'MediaBrowser Token="k1"')
  assert.deepEqual(
    updates.flatMap(({ body }) => body.Updates).filter(({ Path }) => Path.endsWith('.mp4')),
    [{ Path: `/media/tv/${SEASON}/S2026E1 - To sea [v1].mp4`, UpdateType: 'Created' }],
  )

  await admin.delete('/api/video/v1/')
  await archive.settled()
  const last = jellyfin.calls.at(-1)!.body.Updates
  assert.ok(last.some(({ UpdateType }: { UpdateType: string }) => UpdateType === 'Deleted'))
  assert.equal((await admin.get('/api/face/server/')).body[0].waiting, 0)
})

test('Plex scans the folder that has changed, in the library that reads it', async (t) => {
  const { archive, admin, root } = await given(t)
  const plex = await standIn(t, ({ path }) =>
    path === '/library/sections'
      ? {
          MediaContainer: {
            Directory: [
              { key: '1', Location: [{ path: '/x' }] },
              { key: '7', Location: [{ path: root }] },
            ],
          },
        }
      : undefined,
  )
  await admin.post('/api/face/server/', { name: 'Plex', kind: 'plex', url: plex.url, key: 'token' })

  await film(archive, 'v1')

  const scans = plex.calls.filter(({ path }) => path.includes('/refresh'))
  assert.ok(
    scans.some(({ path }) => path === `/library/sections/7/refresh?path=${encodeURIComponent(join(root, SEASON))}`),
  )
  assert.ok(scans.every(({ headers }) => headers['x-plex-token'] === 'token'))
})

test('Kodi scans the show, and reads a changed NFO again for its episode', async (t) => {
  const { archive, admin, root } = await given(t)
  const file = join(root, SEASON, 'S2026E1 - To sea [v1].mp4')
  const kodi = await standIn(t, ({ body }) => ({
    result:
      body.method === 'Files.GetSources'
        ? { sources: [{ file: `${root}/` }] }
        : body.method === 'VideoLibrary.GetEpisodes'
          ? { episodes: [{ episodeid: 5, file }] }
          : 'OK',
  }))
  await admin.post('/api/face/server/', { name: 'Kodi', kind: 'kodi', url: kodi.url, key: 'kodi:pass' })
  await film(archive, 'v1')

  assert.equal(kodi.calls[0]!.headers.authorization, `Basic ${Buffer.from('kodi:pass').toString('base64')}`)
  const told = (method: string) =>
    kodi.calls.filter(({ body }) => body.method === method).map(({ body }) => body.params)
  assert.ok(told('VideoLibrary.Scan').some(({ directory }) => directory === `${join(root, 'Boats [UC1]')}/`))

  await archive.app.videos.change('v1', { set: { description: 'Of ships' } })
  await archive.app.emit('video.changed', { id: 'v1', what: 'metadata' })
  await archive.settled()

  assert.deepEqual(told('VideoLibrary.RefreshEpisode'), [{ episodeid: 5, ignorenfo: false }])
})

const FAULTS: Array<[what: string, answer: Answer, said: RegExp]> = [
  ['refuses the key', (_, response) => response.writeHead(401).end(), /^Jellyfin refuses the key/],
  [
    'leads elsewhere',
    (_, response) => response.writeHead(302, { location: 'http://192.0.2.1/' }).end(),
    /leads elsewhere/,
  ],
  ['is no Jellyfin', (_, response) => response.writeHead(404).end(), /^There is no Jellyfin at this address/],
  ['is a web page', (_, response) => response.end('<!doctype html>'), /is no Jellyfin, but a web page/],
  ['is broken', (_, response) => response.writeHead(500).end(), /^Jellyfin answered with status 500/],
  ['hangs up', (_, response) => void response.destroy(), /./],
  ['reads other folders', () => [{ Locations: ['/films'] }], /none of its libraries reads the face “TV”.*\/films/],
]
for (const [what, answer, said] of FAULTS)
  test(`a server that ${what} is told of in a sentence, and is told later what it has missed`, async (t) => {
    const { archive, admin, root } = await given(t)
    let isWell = false
    const server = await standIn(t, (call, response) => {
      if (!isWell) return answer(call, response)
      return call.method === 'GET' ? [{ Locations: [root] }] : undefined
    })
    const { body } = await admin.post('/api/face/server/', { name: 'Den', kind: 'jellyfin', url: server.url, key: 'k' })
    assert.match(body.error, said)
    if (what === 'reads other folders') return
    await film(archive, 'v1')
    assert.ok((await admin.get('/api/face/server/')).body[0].waiting > 0)

    isWell = true
    await archive.clock.advance(31_000)
    await archive.settled()

    const [{ waiting, error }] = (await admin.get('/api/face/server/')).body
    assert.deepEqual([waiting, error], [0, ''])
  })

test('keys are sealed in the ledger, and are in no reply', async (t) => {
  const { archive, admin } = await given(t)
  const { url } = await standIn(t, () => [])
  await admin.post('/api/face/server/', { name: 'Den', kind: 'emby', url, key: 'very secret' })

  const rows = JSON.stringify(archive.app.ledger.sql('SELECT * FROM faces_server').all())
  assert.ok(!rows.includes('very secret') && !rows.includes(url))
  assert.ok(!(await admin.get('/api/face/server/')).text.includes('very secret'))
})

test('an address that is none, or has a password, is refused', async (t) => {
  const { admin } = await given(t)
  for (const url of ['den', 'ftp://den/', 'http://me:pass@den/', 'javascript:1']) {
    const { status, body } = await admin.post('/api/face/server/', { name: 'Den', kind: 'plex', url, key: 'k' })
    assert.deepEqual([status, Object.keys(body.fields)], [400, ['url']])
  }
})
