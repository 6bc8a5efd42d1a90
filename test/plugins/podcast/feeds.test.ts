/** Podcasts: the content of a feed, its audience, and its end. */
import assert from 'node:assert/strict'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { aChannel, aPlaylist, aVideo, PASSWORD, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { openLog } from '../../../core/log.ts'
import { guidOf } from '../../../plugins/podcast/feeds.ts'
import { feedsOfGroups, podcastTables } from '../../../plugins/podcast/tables.ts'
import { FILM_FILE } from '../../support/film.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'
import { all, type Element, one, readXml } from '../../support/xml.ts'

const WHO = 'user' as const
const MILL = { kind: 'channel', target: 'UC1' } as const

async function made(app: TestApp, body: object = MILL, who: 'user' | 'admin' | (string & {}) = WHO) {
  const { status, body: feed } = await app.as(who).post('/api/podcast/', body)
  assert.equal(status, 200, JSON.stringify(feed))
  return feed as { id: number; url: string; title: string }
}

/** Sends requests as an app does: with nothing but the address. */
const ask = (url: string, init: RequestInit = {}): Promise<Response> => fetch(url, init)
const statusOf = async (url: string, init: RequestInit = {}) => (await ask(url, init)).status

async function read(url: string): Promise<Element> {
  const reply = await ask(url)
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  return one(readXml(text), 'channel')
}

const titlesOf = (channel: Element): string[] => all(channel, 'item').map((item) => one(item, 'title').text)

async function withMill(t: Scope, options: TestOptions = {}): Promise<TestApp> {
  const app = await testApp(t, options)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Old Mill', channel_description: 'Grain & bread' }),
    aChannel({ id: 'UC2', channel_name: 'Bakery' }),
    aVideo({ id: 'v1', title: 'Grain', published: '2026-01-03' }),
    aVideo({ id: 'v2', title: 'Flour', published: '2026-01-05' }),
    aVideo({ id: 'v3', channelId: 'UC2', title: 'Bread of grain', published: '2026-01-04' }),
    aPlaylist({
      id: 'PL1',
      playlist_name: 'Loaf',
      entries: ['v1', 'v3'].map((id) => ({ platform_id: id, downloaded: true })),
    }),
  )
  return app
}

