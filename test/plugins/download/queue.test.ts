/**
 * The queue over HTTP: every transition of contract 9.3, filters, bulk, refusals. The platform is paused, so nothing is
 * downloaded.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aNewItem, aQueued, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { nextRecheck } from '../../../plugins/download/queue-state.ts'
import { ERROR_CLASSES } from '../../../plugins/download/schema.ts'
import { FAILURES } from '../../../plugins/platform/failure-classes.ts'
import '../../support/slow.ts'

const DAY_MS = 86_400_000

async function openQueueApp(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  await app.app.platform.command('pause')
  return app
}

const show = async (app: TestApp, id: string) => (await app.as('admin').get(`/api/download/${id}/`)).body.data
const listed = async (app: TestApp, query = '') =>
  (await app.as('admin').get(`/api/download/${query}`)).body.data.map(
    (item: { platform_id: string }) => item.platform_id,
  )
const set = (app: TestApp, id: string, status: string) => app.as('admin').post(`/api/download/${id}/`, { status })

test('an item has the form of the contract', async (t) => {
  const app = await openQueueApp(t)
  await app.given(aChannel({ id: 'UC1' }))
  await app.app.queue.add([aNewItem('aaaaaaaaaaa')], 'pending')

  const { timestamp, ...item } = await show(app, 'aaaaaaaaaaa')
  assert.equal(timestamp, Math.floor(app.clock.now() / 1000))
  assert.deepEqual(item, {
    platform_id: 'aaaaaaaaaaa',
    youtube_id: 'aaaaaaaaaaa',
    platform_name: 'YouTube',
    platform_url: 'https://www.youtube.com/watch?v=aaaaaaaaaaa',
    status: 'pending',
    auto_start: false,
    title: 'Video aaaaaaaaaaa',
    channel_id: 'UC1',
    channel_name: 'Channel UC1',
    channel_indexed: true,
    duration: '8m 20s',
    published: '2026-01-10',
    vid_type: 'videos',
    vid_thumb_url: '/cache/videos/a/aaaaaaaaaaa.jpg',
    _index: 'av_download',
    _score: 0,
  })
})

test('a video that is queued, ignored or archived is not queued again, nor twice by one list', async (t) => {
  const app = await openQueueApp(t)
  await app.given(aVideo({ id: 'archived111' }))
  await app.app.queue.add([aNewItem('ignored1111')], 'ignore')

  const added = await app.app.queue.add(
    [aNewItem('archived111'), aNewItem('ignored1111'), aNewItem('fresh111111'), aNewItem('fresh111111')],
    'pending',
  )

  assert.deepEqual(added, ['fresh111111'])
  assert.deepEqual(await app.app.queue.add([aNewItem('archived111')], 'pending', { force: true }), ['archived111'])
})

test('a video that is ignored while a long list is added stays ignored', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  const list = Array.from({ length: 3000 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`))
  const last = list.at(-1)!

  const adding = queue.add(list, 'pending')
  const [ignored, added] = await Promise.all([queue.add([last], 'ignore'), adding])

  assert.deepEqual(ignored, [last.id])
  assert.equal(added.length, list.length - 1)
  assert.equal((await show(app, last.id)).status, 'ignore')
})

test('what does not become an item is not reported as added', async (t) => {
  const app = await openQueueApp(t)

  const added = await app.app.queue.add(
    [aNewItem('refused1111', { title: 7 as never }), aNewItem('fresh111111')],
    'pending',
  )

  assert.deepEqual(added, ['fresh111111'])
})

test('each request leads to the state in the contract', async (t) => {
  const app = await openQueueApp(t)
  await app.app.queue.add([aNewItem('aaaaaaaaaaa')], 'pending', {
    failure: { message: 'It is gone', errorClass: 'gone' },
  })
  const state = async () => {
    const { status, auto_start, message, error_class } = await show(app, 'aaaaaaaaaaa')
    return { status, auto_start, message, error_class }
  }
  assert.deepEqual(await state(), { status: 'pending', auto_start: false, message: 'It is gone', error_class: 'gone' })
  const clear = { message: undefined, error_class: undefined }
  for (const [status, auto_start] of [
    ['ignore', false],
    ['pending', false],
    ['priority', true],
    ['pending', false],
    ['priority', true],
    ['ignore', false],
  ] as const) {
    const { status: code, body } = await set(app, 'aaaaaaaaaaa', status)
    assert.equal(code, 200)
    assert.deepEqual(body, { status })
    assert.deepEqual(await state(), { status, auto_start, ...clear })
  }
  assert.equal((await app.as('admin').delete('/api/download/aaaaaaaaaaa/')).body.success, true)
  assert.equal((await app.as('admin').get('/api/download/aaaaaaaaaaa/')).status, 404)
})

test('auto_start comes first, then the oldest; filters select', async (t) => {
  const app = await openQueueApp(t)
  await app.app.queue.add(
    [
      aNewItem('aaaaaaaaaaa'),
      aNewItem('bbbbbbbbbbb', { channelId: 'UC2', title: 'Cold proof' }),
      aNewItem('ccccccccccc', { vidType: 'shorts' }),
    ],
    'pending',
  )
  await app.app.queue.add([aNewItem('ddddddddddd')], 'ignore')
  await app.app.queue.add([aNewItem('eeeeeeeeeee')], 'pending', {
    failure: { message: 'Members only', errorClass: 'members_only' },
  })
  await set(app, 'ccccccccccc', 'priority')

  const [a, b, c, d, e] = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc', 'ddddddddddd', 'eeeeeeeeeee']
  for (const [query, expected] of [
    ['', [c, a, b, d, e]],
    ['?filter=pending', [c, a, b, e]],
    ['?filter=priority', [c]],
    ['?filter=ignore', [d]],
    ['?channel=UC2', [b]],
    ['?vid_type=shorts', [c]],
    ['?q=cold%20pro', [b]],
    ['?error=true', [e]],
    ['?error_class=members_only', [e]],
    ['?error_class=gone', []],
    ['?filter=pending&error=false', [c, a, b]],
  ] as const) {
    assert.deepEqual(await listed(app, query), expected, query)
  }
})

test('the next item is one whose time has come, then one with auto_start, then the oldest without a message', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  const now = Math.floor(app.clock.now() / 1000)
  const failed = { message: 'Not yet', error_class: 'upcoming' } as const
  await app.given(
    aQueued({ id: 'newest', position: 60 }),
    aQueued({ id: 'oldest', position: 20 }),
    aQueued({ id: 'ignored', position: 10, status: 'ignore' }),
    aQueued({ id: 'ignoredDue', position: 11, status: 'ignore', ...failed, retry_at: now }),
    aQueued({ id: 'gone', position: 12, message: 'It is gone', error_class: 'gone' }),
    aQueued({ id: 'priority', position: 50, status: 'priority', auto_start: true }),
    aQueued({ id: 'due', position: 40, ...failed, retry_at: now }),
    aQueued({ id: 'soon', position: 30, ...failed, retry_at: now + 1 }),
    aQueued({ id: 'priorityDue', position: 70, status: 'priority', auto_start: true, ...failed, retry_at: now - 9 }),
  )
  const takenInTurn = (isAutoOnly: boolean) => {
    const taken: string[] = []
    for (let item = queue.next({ isAutoOnly, except: taken }); item; item = queue.next({ isAutoOnly, except: taken }))
      taken.push(item.platform_id)
    return taken
  }

  assert.deepEqual(takenInTurn(false), ['priorityDue', 'due', 'priority', 'oldest', 'newest'])
  assert.deepEqual(takenInTurn(true), ['priorityDue', 'priority'])
})

test('items with equal positions, as in a hand-made backup, are all listed', async (t) => {
  const app = await openQueueApp(t)

  await app.given(...['c', 'a', 'b'].map((id) => aQueued({ id, position: 7 })))

  assert.deepEqual(await listed(app), ['c', 'a', 'b'])
})

test('titles are found by words as in any list: prefixes, inflections, punctuation, and scripts without spaces', async (t) => {
  const app = await openQueueApp(t)
  const titles = {
    fog: 'Crème brûlée: Running in the Fog',
    band: 'AC/DC live in C++ and T.N.T.',
    tower: '東京タワー 夜景',
    nets: 'Mending nets',
    signs: '?!',
  }
  await app.app.queue.add(
    Object.entries(titles).map(([id, title]) => aNewItem(id, { title })),
    'pending',
  )

  for (const [words, expected] of [
    ['creme', ['fog']],
    ['FOG  brul', ['fog']],
    ['runs', ['fog']],
    ['run', ['fog']],
    ['mended', ['nets']],
    ['net mend', ['nets']],
    ['ets', []],
    ['fog nets', []],
    ['acdc', ['band']],
    ['tnt', ['band']],
    ['c++', ['band']],
    ['東京', ['tower']],
    ['タワ', ['tower']],
    ['?!', ['signs']],
    ['""', []],
    ["' OR 1=1 --", []],
    ['   ', Object.keys(titles)],
  ] as const)
    assert.deepEqual(await listed(app, `?q=${encodeURIComponent(words)}`), expected, words)
})

test('a search of a long queue covers all of it, auto_start first, page by page', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  const ids = Array.from({ length: 4100 }, (_, at) => `item${String(at).padStart(7, '0')}`)
  const titleOf = (at: number) => (at % 1000 === 999 ? 'Cold proof' : 'Something else')
  await queue.add(
    ids.map((id, at) => aNewItem(id, { title: titleOf(at) })),
    'pending',
  )
  await queue.setStatus(ids[3999]!, 'priority')
  await queue.setStatus(ids[1999]!, 'ignore')

  const found = ['item0003999', 'item0000999', 'item0001999', 'item0002999']
  const page = async (query: string) => {
    const { body } = await app.as('admin').get(`/api/download/${query}`)
    return [body.data.map(({ platform_id: id }: { platform_id: string }) => id), body.paginate.total_hits]
  }
  assert.deepEqual(await page('?q=proof'), [found, 4])
  const second = await queue.list({ words: 'proof', from: 2, size: 2 })
  assert.deepEqual([second.items.map(({ platform_id: id }) => id), second.total], [found.slice(2), 4])
  assert.deepEqual(await page('?q=proof&filter=pending'), [[found[0], found[1], found[3]], 3])
})

test('an item that fails permanently at its time does not block the others', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  const retryAt = Math.floor(app.clock.now() / 1000) + 3600
  await queue.add([aNewItem('premiere111')], 'pending', {
    failure: { message: 'It is still to come', errorClass: 'upcoming', retryAt },
  })
  await queue.add([aNewItem('another1111')], 'pending')
  await app.clock.advance(3_601_000)
  assert.equal(queue.next({ isAutoOnly: false, except: [] })?.platform_id, 'premiere111')

  await queue.fail('premiere111', { message: 'It is gone', errorClass: 'gone' })

  assert.equal((await show(app, 'premiere111')).retry_at, retryAt + 1 + 86_400)
  assert.equal(queue.next({ isAutoOnly: false, except: [] })?.platform_id, 'another1111')
})

const parkedAs = (errorClass: (typeof ERROR_CLASSES)[number]) => ({ failure: { message: 'Not now', errorClass } })
const RECHECKED = ERROR_CLASSES.filter((name) => FAILURES[name].again === 'rechecked')
const nextId = ({ app: { queue } }: TestApp) => queue.next({ isAutoOnly: false, except: [] })?.platform_id

for (const errorClass of RECHECKED) {
  test(`a listing that shows it without a mark reopens an item with the message ${errorClass}, once`, async (t) => {
    const app = await openQueueApp(t)
    const { queue } = app.app
    const listed = (isLimited: boolean) => queue.add([aNewItem('parked11111', { isLimited })], 'pending')
    await queue.add([aNewItem('parked11111')], 'pending', parkedAs(errorClass))

    const opened = [await listed(true), nextId(app), await listed(false), nextId(app)]

    assert.deepEqual(opened, [[], undefined, ['parked11111'], 'parked11111'])
    await queue.fail('parked11111', parkedAs(errorClass).failure)
    assert.deepEqual([await listed(false), nextId(app)], [[], undefined])
    await listed(true)
    assert.deepEqual([await listed(false), nextId(app)], [['parked11111'], 'parked11111'])
  })
}

test('an item is retried 1, 7 and 30 days after its message, however late each retry is', () => {
  const rechecks: number[] = []
  for (let hour = 0; hour < 24 * 100; hour++) {
    const isDue =
      hour * 3600 >= (nextRecheck(0, rechecks.length ? rechecks.at(-1)! * 3600 : 0) ?? Number.POSITIVE_INFINITY)
    if (isDue) rechecks.push(hour + 5)
  }

  assert.deepEqual(
    rechecks.map((hour) => Math.floor(hour / 24)),
    [1, 7, 30],
  )
})

test('an item that gets the same message again keeps the time of the first', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  const noted = Math.floor(app.clock.now() / 1000)
  await queue.add([aNewItem('parked11111')], 'pending', parkedAs('gone'))

  const planned = [(await show(app, 'parked11111')).retry_at]
  await app.clock.advance(DAY_MS)
  assert.equal(nextId(app), 'parked11111')
  await queue.fail('parked11111', parkedAs('restricted').failure)
  planned.push((await show(app, 'parked11111')).retry_at)

  assert.deepEqual(planned, [noted + 86_400, noted + 7 * 86_400])
  await set(app, 'parked11111', 'pending')
  assert.equal((await show(app, 'parked11111')).retry_at, undefined)
})

test('an item that an earlier version has parked is retried, too, and an ignored one is not', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  await queue.add([aNewItem('parked11111'), aNewItem('ignored1111')], 'pending', parkedAs('members_only'))
  const { noted_at: _noted, retry_at: _retry, ...parked } = await app.doc('download', 'parked11111')
  await app.given(aQueued({ id: 'parked11111', ...parked }))
  await queue.setStatus('ignored1111', 'ignore')

  await queue.planRechecks()
  await app.clock.advance(DAY_MS)

  assert.equal(nextId(app), 'parked11111')
  await queue.add([aNewItem('ignored1111', { isLimited: false })], 'pending')
  assert.equal((await show(app, 'ignored1111')).status, 'ignore')
})

test('leftover priority items become pending again, however many; items that were ignored meanwhile stay ignored', async (t) => {
  const app = await openQueueApp(t)
  const { queue } = app.app
  const ids = Array.from({ length: 10_300 }, (_, index) => `left${String(index).padStart(7, '0')}`)
  await queue.add(
    ids.map((id) => aNewItem(id)),
    'priority',
    { failure: { message: 'It is gone', errorClass: 'gone' } },
  )
  const [early, late] = [ids[0]!, ids.at(-1)!]

  const demoting = queue.demote()
  while ((await app.doc('download', early)).status === 'priority') await new Promise(setImmediate)
  await set(app, late, 'ignore')
  const demoted = await demoting

  assert.equal(demoted.length, ids.length - 1)
  assert.equal((await app.doc('download', late)).status, 'ignore')
  assert.equal(queue.count({ filter: 'pending' }, Infinity), ids.length - 1)
  assert.equal(nextId(app), undefined, 'their messages still hold them back')
  await set(app, early, 'ignore')
  await queue.promote(demoted)
  assert.equal(queue.count({ filter: 'priority' }, Infinity), ids.length - 2)
})

test('many items are changed or deleted at once', async (t) => {
  const app = await openQueueApp(t)
  await app.app.queue.add(
    Array.from({ length: 250 }, (_, index) => aNewItem(`item${String(index).padStart(7, '0')}`)),
    'pending',
  )
  await app.app.queue.add([aNewItem('gone1111111')], 'pending', {
    failure: { message: 'It is gone', errorClass: 'gone' },
  })
  const bulk = (body: object) => app.as('admin').post('/api/download/bulk/', body)

  assert.equal((await bulk({ error_class: 'gone', status: 'ignore' })).body.updated, 1)
  assert.deepEqual((await bulk({ filter: 'pending', status: 'priority' })).body, { updated: 250 })
  assert.equal((await show(app, 'item0000249')).status, 'priority')
  assert.deepEqual((await app.as('admin').get('/api/stats/download/')).body, {
    pending: 250,
    ignore: 1,
    pending_videos: 250,
    pending_streams: 0,
    pending_shorts: 0,
  })
  assert.equal((await bulk({ filter: 'ignore', status: 'delete' })).body.updated, 1)
  const { removal: _, ...cleared } = (await app.as('admin').delete('/api/download/?filter=pending')).body
  assert.deepEqual(cleared, { message: 'deleted pending items', deleted: 250 })
  assert.deepEqual(await app.ids('download'), [])
})

test('an invalid request changes nothing and names the error’s path', async (t) => {
  const app = await openQueueApp(t)
  await app.app.queue.add([aNewItem('aaaaaaaaaaa')], 'pending')
  const admin = app.as('admin')
  for (const [asked, status] of [
    [admin.get('/api/download/?filter=later'), 400],
    [admin.get('/api/download/?error=perhaps'), 400],
    [admin.delete('/api/download/'), 400],
    [admin.delete('/api/download/?filter=priority'), 400],
    [admin.post('/api/download/', {}), 400],
    [admin.post('/api/download/', { data: {} }), 400],
    [admin.post('/api/download/', { data: [{}] }), 400],
    [admin.post('/api/download/', { data: ['aaaaaaaaaaa'] }), 400],
    [admin.post('/api/download/', { data: [{ youtube_id: 'aaaaaaaaaaa', status: 'later' }] }), 400],
    [
      admin.post('/api/download/', {
        data: [{ youtube_id: 'bbbbbbbbbbb' }, { youtube_id: 'https://elsewhere.example/watch?v=bbbbbbbbbbb' }],
      }),
      400,
    ],
    [admin.post('/api/download/', { data: [{ youtube_id: 'bbbbbbbbbbb', platform_id: 'ccccccccccc' }] }), 400],
    [admin.post('/api/download/', { data: [{ youtube_id: '--exec touch' }] }), 400],
    [set(app, 'aaaaaaaaaaa', 'later'), 400],
    [set(app, 'bbbbbbbbbbb', 'ignore'), 404],
    [set(app, 'no-video', 'ignore-force'), 400],
    [set(app, 'UCqnT2_QO_aL5-D0vQbK5hpy', 'ignore-force'), 400],
    [admin.delete('/api/download/bbbbbbbbbbb/'), 404],
    [admin.post('/api/download/bulk/', { status: 'ignore' }), 400],
    [admin.post('/api/download/bulk/', { filter: 'pending', status: 'later' }), 400],
    [app.as('user').get('/api/download/'), 403],
  ] as const) {
    const { status: code, body } = await asked
    assert.equal(code, status, JSON.stringify(body))
    assert.equal(typeof body.error, 'string')
  }
  assert.deepEqual(await app.ids('download'), ['aaaaaaaaaaa'])
  assert.deepEqual((await admin.post('/api/download/', { data: [] })).body, {
    data: [],
    message: 'nothing to add',
    task_id: null,
  })
})
