/**
 * Replies that clients already have are confirmed before the work is done, and no outdated one is sent after a write.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import {
  aChannel,
  aPlaylist,
  aQueued,
  aVideo,
  someComments,
  type TestApp,
  type TestReply,
  testApp,
} from '../support/testing.ts'

const IDS: Record<string, string> = { videoId: 'bread', channelId: 'mill', playlistId: 'basics', commentId: 'c1' }
const QUERIES: Record<string, string> = { '/api/search/': '?query=sourdough', '/api/said/': '?query=full:sourdough' }
const ITEM = 'waiting'

const urlOf = (path: string): string =>
  path.replace(/:(\w+)/g, (_all, name: string) =>
    path.startsWith('/api/download/') ? ITEM : (IDS[name] ?? assert.fail(`${path}: give an id for ${name}`)),
  ) + (QUERIES[path] ?? '')

/** Each with an account that may see it. */
const asked = ({ app }: TestApp): Array<{ url: string; who: 'admin' | 'user' }> =>
  app.registry.routes
    .filter(({ revalidates }) => revalidates)
    .map(({ path, access }) => ({
      url: urlOf(path),
      who: access === 'admin' || access === 'downloader' ? 'admin' : 'user',
    }))

async function anArchive(app: TestApp): Promise<TestApp> {
  await app.given(
    aChannel({ id: 'mill', channel_name: 'Old Mill Bakery' }),
    aVideo({ id: 'bread', channelId: 'mill', title: 'Sourdough bread', player: { duration: 600 } }),
    aVideo({ id: 'starter', channelId: 'mill', title: 'Sourdough starter', player: { duration: 600 } }),
    someComments('bread', [{ comment_id: 'c1', comment_replies: [] }]),
    aPlaylist({ id: 'basics', playlist_name: 'Sourdough basics', entries: ['bread', 'starter'] }),
    aQueued({ id: ITEM }),
  )
  await app.settled()
  return app
}

const tagOf = ({ headers, status }: TestReply): string => {
  assert.equal(status, 200)
  return headers.get('etag') ?? assert.fail('There is no ETag')
}

test('a reply that the client has is not made again, and other accounts do not get it', async (t) => {
  const app = await anArchive(await testApp(t))
  assert.ok(asked(app).length >= 15)
  for (const { url, who } of asked(app)) {
    const first = await app.as(who).get(url)
    const tag = tagOf(first)
    for (const header of [tag, `"x", ${tag}`, tag.replace('W/', ''), '*']) {
      const again = await app.as(who).get(url, { 'if-none-match': header })
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag], `${url} ${header}`)
      assert.equal(again.headers.get('cache-control'), 'no-store')
    }
    assert.equal((await app.as(who).get(url, { 'if-none-match': '"x"' })).text, first.text)
    const others = await app.as(who === 'user' ? 'admin' : 'user').get(url, { 'if-none-match': tag })
    if (who === 'user') assert.notEqual(tagOf(others), tag)
    else assert.equal(others.status, 403)
    assert.equal((await app.as('nobody').get(url, { 'if-none-match': tag })).status, 401)
  }
})

type Write = (app: TestApp) => Promise<unknown>
const writes: Record<string, Write> = {
  'a video is marked': ({ as }) => as('user').post('/api/watched/', { id: 'bread', is_watched: true }),
  'a position is stored': ({ as }) => as('user').post('/api/video/bread/progress/', { position: 100 }),
  'the page size of the account changes': ({ as }) => as('user').post('/api/config/user/', { page_size: 1 }),
  'a preference changes': ({ as }) => as('admin').post('/api/config/', { application: { enable_cast: true } }),
  'a channel is renamed': ({ app }) => app.channels.collection.patch('mill', { set: { channel_name: 'Sourdough' } }),
  'a video is renamed': ({ app }) => app.videos.collection.patch('bread', { set: { title: 'Sourdough loaf' } }),
  'an item is ignored': ({ as }) => as('admin').post(`/api/download/${ITEM}/`, { status: 'ignore' }),
  'a download goes on': async ({ app }) => {
    const item = app.queue.begin(ITEM)
    item.report({ fraction: 0.5 })
  },
  'a playlist changes': ({ app }) => app.playlists.collection.patch('basics', { set: { playlist_name: 'Sourdough!' } }),
  'a video goes': ({ as }) => as('admin').delete('/api/video/starter/'),
}