describe('the content of a feed', () => {
  for (const { index, skip } of INDEXES)
    test(`a channel, a playlist, Watch later and a search, in ${index}`, { skip }, async (t) => {
      const scope = lastFirst(t)
      const app = await withMill(scope, { settings: await indexSettings(scope, index) })
      await app.as(WHO).post('/api/playlist/watchlater/', { action: 'create', video_id: 'v2' })

      const shown = []
      for (const [kind, target] of [
        ['channel', 'UC1'],
        ['playlist', 'PL1'],
        ['playlist', 'watchlater'],
        ['search', 'grain'],
      ])
        shown.push(titlesOf(await read((await made(app, { kind, target })).url)))

      assert.deepEqual(shown, [['Flour', 'Grain'], ['Grain', 'Bread of grain'], ['Flour'], ['Bread of grain', 'Grain']])
    })

  test('a group: the videos of its channels and playlists, for accounts that see groups', async (t) => {
    const app = await withMill(t)
    await app.given(aVideo({ id: 'other', channelId: 'UC3', title: 'Elsewhere' }))
    const members = [
      { kind: 'channel', id: 'UC2' },
      { kind: 'playlist', id: 'PL1' },
    ]
    const group = (await app.as('admin').post('/api/group/', { name: 'Baking', members })).body
    await app.app.videos.collection.patch('v1', { set: { playlist: ['PL1'] } }, { visible: true })
    const { url, title } = await made(app, { kind: 'group', target: String(group.id) })

    assert.equal(title, 'Baking')
    assert.deepEqual(titlesOf(await read(url)), ['Bread of grain', 'Grain'])
    assert.equal((await app.as(WHO).post('/api/podcast/', { kind: 'group', target: '99' })).status, 404)
    await app.as('admin').post('/api/user/2/', { view: { channel: ['UC2'] } })
    assert.equal((await ask(url)).status, 404)
    await app.as('admin').post('/api/user/2/', { view: null })
    await app.as('admin').delete(`/api/group/${group.id}/`)
    assert.equal((await ask(url)).status, 404)
  })

  test('the head and an item as directories and apps need them', async (t) => {
    const app = await testApp(t)
    const description = 'Flour & water <br> ]]> \u0000 end'
    await app.given(
      aChannel({ id: 'UC1', channel_name: 'Old Mill', channel_description: 'Grain & bread' }),
      aVideo({
        ...{ id: 'v1', title: 'Grain', published: '2026-01-03', media_size: 123_456, height: 720, description },
        player: { duration: 61 },
        chapters: [{ start: 0, title: 'Sow' }],
        subtitles: [
          { ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: '/media/UC1/v1.en.vtt' },
        ],
      }),
    )
    const { url } = await made(app)
    const address = url.replace('/feed.xml', '')

    const channel = await read(url)

    assert.equal(one(channel, 'title').text, 'Old Mill')
    assert.equal(one(channel, 'description').text, 'Grain & bread')
    assert.equal(one(channel, 'itunes:block').text, 'Yes')
    assert.equal(one(channel, 'podcast:locked').text, 'yes')
    assert.equal(one(channel, 'podcast:guid').text, guidOf(url))
    assert.equal(one(channel, 'atom:link').attributes['href'], url)
    assert.equal(one(channel, 'itunes:image').attributes['href'], `${address}/cover.jpg`)
    const item = one(channel, 'item')
    assert.equal(one(item, 'guid').text, 'v1')
    assert.equal(one(item, 'description').text, 'Flour & water <br> ]]>  end')
    assert.equal(one(item, 'pubDate').text, 'Sat, 03 Jan 2026 12:00:00 GMT')
    assert.equal(one(item, 'itunes:duration').text, '61')
    assert.deepEqual(one(item, 'enclosure').attributes, {
      url: `${address}/film/v1.mp4`,
      length: '123456',
      type: 'video/mp4',
    })
    assert.deepEqual(one(item, 'podcast:transcript').attributes, {
      url: `${address}/transcript/v1.en.vtt`,
      type: 'text/vtt',
      language: 'en',
      rel: 'captions',
    })
    assert.equal(one(item, 'podcast:chapters').attributes['type'], 'application/json+chapters')
  })

  test('a video that was added in the morning has no date in the future, which apps would hide', async (t) => {
    const app = await testApp(t)
    const added = ['2026-01-03T01:30:00Z', '2026-01-03T18:00:00Z', '2026-01-02T20:00:00Z', '2025-06-01T00:00:00Z']
    await app.given(
      aChannel({ id: 'UC1' }),
      ...added.map((at, number) =>
        aVideo({ id: `v${number}`, title: at, published: '2026-01-03', date_downloaded: Date.parse(at) / 1000 }),
      ),
    )

    const items = all(await read((await made(app)).url), 'item')

    const dates = new Map(items.map((item) => [one(item, 'title').text, one(item, 'pubDate').text]))
    const noon = 'Sat, 03 Jan 2026 12:00:00 GMT'
    assert.deepEqual(
      added.map((at) => dates.get(at)),
      ['Sat, 03 Jan 2026 01:30:00 GMT', noon, 'Fri, 02 Jan 2026 20:00:00 GMT', noon],
    )
  })

  test('hostile or blank titles, and an invalid date', async (t) => {
    const app = await testApp(t)
    const long = 'x'.repeat(5000)
    const titles = ['\u0007 \u001b[31m', ']]><script>', long, '\ud800 half', 'a\u0000b\nc', '&amp; "q"']
    await app.given(
      aChannel({ id: 'UC1', channel_name: '\u0001]]>', channel_description: `${'ß'.repeat(4000)}\ufffe` }),
      ...titles.map((title, at) => aVideo({ id: `v${at}`, title, published: at === 0 ? '' : `2026-01-1${9 - at}` })),
    )

    const channel = await read((await made(app)).url)

    assert.equal(one(channel, 'title').text, ']]>')
    assert.ok(Buffer.byteLength(one(channel, 'description').text) <= 4000)
    assert.deepEqual(titlesOf(channel).sort(), ['[31m', ']]><script>', long, 'half', 'ab c', '&amp; "q"'].sort())
    for (const item of all(channel, 'item')) assert.ok(!Number.isNaN(Date.parse(one(item, 'pubDate').text)))
  })

  test('beyond the first hundred items, descriptions are short', async (t) => {
    const app = await testApp(t)
    const description = 'ß'.repeat(3000)
    await app.given(
      aChannel({ id: 'UC1' }),
      ...Array.from({ length: 101 }, (_, at) =>
        aVideo({ id: `v${at}`, title: `${at}`, description, published: at === 100 ? '2025-01-01' : '2026-01-01' }),
      ),
    )

    const items = all(await read((await made(app)).url), 'item').map((item) => one(item, 'description').text)

    assert.ok(items.slice(0, 100).every((text) => Buffer.byteLength(text) > 3990))
    assert.equal(items[100], `${'ß'.repeat(148)}...`)
  })

  test('it is sent once, and after that only if something has changed', async (t) => {
    const app = await withMill(t)
    const { url } = await made(app)
    const tag = (await ask(url)).headers.get('etag')!
    const again = await ask(url, { headers: { 'if-none-match': tag } })
    const head = await ask(url, { method: 'HEAD' })
    assert.deepEqual([again.status, await again.text(), head.status], [304, '', 200])

    await app.given(aVideo({ id: 'v9', title: 'New' }))

    assert.equal((await ask(url, { headers: { 'if-none-match': tag } })).status, 200)
  })

  test('an app that has the feed gets a 304 without making it again', async (t) => {
    const app = await withMill(t)
    const { url } = await made(app)
    await app.settled()
    const { contents } = app.app
    const videosOf = contents.videosOf
    let times = 0
    contents.videosOf = (...given) => {
      times++
      return videosOf(...given)
    }
    const tag = (await ask(url)).headers.get('etag')!

    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await ask(url, { headers: { 'if-none-match': tag } })).status)
    assert.deepEqual([statuses, times], [[304, 304, 304], 1])
    assert.equal((await ask(url, { headers: { 'if-none-match': '"another"' } })).status, 200)

    await app.as('admin').post('/api/user/2/', { view: { channel: ['UC2'] } })
    assert.equal((await ask(url, { headers: { 'if-none-match': tag } })).status, 404)
  })

  test('a feed changes once a video no longer waits for its sound', async (t) => {
    const app = await withMill(t)
    const { url } = await made(app)
    const now = Math.floor(app.clock.now() / 1000)
    const streams = [{ type: 'audio', index: 0, codec: 'aac', bitrate: 64_000 } as const]
    await app.given(aVideo({ id: 'v9', title: 'New', date_downloaded: now, streams }))
    const waiting = await ask(url)
    assert.ok(!(await waiting.text()).includes('<title>New</title>'))

    await app.clock.advance(86_400_000)

    const shown = await ask(url, { headers: { 'if-none-match': waiting.headers.get('etag')! } })
    assert.equal(shown.status, 200)
    assert.ok((await shown.text()).includes('<title>New</title>'))
  })

  test('segments to skip are silent chapters', async (t) => {
    const app = await testApp(t)
    const segment = { UUID: 'u', actionType: 'skip', category: 'sponsor', locked: 0, votes: 1, videoDuration: 100 }
    await app.given(
      aChannel({ id: 'UC1' }),
      aVideo({
        chapters: [
          { start: 0, title: 'Sow' },
          { start: 50, title: 'Reap' },
        ],
        sponsorblock: { is_enabled: true, has_unlocked: true, segments: [{ ...segment, segment: [10, 20.5] }] },
      }),
    )
    const address = (await made(app)).url.replace('/feed.xml', '')

    const reply = await ask(`${address}/chapters/v1.json`)

    assert.match(reply.headers.get('content-type')!, /^application\/json\+chapters/)
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    assert.deepEqual(await reply.json(), {
      version: '1.2.0',
      chapters: [
        { startTime: 0, title: 'Sow' },
        { startTime: 10, endTime: 20.5, toc: false },
        { startTime: 50, title: 'Reap' },
      ],
    })
  })

  test('film and transcript, in ranges and complete', async (t) => {
    const app = await withMill(t)
    await app.given(
      aVideo({
        id: 'v1',
        subtitles: [{ ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: '' }],
      }),
    )
    const film = app.app.media.pathOf('UC1', 'v1')
    await mkdir(dirname(film), { recursive: true })
    await cp(FILM_FILE, film)
    await writeFile(film.replace('.mp4', '.en.vtt'), 'WEBVTT\n')
    const address = (await made(app)).url.replace('/feed.xml', '')

    const part = await ask(`${address}/film/v1.mp4`, { headers: { range: 'bytes=4-7' } })
    const whole = await ask(`${address}/film/v1.mp4`, { method: 'HEAD' })
    const text = await ask(`${address}/transcript/v1.en.vtt`)

    assert.deepEqual([part.status, await part.text()], [206, 'ftyp'])
    assert.deepEqual([whole.status, whole.headers.get('content-type')], [200, 'video/mp4'])
    assert.deepEqual([text.status, await text.text()], [200, 'WEBVTT\n'])
    for (const path of ['transcript/v1.de.vtt', 'film/v3.mp4', 'film/..%2fv1.mp4', 'sound/v1.m4a', 'picture/v1.jpg'])
      assert.equal((await ask(`${address}/${path}`)).status, 404, path)
  })
})

