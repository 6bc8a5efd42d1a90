/** Channels over HTTP: listed, searched by handle, changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from 'archivolt'
import { aChannel } from 'archivolt/testing'
import { aFailure, channelMetadata, videoApp } from '../video/scripted-platform.ts'

const UC1 = 'UC00000000000000000000aa'
const UC2 = 'UC00000000000000000000bb'

test('channels are listed by name, filtered by subscription and by words of the name', async (t) => {
  const app = await videoApp(t)
  await app.given(
    aChannel({ id: UC1, channel_name: 'old Mill', channel_subscribed: true }),
    aChannel({ id: UC2, channel_name: 'Bakery of the old town' }),
    aChannel({ id: 'UC3', channel_name: 'Zebra' }),
  )
  const cases: Array<[string, string[]]> = [
    ['', [UC2, UC1, 'UC3']],
    ['filter=subscribed', [UC1]],
    ['filter=unsubscribed', [UC2, 'UC3']],
    ['q=OLD', [UC2, UC1]],
    ['q=old+mill', [UC1]],
    ['q=old&filter=unsubscribed', [UC2]],
    [`q=${UC2}`, [UC2]],
    ['q=nothing', []],
  ]
  for (const [query, expected] of cases) {
    const { body } = await app.as('user').get(`/api/channel/?${query}`)
    assert.deepEqual(
      body.data.map((record: { channel_id: string }) => record.channel_id),
      expected,
      query,
    )
  }
  assert.equal((await app.as('user').get('/api/channel/?filter=all')).status, 400)
  assert.deepEqual(app.platform.asked, [])
})

test('a channel is shown without internal fields', async (t) => {
  const app = await videoApp(t)
  const { doc } = aChannel({ id: UC1, art: '{}' })
  await app.given({ index: 'channel', id: UC1, doc })

  const { body } = await app.as('user').get(`/api/channel/${UC1}`)

  const { refreshed_at, art, ...shown } = doc
  assert.deepEqual(body.data, { ...shown, _index: 'av_channel', _score: 0 })
  const unknown = await app.as('user').get('/api/channel/none/')
  assert.deepEqual([unknown.status, unknown.body.data], [404, false])
})

test('subscription and overwrites are changed, null removes a key, the rest stays', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: UC1, channel_overwrites: { autodelete_days: 3, index_playlists: true } }))
  const change = {
    channel_subscribed: true,
    channel_overwrites: { autodelete_days: null, download_format: 'best' },
    unknown: 1,
  }

  const reply = await app.as('admin').post(`/api/channel/${UC1}/`, change)

  assert.deepEqual([reply.status, reply.body], [200, change])
  const doc = await app.doc('channel', UC1)
  assert.deepEqual(
    [doc.channel_subscribed, doc.channel_overwrites],
    [true, { index_playlists: true, download_format: 'best' }],
  )
  assert.deepEqual(await app.app.channels.withOverwrite('download_format'), [{ id: UC1, value: 'best' }])
})

test('an empty or invalid change is refused', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: UC1 }))
  const bodies = [
    {},
    { channel_subscribed: 'true' },
    { channel_overwrites: { autodelete_days: -1 } },
    { channel_overwrites: { colour: 'red' } },
    { channel_overwrites: null },
  ]
  for (const body of bodies)
    assert.equal((await app.as('admin').post(`/api/channel/${UC1}/`, body)).status, 400, JSON.stringify(body))

  assert.equal((await app.as('admin').post('/api/channel/none/', { channel_subscribed: true })).status, 404)
  assert.equal((await app.as('user').post(`/api/channel/${UC1}/`, { channel_subscribed: true })).status, 403)
})

test('a handle is looked up once a day', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: UC1 }))
  app.platform.channels.set('@mill', channelMetadata(UC2)).set('@Bakery', channelMetadata(UC1))
  const search = async (q: string) =>
    (await app.as('user').get(`/api/channel/search/?q=${encodeURIComponent(q)}`)).status

  assert.deepEqual(
    [await search('@mill'), await search('@MILL'), await search('@none'), await search('@none')],
    [404, 404, 404, 404],
  )
  assert.deepEqual(app.platform.asked, ['@mill', '@none'])
  assert.deepEqual([await search('@Bakery'), await search(UC1)], [200, 200])
  await app.clock.advance(24 * 3_600_000)
  await search('@mill')
  await search('@bakery')
  assert.deepEqual(app.platform.asked, ['@mill', '@none', '@Bakery', '@mill'])
})

test('a channel search distinguishes an invalid query, no result, and a temporary failure', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC-short' }))
  const search = (q: string) => app.as('user').get(`/api/channel/search/${q}`)

  for (const q of ['', '?q=', '?q=%20', '?q=aaaaaaaaaaa', '?q=https%3A%2F%2Felsewhere']) {
    const { status, body } = await search(q)
    assert.deepEqual([status, body.data], [400, false], q)
  }
  const missing = await search(`?q=${UC1}`)
  assert.deepEqual([missing.status, missing.body.data], [404, false])
  const unknown = await search('?q=@none')
  assert.deepEqual([unknown.status, unknown.body.data, unknown.body.channel_id], [404, false, null])
  app.platform.channels.set('@there', channelMetadata(UC2))
  assert.equal((await search('?q=@there')).body.channel_id, UC2)
  assert.equal((await search('?q=UC-short')).status, 200)
  for (const failure of [aFailure('network'), errors.unavailable('the gate is closed', { retryAfterSeconds: 9 })]) {
    app.platform.fails = failure
    const { status, headers } = await search('?q=@mill')
    assert.equal(status, 503)
    assert.ok(Number(headers.get('retry-after')) > 0)
  }
  app.platform.fails = undefined
  app.platform.channels.set('@mill', channelMetadata('UC-short'))
  assert.equal((await search('?q=@mill')).status, 200)
})
