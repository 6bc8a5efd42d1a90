/** Watch history and playlists of another program: previewed, and imported for an account. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { pack } from 'tar-stream'
import yauzl from 'yauzl'
import { temporaryFolder } from '../../support/folder.ts'
import { zipOf } from '../backup/zips.ts'
import '../../support/slow.ts'

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

const NONE = { count: 0, watched: 0, positions: 0, left_out: 0 }
const SEEN = { ...NONE, count: 2, watched: 2 }
const BEGUN = { ...NONE, count: 2, watched: 1, positions: 1 }
const LIST = { name: 'Evenings', count: 3, here: 2, missing: [GONE] }
const FORMS: Array<[name: string, (t: TestContext) => Promise<string | Buffer> | string, object, object[]]> = [
  ['the history of Takeout', () => takeoutSeen, SEEN, []],
  ['a playlist of Takeout', () => takeoutList, NONE, [{ ...LIST, name: 'Playlist' }]],
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
    NONE,
    [{ name: 'Favorites', count: 0, here: 0, missing: [] }, LIST],
  ],
  ['Invidious', () => invidious, SEEN, [LIST]],
  ['Grayjay', grayjay, BEGUN, [LIST, { name: 'Watch later', count: 1, here: 0, missing: [GONE] }]],
  ['NewPipe', newPipe, BEGUN, [LIST]],
]

test('watched videos and playlists of each program are counted, with the number in the archive', async (t) => {
  const app = await library(t)
  for (const [name, make, history, playlists] of FORMS) {
    const { status, body } = await preview(app, await make(t))

    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    assert.deepEqual([body.history, body.playlists], [history, playlists], name)
  }
  assert.deepEqual([(await playerOf(app, FERRY)).watched, await listsOf(app)], [false, []], 'nothing was changed')
})

test('an account gets marks, positions and playlists for videos in the archive, and keeps its own', async (t) => {
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

test('a malicious, oversized or empty file is refused, and changes nothing', async (t) => {
  const app = await library(t)
  const many = (length: number, one: (at: number) => object) => lines(...Array.from({ length }, (_, at) => one(at)))
  for (const content of [
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

const COUNT = (count: number) => ({ count, watched: 0, positions: 0, left_out: 0 })
const seenIn = async (app: TestApp, content: string | Buffer) => (await preview(app, content)).body
const CHANNEL = 'UCbcdefghijklmnopqrstuvA'

/** An entry of Takeout: an address, a channel, a time in the user's language; adverts have an additional cell. */
const entry = (verb: string, id: string, time: string, isAdvert = false) =>
  `<div class="outer-cell mdl-cell"><div class="mdl-grid"><div class="header-cell"><p>YouTube<br></p></div><div class="content-cell">${verb} <a href="${url(id)}&amp;t=1">A &amp; <b>film</b></a><br><a href="https://www.youtube.com/channel/${CHANNEL}">Name</a><br>${time}<br></div><div class="content-cell"></div><div class="content-cell"><b>Products:</b><br>&emsp;YouTube<br>${isAdvert ? '<b>Details:</b><br>&emsp;From Google Ads<br>' : ''}</div></div></div>`
const page = (...entries: string[]) =>
  `<!DOCTYPE html><html><head><style>${'.a{}'.repeat(9_000)}</style></head><body><div class="mdl-grid">${entries.join('')}</div></body></html>`

test('a history in HTML is read, with its times in any language', async (t) => {
  const app = await library(t)
  const at = Date.UTC(2023, 9, 3, 21, 15, 4)
  for (const language of [
    'en',
    'de',
    'fr',
    'es',
    'pt',
    'ru',
    'tr',
    'ja',
    'ko',
    'ar',
    'pl',
    'fi',
    'vi',
    'hi',
    'zh-TW',
  ]) {
    await app.as('user').post('/api/watched/', { id: FERRY, is_watched: false })
    const form = { dateStyle: 'medium', timeStyle: 'long', timeZone: 'UTC' } as const
    const time = new Intl.DateTimeFormat(language, form).format(at)
    const content = page(
      entry('Watched', FERRY, time),
      entry('Watched', GONE, time, true),
      entry('Watched', COMET, '?'),
    )

    const { body } = await take(app, content, 'user=user&watched=true')

    assert.equal(body.watched >= 1, true, language)
    assert.equal((await playerOf(app, FERRY)).watched_date, at / 1000, `${language}: ${time}`)
  }
  assert.deepEqual((await seenIn(app, page(entry('Vu', GONE, '1 mars 2024')))).history, COUNT(1))
})

