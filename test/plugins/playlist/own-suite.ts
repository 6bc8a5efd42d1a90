/** Playlists of accounts on any index: who sees which, in lists, next to others, and after a restore. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aChannel, aPlaylist, aVideo, type Client, type TestApp, testApp } from 'archivolt/testing'
import type { Settings } from '../../../config/schema.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'

type SettingsOf = (scope: Scope) => Promise<Partial<Settings>>

export const VIDEOS = ['a', 'b', 'c', 'd', 'e']
export const LATER = '/api/playlist/watchlater/'

export async function anApp(t: TestContext, settingsOf: SettingsOf = async () => ({})): Promise<TestApp> {
  const scope = lastFirst(t)
  const app = await testApp(scope, { settings: await settingsOf(scope) })
  await app.given(
    aChannel({ channel_name: 'One' }),
    ...VIDEOS.map((id) => aVideo({ id, title: `Video ${id}` })),
    aPlaylist({ id: 'PL1', playlist_name: 'Regular', entries: ['a'] }),
  )
  return app
}

export const idsOf = ({ body }: { body: any }): string[] =>
  body.data.map((one: any) => one.playlist_id ?? one.platform_id)
const namesOf = ({ body }: { body: any }): string[] => body.data.map((one: any) => one.playlist_name)

export async function made(
  client: Client,
  name: string,
  more: object = {},
  videos: readonly string[] = [],
): Promise<string> {
  const { status, body } = await client.post('/api/playlist/custom/', { playlist_name: name, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  for (const video_id of videos)
    assert.equal((await client.post(`/api/playlist/${body.playlist_id}/`, { action: 'create', video_id })).status, 201)
  return body.playlist_id
}

export const entriesOf = async (client: Client, id: string): Promise<string> => {
  const { status, body } = await client.get(`/api/playlist/${id}/`)
  assert.equal(status, 200, JSON.stringify(body))
  const entries: any[] = body.data.playlist_entries
  assert.deepEqual(
    entries.map(({ idx }) => idx),
    entries.map((_, idx) => idx),
    'numbered without gaps',
  )
  return entries.map(({ platform_id }) => platform_id).join('')
}
export const membershipOf = async (app: TestApp, id: string): Promise<string[]> => (await app.doc('video', id)).playlist

/** The videos of each custom playlist in the ledger. */
export const rowsOf = ({ app: { ledger } }: TestApp): Record<string, string> =>
  Object.fromEntries(
    ledger
      .sql<{ id: string; videos: string | null }>(
        `SELECT c.playlist_id AS id, group_concat(e.video_id, '' ORDER BY e.place) AS videos
           FROM playlist_custom c LEFT JOIN playlist_custom_entry e USING (playlist_id)
           GROUP BY c.playlist_id ORDER BY c.playlist_id`,
      )
      .all()
      .map(({ id, videos }) => [id, videos ?? '']),
  )

export const isSettled = ({ app: { ledger } }: TestApp): boolean =>
  ledger.sql('SELECT 1 FROM playlist_unsettled').get() === undefined

