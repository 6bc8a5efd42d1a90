/** Playlists in media servers: created there, in order, and updated with changes here. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aJellyfin, aPlex, KEY, type StandIn } from '../../support/media-servers.ts'
import { aChannel, type TestApp, testApp } from '../../support/testing.ts'
import { comeIn, lay } from './coming.ts'
import '../../support/long.ts'

const SERVERS: Record<string, (t: TestContext, folder: string) => Promise<StandIn>> = {
  jellyfin: aJellyfin,
  emby: (t, folder) => aJellyfin(t, folder, 'emby'),
  plex: aPlex,
}

interface Given {
  archive: TestApp
  admin: ReturnType<TestApp['as']>
  server: StandIn
  /** Its id in the archive. */
  id: number
  root: string
  shown(): Promise<any>
  /** @returns its id */
  playlist(name: string, ...videos: string[]): Promise<string>
  edit(playlist: string, body: object): Promise<void>
  /** The names of films by the ids of their videos. */
  lists(): Record<string, string[]>
}

async function given(t: TestContext, kind: string, videos = ['v1', 'v2', 'v3']): Promise<Given> {
  const archive = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
  const admin = archive.as('admin')
  await archive.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
  const root = join(archive.dataDir, 'faces', 'tv')
  const face = await admin.post('/api/face/', { name: 'TV', root, form: 'shows', selection: {} })
  assert.equal(face.status, 200, face.text)
  for (const id of videos) await lay(archive, { id, title: `Film ${id}`, published: '2026-01-02' })
  await archive.app.jobs.start('update_faces')
  await archive.settled()
  const server = await SERVERS[kind]!(t, root)
  server.scan()
  const added = await admin.post('/api/face/server/', { name: 'Den', kind, url: server.url, key: KEY })
  assert.equal(added.body.error, '', added.text)
  await archive.settled()
  const edit = async (playlist: string, body: object) => {
    const { status, text } = await admin.post(`/api/playlist/custom/${playlist}/`, body)
    assert.ok(status < 300, text)
    await archive.settled()
  }
  return {
    ...{ archive, admin, server, root, edit },
    id: added.body.id,
    shown: async () => (await admin.get('/api/face/server/')).body[0],
    async playlist(name, ...ids) {
      const { body } = await admin.post('/api/playlist/custom/', { playlist_name: name })
      for (const id of ids) await edit(body.playlist_id, { action: 'create', video_id: id })
      await archive.settled()
      return body.playlist_id
    },
    lists: () =>
      Object.fromEntries(
        Object.entries(server.playlists()).map(([name, films]) => [
          name,
          films.map((film) => /\[(.+)\]\.mp4$/.exec(film)?.[1] ?? film),
        ]),
      ),
  }
}

/** The requests that changed something. */
const changes = ({ calls }: StandIn, since: number): string[] =>
  calls
    .slice(since)
    .filter(({ method, path }) => method !== 'GET' && !path.startsWith('/Library/'))
    .map(({ method, path }) => `${method} ${path}`)

