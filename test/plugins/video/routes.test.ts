/** Videos over HTTP: lists, comments, similar ones, and additions of other plugins to records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin, Type } from 'archivolt'
import { aChannel, aVideo } from 'archivolt/testing'
import { videoApp } from './scripted-platform.ts'

const ids = (body: { data: Array<{ platform_id: string }> }): string[] => body.data.map((record) => record.platform_id)

test('videos are filtered and sorted as asked', async (t) => {
  const app = await videoApp(t)
  await app.given(
    aChannel({ id: 'UC1' }),
    aChannel({ id: 'UC2' }),
    aVideo({
      id: 'a',
      published: '2026-01-01',
      media_size: 3,
      height: 1080,
      stats: { view_count: 1 },
      player: { duration: 5 },
    }),
    aVideo({
      id: 'b',
      published: '2026-01-02',
      media_size: 1,
      vid_type: 'shorts',
      stats: { view_count: 3 },
      player: { duration: 4 },
    }),
    aVideo({
      id: 'c',
      published: '2026-01-03',
      media_size: 2,
      channelId: 'UC2',
      stats: { view_count: 2 },
      player: { duration: 6 },
    }),
  )
  const cases: Array<[string, string[]]> = [
    ['', ['c', 'b', 'a']],
    ['order=asc', ['a', 'b', 'c']],
    ['sort=views', ['b', 'c', 'a']],
    ['sort=filesize&order=asc', ['b', 'c', 'a']],
    ['sort=duration', ['c', 'a', 'b']],
    ['channel=UC1', ['b', 'a']],
    ['channel=unknown', []],
    ['type=shorts', ['b']],
    ['height=1080', ['a']],
    ['after=2026-01-02', ['c', 'b']],
    ['before=2026-01-02', ['a']],
    ['after=2026-01-02&before=2026-01-03&ordering=x', ['b']],
  ]
  for (const [query, expected] of cases) {
    const { status, body } = await app.as('user').get(`/api/video/?${query}`)
    assert.deepEqual([status, ids(body), body.paginate.total_hits], [200, expected, expected.length], query)
  }
})

test('an invalid parameter is refused', async (t) => {
  const app = await videoApp(t)
  for (const query of [
    'type=film',
    'sort=name',
    'order=up',
    'height=tall',
    'before=yesterday',
    'after=2026-02-30',
    'channel=a.b',
  ]) {
    assert.equal((await app.as('user').get(`/api/video/?${query}`)).status, 400, query)
  }
})

test("a list of a channel's videos is empty if it has none and 404 if the channel is unknown", async (t) => {
  const app = await videoApp(t)
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'a', published: '2026-01-01' }),
    aVideo({ id: 'b', published: '2026-01-02' }),
    aChannel({ id: 'UC2' }),
  )

  assert.deepEqual(ids((await app.as('user').get('/api/channel/UC1/video/')).body), ['b', 'a'])
  assert.deepEqual((await app.as('user').get('/api/channel/UC2/video/')).body.data, [])
  const unknown = await app.as('user').get('/api/channel/UC3/video/')
  assert.deepEqual(
    [unknown.status, unknown.body.code, unknown.body.data, unknown.body.paginate.total_hits],
    [404, 'not_found', [], 0],
  )
})

test('a missing video is 404, with the keys that clients read', async (t) => {
  const app = await videoApp(t)

  const shown = await app.as('user').get('/api/video/none/')
  assert.deepEqual([shown.status, shown.body.data, shown.body.error], [404, false, 'video not found'])
  for (const part of ['comment', 'similar'])
    assert.equal((await app.as('user').get(`/api/video/none/${part}/`)).status, 404)
  const removed = await app.as('admin').delete('/api/video/none/')
  assert.deepEqual([removed.status, removed.body.video, removed.body.state], [404, 'none', 'not found'])
})

test('comments are shown as threads, and counted on the video', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  const comment = {
    text: 'x"],"y',
    timestamp: 0,
    likeCount: 1,
    isFavorited: false,
    author: 'Ann',
    authorId: 'UC9',
    authorThumbnail: '',
    authorIsUploader: true,
  }
  await app.app.videos.setComments('v1', [
    { ...comment, id: 'r', parent: 'root' },
    { ...comment, id: 's', parent: 'r' },
  ])

  const { body } = await app.as('user').get('/api/video/v1/comment/')

  assert.deepEqual(
    [body.data.length, body.data[0].comment_text, body.data[0].comment_replies[0].comment_id, typeof body.config],
    [1, 'x"],"y', 's', 'object'],
  )
  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.comment_count, 2)
  assert.deepEqual((await app.as('user').get('/api/video/v2/comment/')).body.data, [])
  assert.equal((await app.as('user').get('/api/video/v2/')).body.data.comment_count, undefined)
  await assert.rejects(app.app.videos.setComments('none', []), { code: 'not_found' })
})

test('similar videos share words of title or tags, without the video itself', async (t) => {
  const app = await videoApp(t)
  await app.given(
    aChannel(),
    aVideo({ id: 'a', title: 'Sourdough starter', tags: ['bread'] }),
    aVideo({ id: 'b', title: 'Sourdough loaf' }),
    aVideo({ id: 'c', title: 'Steam engine' }),
    ...Array.from({ length: 20 }, (_, step) => aVideo({ id: `x${step}`, title: `Something else ${step}` })),
  )

  assert.deepEqual(ids((await app.as('user').get('/api/video/a/similar/')).body), ['b'])
})

test("plugins add the caller's mark and position, and further filters", async (t) => {
  const guest = definePlugin({
    name: 'guest',
    needs: ['video'],
    implements: {
      'video.tail': () => (wanted, actor) =>
        new Map(wanted.includes('a') ? [['a', { watched: true, position: actor.id, progress: 2.5 }]] : []),
      'video.filter': () => ({
        query: { only: Type.Optional(Type.Enum(['a'])) },
        apply: ({ only }) => (only === 'a' ? { ids: ['a'] } : undefined),
      }),
    },
  })
  const app = await videoApp(t, { plugins: [guest] })
  await app.given(aChannel(), aVideo({ id: 'a' }), aVideo({ id: 'b' }))

  const { body } = await app.as('admin').get('/api/video/?only=a')

  assert.deepEqual(ids(body), ['a'])
  const { watched, position, progress } = body.data[0].player
  assert.deepEqual([watched, position, progress], [true, 1, 2.5])
  assert.equal((await app.as('user').get('/api/video/?only=b')).status, 400)
  const { player } = (await app.as('user').get('/api/video/b/')).body.data
  assert.deepEqual([player.watched, 'position' in player, 'progress' in player], [false, false, false])
})

test('a change of a channel is visible in its videos at once, and a video without a channel is still complete', async (t) => {
  const app = await videoApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'a' }), aVideo({ id: 'b', channelId: 'UCgone' }))
  await app.as('admin').post('/api/channel/UC1/', { channel_subscribed: true })

  const channelOf = async (id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data.channel
  const whole = await channelOf('a')
  const standIn = await channelOf('b')

  assert.equal(whole.channel_subscribed, true)
  assert.equal(standIn.channel_id, 'UCgone')
  assert.deepEqual(Object.keys(standIn).sort(), Object.keys(whole).sort())
})