test('a complete Takeout is read, as zip or tgz, and its playlists have their titles in every language', async (t) => {
  const app = await library(t)
  const at = (folder: string, name: string) => `Takeout/YouTube/${folder}/${name}`
  const list = (...ids: string[]) =>
    `Video-ID,Zeitstempel\n${ids.map((id) => `${id},2024-02-01T10:00:00+00:00`).join('\n')}\n`
  const TITLES = `Playlist-ID,Bild,Playlisttitel (Original),Sprache,Erstellt,Geändert,Reihenfolge,Sichtbarkeit
PL${'x'.repeat(32)},,Kochen & Backen: 2024?,de,2024-01-01T00:00:00+00:00,2024-01-01T00:00:00+00:00,Manuell,Privat\n`
  const files = {
    [at('Playlists', 'Kochen _ Backen_ 2024_-Videos.csv')]: list(FERRY, COMET),
    [at('Playlists', 'Später ansehen-Videos.csv')]: list(GONE),
    [at('Playlists', 'Playlists.csv')]: TITLES,
    [at('Verlauf', 'Wiedergabeverlauf.html')]: page(entry('Angesehen:', FERRY, '01.03.2024, 10:00:00 MEZ')),
  }
  for (const packed of [await archive(files), await tgz(files)]) {
    const { history, playlists } = await seenIn(app, packed)
    assert.equal(history.count, 1)
    assert.deepEqual(
      playlists.map(({ name, count }: any) => [name, count]),
      [
        ['Kochen & Backen: 2024?', 2],
        ['Später ansehen', 1],
      ],
    )
  }
  const old = `Playlist Id,Channel Id,Time Created,Time Updated,Title,Description,Visibility
PL${'x'.repeat(32)},${CHANNEL},2021-01-01 10:00:00 UTC,2021-01-01 10:00:00 UTC,Rock-Musik,,Private\n\n${list(FERRY)}`
  const named = async (content: string, name: string) =>
    (await app.as('admin').post(`/api/subscription/preview/?name=${name}`, Buffer.from(content), raw)).body.playlists[0]
      .name
  assert.equal(await named(old, 'whatever.csv'), 'Rock-Musik', 'until 2023 the title was in the table')
  assert.equal(await named(list(FERRY), 'Music-videos.csv'), 'Music')
})

async function tgz(files: Record<string, string>): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  return gzipSync(await buffer(tar as unknown as AsyncIterable<Buffer>))
}

test('exports of Piped, LibreTube, apps based on NewPipe, and the archive of yt-dlp are read', async (t) => {
  const app = await library(t)
  const piped = JSON.stringify({
    format: 'Piped',
    playlists: [
      { name: 'One', videos: [url(FERRY)] },
      { name: 'Two', videos: [url(COMET), url(GONE)] },
    ],
  })
  const libreTube = JSON.stringify({
    watchHistory: [{ videoId: FERRY }, { videoId: COMET }],
    watchPositions: [{ videoId: COMET, position: 60_000 }],
    localSubscriptions: [{ channelId: CHANNEL }],
    localPlaylists: [{ playlist: { name: 'Mine' }, videos: [{ videoId: FERRY }] }],
  })
  const libreTubeProfile = JSON.stringify({
    _id: '',
    subscriptions: [{ name: 'A', id: '', url: `https://www.youtube.com/channel/${CHANNEL}` }],
  })
  const renamed = await archive({ 'pipepipe.db': await databaseIn(await newPipe(t)), 'pipepipe.settings': 'x' })
  const shown = async (content: string | Buffer) => {
    const { source, history, playlists, subscriptions } = await seenIn(app, content)
    return [source, history.watched, history.positions, playlists.map(({ name }: any) => name), subscriptions.length]
  }

  assert.deepEqual(await shown(piped), ['piped', 0, 0, ['One', 'Two'], 0])
  assert.deepEqual(await shown(libreTube), ['libretube', 1, 1, ['Mine'], 1])
  assert.deepEqual(await shown(libreTubeProfile), ['freetube', 0, 0, [], 1])
  assert.deepEqual(await shown(renamed), ['newpipe', 1, 1, ['Evenings'], 0])
  assert.deepEqual(await shown(`youtube ${FERRY}\r\nyoutube ${GONE}\n`), ['ytdlp', 0, 0, ['yt-dlp archive'], 0])
})

async function databaseIn(zip: Buffer): Promise<Buffer> {
  const opened = await yauzl.fromBufferPromise(zip, { lazyEntries: true })
  for await (const one of opened.eachEntry())
    if (one.fileName.endsWith('.db')) return buffer(await opened.openReadStreamPromise(one))
  throw new Error('no database')
}

test('two playlists with one name stay two, and importing them again changes nothing', async (t) => {
  const app = await library(t)
  const content = JSON.stringify({
    format: 'Piped',
    playlists: [[FERRY], [COMET]].map((ids) => ({ name: 'Mine', videos: ids.map(url) })),
  })
  const lists = [
    ['Mine', [COMET]],
    ['Mine', [FERRY]],
  ]

  for (const count of [2, 0]) {
    assert.equal((await take(app, content, 'user=user&playlists=true')).body.playlists, count)
    assert.deepEqual((await listsOf(app)).toSorted(), lists)
  }
})

test('of more watched videos than the limit, the newest count, and the others are reported', async (t) => {
  const app = await library(t)
  const many = Array.from({ length: 100_002 }, (_, at) => ({
    titleUrl: url(at === 0 ? FERRY : at === 100_001 ? COMET : `v${String(at).padStart(10, '0')}`),
    header: 'YouTube',
    time: new Date((AT - at) * 1000).toISOString(),
  }))

  const { history } = await seenIn(app, JSON.stringify(many))

  assert.deepEqual(history, { count: 100_000, watched: 1, positions: 0, left_out: 2 })
})