describe('the audience of a feed', () => {
  test('its address opens that feed alone, and nothing once it has ended', async (t) => {
    const app = await withMill(t)
    const [mill, loaf] = [await made(app), await made(app, { kind: 'playlist', target: 'PL1' })]
    const signature = new URL(mill.url).pathname.split('/')[3]!
    const crossed = loaf.url.replace(new URL(loaf.url).pathname.split('/')[3]!, signature)

    assert.deepEqual([await statusOf(mill.url), await statusOf(crossed)], [200, 401])
    assert.equal(await statusOf(mill.url.replace('/feed.xml', '/film/v3.mp4')), 404, 'of another channel')
    assert.equal(await statusOf(`${app.url}api/video/?signed=${signature}`), 401)
    assert.equal(await statusOf(mill.url, { method: 'POST' }), 405)
    assert.equal(await statusOf(mill.url.replace(signature, signature.replace(/^\d+/, '1'))), 401)

    assert.equal((await app.as('admin').delete(`/api/podcast/${mill.id}/`)).status, 404, 'of another account')
    assert.equal((await app.as(WHO).delete(`/api/podcast/${mill.id}/`)).status, 200)

    assert.deepEqual([await statusOf(mill.url), await statusOf(loaf.url)], [404, 200])
    const anew = await made(app)
    assert.ok(anew.url !== mill.url)
    assert.deepEqual([await statusOf(mill.url), await statusOf(anew.url)], [404, 200])
  })

  test('it ends with its account, and with a change of the account’s password', async (t) => {
    const app = await withMill(t)
    const { url } = await made(app)

    await app.as('admin').post('/api/user/2/', { is_active: false })
    assert.equal(await statusOf(url), 401)
    await app.as('admin').post('/api/user/2/', { is_active: true })
    assert.equal(await statusOf(url), 200)
    await app.as('admin').post('/api/user/2/', { password: `${PASSWORD} anew` })
    assert.equal(await statusOf(url), 401)
    const anew = (await app.as(WHO).get('/api/podcast/')).body[0].url
    assert.equal(await statusOf(anew), 200)

    await app.as('admin').delete('/api/user/2/')
    assert.equal(await statusOf(anew), 401)
    assert.deepEqual(app.app.feeds.all(), [])
  })

  test('the log has no signature', async (t) => {
    const lines: string[] = []
    const app = await withMill(t, { log: openLog('debug', { write: (line: string) => void lines.push(line) }) })
    const { url } = await made(app)
    const signature = new URL(url).pathname.split('/')[3]!

    await ask(url)
    await ask(url.replace('/podcast/1/', '/podcast/2/'))
    await ask(url.replace('feed.xml', 'none.xml'))
    await ask(url, { method: 'DELETE' })

    assert.equal(lines.filter((line) => line.includes('"GET","path":"/podcast/1/***/feed.xml')).length, 1)
    assert.ok(lines.some((line) => line.includes('request_refused') && line.includes('/podcast/2/***/feed.xml')))
    assert.ok(!lines.some((line) => line.includes(signature)))
  })

  test('a child’s feed shows the child’s view', async (t) => {
    const app = await withMill(t)
    await app.as('admin').post('/api/user/2/', { view: { channel: ['UC1'] } })

    assert.equal((await app.as(WHO).post('/api/podcast/', { kind: 'channel', target: 'UC2' })).status, 404)
    const { url } = await made(app, { kind: 'search', target: 'grain' })

    assert.deepEqual(titlesOf(await read(url)), ['Grain'])
    assert.equal(await statusOf(url.replace('/feed.xml', '/film/v3.mp4')), 404)
    await app.as('admin').post('/api/user/2/', { view: { channel: ['UC2'] } })
    assert.deepEqual(titlesOf(await read(url)), ['Bread of grain'])
  })
})