for (const kind of Object.keys(SERVERS)) {
  test(`a playlist is created in ${kind} in its order, and follows every change`, async (t) => {
    const { lists, playlist, edit, admin, archive, shown } = await given(t, kind)
    const id = await playlist('Both', 'v2', 'v1')
    assert.deepEqual(lists(), { Both: ['v2', 'v1'] })
    assert.deepEqual([(await shown()).playlists, (await shown()).error], [1, ''])

    await edit(id, { action: 'create', video_id: 'v3' })
    assert.deepEqual(lists(), { Both: ['v2', 'v1', 'v3'] })
    await edit(id, { action: 'top', video_id: 'v3' })
    assert.deepEqual(lists(), { Both: ['v3', 'v2', 'v1'] })
    await edit(id, { action: 'remove', video_id: 'v2' })
    assert.deepEqual(lists(), { Both: ['v3', 'v1'] })
    await edit(id, { playlist_name: 'Boats & <more>' })
    assert.deepEqual(lists(), { 'Boats & <more>': ['v3', 'v1'] })
    await admin.delete('/api/video/v3/')
    await archive.settled()
    assert.deepEqual(lists(), { 'Boats & <more>': ['v1'] })

    await admin.delete(`/api/playlist/${id}/`)
    await archive.settled()
    assert.deepEqual(lists(), {})
    assert.equal((await shown()).playlists, 0)
  })

  test(`a video that ${kind} has not read yet is added once it has`, async (t) => {
    const { archive, playlist, lists, server, shown } = await given(t, kind)
    await comeIn(archive, { id: 'v4', title: 'Late', published: '2026-01-02' })
    await playlist('Some', 'v1', 'v4', 'v2')
    assert.deepEqual(lists(), { Some: ['v1', 'v2'] })

    server.scan()
    await archive.clock.advance(31_000)
    await archive.settled()

    assert.deepEqual(lists(), { Some: ['v1', 'v4', 'v2'] })
    assert.equal((await shown()).error, '')
  })

  test(`if playlists are switched off for ${kind}, those that we created are deleted, and those of people stay`, async (t) => {
    const { admin, archive, playlist, lists, server, id } = await given(t, kind)
    server.makePlaylist('Mine', ['[v3].mp4'])
    await playlist('Mine', 'v1')
    assert.equal(server.lists.size, 2)

    const off = await admin.post(`/api/face/server/${id}/`, { with_playlists: false })
    await archive.settled()
    assert.deepEqual([off.body.with_playlists, lists()], [false, { Mine: ['v3'] }])

    await admin.post(`/api/face/server/${id}/`, { with_playlists: true })
    await archive.settled()
    assert.deepEqual(
      [...server.lists.values()].map(({ items }) => items.length),
      [1, 1],
    )
  })

  test(`a full render without changes sends ${kind} no request that changes something`, async (t) => {
    const { archive, playlist, server } = await given(t, kind)
    await playlist('Both', 'v2', 'v1')
    const { length } = server.calls

    await archive.app.jobs.start('update_faces')
    await archive.settled()

    assert.deepEqual(changes(server, length), [])
    assert.ok(server.calls.slice(length).length <= 1, 'only its folders')
  })
}

for (const kind of Object.keys(SERVERS))
  test(`another ${kind} at another address gets the playlists, and those of people there stay`, async (t) => {
    const { admin, archive, playlist, lists, root, id } = await given(t, kind)
    await playlist('Both', 'v2', 'v1')
    const next = await SERVERS[kind]!(t, root)
    next.scan()
    // In Emby and Plex, this playlist has the id that ours had on the former server.
    next.makePlaylist('Mine', ['[v3].mp4'])
    next.makePlaylist('Both', ['[v3].mp4'])

    await admin.post(`/api/face/server/${id}/`, { url: next.url })
    await archive.settled()

    const there = [...next.lists.values()].map(({ name, items }) => [name, items.length])
    assert.deepEqual(there, [
      ...[
        ['Mine', 1],
        ['Both', 1],
      ],
      ['Both', 2],
    ])
    assert.deepEqual(lists(), { Both: ['v2', 'v1'] }, 'the former server is no longer changed')
  })

for (const kind of Object.keys(SERVERS)) {
  test(`if ${kind} is removed and added again, its playlists are recognized, and follow every change`, async (t) => {
    const { admin, archive, playlist, edit, lists, server, id, shown } = await given(t, kind)
    const both = await playlist('Both', 'v2', 'v1')
    const gone = await playlist('Gone', 'v3')
    const theirs = server.makePlaylist('Both', ['[v3].mp4'])
    const ours = [...server.lists.keys()].filter((one) => one !== theirs)
    await admin.delete(`/api/face/server/${id}/`)
    await edit(both, { action: 'create', video_id: 'v3' })
    await admin.delete(`/api/playlist/${gone}/`)
    await archive.settled()
    assert.deepEqual(Object.keys(lists()), ['Both', 'Gone'], 'a server that was removed is not changed')

    await admin.post('/api/face/server/', { name: 'Den again', kind, url: `${server.url}/.`, key: KEY })
    await archive.settled()

    assert.deepEqual(
      [...server.lists.values()].map((list) => [list.id, list.items.length]),
      [
        [ours[0], 3],
        [theirs, 1],
      ],
    )
    assert.deepEqual([(await shown()).playlists, (await shown()).error], [1, ''])
  })

  test(`a playlist that ${kind} has created without answering is recognized once it is added again`, async (t) => {
    const { admin, archive, playlist, server, id } = await given(t, kind)
    server.answers.isLost = isMaking
    await playlist('Both', 'v1')
    server.answers.isLost = () => false
    await admin.delete(`/api/face/server/${id}/`)
    await archive.settled()

    await admin.post('/api/face/server/', { name: 'Den again', kind, url: server.url, key: KEY })
    await archive.settled()

    assert.equal(server.lists.size, 1)
  })

  test(`the playlists of one ${kind} are not looked up in another, but there once it is added again`, async (t) => {
    const { admin, archive, playlist, lists, server, root, id } = await given(t, kind)
    await playlist('Both', 'v2', 'v1')
    const next = await SERVERS[kind]!(t, root)
    next.scan()
    // In Emby and Plex, this playlist has the id that ours has on the former server.
    const theirs = next.makePlaylist('Both', ['[v3].mp4'])
    const { length } = server.calls

    await admin.post(`/api/face/server/${id}/`, { url: next.url })
    await archive.settled()
    assert.deepEqual(
      [...next.lists.values()].map((list) => [list.id === theirs, list.items.length]),
      [
        [true, 1],
        [false, 2],
      ],
    )
    await admin.post(`/api/face/server/${id}/`, { url: server.url })
    await archive.settled()

    assert.deepEqual(changes(server, length), [])
    assert.deepEqual([server.lists.size, lists()], [1, { Both: ['v2', 'v1'] }])
    assert.equal(next.lists.size, 2, 'what was created in the other one stays there')
  })
}

