/** Undo without the bin: marks of a whole channel, the queue, the end of a subscription. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aNewItem, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { DAY_MS } from '../../../core/base/clock.ts'
import '../../support/slow.ts'

const rowsOf = (app: TestApp, table: string) => app.app.ledger.sql(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).all()

test('marking a whole channel or playlist is undone with its positions; later marks stay', async (t) => {
  const app = await testApp(t)
  const ids = Array.from({ length: 260 }, (_, index) => `v${String(index).padStart(3, '0')}`)
  await app.given(
    aChannel({ id: 'UC1' }),
    ...ids.map((id) => aVideo({ id, channelId: 'UC1', player: { duration: 100 } })),
    aPlaylist({ id: 'PL1', entries: ids.slice(0, 3) }),
  )
  await app.app.playlists.takeInAll()
  const user = app.as('user')
  await user.post('/api/watched/', { id: 'v001', is_watched: true })
  await app.clock.advance(5000)
  for (const id of ['v001', 'v002', 'v259']) await user.post(`/api/video/${id}/progress/`, { position: 30 })
  const state = () => [rowsOf(app, 'watch_mark'), rowsOf(app, 'watch_position'), rowsOf(app, 'watch_unindexed')]
  const watchedIn = async (query: string) => (await user.get(`/api/video/?watch=${query}`)).body.paginate.total_hits
  for (const [id, is_watched] of [
    ['UC1', true],
    ['UC1', false],
    ['PL1', true],
  ] as const) {
    const before = state()
    await app.clock.advance(5000)

    const { body } = await user.post('/api/watched/', { id, is_watched })
    assert.notDeepEqual(state(), before)
    assert.equal((await app.as('admin').post('/api/watched/undo/', { marking: body.marking })).status, 404)
    assert.equal((await user.post('/api/watched/undo/', { marking: body.marking })).status, 200)

    assert.deepEqual(state(), before, `${id} ${is_watched}`)
    assert.equal(await watchedIn('watched'), 1)
    assert.equal((await user.post('/api/watched/undo/', { marking: body.marking })).status, 404, 'once')
  }

  const { marking } = (await user.post('/api/watched/', { id: 'UC1', is_watched: true })).body
  await app.clock.advance(5000)
  await user.post('/api/watched/', { id: 'v005', is_watched: false })
  await user.post('/api/watched/', { id: 'v005', is_watched: true })
  assert.equal((await user.post('/api/watched/undo/', { marking })).body.updated, 258)
  assert.deepEqual(
    (await user.get('/api/video/?watch=watched')).body.data
      .map((one: { platform_id: string }) => one.platform_id)
      .sort(),
    ['v001', 'v005'],
  )
  assert.deepEqual((await user.post('/api/watched/', { id: 'v001', is_watched: true })).body, {
    message: 'success',
    id: 'v001',
    is_watched: true,
  })

  await user.post('/api/watched/', { id: 'UC1', is_watched: true })
  await app.clock.advance(2 * DAY_MS)
  await user.post('/api/watched/', { id: 'UC1', is_watched: false })
  assert.equal(
    app.app.ledger.sql<{ days: number }>('SELECT count(DISTINCT at) AS days FROM watch_undo').get()!.days,
    1,
    'after a day it is forgotten',
  )
})

test('items that were removed from the queue or ignored return in their order, with their messages', async (t) => {
  const app = await testApp(t)
  await app.app.platform.command('pause')
  await app.app.queue.add(
    Array.from({ length: 250 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`)),
    'pending',
  )
  await app.app.queue.add([aNewItem('gone1111111')], 'pending', {
    failure: { message: 'It is gone', errorClass: 'gone' },
  })
  await app.app.queue.add([aNewItem('ignored1111')], 'ignore')
  const admin = app.as('admin')
  const rows = () => rowsOf(app, 'download_queue_a')
  const removals: Array<[string, () => Promise<{ body: any }>]> = [
    ['one', () => admin.delete('/api/download/item0000007/')],
    ['all that wait', () => admin.post('/api/download/bulk/', { filter: 'pending', status: 'delete' })],
    ['cleared', () => admin.delete('/api/download/?filter=pending')],
    ['ignored', () => admin.post('/api/download/bulk/', { filter: 'pending', status: 'ignore' })],
    ['no longer ignored', () => admin.post('/api/download/bulk/', { filter: 'ignore', status: 'delete' })],
  ]
  for (const [what, remove] of removals) {
    const before = rows()

    const { body } = await remove()
    assert.notDeepEqual(rows(), before, what)
    const { status, text } = await admin.post('/api/download/restore/', { removal: body.removal })

    assert.equal(status, 200, text)
    assert.deepEqual(rows(), before, what)
    assert.equal((await admin.post('/api/download/restore/', { removal: body.removal })).status, 404, 'once')
  }

  const { removal } = (await admin.post('/api/download/bulk/', { filter: 'pending', status: 'delete' })).body
  await app.given(aVideo({ id: 'item0000003' }))
  await app.app.queue.add([aNewItem('item0000004')], 'priority')
  assert.equal((await admin.post('/api/download/restore/', { removal })).body.restored, 249)
  assert.equal(app.app.queue.get('item0000003'), undefined, 'it is in the archive')
  assert.equal(app.app.queue.get('item0000004')?.status, 'priority', 'somebody has added it since')
  assert.equal((await app.as('user').post('/api/download/restore/', { removal })).status, 403)
})

test('items of archived videos return if they wait for a missing film, or for another download', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.app.platform.command('pause')
  await app.given(...['item0000001', 'item0000002', 'item0000003'].map((id) => aVideo({ id })))
  const [missing, again] = ['item0000001', 'item0000002'] as const
  await app.app.media.missing.replace(async () => [missing])
  await app.app.queue.add([aNewItem(missing)], 'pending', { isAsked: true })
  await app.app.queue.add([aNewItem(again), aNewItem('item0000004')], 'pending', { force: true })
  const { removal } = (await admin.delete('/api/download/?filter=pending')).body

  assert.equal((await admin.post('/api/download/restore/', { removal })).body.restored, 3)

  assert.equal(app.app.queue.known([missing, again, 'item0000004']).size, 3)
})

test('a video that is restored from the bin is no longer ignored; others still are', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.app.platform.command('pause')
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'item0000001', channelId: 'UC1' }))
  const { removal } = (await admin.delete('/api/video/item0000001/')).body
  await app.app.queue.add([aNewItem('item0000001'), aNewItem('item0000002')], 'ignore')

  const { status, text } = await admin.post('/api/bin/restore/', { removal })
  await app.settled()

  assert.equal(status, 200, text)
  assert.deepEqual([...(await app.ids('video'))], ['item0000001'])
  assert.equal(app.app.queue.get('item0000001'), undefined)
  assert.equal(app.app.queue.get('item0000002')?.status, 'ignore')
})

test('the end of a subscription is undone with its skipped videos, also before listeners are notified', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_subscribed: true }),
    aPlaylist({ id: 'PL1', playlist_subscribed: true }),
  )
  const { ledger } = app.app
  const insert = ledger.sql('INSERT INTO subscription_beginning VALUES (?, ?, NULL, ?, ?)')
  await ledger.write(() => {
    insert.run('UC1', 'videos', 'job', '["old1","old2"]')
    insert.run('PL1', '', 'job', '["old3"]')
  })
  const before = rowsOf(app, 'subscription_beginning')
  const admin = app.as('admin')
  for (const kind of ['channel', 'playlist'] as const) {
    const id = kind === 'channel' ? 'UC1' : 'PL1'
    const set = (isOn: boolean, more: object = {}) =>
      admin.post(`/api/${kind}/`, { data: [{ [`${kind}_id`]: id, [`${kind}_subscribed`]: isOn, ...more }] })
    assert.equal((await set(false)).status, 200)
    const { status, body } = await set(true, { as_before: true })
    assert.deepEqual([status, body.task_id], [200, null])
    await app.settled()
    assert.deepEqual(rowsOf(app, 'subscription_beginning'), before)
    const doc = (await app.doc(kind, id)) as Record<string, unknown>
    assert.equal(doc[`${kind}_subscribed`], true)

    await set(false)
    await app.settled()
    await set(true, { as_before: true })
    await app.settled()
    assert.deepEqual(rowsOf(app, 'subscription_beginning'), before)
  }

  await admin.post('/api/channel/', { data: [{ channel_id: 'UC1', channel_subscribed: false }] })
  await app.settled()
  await app.clock.advance(86_400_000 + 1000)
  await admin.post('/api/channel/', { data: [{ channel_id: 'UC1', channel_subscribed: true, as_before: true }] })
  assert.deepEqual(
    rowsOf(app, 'subscription_beginning').map((row) => (row as { id: string }).id),
    ['PL1'],
    'a day later it begins afresh',
  )
})