describe('the account’s own podcasts', () => {
  test('a duplicate is the same podcast, a removed subject has no title, and all are in the OPML', async (t) => {
    const app = await withMill(t)
    const mill = await made(app)
    assert.deepEqual(await made(app), mill)
    await made(app, { kind: 'search', target: ' <grain> & "bread" ' })
    await made(app, { kind: 'playlist', target: 'PL1' })
    await app.as('admin').delete('/api/playlist/PL1/')

    const { body } = await app.as(WHO).get('/api/podcast/')
    const opml = await app.as(WHO).get('/api/podcast/opml/')

    assert.deepEqual(
      body.map(({ title }: { title: string }) => title),
      ['Old Mill', '<grain> & "bread"', null],
    )
    const outlines = all(one(readXml(opml.text), 'body'), 'outline').map(({ attributes }) => attributes)
    assert.deepEqual(
      outlines.map(({ text, xmlUrl }) => [text, xmlUrl]),
      [
        ['Old Mill', mill.url],
        ['<grain> & "bread"', body[1].url],
      ],
    )
    assert.deepEqual((await app.as('admin').get('/api/podcast/')).body, [])
  })

  test('an invalid podcast is refused with a sentence', async (t) => {
    const app = await withMill(t)
    for (const [body, status] of [
      [{ kind: 'channel', target: 'UCnone' }, 404],
      [{ kind: 'channel', target: '../x' }, 400],
      [{ kind: 'search', target: '   ' }, 400],
      [{ kind: 'group', target: 'x' }, 404],
      [{ kind: 'house', target: 'x' }, 400],
      [{}, 400],
    ] as const) {
      const reply = await app.as(WHO).post('/api/podcast/', body)
      assert.deepEqual([reply.status, typeof reply.body.error], [status, 'string'], JSON.stringify(body))
    }
  })

  test('a feed is removed with its channel', async (t) => {
    const app = await withMill(t)
    await made(app)
    await app.as('admin').delete('/api/channel/UC1/')
    assert.deepEqual((await app.as(WHO).get('/api/podcast/')).body, [])
  })

  test('a feed goes to the bin with its channel, and is restored with it at the same address', async (t) => {
    const app = await withMill(t)
    const [mill, other, child] = [await made(app), await made(app, MILL, 'admin'), 'child']
    await app.as('admin').post('/api/user/', { username: child, password: PASSWORD })
    const ended = await made(app, MILL, child)
    const before = await read(mill.url)
    const { removal } = (await app.as('admin').delete('/api/channel/UC1/')).body
    await app.settled()
    assert.deepEqual(await Promise.all([mill, other, ended].map(({ url }) => statusOf(url))), [404, 404, 404])
    const { id } = app.app.accounts.list().find(({ username }) => username === child)!
    await app.as('admin').delete(`/api/user/${id}/`)

    const { status, text } = await app.as('admin').post('/api/bin/restore/', { removal })
    await app.settled()

    assert.equal(status, 200, text)
    assert.deepEqual((await app.as(WHO).get('/api/podcast/')).body, [mill])
    assert.deepEqual((await app.as('admin').get('/api/podcast/')).body, [other])
    assert.deepEqual(titlesOf(await read(mill.url)), ['Flour', 'Grain'])
    assert.deepEqual(one(await read(mill.url), 'podcast:guid'), one(before, 'podcast:guid'))
    assert.deepEqual([await statusOf(other.url), await statusOf(ended.url)], [200, 401])
  })

  test('a feed that was made again while its channel was in the bin stays as it is after the restore', async (t) => {
    const app = await withMill(t)
    const former = await made(app)
    const { removal } = (await app.as('admin').delete('/api/channel/UC1/')).body
    await app.given(aChannel({ id: 'UC1', channel_name: 'Old Mill' }))
    const anew = await made(app)

    await app.as('admin').post('/api/bin/restore/', { removal })
    await app.settled()

    assert.deepEqual((await app.as(WHO).get('/api/podcast/')).body, [anew])
    assert.deepEqual([await statusOf(former.url), await statusOf(anew.url)], [404, 200])
  })
})

test('the id of a feed is computed as its specification says', () => {
  assert.equal(guidOf('https://mp3s.nashownotes.com/pc20rss.xml'), '917393e3-1b1e-5cef-ace4-edaa54e1f810')
})

test('an update that allows podcasts of groups never reuses the number of an ended podcast', () => {
  const db = new Database(':memory:')
  db.exec(`CREATE TABLE users (id INTEGER PRIMARY KEY); INSERT INTO users VALUES (1); ${podcastTables.sql}`)
  const add = (kind: string, target: string) =>
    Number(
      db
        .prepare('INSERT INTO podcast_feed (user_id, kind, target, guid, created_at) VALUES (1, ?, ?, ?, 0)')
        .run(kind, target, target).lastInsertRowid,
    )
  for (const target of ['a', 'b', 'c']) add('channel', target)
  db.exec('DELETE FROM podcast_feed WHERE id > 1')

  db.exec(feedsOfGroups.sql)

  assert.equal(add('group', '1'), 4)
  assert.deepEqual(db.prepare('SELECT id, target FROM podcast_feed ORDER BY id').all(), [
    { id: 1, target: 'a' },
    { id: 4, target: '1' },
  ])
  db.close()
})