test('after any write every reply is the same as without tags', async (t) => {
  const app = await anArchive(await testApp(t))
  for (const [what, write] of Object.entries(writes)) {
    const before = new Map<string, TestReply>()
    for (const { url, who } of asked(app)) before.set(url, await app.as(who).get(url))

    const answer = await write(app)

    if (answer && typeof answer === 'object' && 'status' in answer) assert.ok(Number(answer.status) < 300, what)
    let changed = 0
    for (const { url, who } of asked(app)) {
      const had = before.get(url)!
      const now = await app.as(who).get(url, { 'if-none-match': tagOf(had) })
      const shown = now.status === 304 ? had.text : now.text
      if (shown !== had.text) changed++
      app.app.touch()
      const fresh = await app.as(who).get(url)
      assert.equal(shown, fresh.text, `${what}: ${url}`)
    }
    assert.ok(changed > 0, what)
  }
})

/** Whether the handler of a list is called. */
async function isMade(app: TestApp, who: 'admin' | 'user', url: string, headers = {}): Promise<boolean> {
  const { routes } = app.app.registry
  const route = routes.find(({ method, path }) => method === 'GET' && path === url)
  assert.ok(route, url)
  const { handle } = route
  let isAsked = false
  route.handle = (input, given) => {
    isAsked = true
    return handle(input, given)
  }
  await app.as(who).get(url, headers)
  route.handle = handle
  return isAsked
}

test('a reply stays cached when others write: other accounts, other collections, jobs', async (t) => {
  const app = await anArchive(await testApp(t))
  const writes: Record<string, { write: Write; ends: readonly string[] }> = {
    'another account’s position': {
      write: ({ as }) => as('admin').post('/api/video/bread/progress/', { position: 50 }),
      ends: [],
    },
    'one’s own position': {
      write: ({ as }) => as('user').post('/api/video/bread/progress/', { position: 100 }),
      ends: ['/api/video/'],
    },
    'a channel': {
      write: ({ app }) =>
        app.channels.collection.patch('mill', {
          set: { channel_name: 'Miller' },
        }),
      ends: ['/api/video/', '/api/channel/', '/api/stats/channel/'],
    },
    'a playlist': {
      write: ({ app }) =>
        app.playlists.collection.patch('basics', {
          set: { playlist_name: 'Bread' },
        }),
      ends: ['/api/playlist/'],
    },
    'a row that no list shows': {
      write: ({ app: { ledger } }) =>
        ledger.write(() => ledger.sql("INSERT INTO watch_pending (what) VALUES ('nothing')").run()),
      ends: [],
    },
  }
  const urls = ['/api/video/', '/api/channel/', '/api/playlist/', '/api/stats/channel/']
  for (const [what, { write, ends }] of Object.entries(writes)) {
    for (const url of [...urls, ...urls]) await app.as('user').get(url) // cached from the second time
    await write(app)
    for (const url of urls) assert.equal(await isMade(app, 'user', url), ends.includes(url), `${what}: ${url}`)
  }
})

test('a reply to which an external plugin contributes is made each time, and tagged by its content', async (t) => {
  let position = 1
  const outside = definePlugin({
    name: 'elsewhere',
    needs: ['video'],
    implements: { 'video.tail': () => (ids) => new Map(ids.map((id) => [id, { position, progress: 0 } as never])) },
  })
  const app = await anArchive(await testApp(t, { outside: [outside] }))
  const first = await app.as('user').get('/api/video/bread/')
  const known = { 'if-none-match': tagOf(first) }
  assert.equal((await app.as('user').get('/api/video/bread/', known)).status, 304)

  position = 2

  const second = await app.as('user').get('/api/video/bread/', known)
  assert.equal(second.status, 200)
  assert.equal(second.body.data.player.position, 2)
  for (let time = 0; time < 2; time++) await app.as('user').get('/api/channel/')
  assert.equal(await isMade(app, 'user', '/api/channel/'), false, 'others are cached')
})

test('a client that has a reply that was requested once gets a 304, and the reply is not made again', async (t) => {
  const app = await anArchive(await testApp(t))
  const tag = tagOf(await app.as('user').get('/api/channel/'))
  assert.equal(await isMade(app, 'user', '/api/channel/', { 'if-none-match': tag }), false)
  assert.equal(await isMade(app, 'user', '/api/channel/'), true)
  assert.equal(await isMade(app, 'user', '/api/channel/'), false)
})

test('a record is cached in each of its forms', async (t) => {
  const app = await anArchive(await testApp(t))
  const user = app.as('user')

  const merged = await user.get('/api/video/bread/')
  const enveloped = await user.get('/api/video/bread/', { 'x-api-form': 'v0.4' })

  assert.deepEqual(enveloped.body, { data: merged.body.data, config: merged.body.config })
  assert.equal(merged.body.title, 'Sourdough bread')
  assert.notEqual(tagOf(merged), tagOf(enveloped))
  assert.equal((await user.get('/api/video/bread/')).text, merged.text)
})
