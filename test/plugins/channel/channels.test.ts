/** Channels are read from the platform once, and refreshed without losing the user's settings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel } from 'archivolt/testing'
import { openHandles } from '../../../plugins/channel/handles.ts'
import { aFailure, channelMetadata, videoApp } from '../video/scripted-platform.ts'

test('a channel is requested once, however many ask at the same time', async (t) => {
  const app = await videoApp(t)
  app.platform.channels.set('UC1', channelMetadata('UC1', { handle: '@mill' }))
  const { channels } = app.app

  const docs = await Promise.all([1, 2, 3].map(() => channels.ensure('UC1', { asker: 'test' })))
  await channels.ensure('UC1', { asker: 'test' })

  assert.deepEqual(app.platform.asked, ['UC1'])
  assert.deepEqual(
    docs.map((doc) => doc.channel_name),
    ['Channel UC1', 'Channel UC1', 'Channel UC1'],
  )
  assert.equal((await channels.ensure('@MILL', { asker: 'test' })).channel_id, 'UC1')
  assert.deepEqual([await channels.isOurs('@mill'), await channels.isOurs('UC2')], [true, false])
})

test('a channel’s former handle may belong to another channel', async (t) => {
  const app = await videoApp(t)
  const { channels } = app.app
  await channels.record(channelMetadata('UC1', { handle: '@mill' }))
  await channels.refreshWith(channelMetadata('UC1', { handle: '@oldmill' }))
  app.platform.channels.set('UC2', channelMetadata('UC2', { handle: '@mill' }))
  app.platform.channels.set('@mill', channelMetadata('UC2', { handle: '@mill' }))

  const asked = { asker: 'test', isUrgent: true }
  const resolved = [await channels.resolve('@oldmill', asked), await channels.resolve('@mill', asked)]

  assert.deepEqual(resolved, ['UC1', 'UC2'])
})

test('a handle that was resolved under a clock that was ahead is resolved again', async (t) => {
  const app = await videoApp(t)
  const handles = openHandles(app.app)
  app.clock.set('2038-01-19T00:00:00Z')
  await handles.remember('@mill', 'UC1', false)
  assert.equal(handles.lookUp('@mill'), 'UC1')

  app.clock.set('2026-01-15T10:00:00Z')

  assert.equal(handles.lookUp('@mill'), undefined)
})

test('a channel that cannot be read is stored with its name if one is given', async (t) => {
  const app = await videoApp(t)
  const { channels } = app.app

  await assert.rejects(channels.ensure('UC1', { asker: 'test' }), { failure: 'gone' })
  assert.deepEqual(await app.ids('channel'), [])

  const gone = await channels.ensure('UC1', { asker: 'test', name: 'Mill' })
  assert.deepEqual([gone.channel_name, gone.channel_active, gone.refreshed_at], ['Mill', false, 0])
  app.platform.fails = aFailure('login_required')
  assert.equal((await channels.ensure('UC2', { asker: 'test', name: 'Bakery' })).channel_active, true)
})

test('a refresh updates metadata and keeps subscription and overwrites', async (t) => {
  const app = await videoApp(t)
  await app.given(
    aChannel({
      id: 'UC1',
      channel_subscribed: true,
      channel_active: false,
      channel_overwrites: { autodelete_days: 3 },
    }),
  )

  assert.equal(await app.app.channels.refreshWith(channelMetadata('UC1', { name: 'New', subscribers: 5 })), true)
  assert.equal(await app.app.channels.refreshWith(channelMetadata('UC2')), false)

  const doc = await app.doc('channel', 'UC1')
  assert.deepEqual(
    [doc.channel_name, doc.channel_subs, doc.channel_subscribed, doc.channel_active, doc.channel_overwrites],
    ['New', 5, true, true, { autodelete_days: 3 }],
  )
  assert.equal(doc.channel_last_refresh, '2026-01-15')
  assert.deepEqual(await app.ids('channel'), ['UC1'])
})

test('a channel that is added and subscribed to at the same moment stays subscribed', async (t) => {
  const app = await videoApp(t)
  const { channels } = app.app
  const readsBefore = t.mock.method(channels.collection, 'get', async () => undefined, { times: 1 })
  await app.given(aChannel({ id: 'UC1', channel_name: 'Mill', channel_subscribed: true }))

  const doc = await channels.recordName('UC1', 'Another name')

  assert.equal(readsBefore.mock.callCount() > 0, true)
  assert.deepEqual([doc.channel_name, doc.channel_subscribed], ['Mill', true])
})

test('a channel that is removed while it is refreshed does not come back', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1' }))
  const { channels, media } = app.app
  t.mock.method(media, 'fetchArt', async () => {
    await channels.remove('UC1')
    return true
  })

  assert.equal(
    await channels.refreshWith(channelMetadata('UC1', { handle: '@mill', art: { thumb: 'http://127.0.0.1/1' } })),
    false,
  )

  assert.deepEqual(await app.ids('channel'), [])
})

test('names are returned for existing channels', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1', channel_name: 'Mill' }))

  assert.deepEqual(await app.app.channels.names(['UC1', 'UC2']), new Map([['UC1', 'Mill']]))
  assert.equal(await app.app.channels.setActive(['UC1', 'UC2'], false), 1)
})
