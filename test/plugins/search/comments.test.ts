/** Comments are found by author and text, on both indexes, whatever has added them (contract 5.7, 7). */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { aChannel, aVideo, notSearchable, someComments, type TestApp, testApp } from 'archivolt/testing'
import type { CommentMetadata } from '../../../plugins/platform/types.ts'
import { INDEXES, type IndexPlace, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

const aComment = (id: string, author: string, text: string, more: Partial<CommentMetadata> = {}): CommentMetadata => ({
  ...{ id, author, text, parent: 'root', timestamp: 1_709_300_000, likeCount: 3 },
  ...{ isFavorited: false, authorId: 'UCa', authorThumbnail: '', authorIsUploader: false },
  ...more,
})

async function anArchive(t: TestContext, index: IndexPlace): Promise<TestApp> {
  const scope = lastFirst(t)
  const app = await testApp(scope, { settings: await indexSettings(scope, index) })
  await app.given(
    aChannel({ id: 'mill', channel_name: 'Old Mill Bakery' }),
    aChannel({ id: 'lab', channel_name: 'Kernel Lab' }),
    aVideo({ id: 'bread', channelId: 'mill', title: 'Sourdough bread' }),
    aVideo({ id: 'kernel', channelId: 'lab', title: 'Linux kernel' }),
  )
  return app
}

async function comment(app: TestApp, id: string, list: CommentMetadata[]): Promise<void> {
  await app.app.videos.setComments(id, list)
  await app.app.index.refresh()
}

async function find(app: TestApp, query: string) {
  await app.app.index.refresh()
  const { status, body } = await app.as('user').get(`/api/search/?query=${encodeURIComponent(query)}`)
  assert.equal(status, 200, query)
  return body.results.comment_results as Array<Record<string, any>>
}
const idsOf = (hits: Array<Record<string, any>>) => hits.map((hit) => hit['comment_id']).sort()

for (const { index, skip } of INDEXES)
  describe(`comments on ${index}`, { skip }, () => {
    test('are found by the words of author and text, with their video', async (t) => {
      const app = await anArchive(t, index)
      await comment(app, 'bread', [
        aComment('c1', '@greta-miller', 'My oven is <b>too cold</b> & old'),
        aComment('c1.r', '@sam', 'Then heat your ovens longer', { parent: 'c1' }),
        aComment('c2', '@cold.hands', 'First'),
      ])
      await comment(app, 'kernel', [aComment('k1', '@greta-miller', 'Which scheduler?')])

      const [hit] = await find(app, 'comment:greta oven')

      const { _score: score, ...rest } = hit!
      assert.ok(score > 0)
      assert.deepEqual(rest, {
        platform_id: 'bread',
        youtube_id: 'bread',
        title: 'Sourdough bread',
        comment_id: 'c1',
        comment_author: '@<span class="settings-current">greta</span>-miller',
        comment_text: 'My <span class="settings-current">oven</span> is &lt;b&gt;too cold&lt;/b&gt; &amp; old',
        comment_timestamp: 1_709_300_000,
        comment_likecount: 3,
        comment_channel: 'Old Mill Bakery',
        comment_channel_id: 'mill',
        vid_thumb_url: '/cache/videos/b/bread.jpg',
        _index: `${app.app.settings.prefix}_comment`,
      })
      for (const [query, expected] of [
        ['comment:oven', ['c1', 'c1.r']],
        ['comment:cold', ['c1', 'c2']],
        ['comment:greta', ['c1', 'k1']],
        ['comment:greta channel:lab', ['k1']],
        ['comment: channel:mill', ['c1', 'c1.r', 'c2']],
        ['comment:shceduler', ['k1']],
        ['comment:shceduler fuzzy:no', []],
        ['comment:nobody said this', []],
      ] as const)
        assert.deepEqual(idsOf(await find(app, query)), expected, query)
    })

    test('are removed with their video, and restored with it from the bin', async (t) => {
      const app = await anArchive(t, index)
      await comment(app, 'bread', [aComment('c1', '@sam', 'a crumb')])

      await app.app.videos.remove('bread')
      assert.deepEqual(await find(app, 'comment:crumb'), [])
      assert.deepEqual(await app.ids('comment_text'), [])
      const { status } = await app.as('admin').post('/api/bin/restore/', { all: true })
      await app.settled()

      assert.equal(status, 200)
      assert.deepEqual(idsOf(await find(app, 'comment:crumb')), ['c1'])
    })

    test('of an older version, or after an interruption, become searchable at the next start', async (t) => {
      const app = await anArchive(t, index)
      await app.given(
        ...[
          someComments('bread', [
            { comment_id: 'c1', comment_text: 'a crumb', comment_author: '@sam' },
            { comment_id: 'c2' },
          ]),
          someComments('kernel', [{ comment_id: 'k1', comment_text: 'a crumb in the fan', comment_replies: [] }]),
          someComments('nobody', [{ comment_id: 'n1', comment_text: 'a crumb', comment_replies: [] }]),
        ].map(notSearchable),
      )
      assert.deepEqual(await find(app, 'comment:crumb'), [])

      await app.restart()
      await app.settled()

      assert.deepEqual(idsOf(await find(app, 'comment:crumb')), ['c1', 'k1'])
    })
  })

test('are once in a backup, and searchable after a restore', async (t) => {
  const app = await anArchive(t, 'the embedded index')
  await comment(app, 'bread', [aComment('c1', '@sam', 'a crumb')])
  const { body } = await app.as('admin').post('/api/backup/')
  await app.app.jobs.ended(body.task_id)
  const [{ filename }] = (await app.as('admin').get('/api/backup/')).body
  await comment(app, 'bread', [aComment('c9', '@sam', 'something else')])

  const restored = await app.as('admin').post(`/api/backup/${filename}/`)
  await app.app.jobs.ended(restored.body.task_id)
  await app.settled()

  assert.deepEqual(idsOf(await find(app, 'comment:sam')), ['c1'])
})

test('of a video that the platform moved to another channel are found there', async (t) => {
  const app = await anArchive(t, 'the embedded index')
  await comment(app, 'bread', [aComment('c1', '@sam', 'a crumb')])
  await app.app.videos.commentTexts.patchWhere({ eq: ['platform_id', 'bread'] }, { set: { channel_id: 'lab' } })

  assert.deepEqual(idsOf(await find(app, 'comment:crumb channel:lab')), ['c1'])
})

test('are shortened around the matches if they are long', async (t) => {
  const app = await anArchive(t, 'the embedded index')
  await comment(app, 'bread', [aComment('c1', '@sam', `${'dough '.repeat(500)}crumb ${'flour '.repeat(500)}`)])

  const [hit] = await find(app, 'comment:crumb')

  assert.match(hit!['comment_text'], /^… .*<span class="settings-current">crumb<\/span> flour.* …$/)
  assert.ok(hit!['comment_text'].length < 700)
})

test('are returned in pages of threads, and as the thread of a comment', async (t) => {
  const app = await anArchive(t, 'the embedded index')
  const roots = Array.from({ length: 30 }, (_, at) => aComment(`c${at}`, '@sam', `root ${at}`))
  const replies = Array.from({ length: 130 }, (_, at) => aComment(`c7.${at}`, '@al', `reply ${at}`, { parent: 'c7' }))
  await comment(app, 'bread', [...roots, ...replies])
  const user = app.as('user')

  const second = await user.get('/api/video/bread/thread/?page=2')
  const around = await user.get('/api/video/bread/thread/c7.120/')
  const first = await user.get('/api/video/bread/thread/c7.120/?part=1')

  assert.deepEqual(
    second.body.data.map((one: any) => one.comment_id),
    roots.slice(12, 24).map(({ id }) => id),
  )
  assert.deepEqual([second.body.paginate.total_hits, second.body.paginate.last_page], [30, 3])
  assert.equal(around.status, 200, around.text)
  const { thread, part, parts } = around.body
  assert.deepEqual([thread.comment_id, thread.comment_reply_count, part, parts], ['c7', 130, 2, 2])
  assert.equal(thread.comment_replies[20].comment_id, 'c7.120')
  assert.equal(first.body.thread.comment_replies[0].comment_id, 'c7.0')
  for (const path of ['bread/thread/nobody/', 'nothere/thread/c7/', 'nothere/thread/'])
    assert.equal((await user.get(`/api/video/${path}`)).status, 404, path)
  assert.equal((await user.get('/api/video/bread/thread/c7/?part=0')).status, 400)
})