test('playlists that are switched off are deleted at the new address of their server, not in another server', async (t) => {
  const { admin, archive, playlist, lists, server, root, id } = await given(t, 'emby')
  await playlist('Both', 'v2', 'v1')
  const next = await SERVERS['emby']!(t, root)
  next.scan()
  // This playlist has the id that ours has.
  next.makePlaylist('Both', ['[v3].mp4'])

  await admin.post(`/api/face/server/${id}/`, { url: next.url, with_playlists: false })
  await archive.settled()
  assert.deepEqual([server.lists.size, next.lists.size], [1, 1])
  await admin.post(`/api/face/server/${id}/`, { url: server.url, with_playlists: true })
  await archive.settled()
  assert.deepEqual([server.lists.size, lists()], [1, { Both: ['v2', 'v1'] }])
  await admin.post(`/api/face/server/${id}/`, { url: `${server.url}/.`, with_playlists: false })
  await archive.settled()

  assert.deepEqual([server.lists.size, next.lists.size], [0, 1])
})

test('a server that is added again without playlists keeps those that we had created', async (t) => {
  const { admin, archive, playlist, lists, server, id } = await given(t, 'jellyfin')
  await playlist('Both', 'v2', 'v1')
  await admin.delete(`/api/face/server/${id}/`)

  const den = { name: 'Den', kind: 'jellyfin', url: server.url, key: KEY, with_playlists: false }
  await admin.post('/api/face/server/', den)
  await archive.settled()

  assert.deepEqual(lists(), { Both: ['v2', 'v1'] })
})

test('a server that is only reached at another address keeps its playlists as they are', async (t) => {
  const { admin, archive, playlist, lists, server, id } = await given(t, 'jellyfin')
  await playlist('Both', 'v2', 'v1')
  const { length } = server.calls

  await admin.post(`/api/face/server/${id}/`, { url: `${server.url}/.` })
  await archive.settled()

  assert.ok(server.calls.length > length)
  assert.deepEqual(changes(server, length), [])
  assert.deepEqual(lists(), { Both: ['v2', 'v1'] })
})

test('with its last face, a playlist leaves the media server', async (t) => {
  const { admin, archive, playlist, lists, server } = await given(t, 'jellyfin')
  await playlist('Both', 'v2', 'v1')
  server.makePlaylist('Mine', ['[v3].mp4'])

  await admin.delete('/api/face/1/')
  await archive.settled()

  assert.deepEqual(lists(), { Mine: ['v3'] })
})

const isMaking = ({ method, path }: StandIn['calls'][number]): boolean =>
  method === 'POST' && /^\/playlists$/i.test(path)

