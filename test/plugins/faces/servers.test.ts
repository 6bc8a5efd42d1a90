/** Media servers are notified of changes, with stand-ins that answer as Jellyfin, Plex and Kodi do, and worse. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, posix } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openServerRows } from '../../../plugins/faces/servers/tables.ts'
import type { Change } from '../../../plugins/faces/types.ts'
import { aChannel, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/slow.ts'
import { comeIn, lay } from './coming.ts'

interface Call {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: any
}

type Answer = (call: Call, response: ServerResponse) => unknown

/** @param answer  sent as JSON; if it returns undefined, it has answered itself, or the answer is 204 */
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

test('Jellyfin is notified of single paths with its own terms; its path of the face is detected', async (t) => {
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

test('paths that are set while a media server is asked are kept', async (t) => {
  const { admin, root } = await given(t)
  const entered = [['/faces/films', '/media/films']]
  let isFirst = true
  const jellyfin = await standIn(t, async ({ path }) => {
    if (path !== '/Library/VirtualFolders') return undefined
    if (!isFirst) await admin.post('/api/face/server/1/', { paths: entered })
    return [{ Locations: isFirst ? [] : ['/media/tv'] }]
  })
  await admin.post('/api/face/server/', { name: 'Den', kind: 'jellyfin', url: jellyfin.url, key: 'k1' })
  isFirst = false

  const { body } = await admin.post('/api/face/server/1/test/')

  assert.deepEqual(body.paths, [...entered, [root, '/media/tv']])
})

test('Plex scans the changed folder, in the library that contains it', async (t) => {
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

for (const reads of [true, false])
  test(`Plex is told that a face was removed ${reads ? 'from the folder that it reads' : 'after its folder was removed there'}`, async (t) => {
    const { archive, admin, root } = await given(t)
    let folders = [root]
    const plex = await standIn(t, ({ path }) =>
      path === '/library/sections'
        ? { MediaContainer: { Directory: [{ key: '7', Location: folders.map((path) => ({ path })) }] } }
        : undefined,
    )
    await admin.post('/api/face/server/', { name: 'Plex', kind: 'plex', url: plex.url, key: 'token' })
    await film(archive, 'v1')
    if (!reads) folders = ['/films']
    const { length } = plex.calls

    await admin.delete('/api/face/1/')
    await archive.settled()

    const scans = plex.calls.slice(length).filter(({ path }) => path.includes('/refresh'))
    assert.equal(
      scans.some(({ path }) => path.endsWith(encodeURIComponent(join(root, SEASON)))),
      reads,
    )
    const [shown] = (await admin.get('/api/face/server/')).body
    assert.deepEqual([shown.error, shown.waiting], ['', 0])
  })

test('Plex scans the whole folder of a removed face with very many files', async (t) => {
  const { archive, admin, root } = await given(t)
  const plex = await standIn(t, ({ path }) =>
    path === '/library/sections'
      ? { MediaContainer: { Directory: [{ key: '7', Location: [{ path: root }] }] } }
      : undefined,
  )
  await admin.post('/api/face/server/', { name: 'Plex', kind: 'plex', url: plex.url, key: 'token' })
  for (let at = 0; at < 300; at++) await lay(archive, { id: `v${at}`, title: 'To sea', published: '2026-01-02' })
  await archive.app.jobs.start('update_faces')
  await archive.settled()
  const { length } = plex.calls

  await admin.delete('/api/face/1/')
  await archive.settled()

  const scans = plex.calls.slice(length).filter(({ path }) => path.includes('/refresh'))
  assert.deepEqual(
    scans.map(({ path }) => path),
    [`/library/sections/7/refresh?path=${encodeURIComponent(root)}`],
  )
})

test('Plex is told of the faces that it reads, also where there are others; one that it should read is named', async (t) => {
  const { archive, admin, root } = await given(t)
  const other = join(archive.dataDir, 'faces', 'radio')
  await admin.post('/api/face/', { name: 'Radio', root: other, form: 'files', selection: {} })
  await archive.settled()
  let folders = [root]
  const plex = await standIn(t, ({ path }) =>
    path === '/library/sections'
      ? { MediaContainer: { Directory: [{ key: '7', Location: folders.map((one) => ({ path: one })) }] } }
      : undefined,
  )
  await admin.post('/api/face/server/', { name: 'Plex', kind: 'plex', url: plex.url, key: 'token' })

  await film(archive, 'v1')

  const [told] = (await admin.get('/api/face/server/')).body
  assert.deepEqual([told.waiting, told.error], [0, ''])
  const scans = plex.calls.filter(({ path }) => path.includes('/refresh'))
  assert.ok(scans.some(({ path }) => path.endsWith(encodeURIComponent(join(root, SEASON)))))
  assert.ok(!scans.some(({ path }) => path.includes('radio')))

  folders = ['/elsewhere']
  await film(archive, 'v2')

  const [lost] = (await admin.get('/api/face/server/')).body
  assert.ok(lost.waiting > 0)
  assert.match(lost.error, /^No library of Plex reads /)
})

interface KodiEpisode {
  episodeid: number
  file: string
  uniqueid: { archivolt: string }
  playcount: number
  lastplayed: string
  resume: { position: number; total: number }
}

/**
 * Simulates Kodi with a library of one show: it scans and cleans for a while, and removes an episode to read it again.
 */
async function aKodi(t: TestContext, root: string) {
  const episodes: KodiEpisode[] = []
  const told: Array<[method: string, params: any]> = []
  const state = { busyFor: 0, wasStopped: false }
  let lastId = 0
  const show = () => posix.dirname(posix.dirname(episodes[0]!.file))
  const read = (file: string) =>
    episodes.push({
      ...{ episodeid: ++lastId, file, uniqueid: { archivolt: /\[(\w+)\]\.mp4$/.exec(file)![1]! } },
      ...{ playcount: 0, lastplayed: '', resume: { position: 0, total: 0 } },
    })
  const remove = (isGone: (episode: KodiEpisode) => boolean) =>
    episodes.splice(0, Infinity, ...episodes.filter((one) => !isGone(one)))
  const begin = () => {
    if (state.busyFor > 0) state.wasStopped = true
    state.busyFor = 2
  }
  const methods: Record<string, (params: any) => unknown> = {
    'Files.GetSources': () => ({ sources: [{ file: `${root}/` }] }),
    'XBMC.GetInfoBooleans': () => ({ 'Library.IsScanningVideo': state.busyFor > 0 && state.busyFor-- > 0 }),
    'VideoLibrary.GetEpisodes': () => ({ episodes }),
    'VideoLibrary.GetTVShows': () => ({ tvshows: [{ tvshowid: 9, file: `${show()}/` }] }),
    'VideoLibrary.Scan'() {
      begin()
      for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
        const file = join(root, path)
        if (file.endsWith('.mp4') && !episodes.some((one) => one.file === file)) read(file)
      }
    },
    'VideoLibrary.Clean'() {
      begin()
      remove(({ file }) => !existsSync(file))
    },
    'VideoLibrary.RefreshEpisode'({ episodeid }) {
      const { file } = episodes.find((one) => one.episodeid === episodeid)!
      remove((one) => one.episodeid === episodeid)
      read(file)
    },
    'VideoLibrary.RefreshTVShow': () => 'OK',
    'VideoLibrary.SetEpisodeDetails'({ episodeid, ...marks }) {
      Object.assign(episodes.find((one) => one.episodeid === episodeid)!, marks)
    },
  }
  const { calls, url } = await standIn(t, ({ body: { method, params } }) => {
    told.push([method.replace('VideoLibrary.', ''), params])
    return { result: methods[method]!(params) ?? 'OK' }
  })
  const since = (start: number) => told.slice(start).filter(([method]) => !/Get/.test(method))
  return { calls, url, episodes, told, state, since }
}

const MARKS = { playcount: 2, lastplayed: '2026-02-03 04:05:06', resume: { position: 30, total: 60 } }

test('Kodi scans everything once it is idle, and keeps the marks of an episode whose NFO it reads again', async (t) => {
  const { archive, admin, root } = await given(t)
  const kodi = await aKodi(t, root)
  await admin.post('/api/face/server/', { name: 'Kodi', kind: 'kodi', url: kodi.url, key: 'kodi:pass' })
  kodi.state.busyFor = 2
  await film(archive, 'v1')

  assert.equal(kodi.calls[0]!.headers.authorization, `Basic ${Buffer.from('kodi:pass').toString('base64')}`)
  assert.deepEqual(kodi.since(0), [['Scan', { showdialogs: false }]])
  assert.equal(kodi.state.wasStopped, false)

  Object.assign(kodi.episodes[0]!, MARKS)
  const { length } = kodi.told
  await archive.app.videos.change('v1', { set: { description: 'Of ships' } })
  await archive.app.emit('video.changed', { id: 'v1', what: 'metadata' })
  await archive.settled()

  assert.deepEqual(kodi.since(length), [
    ['RefreshEpisode', { episodeid: 1, ignorenfo: false }],
    ['SetEpisodeDetails', { episodeid: 2, ...MARKS }],
  ])
})

test('Kodi gets the marks of a renamed show before it forgets the old paths, and then the new name', async (t) => {
  const { archive, admin, root } = await given(t)
  const kodi = await aKodi(t, root)
  await admin.post('/api/face/server/', { name: 'Kodi', kind: 'kodi', url: kodi.url, key: '' })
  await film(archive, 'v1')
  Object.assign(kodi.episodes[0]!, MARKS)
  const { length } = kodi.told

  await archive.app.channels.collection.patch('UC1', { set: { channel_name: 'Ships' } })
  await archive.app.emit('channel.renewed', { id: 'UC1' })
  await archive.settled()

  assert.deepEqual(kodi.since(length), [
    ['Scan', { showdialogs: false }],
    ['SetEpisodeDetails', { episodeid: 2, ...MARKS }],
    ['Clean', { showdialogs: false }],
    ['RefreshTVShow', { tvshowid: 9, ignorenfo: false, refreshepisodes: false }],
  ])
  assert.equal(kodi.state.wasStopped, false)
  assert.deepEqual(
    kodi.episodes.map(({ file }) => file),
    [join(root, 'Ships [UC1]/Season 2026/S2026E1 - To sea [v1].mp4')],
  )
})

test('a Kodi that never finishes delays no shutdown, and is notified after the next start', async (t) => {
  const { archive, admin, root } = await given(t)
  const kodi = await aKodi(t, root)
  await admin.post('/api/face/server/', { name: 'Kodi', kind: 'kodi', url: kodi.url, key: '' })
  kodi.state.busyFor = Infinity
  const isAsked = new Promise<void>((resolve) => {
    kodi.told.push = (...more) => {
      if (more[0]![0] === 'XBMC.GetInfoBooleans') resolve()
      return Array.prototype.push.apply(kodi.told, more)
    }
  })
  await lay(archive, { id: 'v1', title: 'To sea', published: '2026-01-02' })
  await archive.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'new' })
  await isAsked
  await archive.close()

  assert.deepEqual(kodi.since(0), [])
  kodi.state.busyFor = 0
  await archive.restart()
  await archive.settled()
  assert.deepEqual(kodi.since(0), [['Scan', { showdialogs: false }]])
})

const FAULTS: Array<[what: string, answer: Answer, said: RegExp]> = [
  ['refuses the key', (_, response) => response.writeHead(401).end(), /^Jellyfin rejects the key/],
  [
    'leads elsewhere',
    (_, response) => response.writeHead(302, { location: 'http://192.0.2.1/' }).end(),
    /redirects elsewhere/,
  ],
  ['is no Jellyfin', (_, response) => response.writeHead(404).end(), /^There is no Jellyfin at this address/],
  [
    'is a web page',
    (_, response) => response.end('<!doctype html>'),
    /There is a web page at this address, not Jellyfin/,
  ],
  ['is broken', (_, response) => response.writeHead(500).end(), /^Jellyfin answered with status 500/],
  ['hangs up', (_, response) => void response.destroy(), /./],
  ['reads other folders', () => [{ Locations: ['/films'] }], /none of its libraries reads the folder “TV”.*\/films/],
]
for (const [what, answer, said] of FAULTS)
  test(`a server that ${what} is reported in a sentence, and is notified later of what it has missed`, async (t) => {
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

test('a server that does not answer delays nobody for more than 15 seconds, and is notified later', async (t) => {
  const { archive, admin, root } = await given(t)
  let isWell = false
  let asked = () => undefined as void
  const server = await standIn(t, ({ method }) => {
    asked()
    if (!isWell) return new Promise(() => undefined)
    return method === 'GET' ? [{ Locations: [root] }] : undefined
  })
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const den = { name: 'Den', kind: 'jellyfin', url: server.url, key: 'k', with_playlists: false }
  const adding = admin.post('/api/face/server/', den)
  await isAsked
  await archive.clock.advance(15_000)
  assert.match((await adding).body.error, /could not be reached: no answer within 15 s/)

  isWell = true
  await film(archive, 'v1')
  await archive.settled()
  const [{ waiting, error }] = (await admin.get('/api/face/server/')).body
  assert.deepEqual([waiting, error], [0, ''])
})

test('changes during a notification are sent afterwards, as changes to the state that the server knows', async (t) => {
  const { archive } = await given(t)
  const { ledger } = archive.app
  const rows = openServerRows(ledger)
  const path = '/faces/a.nfo'
  await ledger.write(() => {
    const id = rows.add({
      ...{ name: 'Den', kind: 'kodi', url: 'http://kodi.invalid', secret: '', paths: '[]' },
      ...{ is_on: 1, with_playlists: 0, created_at: 1 },
    })
    const tell = (...meanwhile: Change['kind'][]) => {
      const told = rows.waiting(id)
      for (const kind of meanwhile) rows.noteTold(id, { path, kind })
      for (const one of told) rows.dropTold(id, one)
      return rows.waiting(id).map(({ kind }) => kind)
    }
    rows.noteTold(id, { path, kind: 'added' })
    rows.noteTold(id, { path, kind: 'changed' })
    assert.deepEqual(
      rows.waiting(id).map(({ kind }) => kind),
      ['added'],
    )
    assert.deepEqual(tell('changed'), ['changed'])
    assert.deepEqual(tell('changed'), ['changed'])
    assert.deepEqual(tell('removed', 'added'), ['added'])
    assert.deepEqual(tell('removed'), ['removed'])
    assert.deepEqual(tell(), [])
  })
})

test('if a server redirects to another host, that host gets neither key nor paths', async (t) => {
  const { admin } = await given(t)
  const other = await standIn(t, () => [])
  const server = await standIn(t, ({ path }, response) => response.writeHead(307, { location: other.url + path }).end())

  const { body } = await admin.post('/api/face/server/', { name: 'Den', kind: 'plex', url: server.url, key: 'k' })

  assert.match(body.error, /redirects elsewhere \(status 307\)/)
  assert.deepEqual(other.calls, [])
})

test('keys are sealed in the ledger, and appear in no reply', async (t) => {
  const { archive, admin } = await given(t)
  const { url } = await standIn(t, () => [])
  await admin.post('/api/face/server/', { name: 'Den', kind: 'emby', url, key: 'very secret' })

  const rows = JSON.stringify(archive.app.ledger.sql('SELECT * FROM faces_server').all())
  assert.ok(!rows.includes('very secret') && !rows.includes(url))
  assert.ok(!(await admin.get('/api/face/server/')).text.includes('very secret'))
})

test('an invalid address, or one with a password, is refused', async (t) => {
  const { admin } = await given(t)
  for (const [url, said] of [
    ['den', 'must be an address such as https://example.org/'],
    ['ftp://den/', 'must begin with https:// or http://'],
    ['javascript:1', 'must begin with https:// or http://'],
    ['http://me:pass@den/', 'must not contain a name or password'],
  ]) {
    const { status, body } = await admin.post('/api/face/server/', { name: 'Den', kind: 'plex', url, key: 'k' })
    assert.deepEqual([status, body.fields], [400, { url: said }])
  }
})
