/** Groups: their order, and lists of the channels and videos in them, on both indexes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aPlaylist, aVideo, testApp } from '../../support/testing.ts'

for (const { index, skip } of INDEXES)
  test(`lists show only the content of a group: ${index}`, { skip }, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope, { settings: await indexSettings(scope, index) })
    await app.given(
      ...['UC1', 'UC2', 'UC3'].map((id) => aChannel({ id, channel_name: id, channel_subscribed: id === 'UC1' })),
      aPlaylist({ id: 'PL1' }),
      aVideo({ id: 'v1', channelId: 'UC1', published: '2024-01-03' }),
      aVideo({ id: 'v2', channelId: 'UC2', published: '2024-02-02' }),
      aVideo({ id: 'v3', channelId: 'UC3', published: '2024-02-01', playlist: ['PL1'] }),
    )
    const members = [
      { kind: 'channel', id: 'UC1' },
      { kind: 'channel', id: 'UC2' },
      { kind: 'playlist', id: 'PL1' },
    ]
    const sea = (await app.as('admin').post('/api/group/', { name: 'Sea', members })).body
    const none = (await app.as('admin').post('/api/group/', { name: 'None' })).body
    const get = async (path: string) => (await app.as('user').get(path)).body
    const ids = async (path: string, key: string) =>
      (await get(path)).data.map((one: Record<string, unknown>) => one[key])

    assert.deepEqual(await ids(`/api/video/?group=${sea.id}`, 'youtube_id'), ['v2', 'v3', 'v1'])
    assert.deepEqual(await ids(`/api/video/?group=${sea.id}&channel=UC2`, 'youtube_id'), ['v2'])
    assert.deepEqual(await get(`/api/video/months/?group=${sea.id}`), [
      { month: '2024-02', count: 2 },
      { month: '2024-01', count: 1 },
    ])
    assert.deepEqual(await ids(`/api/channel/?group=${sea.id}`, 'channel_id'), ['UC1', 'UC2'])
    assert.deepEqual(await ids(`/api/channel/?group=${sea.id}&filter=unsubscribed`, 'channel_id'), ['UC2'])
    assert.deepEqual(await ids(`/api/video/?group=${none.id}`, 'youtube_id'), [])
    assert.deepEqual(await ids('/api/video/?group=99', 'youtube_id'), [], 'one that was removed')
    assert.deepEqual(await ids('/api/channel/?group=99', 'channel_id'), [])
    assert.equal((await app.as('user').get('/api/video/?group=x')).status, 400)

    await app.as('admin').post(`/api/group/${none.id}/`, { place: 0 })
    assert.deepEqual(
      (await get('/api/group/')).map(({ name }: { name: string }) => name),
      ['None', 'Sea'],
    )
    await app.as('admin').post(`/api/group/${sea.id}/`, { members: [{ kind: 'channel', id: 'UC3' }] })
    assert.deepEqual(await ids(`/api/video/?group=${sea.id}`, 'youtube_id'), ['v3'], 'no reply is left over')
  })

test('the session lists the current groups in their order, and none for an account with a view', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }))
  const { id } = (await app.as('admin').post('/api/group/', { name: 'Sea', color: '#114488' })).body
  await app.as('admin').post('/api/group/', { name: 'Land', color: '#228811' })
  const told = async () => (await app.as('user').get('/api/session/')).body.groups
  assert.deepEqual(
    (await told()).map(({ name, color }: Record<string, string>) => [name, color]),
    [
      ['Sea', '#114488'],
      ['Land', '#228811'],
    ],
  )

  await app.as('admin').post(`/api/group/${id}/`, { place: 1 })
  assert.equal((await told())[0].name, 'Land')
  await app.as('admin').post('/api/user/2/', { view: { channel: ['UC1'] } })
  assert.deepEqual(await told(), [])
})

for (const { index, skip } of INDEXES)
  test(`lists show what a rule matches, for accounts that may download: ${index}`, { skip }, async (t) => {
    const scope = lastFirst(t)
    const app = await testApp(scope, { settings: await indexSettings(scope, index, 'rule') })
    await app.given(
      aChannel({ id: 'UC1' }),
      aChannel({ id: 'UC2' }),
      aVideo({ id: 'new', channelId: 'UC1', title: 'Harbour two', published: '2024-01-03' }),
      aVideo({ id: 'old', channelId: 'UC1', title: 'Harbour one', published: '2024-01-01' }),
      aVideo({ id: 'seen', channelId: 'UC1', title: 'Harbour seen', published: '2024-01-02' }),
      aVideo({ id: 'other', channelId: 'UC1', title: 'Mill' }),
      aVideo({ id: 'elsewhere', channelId: 'UC2', title: 'Harbour' }),
    )
    await app.as('admin').post('/api/watched/', { id: 'seen', is_watched: true })
    const group = (
      await app.as('admin').post('/api/group/', { name: 'Sea', members: [{ kind: 'channel', id: 'UC1' }] })
    ).body
    const rule = (
      await app.as('admin').post('/api/rule/', {
        ...{ side: 'keep', scope: { kind: 'group', id: group.id }, outcome: 'keep' },
        conditions: { title: { words: ['harbour'] } },
      })
    ).body
    const ids = async (query: string) =>
      (await app.as('admin').get(`/api/video/?rule=${query}`)).body.data.map((one: any) => one.platform_id)

    assert.deepEqual(await ids(`${rule.id}`), ['new', 'seen', 'old'])
    assert.deepEqual(await ids(`${rule.id}&watch=unwatched`), ['new', 'old'])
    assert.deepEqual(await ids(`${rule.id}&sort=published&order=asc`), ['old', 'seen', 'new'])
    assert.deepEqual(await ids('99'), [])
    assert.equal((await app.as('admin').get('/api/video/?rule=x')).status, 400)
    assert.equal((await app.as('user').get(`/api/video/?rule=${rule.id}`)).status, 403)
    await app.as('admin').post(`/api/rule/${rule.id}/`, { conditions: { title: { words: ['mill'] } } })
    assert.deepEqual(await ids(`${rule.id}`), ['other'], 'no reply is left over')
  })
