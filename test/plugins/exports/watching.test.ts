/** What was watched in another program, and playlists of one's own: previewed, and taken over for an account. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../../support/folder.ts'
import { zipOf } from '../backup/zips.ts'

const [FERRY, COMET, GONE] = ['ferryFerry1', 'cometComet1', 'goneGoneGo1'] as const
const AT = 1_700_000_000
const url = (id: string) => `https://www.youtube.com/watch?v=${id}`
const lines = (...rows: object[]) => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
const archive = (files: Record<string, string | Buffer>): Promise<Buffer> =>
  zipOf(...Object.entries(files).map(([name, content]) => ({ name, content })))

const takeoutSeen = JSON.stringify([
  { header: 'YouTube', titleUrl: url(FERRY), time: new Date(AT * 1000).toISOString() },
  { header: 'YouTube', titleUrl: url(FERRY), time: new Date((AT - 500) * 1000).toISOString() },
  { header: 'YouTube', titleUrl: url(COMET), time: new Date((AT - 9) * 1000).toISOString() },
  { header: 'YouTube', title: 'Watched a video that has been removed', time: '2024-04-01T10:00:00Z' },
  { header: 'YouTube', titleUrl: url(GONE), details: [{ name: 'From Google Ads' }], time: '2024-04-01T09:00:00Z' },
])
const takeoutList = `Video ID,Playlist Video Creation Timestamp\n${COMET},2024-05-01T10:00:00+00:00\n${FERRY},2024-05-02T10:00:00+00:00\n${GONE},2024-05-02T10:00:00+00:00\n`
const freeTubeSeen = lines(
  { _id: FERRY, videoId: FERRY, watchProgress: 10, lengthSeconds: 600, timeWatched: (AT - 99) * 1000 },
  { _id: COMET, videoId: COMET, watchProgress: 590, lengthSeconds: 600, timeWatched: AT * 1000 },
  { _id: GONE, videoId: GONE, watchProgress: 1, lengthSeconds: null, timeWatched: AT * 1000 },
  { _id: FERRY, videoId: FERRY, watchProgress: 60, lengthSeconds: 600, timeWatched: AT * 1000 },
)
const freeTubeLists = lines(
  { _id: 'favorites', playlistName: 'Favorites', videos: [] },
  { _id: 'p1', playlistName: 'Evenings', videos: [{ videoId: GONE }] },
  { _id: 'p1', playlistName: 'Evenings', videos: [COMET, FERRY, GONE].map((videoId) => ({ videoId })) },
  { _id: 'p2', playlistName: 'Removed', videos: [{ videoId: FERRY }] },
  { _id: 'p2', $$deleted: true },
)
const invidious = JSON.stringify({
  subscriptions: [],
  watch_history: [FERRY, COMET],
  playlists: [{ title: 'Evenings', videos: [COMET, FERRY, GONE] }],
})
const grayjay = () =>
  archive({
    exportInfo: '{}',
    'stores/history': JSON.stringify([`${url(FERRY)}|||${AT}|||60|||a ||| b`, `${url(COMET)}|||${AT}|||599|||c`]),
    'stores/playlists': JSON.stringify([`Evenings:::b0c5\n${[COMET, FERRY, GONE].map(url).join('\n')}`]),
    'stores/watch_later': JSON.stringify([url(GONE)]),
  })

async function newPipe(t: TestContext): Promise<Buffer> {
  const file = join(await temporaryFolder(t), 'newpipe.db')
  const db = new Database(file)
  db.exec(`CREATE TABLE subscriptions (uid INTEGER PRIMARY KEY, service_id INTEGER, url TEXT, name TEXT);
    CREATE TABLE streams (uid INTEGER PRIMARY KEY, service_id INTEGER, url TEXT, duration INTEGER);
    CREATE TABLE stream_history (stream_id INTEGER, access_date INTEGER, repeat_count INTEGER);
    CREATE TABLE stream_state (stream_id INTEGER PRIMARY KEY, progress_time INTEGER);
    CREATE TABLE playlists (uid INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE playlist_stream_join (playlist_id INTEGER, stream_id INTEGER, join_index INTEGER);
    INSERT INTO streams VALUES (1, 0, '${url(FERRY)}', 600), (2, 0, '${url(COMET)}', 600), (3, 0, '${url(GONE)}', 600), (4, 1, 'https://soundcloud.com/a', 5);
    INSERT INTO stream_history VALUES (1, ${(AT - 50) * 1000}, 1), (1, ${AT * 1000}, 1), (2, ${AT * 1000}, 1), (4, ${AT * 1000}, 1);
    INSERT INTO stream_state VALUES (1, 60000), (2, 590000);
    INSERT INTO playlists VALUES (1, 'Evenings');
    INSERT INTO playlist_stream_join VALUES (1, 1, 1), (1, 2, 0), (1, 3, 2)`)
  db.close()
  return archive({ 'newpipe.db': await readFile(file), 'preferences.json': '{}' })
}

const raw = { 'content-type': 'application/octet-stream' }
const preview = (app: TestApp, content: string | Buffer) =>
  app.as('admin').post('/api/subscription/preview/', Buffer.from(content), raw)
const take = (app: TestApp, content: string | Buffer, query: string, who: 'admin' | 'user' = 'admin') =>
  app.as(who).post(`/api/subscription/history/?${query}`, Buffer.from(content), raw)
const playerOf = async (app: TestApp, id: string, who: 'admin' | 'user' = 'user') =>
  (await app.as(who).get(`/api/video/${id}/`)).body.data.player
const listsOf = async (app: TestApp) =>
  ((await app.as('user').get('/api/playlist/?visibility=private')).body.data as Array<Record<string, unknown>>)
    .filter(({ playlist_entries: entries }) => (entries as unknown[]).length > 0)
    .map(({ playlist_name: name, playlist_entries: entries }) => [
      name,
      (entries as Array<{ youtube_id: string }>).map(({ youtube_id: id }) => id),
    ])

async function library(t: TestContext): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1' }),
    ...[FERRY, COMET].map((id) => aVideo({ id, channelId: 'UC1', player: { duration: 600 } })),
  )
  return app
}

const SEEN = { count: 2, watched: 2, positions: 0 }
const BEGUN = { count: 2, watched: 1, positions: 1 }
const LIST = { name: 'Evenings', count: 3, here: 2, missing: [GONE] }
const FORMS: Array<[name: string, (t: TestContext) => Promise<string | Buffer> | string, object, object[]]> = [
  ['the history of Takeout', () => takeoutSeen, SEEN, []],
  ['a playlist of Takeout', () => takeoutList, { count: 0, watched: 0, positions: 0 }, [{ ...LIST, name: 'Playlist' }]],
  [
    'a whole Takeout, in another language',
    () => archive({ 'T/Verlauf/Wiedergabeverlauf.json': takeoutSeen, 'T/Playlists/Evenings-videos.csv': takeoutList }),
    SEEN,
    [LIST],
  ],
  ['the history of FreeTube', () => freeTubeSeen, { ...BEGUN, count: 3 }, []],
  [
    'the playlists of FreeTube',
    () => freeTubeLists,
    { count: 0, watched: 0, positions: 0 },
    [{ name: 'Favorites', count: 0, here: 0, missing: [] }, LIST],
  ],
  ['Invidious', () => invidious, SEEN, [LIST]],
  ['Grayjay', grayjay, BEGUN, [LIST, { name: 'Watch later', count: 1, here: 0, missing: [GONE] }]],
  ['NewPipe', newPipe, BEGUN, [LIST]],
]

test('watched videos and playlists of each program are counted, beside what is in the archive', async (t) => {
  const app = await library(t)
  for (const [name, make, history, playlists] of FORMS) {
    const { status, body } = await preview(app, await make(t))

    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    assert.deepEqual([body.history, body.playlists], [history, playlists], name)
  }
  assert.deepEqual([(await playerOf(app, FERRY)).watched, await listsOf(app)], [false, []], 'nothing was changed')
})

test('an account gets marks, positions and playlists of what is in the archive, and keeps what it has done here', async (t) => {
  const app = await library(t)
  const content = await newPipe(t)
  await app.as('user').post('/api/watched/', { id: COMET, is_watched: true })
  await app.settled()
  const before = await playerOf(app, COMET)

  const first = await take(app, content, 'user=user&watched=true&playlists=true')
  assert.deepEqual([first.status, first.body], [200, { user: 'user', watched: 0, positions: 1, playlists: 1 }])
  assert.equal((await playerOf(app, FERRY)).position, 60)
  assert.deepEqual((await playerOf(app, COMET)).watched_date, before.watched_date)
  assert.equal((await playerOf(app, FERRY, 'admin')).position ?? 0, 0)
  assert.deepEqual(await listsOf(app), [['Evenings', [COMET, FERRY]]])

  const again = await take(app, content, 'user=user&watched=true&playlists=true')
  assert.deepEqual(again.body, { user: 'user', watched: 0, positions: 0, playlists: 0 })
  assert.deepEqual(await listsOf(app), [['Evenings', [COMET, FERRY]]])

  const own = await take(app, takeoutSeen, 'watched=true')
  assert.deepEqual(own.body, { user: 'admin', watched: 2, positions: 0, playlists: 0 })
  const { watched, watched_date: date } = await playerOf(app, FERRY, 'admin')
  assert.deepEqual([watched, date], [true, AT])
  assert.deepEqual(await app.ids('download'), [], 'the rest is fetched only where somebody asks')
})

test('what is hostile, too much or for nobody is refused, and changes nothing', async (t) => {
  const app = await library(t)
  const many = (length: number, one: (at: number) => object) => lines(...Array.from({ length }, (_, at) => one(at)))
  for (const content of [
    many(100_001, (at) => ({ _id: `v${at}`, videoId: `v${at}`, timeWatched: AT * 1000 })),
    many(501, (at) => ({ _id: `p${at}`, playlistName: `list ${at}`, videos: [{ videoId: FERRY }] })),
    lines({ _id: 'p', playlistName: 'long', videos: Array.from({ length: 50_001 }, () => ({ videoId: FERRY })) }),
  ]) {
    const { status } = await take(app, content, 'watched=true&playlists=true')
    assert.equal(status, 422)
  }
  const odd = JSON.stringify([
    { titleUrl: url(FERRY), time: '+275760-09-13T00:00:00.001Z', header: 'YouTube' },
    { titleUrl: 'javascript:alert(1)', time: 'no time', header: 'YouTube' },
    { titleUrl: url(COMET), time: '9999-01-01T00:00:00Z', header: 'YouTube', details: 7 },
  ])
  const { body } = await take(app, odd, 'watched=true')
  assert.deepEqual([body.watched, body.positions], [2, 0])
  const now = app.clock.now() / 1000
  for (const id of [FERRY, COMET]) assert.equal((await playerOf(app, id, 'admin')).watched_date, now, 'no day to come')

  assert.equal((await take(app, takeoutSeen, 'user=stranger&watched=true')).status, 422)
  assert.equal((await take(app, takeoutSeen, '')).status, 400)
  assert.equal((await take(app, takeoutSeen, 'watched=true', 'user')).status, 403)
  assert.deepEqual(await listsOf(app), [])
})

const page = (id: string) =>
  `<!DOCTYPE html><html><head><style>${'.a{}'.repeat(9_000)}</style></head><body><div class="outer-cell">Watched <a href="${url(id)}">A film</a><br>Nov 3, 2023, 9:15:04 PM CET</div></body></html>`

test('a history in HTML is told, with what to ask for instead; one in JSON beside it is read', async (t) => {
  const app = await testApp(t)
  const preview = (bytes: Buffer) => app.as('admin').post('/api/subscription/preview/', bytes, raw)
  const folder = 'Takeout/YouTube und YouTube Music'
  const table =
    'Channel Id,Channel Url,Channel Title\nUCaaaaaaaaaaaaaaaaaaaaaa,http://www.youtube.com/channel/UCaaaaaaaaaaaaaaaaaaaaaa,A\n'
  const html = {
    [`${folder}/Verlauf/Wiedergabeverlauf.html`]: page(FERRY),
    'Takeout/archive_browser.html': '<html></html>',
  }

  const withTable = await preview(await archive({ ...html, [`${folder}/Abos/Abos.csv`]: table }))
  const withJson = await preview(await archive({ ...html, [`${folder}/Verlauf/Wiedergabeverlauf.json`]: takeoutSeen }))
  const alone = [await preview(await archive(html)), await preview(Buffer.from(page(FERRY)))]

  const name = 'Wiedergabeverlauf.html'
  assert.deepEqual([withTable.body.history.html, withTable.body.skipped], [name, [name]])
  assert.equal(withTable.body.subscriptions.length, 1)
  assert.deepEqual([withJson.body.history.html, withJson.body.skipped, withJson.body.history.count], [undefined, [], 2])
  for (const { status, body } of alone) {
    assert.equal(status, 422)
    assert.match(body.error, /history in HTML.*choose JSON/)
  }
})