for (const kind of Object.keys(SERVERS)) {
  test(`a playlist that ${kind} has created without answering is not created again, nor taken for one of a person`, async (t) => {
    const { archive, playlist, edit, server, id: serverId } = await given(t, kind)
    const theirs = server.makePlaylist('Both', ['[v3].mp4'])
    server.answers.isLost = isMaking
    const id = await playlist('Both', 'v1')
    const [, first] = server.lists.keys()
    const later = server.makePlaylist('Both', ['[v2].mp4'])
    assert.deepEqual([...server.lists.keys()], [theirs, first, later])
    server.answers.isLost = () => false

    await edit(id, { action: 'create', video_id: 'v2' })
    await archive.clock.advance(31_000)
    await archive.settled()
    assert.deepEqual(
      [...server.lists.values()].map((list) => [list.id, list.items.length]),
      [theirs, first, later].map((one) => [one, one === first ? 2 : 1]),
    )

    await archive.as('admin').post(`/api/face/server/${serverId}/`, { with_playlists: false })
    await archive.settled()
    assert.deepEqual([...server.lists.keys()], [theirs, later])
  })

  test(`a playlist that ${kind} has created without answering is deleted when playlists are switched off`, async (t) => {
    const { archive, admin, playlist, server } = await given(t, kind)
    server.answers.isLost = isMaking
    const id = await playlist('Both', 'v2')
    assert.equal(server.lists.size, 1)
    server.answers.isLost = () => false

    await admin.delete(`/api/playlist/${id}/`)
    await archive.clock.advance(31_000)
    await archive.settled()
    assert.equal(server.lists.size, 0)
  })
}

for (const kind of ['jellyfin', 'plex'])
  test(`a playlist of 250 videos is created in ${kind} completely, in order`, async (t) => {
    const videos = Array.from({ length: 250 }, (_, at) => `v${at}`)
    const { archive, admin, server, lists } = await given(t, kind, videos)
    const { body } = await admin.post('/api/playlist/custom/', { playlist_name: 'Long' })
    for (const some of [videos.slice(0, 100), videos.slice(100, 200), videos.slice(200)])
      await admin.post(`/api/playlist/${body.playlist_id}/bulk/`, { action: 'create', video_ids: some.toReversed() })
    await archive.settled()
    await archive.clock.advance(31_000)
    await archive.settled()

    const wanted = (await archive.app.playlists.get(body.playlist_id))!.playlist_entries.map((one) => one.platform_id)
    assert.equal(wanted.length, 250)
    assert.deepEqual(lists(), { Long: wanted })
    assert.ok(server.calls.every(({ query }) => query.toString().length < 8000))
  })

test('the new paths of a renamed channel are found once the server has read them', async (t) => {
  const { archive, playlist, lists, server } = await given(t, 'jellyfin')
  await playlist('Both', 'v2', 'v1')
  await archive.app.channels.collection.patch('UC1', { set: { channel_name: 'Ships' } })
  await archive.app.emit('channel.renewed', { id: 'UC1' })
  await archive.settled()

  server.scan()
  await archive.clock.advance(31_000)
  await archive.settled()

  assert.deepEqual(lists(), { Both: ['v2', 'v1'] })
})

test('a playlist that somebody has deleted there is created again with its next change, and one that was renamed in Plex is not touched', async (t) => {
  const { playlist, edit, lists, server } = await given(t, 'plex')
  const id = await playlist('Both', 'v2', 'v1')
  const [mine] = server.lists.values()
  mine!.name = 'Taken over'

  await edit(id, { action: 'create', video_id: 'v3' })
  assert.deepEqual(lists(), { 'Taken over': ['v2', 'v1'], Both: ['v2', 'v1', 'v3'] })

  for (const list of server.lists.values()) if (list.name === 'Both') server.lists.delete(list.id)
  await edit(id, { action: 'remove', video_id: 'v3' })
  assert.deepEqual(lists(), { 'Taken over': ['v2', 'v1'], Both: ['v2', 'v1'] })
})

test('a video that the server never reads is searched for in everything once, then among the newest only', async (t) => {
  const { archive, playlist, server } = await given(
    t,
    'jellyfin',
    Array.from({ length: 1100 }, (_, at) => `v${at}`),
  )
  await comeIn(archive, { id: 'never', title: 'Never', published: '2026-01-02' })
  await playlist('Some', 'v0', 'never')
  const pages: number[] = []
  for (const seconds of [0, 31, 121, 481]) {
    const { length } = server.calls
    await archive.clock.advance(seconds * 1000)
    await archive.settled()
    pages.push(server.calls.slice(length).filter(({ path }) => path === '/Items').length)
  }
  assert.deepEqual(pages, [0, 6, 5, 5])
})
