/** Playlists of the platform: list, show, read, and updates when videos change (contract 5.3, 6.6, 9.5). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, type Services } from 'archivolt'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import '../../support/slow.ts'

type Metadata = Parameters<Services['playlist']['playlists']['index']>[0]

const idsOf = (reply: { body: any }, key = 'playlist_id'): string[] => reply.body.data.map((record: any) => record[key])

const metadataOf = (
  entries: Array<string | Partial<Metadata['entries'][number]>>,
  changes: Partial<Metadata> = {},
): Metadata => ({
  id: 'PL1',
  name: 'First',
  description: 'said of it',
  channelId: 'UC1',
  channelName: 'One',
  entries: entries.map((entry) => ({
    id: 'x',
    title: 'Title',
    uploader: 'One',
    isThere: true,
    ...(typeof entry === 'string' ? { id: entry } : entry),
  })),
  ...changes,
})

const flagsOf = async (app: TestApp, id: string): Promise<Array<[string, number, boolean]>> =>
  (await app.doc('playlist', id)).playlist_entries.map((entry: any) => [entry.platform_id, entry.idx, entry.downloaded])

const playlistsOf = async (app: TestApp, id: string): Promise<string[]> => (await app.doc('video', id)).playlist

test('a video that is archived while its playlist is read counts as downloaded', async (t) => {
  const app = await testApp(t)
  await app.given(aPlaylist({ id: 'PL1' }), aVideo({ id: 'a' }))
  const { playlists, videos } = app.app
  const { known } = videos
  videos.known = async (ids) => {
    const answer = await known(ids)
    videos.known = known
    await app.given(aVideo({ id: 'b' }))
    await playlists.takeIn('b')
    return answer
  }

  await playlists.index(metadataOf(['a', 'b']))

  assert.deepEqual(await flagsOf(app, 'PL1'), [
    ['a', 0, true],
    ['b', 1, true],
  ])
  assert.deepEqual(await playlistsOf(app, 'b'), ['PL1'])
})

test('playlists are listed by name and filtered', async (t) => {
  const app = await testApp(t)
  await app.given(
    aPlaylist({ id: 'b', playlist_name: 'beta', playlist_subscribed: true }),
    aPlaylist({ id: 'a', playlist_name: 'Alpha', playlist_channel_id: 'UC2' }),
    aPlaylist({ id: 'c', playlist_name: 'Gamma', playlist_type: 'custom', playlist_channel_id: null }),
  )
  const rows: Array<[string, string[]]> = [
    ['', ['a', 'b', 'c']],
    ['?playlist_type=custom', ['c']],
    ['?type=regular', ['a', 'b']],
    ['?channel=UC2', ['a']],
    ['?subscribed=true', ['b']],
    ['?subscribed=no&playlist_type=regular', ['a']],
    ['?playlist_type=', ['a', 'b', 'c']],
  ]
  for (const [query, expected] of rows)
    assert.deepEqual(idsOf(await app.as('user').get(`/api/playlist/${query}`)), expected, query)
  for (const query of ['?playlist_type=odd', '?type=odd', '?subscribed=perhaps'])
    assert.equal((await app.as('user').get(`/api/playlist/${query}`)).status, 400, query)
})

test('a playlist is shown with both id keys in its entries, and without internal fields', async (t) => {
  const app = await testApp(t)
  const title = 'says "platform_id":"no" in its title'
  await app.given(aPlaylist({ entries: [{ platform_id: 'v1', title }, 'v2'], art: 'https://art.example/1' }))

  const { body, status } = await app.as('user').get('/api/playlist/PL1/')

  assert.equal(status, 200)
  assert.deepEqual(body.data.playlist_entries[0], {
    platform_id: 'v1',
    youtube_id: 'v1',
    title,
    uploader: null,
    idx: 0,
    downloaded: false,
  })
  assert.deepEqual(
    [body.data._index, body.data._score, body.data.art, body.data.refreshed_at],
    ['av_playlist', 0, undefined, undefined],
  )
  const missing = await app.as('user').get('/api/playlist/nope/')
  assert.deepEqual([missing.status, missing.body.data, missing.body.code], [404, false, 'not_found'])
})

test('without a second id key entries have one', async (t) => {
  const app = await testApp(t, { settings: { platformIdField: null } })
  await app.given(aPlaylist({ entries: ['v1'] }))
  assert.deepEqual(Object.keys((await app.as('user').get('/api/playlist/PL1/')).body.data.playlist_entries[0]), [
    'platform_id',
    'title',
    'uploader',
    'idx',
    'downloaded',
  ])
})

test('reading a playlist lists all entries and marks archived ones, whose records name the playlist', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v3', playlist: ['PLother'] }))

  await app.app.playlists.index(metadataOf(['v1', 'v2', { id: 'gone', isThere: false }, 'v3']), { subscribed: true })

  assert.deepEqual(await flagsOf(app, 'PL1'), [
    ['v1', 0, true],
    ['v2', 1, false],
    ['v3', 3, true],
  ])
  assert.deepEqual([await playlistsOf(app, 'v1'), await playlistsOf(app, 'v3')], [['PL1'], ['PLother', 'PL1']])
  const { data } = (await app.as('user').get('/api/playlist/PL1/')).body
  assert.deepEqual(
    [
      data.playlist_type,
      data.playlist_name,
      data.playlist_channel,
      data.playlist_channel_id,
      data.playlist_subscribed,
      data.playlist_active,
      data.playlist_sort_order,
    ],
    ['regular', 'First', 'One', 'UC1', true, true, 'top'],
  )
})

test('a new one that is read twice at once is stored once, and subscribed to if one of the requests says so', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const { playlists } = app.app

  await Promise.all([playlists.index(metadataOf(['v1']), { subscribed: true }), playlists.index(metadataOf(['v1']))])

  const { playlist_subscribed, playlist_entries } = await app.doc('playlist', 'PL1')
  assert.deepEqual([playlist_subscribed, playlist_entries.length, await playlistsOf(app, 'v1')], [true, 1, ['PL1']])
})

test('a request that requires an existing playlist adds none, and does not bring back one that is removed meanwhile', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aPlaylist({ id: 'PL1' }))
  const { playlists, media } = app.app
  t.mock.method(media, 'fetchArt', async () => {
    await playlists.remove('PL1')
    return true
  })

  assert.equal(
    await playlists.index(metadataOf(['v1'], { thumbnail: 'https://art.example/1' }), { mustExist: true }),
    false,
  )
  assert.equal(await playlists.index(metadataOf(['v1']), { mustExist: true }), false)

  assert.deepEqual([await app.ids('playlist'), await playlistsOf(app, 'v1')], [[], []])
})

test('reading it again replaces entries and membership and keeps the subscription', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  await app.app.playlists.index(metadataOf(['v1', 'v2']), { subscribed: true })
  await app.app.playlists.setActive(['PL1'], false)

  await app.app.playlists.index(metadataOf(['v2', 'v9'], { name: 'Renamed' }))

  assert.deepEqual(await flagsOf(app, 'PL1'), [
    ['v2', 0, true],
    ['v9', 1, false],
  ])
  assert.deepEqual([await playlistsOf(app, 'v1'), await playlistsOf(app, 'v2')], [[], ['PL1']])
  const doc = await app.doc('playlist', 'PL1')
  assert.deepEqual([doc.playlist_name, doc.playlist_subscribed, doc.playlist_active], ['Renamed', true, true])
})

const numbers = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `n${from + at}`)

for (const came of [100, 200, 37, 0]) {
  test(`a list of 250 of which ${came} arrive removes nothing; its new entries are added, and the reply says so`, async (t) => {
    const app = await testApp(t)
    await app.given(aChannel(), aVideo({ id: 'last' }))
    await app.app.playlists.index(metadataOf([...numbers(249), 'last'], { count: 250 }))
    const told: string[] = []
    const onCut = (words: { toString(): string }) => told.push(String(words))

    const listed = [...(came > 0 ? ['new'] : []), ...numbers(250)].slice(0, came)
    await app.app.playlists.index(metadataOf(listed, { count: 251 }), { onCut })

    const flags = await flagsOf(app, 'PL1')
    assert.deepEqual(
      flags.map(([id]) => id),
      [...(came > 0 ? ['new'] : []), ...numbers(249), 'last'],
    )
    assert.deepEqual(flags.at(-1), ['last', flags.length - 1, true])
    assert.deepEqual(await playlistsOf(app, 'last'), ['PL1'])
    assert.equal(told.length, 1)
    const whole = metadataOf(['new', 'last'], { count: 2 })
    await app.app.playlists.index(whole, { onCut })
    assert.deepEqual((await flagsOf(app, 'PL1')).length, 2, 'a list that is whole takes away')
    assert.equal(told.length, 1)
  })
}

test('videos that people remove from a list that hides some of its entries leave it', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel())
  await app.app.playlists.index(metadataOf(numbers(145), { count: 150 }))

  await app.app.playlists.index(metadataOf(numbers(144, 1), { count: 149 }))

  assert.deepEqual(
    (await flagsOf(app, 'PL1')).map(([id]) => id),
    numbers(144, 1),
  )
})

test('an empty answer leaves a playlist unchanged, and its entries their titles', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  await app.app.playlists.index(metadataOf(['v1', 'v2'], { thumbnail: 'https://art.example/1' }))
  const before = await app.doc('playlist', 'PL1')

  const nothing = { name: undefined, description: '', channelId: null, channelName: null }
  const entries = [
    { id: 'v1', title: 'v1', uploader: null },
    { id: 'v2', title: '[Private video]', uploader: null, isThere: false },
  ]
  await app.app.playlists.index(metadataOf(entries, nothing))

  assert.deepEqual(await app.doc('playlist', 'PL1'), before)
})

test('a new video is marked in the playlists that list it', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aPlaylist({ id: 'PL1', entries: ['v1', 'v2', 'v1'] }),
    aPlaylist({ id: 'PL2', entries: ['v2'] }),
    aVideo({ id: 'v1' }),
  )

  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'new' })
  await app.app.emit('video.added', { id: 'v1', channelId: 'UC1', why: 'new' })

  assert.deepEqual(await flagsOf(app, 'PL1'), [
    ['v1', 0, true],
    ['v2', 1, false],
    ['v1', 2, true],
  ])
  assert.deepEqual(await flagsOf(app, 'PL2'), [['v2', 0, false]])
  assert.deepEqual(await playlistsOf(app, 'v1'), ['PL1'])
})

test('a deleted video stays in playlists of the platform and leaves custom ones', async (t) => {
  const app = await testApp(t)
  const downloaded = (id: string) => ({ platform_id: id, downloaded: true })
  await app.given(
    aChannel(),
    aVideo({ id: 'v1', playlist: ['PL1', 'mine'] }),
    aVideo({ id: 'v2', playlist: ['PL1', 'mine'] }),
  )
  await app.given(
    aPlaylist({ id: 'PL1', entries: [downloaded('v1'), downloaded('v2')] }),
    aPlaylist({ id: 'mine', playlist_type: 'custom', entries: [downloaded('v1'), downloaded('v2')] }),
  )

  await app.as('admin').delete('/api/video/v1/')

  assert.deepEqual(await flagsOf(app, 'PL1'), [
    ['v1', 0, false],
    ['v2', 1, true],
  ])
  assert.deepEqual(await flagsOf(app, 'mine'), [['v2', 0, true]])
})

test('the videos of a playlist come in its order, page by page', async (t) => {
  const app = await testApp(t)
  await app.app.accounts.changeUserPreferences(app.app.accounts.list().find(({ is_staff }) => !is_staff)!.id, {
    page_size: 2,
  })
  const order = ['v3', 'v1', 'v5', 'v2']
  await app.given(aChannel(), ...order.map((id, number) => aVideo({ id, published: `2026-01-0${number + 1}` })))
  await app.app.playlists.index(metadataOf(['v3', 'v1', 'v4', 'v5', 'v2']))
  const user = app.as('user')

  assert.deepEqual(idsOf(await user.get('/api/playlist/PL1/video/'), 'platform_id'), ['v3', 'v1'])
  const second = await user.get('/api/playlist/PL1/video/?page=2')
  assert.deepEqual(idsOf(second, 'platform_id'), ['v5', 'v2'])
  assert.equal(second.body.paginate.total_hits, 4)
  assert.deepEqual(idsOf(await user.get('/api/video/?playlist=PL1&sort=views&order=asc'), 'platform_id'), ['v3', 'v1'])
  assert.deepEqual((await user.get('/api/video/?playlist=nope')).body.data, [])
  const missing = await user.get('/api/playlist/nope/video/')
  assert.deepEqual(
    [missing.status, missing.body.code, missing.body.data, missing.body.paginate.total_hits],
    [404, 'not_found', [], 0],
  )
  await app.given(aPlaylist({ id: 'empty', entries: ['v9'] }))
  assert.deepEqual((await user.get('/api/playlist/empty/video/')).body.data, [])
})

test('deleting a playlist keeps its videos, which no longer name it', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aVideo({ id: 'v1', playlist: ['PL1', 'PL2'] }),
    aPlaylist({ id: 'PL1', entries: [{ platform_id: 'v1', downloaded: true }] }),
  )
  for (const query of ['', '?delete-videos=true'])
    assert.equal((await app.as('user').delete(`/api/playlist/PL1/${query}`)).status, 403)

  const reply = await app.as('admin').delete('/api/playlist/PL1/?delete-videos=false')

  assert.deepEqual([reply.status, reply.body.success], [200, true])
  assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [[], ['v1']])
  assert.deepEqual(await playlistsOf(app, 'v1'), ['PL2'])
  assert.equal((await app.as('admin').delete('/api/playlist/PL1/')).status, 404)
})

test('deleting a playlist with its videos removes the archived ones, and skips those that are gone already', async (t) => {
  for (const query of ['?delete-videos=true', '?delete_videos=1']) {
    const app = await testApp(t)
    const entries = ['v1', 'lost', 'v2'].map((platform_id) => ({ platform_id, downloaded: true }))
    await app.given(
      aChannel(),
      aVideo({ id: 'v1' }),
      aVideo({ id: 'v2' }),
      aVideo({ id: 'other' }),
      aPlaylist({ id: 'PL1', entries: [...entries, 'never'] }),
      aPlaylist({ id: 'PL2', entries }),
    )

    const reply = await app.as('admin').delete(`/api/playlist/PL1/${query}`)

    assert.equal(reply.status, 200)
    assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [['PL2'], ['other']])
    assert.deepEqual(
      (await flagsOf(app, 'PL2')).map(([, , flag]) => flag),
      [false, true, false],
    )
  }
})

test('deleting a playlist with its videos removes all of them, even beyond the length of a list', async (t) => {
  const app = await testApp(t)
  const ids = [...Array.from({ length: 10_000 }, (_, index) => `gone${index}`), 'v1']
  await app.given(
    aChannel(),
    aVideo({ id: 'v1' }),
    aPlaylist({
      id: 'mine',
      playlist_type: 'custom',
      entries: ids.map((platform_id) => ({ platform_id, downloaded: true })),
    }),
  )

  assert.equal((await app.as('admin').delete('/api/playlist/mine/?delete-videos=true')).status, 200)

  assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [[], []])
})

test('if a file cannot be removed, the playlist and the videos to be removed at once stay', async (t) => {
  const app = await testApp(t)
  const entries = ['v1', 'v2'].map((platform_id) => ({ platform_id, downloaded: true }))
  await app.given(
    aChannel(),
    aVideo({ id: 'v1' }),
    aVideo({ id: 'v2' }),
    aPlaylist({ id: 'mine', playlist_type: 'custom', entries }),
  )
  t.mock.method(app.app.media, 'trash', async (...[, what]: Parameters<typeof app.app.media.trash>) => {
    if ('videos' in what && what.videos.some(({ videoId }) => videoId === 'v2'))
      throw errors.unavailable('the file is held')
  })

  const reply = await app.as('admin').delete('/api/playlist/mine/?delete-videos=true')

  assert.equal(reply.status, 503)
  assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [['mine'], ['v1', 'v2']])
  assert.deepEqual(await flagsOf(app, 'mine'), [
    ['v1', 0, true],
    ['v2', 1, true],
  ])
})

test('of two simultaneous removals one succeeds, and the other one is told that the playlist is gone', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aVideo({ id: 'v1' }),
    aPlaylist({ id: 'PL1', entries: [{ platform_id: 'v1', downloaded: true }] }),
  )

  const [plain, withVideos] = await Promise.all(
    ['', '?delete-videos=true'].map((query) => app.as('admin').delete(`/api/playlist/PL1/${query}`)),
  )

  assert.deepEqual([plain!.status, withVideos!.status].sort(), [200, 404])
  assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [[], withVideos!.status === 200 ? [] : ['v1']])
})

test('an interrupted removal is finished by the next start', async (t) => {
  const app = await testApp(t)
  const entries = ['v1', 'v2'].map((platform_id) => ({ platform_id, downloaded: true }))
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }), aPlaylist({ id: 'PL1', entries }))
  await app.app.jobs.start('playlist.remove', { id: 'PL1', withVideos: true })
  await app.restart()

  await app.settled()

  assert.deepEqual([await app.ids('playlist'), await app.ids('video')], [[], []])
})

test('deleting a channel deletes its playlists, and removes its videos from those of others', async (t) => {
  const app = await testApp(t)
  const entries = ['v1', 'v2'].map((platform_id) => ({ platform_id, downloaded: true }))
  await app.given(
    aChannel({ id: 'UC1' }),
    aChannel({ id: 'UC2' }),
    aVideo({ id: 'v1', channelId: 'UC1' }),
    aVideo({ id: 'v2', channelId: 'UC2', playlist: ['PL1', 'PL2'] }),
  )
  await app.given(
    aPlaylist({ id: 'PL1', playlist_channel_id: 'UC1', entries }),
    aPlaylist({ id: 'PL2', playlist_channel_id: 'UC2', entries }),
  )

  await app.as('admin').delete('/api/channel/UC1/')

  assert.deepEqual(await app.ids('playlist'), ['PL2'])
  assert.deepEqual(await flagsOf(app, 'PL2'), [
    ['v1', 0, false],
    ['v2', 1, true],
  ])
  assert.deepEqual(await playlistsOf(app, 'v2'), ['PL2'])
})

test('simultaneous changes of one playlist are all stored', async (t) => {
  const app = await testApp(t)
  const ids = Array.from({ length: 40 }, (_, number) => `v${number}`)
  await app.given(aChannel(), ...ids.map((id) => aVideo({ id })), aPlaylist({ id: 'PL1', entries: ids }))

  await Promise.all(ids.map((id) => app.app.emit('video.added', { id, channelId: 'UC1', why: 'new' })))

  assert.deepEqual(
    (await flagsOf(app, 'PL1')).filter(([, , flag]) => !flag),
    [],
  )
})