/** Tests for any index. */
export function ownPlaylists(settingsOf: SettingsOf): void {
  test('a private playlist is visible to its owner only: for others, including admins, it does not exist', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    const id = await made(user, 'Secret', {}, ['b', 'a'])

    const { body } = await user.get(`/api/playlist/${id}/`)
    assert.deepEqual(
      [body.data.playlist_owner, body.data.playlist_visibility, body.data.playlist_type, body.data.playlist_thumbnail],
      [2, 'private', 'custom', '/cache/videos/b/b.jpg'],
    )
    assert.deepEqual(body.data.playlist_entries[0], {
      platform_id: 'b',
      youtube_id: 'b',
      title: 'Video b',
      uploader: 'One',
      idx: 0,
      downloaded: true,
    })
    assert.deepEqual(idsOf(await user.get(`/api/playlist/${id}/video/`)), ['b', 'a'])
    assert.deepEqual(idsOf(await user.get(`/api/video/?playlist=${id}&watch=unwatched`)), ['b', 'a'])
    await app.app.accounts.changeUserPreferences(2, { page_size: 1 })
    const second = await user.get(`/api/playlist/${id}/video/?page=2`)
    assert.deepEqual([idsOf(second), second.body.paginate.total_hits], [['a'], 2])

    const asked: Array<Promise<{ status: number; body: any }>> = [
      admin.get(`/api/playlist/${id}/`),
      admin.get(`/api/playlist/${id}/video/`),
      admin.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'c' }),
      admin.post(`/api/playlist/${id}/`, { action: 'odd' }),
      admin.post(`/api/playlist/custom/${id}/`, { playlist_name: 'Mine now' }),
      admin.post(`/api/playlist/custom/${id}/`, { playlist_visibility: 'shared' }),
      admin.delete(`/api/playlist/${id}/`),
      admin.delete(`/api/playlist/${id}/?delete-videos=true`),
    ]
    for (const reply of asked) {
      const { status, body } = await reply
      assert.deepEqual([status, body.code], [404, 'not_found'])
    }
    assert.deepEqual((await admin.get(`/api/video/?playlist=${id}`)).body.data, [])
    assert.equal((await admin.get(`/cache/playlists/${id}.jpg`)).status, 404)
    assert.deepEqual((await admin.get(`/api/resolve/?q=${id}`)).body, [{ type: 'playlist', id, known: false }])
    for (const query of ['', '?type=custom', '?own=true', '?own=false', '?visibility=private'])
      assert.ok(!idsOf(await admin.get(`/api/playlist/${query}`)).includes(id), query)
    assert.deepEqual((await admin.get('/api/search/?query=playlist:secret')).body.results.playlist_results, [])
    assert.deepEqual(await app.ids('playlist'), ['PL1'])
    assert.deepEqual(await membershipOf(app, 'a'), [])
    assert.equal(await entriesOf(user, id), 'ba')
  })

  test('a list of playlists has the account’s private ones first, in one sequence with the others', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    await made(user, 'zebra')
    await made(user, 'Élan')
    await made(user, 'shared one', { playlist_visibility: 'shared' })
    await made(admin, 'Admin’s')
    await made(admin, 'hidden', { playlist_visibility: 'private' })
    await user.post(LATER, { action: 'create', video_id: 'a' })
    const all = ['Watch later', 'Élan', 'zebra', 'Admin’s', 'Regular', 'shared one']

    for (const size of [1, 2, 3, 4, 6, 7]) {
      await app.app.accounts.changeUserPreferences(2, { page_size: size })
      const seen: string[] = []
      for (let page = 1; seen.length < all.length; page++) {
        const reply = await user.get(`/api/playlist/?page=${page}`)
        assert.equal(reply.body.paginate.total_hits, all.length)
        seen.push(...namesOf(reply))
      }
      assert.deepEqual(seen, all, `in pages of ${size}`)
    }
    const rows: Array<[string, string[]]> = [
      ['own=true', ['Watch later', 'Élan', 'zebra', 'shared one']],
      ['own=false', ['Admin’s', 'Regular']],
      ['own=true&visibility=shared', ['shared one']],
      ['visibility=private', ['Watch later', 'Élan', 'zebra']],
      ['visibility=shared', ['Admin’s', 'Regular', 'shared one']],
      ['type=custom', ['Watch later', 'Élan', 'zebra', 'Admin’s', 'shared one']],
      ['type=regular', ['Regular']],
      ['channel=UC1', ['Regular']],
      ['subscribed=true', []],
    ]
    for (const [query, names] of rows)
      assert.deepEqual(namesOf(await user.get(`/api/playlist/?${query}`)), names, query)
    assert.deepEqual(namesOf(await admin.get('/api/playlist/')), ['hidden', 'Admin’s', 'Regular', 'shared one'])
  })

  test('sharing shows a playlist to all with its order, and can be ended', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    const id = await made(user, 'Ours', {}, ['d', 'b', 'a', 'c'])
    await user.post(`/api/playlist/${id}/`, { action: 'top', video_id: 'c' })

    const shared = await user.post(`/api/playlist/custom/${id}/`, { playlist_visibility: 'shared' })

    assert.deepEqual(
      [shared.status, shared.body.playlist_visibility, shared.body.playlist_owner, shared.body.playlist_name],
      [200, 'shared', 2, 'Ours'],
    )
    assert.equal(await entriesOf(admin, id), 'cdba')
    assert.deepEqual(await membershipOf(app, 'd'), [id])
    assert.ok(idsOf(await admin.get('/api/playlist/')).includes(id))
    assert.equal((await admin.get('/api/search/?query=playlist:ours')).body.results.playlist_results.length, 1)
    assert.equal((await admin.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'e' })).status, 201)
    assert.equal((await user.post(`/api/playlist/${id}/`, { action: 'bottom', video_id: 'c' })).status, 201)
    // an admin may change a shared playlist, but not take it away from its owner
    assert.equal((await admin.post(`/api/playlist/${id}/`, { playlist_visibility: 'private' })).status, 403)

    const back = await user.post(`/api/playlist/${id}/`, { playlist_visibility: 'private', playlist_name: 'Mine' })

    assert.equal(back.status, 201)
    assert.equal(await entriesOf(user, id), 'dbaec')
    assert.deepEqual(namesOf(await user.get('/api/playlist/?own=true')), ['Mine'])
    assert.equal((await admin.get(`/api/playlist/${id}/`)).status, 404)
    for (const video of VIDEOS) assert.deepEqual(await membershipOf(app, video), [], video)
    assert.deepEqual(await app.ids('playlist'), ['PL1'])
    assert.deepEqual((await admin.get('/api/search/?query=playlist:ours')).body.results.playlist_results, [])
    assert.deepEqual((await admin.get('/api/search/?query=playlist:mine')).body.results.playlist_results, [])
  })

  test('a removed video leaves all lists, and is not in them after it returns', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    const id = await made(user, 'Mine', {}, ['a', 'b', 'c'])
    for (const [client, video_id] of [
      [user, 'b'],
      [user, 'a'],
      [admin, 'b'],
    ] as const)
      await client.post(LATER, { action: 'create', video_id })

    assert.equal((await admin.delete('/api/video/b/')).status, 200)
    await app.given(aVideo({ id: 'b' }))

    assert.equal(await entriesOf(user, id), 'ac')
    assert.equal(await entriesOf(user, 'watchlater'), 'a')
    assert.equal(await entriesOf(admin, 'watchlater'), '')
  })

  test('a playlist that was shared in a restored snapshot stays private', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    const id = await made(user, 'Ours', { playlist_visibility: 'shared' }, ['a', 'b'])
    const [playlist, video] = [await app.doc('playlist', id), await app.doc('video', 'a')]
    await user.post(`/api/playlist/${id}/`, { playlist_visibility: 'private' })
    await user.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'c' })

    // as a restore adds them
    await app.given({ index: 'playlist', id, doc: playlist }, { index: 'video', id: 'a', doc: video })
    await app.app.emit('index.replaced', {})
    assert.deepEqual(idsOf(await admin.get('/api/playlist/')), ['PL1'], 'nobody sees it meanwhile')
    await app.settled()

    assert.deepEqual(await app.ids('playlist'), ['PL1'])
    assert.deepEqual(await membershipOf(app, 'a'), [])
    assert.equal((await admin.get(`/api/playlist/${id}/`)).status, 404)
    assert.equal(await entriesOf(user, id), 'abc')
    assert.equal((await user.post(`/api/playlist/${id}/`, { playlist_visibility: 'shared' })).status, 201)
    assert.equal(await entriesOf(admin, id), 'abc')
  })

  test('after a restore documents without rows get rows, shared rows without documents get documents, and documents are correct', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    const shared = { playlist_visibility: 'shared' }
    const changed = await made(user, 'Changed', shared, ['a', 'b'])
    const then = await app.doc('playlist', changed)
    await user.post(`/api/playlist/${changed}/`, { action: 'create', video_id: 'c' })
    const later = await made(user, 'Made later', shared, ['d', 'e'])

    // as a restore adds older documents
    await app.given(
      { index: 'playlist', id: changed, doc: then },
      aPlaylist({ id: 'theirs', playlist_type: 'custom', entries: [{ platform_id: 'b', downloaded: true }] }),
    )
    await app.app.playlists.collection.remove(later, { visible: true })
    await app.app.emit('index.replaced', {})
    await app.settled()

    assert.deepEqual(rowsOf(app), { [changed]: 'ab', [later]: 'de', theirs: 'b' })
    for (const [id, videos] of Object.entries(rowsOf(app))) assert.equal(await entriesOf(admin, id), videos)
    assert.deepEqual(await membershipOf(app, 'd'), [later])
    assert.equal(isSettled(app), true)
    assert.equal((await admin.post('/api/playlist/theirs/', { action: 'create', video_id: 'a' })).status, 201)
    assert.equal(await entriesOf(user, 'theirs'), 'ba')
  })

  test('with an older ledger the documents count: a playlist with one is shared, without one private', async (t) => {
    const app = await anApp(t, settingsOf)
    const [user, admin] = [app.as('user'), app.as('admin')]
    const mine = await made(user, 'Mine', {}, ['a', 'b'])
    const ours = await made(user, 'Ours', { playlist_visibility: 'shared' }, ['c'])
    const { doc } = aPlaylist({
      id: mine,
      playlist_type: 'custom',
      playlist_name: 'Shared since',
      entries: [{ platform_id: 'd', downloaded: true }],
    })

    // changed after the ledger's copy
    await app.given({ index: 'playlist', id: mine, doc })
    await app.app.playlists.collection.remove(ours, { visible: true })
    await app.app.emit('ledger.replaced', {})
    await app.settled()

    assert.deepEqual(rowsOf(app), { [mine]: 'd', [ours]: 'c' })
    assert.deepEqual(namesOf(await user.get('/api/playlist/?own=true')), ['Ours', 'Shared since'])
    assert.deepEqual(idsOf(await admin.get('/api/playlist/')).toSorted(), ['PL1', mine].toSorted())
    assert.equal((await admin.get(`/api/playlist/${ours}/`)).status, 404)
    assert.equal(isSettled(app), true)
  })

  for (const [what, method, body] of [
    ['the sharing', 'create', { playlist_visibility: 'shared' }],
    ['an edit', 'patch', { action: 'create', video_id: 'c' }],
    ['the end of the sharing', 'remove', { playlist_visibility: 'private' }],
  ] as const)
    test(`${what} of a playlist that the index did not accept is not lost: the next start finishes it`, async (t) => {
      const app = await anApp(t, settingsOf)
      const user = app.as('user')
      const id = await made(user, 'x', { playlist_visibility: what === 'the sharing' ? 'private' : 'shared' }, [
        'a',
        'b',
      ])
      const { collection } = app.app.playlists
      const broken = t.mock.method(collection, method, () => Promise.reject(new Error('the power is off')))

      assert.equal((await user.post(`/api/playlist/${id}/`, body)).status, 500)
      const isShown = idsOf(await app.as('admin').get('/api/playlist/')).includes(id)
      broken.mock.restore()
      await app.restart()
      await app.settled()

      assert.equal(isShown, what === 'an edit', 'nobody sees it on its way')
      const videos = what === 'an edit' ? 'abc' : 'ab'
      assert.equal(await entriesOf(app.as('user'), id), videos)
      const { status } = await app.as('admin').get(`/api/playlist/${id}/`)
      assert.equal(status, what === 'the end of the sharing' ? 404 : 200)
      assert.deepEqual(await membershipOf(app, 'b'), status === 200 ? [id] : [])
      assert.equal(isSettled(app), true)
    })

  test('videos that return after the index was lost are in their former shared playlists', async (t) => {
    const app = await anApp(t, settingsOf)
    const id = await made(app.as('user'), 'Ours', { playlist_visibility: 'shared' }, ['b', 'a'])
    await app.app.playlists.collection.remove(id, { visible: true })
    await app.app.videos.collection.remove(['a', 'b'], { visible: true })

    for (const video of ['a', 'b']) {
      await app.given(aVideo({ id: video }))
      await app.app.emit('video.added', { id: video, channelId: 'UC1', why: 'new' })
    }

    assert.equal(await entriesOf(app.as('admin'), id), 'ba')
    assert.deepEqual(await membershipOf(app, 'b'), [id])
  })
}
