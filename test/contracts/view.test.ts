/**
 * Requests every route as an account with a view: hidden content appears nowhere, on both indexes. A route that is open
 * to such an account but not tested here fails.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { definePlugin, defineRoute, Type } from 'archivolt'
import {
  aChannel,
  aFragment,
  aPlaylist,
  aQueued,
  aVideo,
  type Client,
  type Given,
  notSearchable,
  PASSWORD,
  someComments,
  type TestApp,
  testApp,
} from 'archivolt/testing'
import { shapeFor } from '../../plugins/playable/previews/previews.ts'
import { NO_PLATFORM } from '../platform/start.ts'
import { INDEXES, indexSettings } from '../support/indexes.ts'
import { lastFirst } from '../support/last-first.ts'
import { PLEX_PATHS, plain } from './api/matrix.ts'

/** A channel in the view. */
const OPEN = 'UCopen0000000000000000aa'
/** A channel outside of the view; one of its videos is in a playlist of the view. */
const SHUT = 'UCshut0000000000000000aa'
const NO_CHANNEL = 'UCnone0000000000000000aa'
const LIST = 'PLopen00000000000000000000000000aa'
const SHUT_LIST = 'PLshut00000000000000000000000000aa'
const NO_LIST = 'PLnone00000000000000000000000000aa'
/** A video of the visible channel; also in both playlists. */
const SEEN = 'seenSeen_01'
/** A video of the other channel, in the visible playlist. */
const LISTED = 'listListe02'
/** A video of the other channel. */
const HIDDEN = 'hidnHidn_03'
const NO_VIDEO = 'noneNone_04'
/** In the visible playlist, but not archived. */
const AWAY = 'awayAway_07'
const QUEUED = 'queuQueue05'
/** A word in all hidden texts, and in no others. */
const MARK = 'quokka'
const MARKS = [MARK, HIDDEN, SHUT_LIST, QUEUED]

const comments = (id: string, text: string): Given =>
  notSearchable(someComments(id, [{ comment_id: `c-${id}`, comment_text: text, comment_replies: [] }]))
const said = (id: string, channel: string, line: string): Given =>
  aFragment({ platform_id: id, channel_id: channel, subtitle_line: line })

const listed = (...ids: string[]) => ids.map((id) => ({ platform_id: id, downloaded: true }))

const LIBRARY = [
  aChannel({ id: OPEN, channel_name: 'Open bakery', channel_subscribed: true, channel_tags: ['bread'] }),
  aChannel({
    id: SHUT,
    channel_name: 'Night bakery',
    channel_description: `${MARK} bread`,
    channel_tags: ['bread', MARK],
  }),
  aVideo({
    id: SEEN,
    channelId: OPEN,
    title: 'Bread one',
    tags: ['bread'],
    playlist: [LIST, SHUT_LIST],
    media_size: 10,
  }),
  aVideo({ id: LISTED, channelId: SHUT, title: 'Bread two', tags: ['bread'], playlist: [LIST], media_size: 20 }),
  aVideo({
    id: HIDDEN,
    channelId: SHUT,
    title: `Bread ${MARK}`,
    tags: ['bread', MARK],
    playlist: [SHUT_LIST],
    media_size: 40,
  }),
  aPlaylist({
    id: LIST,
    playlist_name: 'Bread list',
    playlist_channel_id: OPEN,
    entries: [...listed(LISTED, SEEN), { platform_id: AWAY, downloaded: false }],
  }),
  aPlaylist({
    id: SHUT_LIST,
    playlist_name: `Bread ${MARK}`,
    playlist_channel_id: OPEN,
    entries: listed(HIDDEN, SEEN),
  }),
  comments(SEEN, 'nice bread'),
  comments(LISTED, 'nice bread'),
  comments(HIDDEN, `nice ${MARK}`),
  said(SEEN, OPEN, 'the bread rises'),
  said(LISTED, SHUT, 'the bread rests'),
  said(HIDDEN, SHUT, `the bread ${MARK}`),
  aQueued({ id: QUEUED, title: `Bread ${MARK}`, channel_id: OPEN }),
]

/** The time at which sheets are made, because the clock is stopped. */
const START_MS = Date.parse('2026-01-15T10:00:00Z')

/** Files that exist nevertheless. */
const FILES = [
  `media/${OPEN}/${SEEN}.mp4`,
  `media/${SHUT}/${LISTED}.mp4`,
  `media/${SHUT}/${HIDDEN}.mp4`,
  `media/${SHUT}/${HIDDEN}.en.vtt`,
  ...[SEEN, LISTED, HIDDEN, QUEUED].map((id) => `cache/videos/${id[0]}/${id}.jpg`),
  ...[SEEN, LISTED, HIDDEN].flatMap((id) => [`cache/playable/${id}.mp4`, `cache/dearrow/${id}.jpg`]),
  ...[OPEN, SHUT].map((id) => `cache/channels/${id}_thumb.jpg`),
  ...[LIST, SHUT_LIST].map((id) => `cache/playlists/${id}.jpg`),
]

/** An external plugin without regard for views: its reads are limited, and what it does not open is hidden. */
const shelf = definePlugin({
  name: 'shelf',
  needs: ['video', 'channel'],
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/shelf/',
      access: 'viewer',
      summary: 'Titles',
      reply: Type.Array(Type.String()),
      async handle(_input, { index }) {
        const titles: string[] = []
        for (const definition of index.definitions)
          for await (const batch of index.collection(definition).scan())
            titles.push(...batch.map(({ id, doc }) => `${definition.name} ${id} ${JSON.stringify(doc)}`))
        return titles
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/shelf/closed/',
      access: 'user',
      summary: 'Nothing said',
      reply: Type.Object({}),
      handle: () => ({}),
    }),
  ],
})

/** The requests for a route: for something visible, something hidden, and something that does not exist. */
interface Asked {
  body?: object
  seen: string[]
  /** Pairs with the same answer: a hidden item, and one that does not exist. */
  alike?: Array<[hidden: string, none: string]>
  bodies?: { seen: object[]; alike: Array<[hidden: object, none: object]> }
}

const ofVideo = (rest = ''): Asked => ({
  seen: [SEEN, LISTED].map((id) => `/api/video/${id}/${rest}`),
  alike: [[`/api/video/${HIDDEN}/${rest}`, `/api/video/${NO_VIDEO}/${rest}`]],
})
const searches = ['simple:', 'video:', 'channel:', 'playlist:', 'full:', 'comment:'].flatMap((type) => [
  `${type}bread`,
  `${type}${MARK}`,
  type,
])

const ASKED: Record<string, Asked> = {
  'GET /api/ping/': { seen: ['/api/ping/'] },
  'GET /api/search/': {
    seen: [...searches, 'video:bread channel:bakery', 'full:bread channel:night', 'comment:bread channel:night'].map(
      (query) => `/api/search/?query=${encodeURIComponent(query)}`,
    ),
  },
  'GET /api/said/': {
    seen: ['full:bread', `full:${MARK}`, 'full:', 'full:bread channel:night'].map(
      (query) => `/api/said/?query=${encodeURIComponent(query)}`,
    ),
  },
  'GET /api/said/file/': { seen: ['/api/said/file/'] },
  'POST /api/said/file/': { seen: ['/api/said/file/'], body: { query: 'full:bread' } },
  // test/plugins/said/said.test.ts tests their owners.
  'GET /api/said/file/<>/': { seen: [] },
  'DELETE /api/said/file/<>/': { seen: [] },
  'GET /api/resolve/': {
    seen: [SEEN, OPEN, LIST].map((id) => `/api/resolve/?q=${id}`),
    alike: [
      [`/api/resolve/?q=${HIDDEN}`, `/api/resolve/?q=${NO_VIDEO}`],
      [`/api/resolve/?q=${SHUT}`, `/api/resolve/?q=${NO_CHANNEL}`],
      [`/api/resolve/?q=${SHUT_LIST}`, `/api/resolve/?q=${NO_LIST}`],
    ],
  },
  'GET /api/notification/': { seen: ['/api/notification/', '/api/notification/?filter=download'] },
  'GET /api/events/': { seen: [] }, // a test of its own
  'GET /api/plugin/page/': { seen: ['/api/plugin/page/'] },
  'GET /api/video/': {
    seen: [
      '',
      'sort=mediasize',
      'watch=unwatched',
      'watch=watched',
      'watch=continue',
      `channel=${OPEN}`,
      `channel=${SHUT}`,
      `playlist=${LIST}`,
      `playlist=${SHUT_LIST}`,
      'height=720',
      'type=videos',
    ].map((query) => `/api/video/?${query}`),
    alike: [[`/api/video/?playlist=${SHUT_LIST}`, `/api/video/?playlist=${NO_LIST}`]],
  },
  'GET /api/video/<>/': ofVideo(),
  'GET /api/video/<>/nav/': ofVideo('nav/'),
  'GET /api/video/<>/comment/': ofVideo('comment/'),
  'GET /api/video/<>/thread/': ofVideo('thread/'),
  'GET /api/video/<>/thread/<>/': {
    seen: [SEEN, LISTED].map((id) => `/api/video/${id}/thread/c-${id}/`),
    alike: [[`/api/video/${HIDDEN}/thread/c-${HIDDEN}/`, `/api/video/${NO_VIDEO}/thread/c-${HIDDEN}/`]],
  },
  'GET /api/video/<>/similar/': ofVideo('similar/'),
  'GET /api/change/': {
    seen: ['', '?part=title', `?kind=video&id=${LISTED}`, `?kind=channel&id=${OPEN}`].map(
      (query) => `/api/change/${query}`,
    ),
    alike: [
      [`/api/change/?kind=video&id=${HIDDEN}`, `/api/change/?kind=video&id=${NO_VIDEO}`],
      [`/api/change/?kind=channel&id=${SHUT}`, `/api/change/?kind=channel&id=${NO_CHANNEL}`],
      [`/api/change/?kind=playlist&id=${SHUT_LIST}`, `/api/change/?kind=playlist&id=${NO_LIST}`],
    ],
  },
  'GET /api/change/<>/picture/': { seen: [], alike: [['/api/change/1/picture/', '/api/change/999/picture/']] },
  'GET /api/change/number/': {
    seen: [`/api/change/number/?kind=video&id=${LISTED}`],
    alike: [[`/api/change/number/?kind=video&id=${HIDDEN}`, `/api/change/number/?kind=video&id=${NO_VIDEO}`]],
  },
  'GET /api/checksum/video/<>/': {
    seen: [`/api/checksum/video/${LISTED}/`],
    alike: [[`/api/checksum/video/${HIDDEN}/`, `/api/checksum/video/${NO_VIDEO}/`]],
  },
  'GET /api/channel/': {
    seen: ['', '?filter=unsubscribed', '?q=bakery', `?q=${SHUT}`, '?q=night'].map((query) => `/api/channel/${query}`),
  },
  'GET /api/channel/<>/': {
    seen: [`/api/channel/${OPEN}/`],
    alike: [[`/api/channel/${SHUT}/`, `/api/channel/${NO_CHANNEL}/`]],
  },
  'GET /api/channel/<>/video/': {
    seen: [`/api/channel/${OPEN}/video/`],
    alike: [[`/api/channel/${SHUT}/video/`, `/api/channel/${NO_CHANNEL}/video/`]],
  },
  ...Object.fromEntries(
    ['aggs', 'nav'].map((what) => [
      `GET /api/channel/<>/${what}/`,
      { seen: [OPEN, SHUT].map((id) => `/api/channel/${id}/${what}/`) },
    ]),
  ),
  'GET /api/playlist/': {
    seen: ['', `?channel=${OPEN}`, '?playlist_type=regular'].map((query) => `/api/playlist/${query}`),
  },
  'GET /api/playlist/<>/': {
    seen: [`/api/playlist/${LIST}/`, '/api/playlist/watchlater/'],
    alike: [[`/api/playlist/${SHUT_LIST}/`, `/api/playlist/${NO_LIST}/`]],
  },
  'GET /api/playlist/<>/video/': {
    seen: [`/api/playlist/${LIST}/video/`, '/api/playlist/watchlater/video/'],
    alike: [[`/api/playlist/${SHUT_LIST}/video/`, `/api/playlist/${NO_LIST}/video/`]],
  },
  'POST /api/playlist/custom/': { seen: ['/api/playlist/custom/'], body: { playlist_name: 'Mine' } },
  ...Object.fromEntries(
    ['', 'custom/'].map((place) => [
      `POST /api/playlist/${place}<>/`,
      {
        seen: [`/api/playlist/${place}watchlater/`],
        alike: [[`/api/playlist/${place}${SHUT_LIST}/`, `/api/playlist/${place}${NO_LIST}/`]],
        bodies: {
          seen: [LISTED, SEEN].map((video_id) => ({ action: 'create', video_id })),
          alike: ['create', 'remove', 'up'].map((action) => [
            { action, video_id: HIDDEN },
            { action, video_id: NO_VIDEO },
          ]),
        },
      } satisfies Asked,
    ]),
  ),
  'DELETE /api/playlist/<>/': {
    seen: [],
    alike: [
      [`/api/playlist/${SHUT_LIST}/`, `/api/playlist/${NO_LIST}/`],
      [`/api/playlist/${SHUT_LIST}/?delete-videos=true`, `/api/playlist/${NO_LIST}/?delete-videos=true`],
    ],
  },
  ...Object.fromEntries(
    ['video', 'channel', 'playlist', 'watch', 'downloadhist', 'biggestchannels', 'growth', 'quality'].map((name) => [
      `GET /api/stats/${name}/`,
      { seen: [`/api/stats/${name}/`] },
    ]),
  ),
  'GET /media/<>/<>': {
    seen: [`/media/${OPEN}/${SEEN}.mp4`, `/media/${SHUT}/${LISTED}.mp4`],
    alike: [
      [`/media/${SHUT}/${HIDDEN}.mp4`, `/media/${SHUT}/${NO_VIDEO}.mp4`],
      [`/media/${SHUT}/${HIDDEN}.en.vtt`, `/media/${SHUT}/${NO_VIDEO}.en.vtt`],
    ],
  },
  'GET /youtube/<>/<>': {
    seen: [`/youtube/${OPEN}/${SEEN}.mp4`, `/youtube/${SHUT}/${LISTED}.mp4`],
    alike: [[`/youtube/${SHUT}/${HIDDEN}.mp4`, `/youtube/${SHUT}/${NO_VIDEO}.mp4`]],
  },
  'GET /cache/videos/<>/<>': {
    seen: [SEEN, LISTED].map((id) => `/cache/videos/${id[0]}/${id}.jpg`),
    alike: [HIDDEN, QUEUED].map((id) => [`/cache/videos/${id[0]}/${id}.jpg`, `/cache/videos/n/${NO_VIDEO}.jpg`]),
  },
  'GET /cache/playable/<>': {
    seen: [SEEN, LISTED].map((id) => `/cache/playable/${id}.mp4`),
    alike: [[`/cache/playable/${HIDDEN}.mp4`, `/cache/playable/${NO_VIDEO}.mp4`]],
  },
  'GET /api/dearrow/': { seen: [`/api/dearrow/?ids=${SEEN},${LISTED},${HIDDEN}`] },
  'GET /cache/dearrow/<>': {
    seen: [SEEN, LISTED].map((id) => `/cache/dearrow/${id}.jpg`),
    alike: [[`/cache/dearrow/${HIDDEN}.jpg`, `/cache/dearrow/${NO_VIDEO}.jpg`]],
  },
  'GET /cache/previews/<>/<>': {
    seen: [SEEN, LISTED].map((id) => `/cache/previews/${id}/${START_MS}-1.jpg`),
    alike: [[`/cache/previews/${HIDDEN}/${START_MS}-1.jpg`, `/cache/previews/${NO_VIDEO}/${START_MS}-1.jpg`]],
  },
  'GET /cache/channels/<>': {
    seen: [`/cache/channels/${OPEN}_thumb.jpg`, `/cache/channels/${OPEN}_banner.jpg`],
    alike: ['thumb', 'banner'].map((picture) => [
      `/cache/channels/${SHUT}_${picture}.jpg`,
      `/cache/channels/${NO_CHANNEL}_${picture}.jpg`,
    ]),
  },
  'GET /cache/playlists/<>': {
    seen: [`/cache/playlists/${LIST}.jpg?size=small`],
    alike: [[`/cache/playlists/${SHUT_LIST}.jpg`, `/cache/playlists/${NO_LIST}.jpg`]],
  },
  'POST /api/watched/': {
    seen: ['/api/watched/'],
    bodies: {
      seen: [LISTED, OPEN, LIST, SEEN].map((id) => ({ id, is_watched: false })),
      alike: [
        [HIDDEN, NO_VIDEO],
        [SHUT, NO_CHANNEL],
        [SHUT_LIST, NO_LIST],
      ].map(([hidden, none]) => [
        { id: hidden, is_watched: true },
        { id: none, is_watched: true },
      ]),
    },
  },
  'POST /api/watched/bulk/': {
    seen: ['/api/watched/bulk/'],
    bodies: {
      seen: [{ ids: [LISTED, SEEN], is_watched: false }],
      alike: [
        [
          { ids: [HIDDEN], is_watched: true },
          { ids: [NO_VIDEO], is_watched: true },
        ],
      ],
    },
  },
  'POST /api/watched/undo/': {
    seen: ['/api/watched/undo/'],
    bodies: { seen: [], alike: [[{ marking: 1 }, { marking: 999 }]] },
  },
  'POST /api/bin/restore/': {
    seen: ['/api/bin/restore/'],
    bodies: { seen: [], alike: [[{ removal: 'another' }, { removal: 'none' }]] },
  },
  'POST /api/playlist/<>/bulk/': {
    seen: ['/api/playlist/watchlater/bulk/'],
    alike: [[`/api/playlist/${SHUT_LIST}/bulk/`, `/api/playlist/${NO_LIST}/bulk/`]],
    bodies: {
      seen: [{ action: 'create', video_ids: [LISTED, SEEN] }],
      alike: ['create', 'remove'].map((action) => [
        { action, video_ids: [HIDDEN] },
        { action, video_ids: [NO_VIDEO] },
      ]),
    },
  },
  'GET /api/video/months/': { seen: ['/api/video/months/', `/api/video/months/?channel=${OPEN}`] },
  'GET /api/video/<>/copy/': ofVideo('copy/'),
  'GET /api/video/<>/preview/': ofVideo('preview/'),
  'POST /api/video/<>/preview/': ofVideo('preview/'),
  'GET /api/video/<>/progress/': ofVideo('progress/'),
  'POST /api/video/<>/progress/': { ...ofVideo('progress/'), body: { position: 5 } },
  'DELETE /api/video/<>/progress/': ofVideo('progress/'),
  'GET /api/video/<>/sponsor/': ofVideo('sponsor/'),
  'POST /api/video/<>/sponsor/': { ...ofVideo('sponsor/'), body: { vote: { uuid: 'u', yourVote: 1 } } },
  'GET /api/podcast/': { seen: ['/api/podcast/'] },
  'GET /api/podcast/opml/': { seen: ['/api/podcast/opml/'] },
  'POST /api/podcast/': {
    seen: ['/api/podcast/'],
    bodies: {
      seen: [
        { kind: 'channel', target: OPEN },
        { kind: 'playlist', target: LIST },
        { kind: 'search', target: 'bread' },
      ],
      alike: [
        [
          { kind: 'channel', target: SHUT },
          { kind: 'channel', target: NO_CHANNEL },
        ],
        [
          { kind: 'playlist', target: SHUT_LIST },
          { kind: 'playlist', target: NO_LIST },
        ],
      ],
    },
  },
  // test/plugins/podcast/feeds.test.ts tests their signed addresses.
  'DELETE /api/podcast/<>/': { seen: [] },
  ...Object.fromEntries(
    ['feed.xml', 'cover.jpg', 'sound/<>', 'film/<>', 'picture/<>', 'chapters/<>', 'transcript/<>'].map((name) => [
      `GET /podcast/<>/<>/${name}`,
      { seen: [] },
    ]),
  ),
  'GET /api/plex/': { seen: ['/api/plex/'] },
  'POST /api/plex/': { seen: ['/api/plex/'], body: {} },
  'DELETE /api/plex/': { seen: [] },
  // test/plugins/plex/provider.test.ts tests its signed address.
  ...Object.fromEntries(PLEX_PATHS.map((path) => [`GET /plex/<>/<>/${plain(path)}`, { seen: [] }])),
  'POST /plex/<>/<>/library/metadata/matches/': { seen: [] },
  'GET /api/session/': { seen: ['/api/session/'] },
  'GET /api/config/user/': { seen: ['/api/config/user/'] },
  'POST /api/config/user/': { seen: ['/api/config/user/'], body: { grid_items: 4 } },
  'GET /api/user/<>/': { seen: ['/api/user/3/'] },
  'POST /api/user/<>/': { seen: ['/api/user/3/'], body: { password: PASSWORD, current_password: PASSWORD } },
  // The picture of an account shows nothing of the archive: tested in test/plugins/portrait/portrait.test.ts.
  ...Object.fromEntries(['GET', 'PUT', 'DELETE'].map((method) => [`${method} /api/user/<>/picture/`, { seen: [] }])),
  'GET /api/appsettings/config/': { seen: ['/api/appsettings/config/'] },
  'GET /api/user/account/': { seen: ['/api/user/account/'] },
  'GET /api/user/me/': { seen: ['/api/user/me/'] },
  'POST /api/user/me/': { seen: ['/api/user/me/'], body: { grid_items: 4 } },
  ...Object.fromEntries(
    ['/api/token/', '/api/appsettings/token/'].flatMap((path) => [
      [`GET ${path}`, { seen: [path] }],
      [`DELETE ${path}`, { seen: [path] }],
    ]),
  ),
  'POST /api/access-token/': { seen: ['/api/access-token/'], body: { name: 'Kodi', scope: 'watch' } },
  'GET /api/access-token/': { seen: ['/api/access-token/'] },
  'DELETE /api/access-token/<>/': { seen: ['/api/access-token/1/'] },
  'POST /api/session/': { seen: ['/api/session/'], body: { current_password: PASSWORD } },
  'GET /api/own-session/': { seen: ['/api/own-session/'] },
  'DELETE /api/own-session/': { seen: ['/api/own-session/'] },
  // With sessions: test/plugins/user/own-session.test.ts.
  'DELETE /api/own-session/<>/': { seen: [] },
  'DELETE /api/new-sign-in/<>/': { seen: [] },
  // Off by default; when it is on, it is the exception of 9.42: test/plugins/ask.
  'GET /api/ask/offer/': { seen: ['/api/ask/offer/?query=bread'] },
  'GET /api/ask/own/': { seen: ['/api/ask/own/'] },
  'POST /api/ask/own/': { seen: ['/api/ask/own/'] },
  'POST /api/ask/': { seen: [] },
  // test/plugins/screentime tests the counting.
  'GET /api/screentime/own/': { seen: ['/api/screentime/own/'] },
  'POST /api/screentime/own/': { seen: [] },
  // With codes: test/plugins/signincode.
  'GET /api/sign-in-code/<>/': { seen: [] },
  'POST /api/sign-in-code/<>/': { seen: [] },
  'DELETE /api/sign-in-code/<>/': { seen: [] },
  'GET /api/oidc/link/': { seen: ['/api/oidc/link/'] },
  // There is no provider here: test/plugins/oidc/. Needs a session: plugins/video/link.
  'POST /api/video/<>/link/': { seen: [] },
  'POST /api/oidc/link/': { seen: [] },
  'DELETE /api/oidc/link/': { seen: ['/api/oidc/link/'] },
  'GET /api/totp/': { seen: ['/api/totp/'] },
  'POST /api/totp/': { seen: ['/api/totp/'], body: { current_password: PASSWORD } },
  // Codes do not depend on the archive: tested in test/plugins/user/totp.test.ts.
  'PUT /api/totp/': { seen: [] },
  'DELETE /api/totp/': { seen: [] },
  ...Object.fromEntries(['/logout/', '/api/user/logout/'].map((path) => [`POST ${path}`, { seen: [path] }])),
  'GET /api/shelf/': { seen: ['/api/shelf/'] },
}

/** The first one is a picture of the hidden video. */
async function giveHistory({ app }: TestApp): Promise<void> {
  const picture = { picture: 'video', file: '0123456789abcdef', hash: '0' }
  const entry = (id: string, title: string) => ({ id, title })
  const told = [
    ['video', HIDDEN, 'thumbnail', picture, { picture: 'video', hash: 'f' }],
    ['video', HIDDEN, 'title', `Bread ${MARK} before`, `Bread ${MARK}`],
    ['video', LISTED, 'title', 'Bread before', 'Bread two'],
    ['channel', SHUT, 'name', `${MARK} before`, 'Night bakery'],
    ['playlist', LIST, 'entries', [], [entry(LISTED, 'Bread two'), entry(HIDDEN, `Bread ${MARK}`)]],
  ] as const
  await app.ledger.write(() => {
    for (const [kind, subject, part, before, after] of told)
      app.history.rows.add({ kind, subject, part, before, after, seenAt: 1 })
  })
}

async function household(t: TestContext, settings: Awaited<ReturnType<typeof indexSettings>> = {}): Promise<TestApp> {
  const app = await testApp(t, { settings: { ...NO_PLATFORM, ...settings }, outside: [shelf] })
  await app.given(...LIBRARY)
  await giveHistory(app)
  await app.app.jobs.run('index_comments')
  for (const file of FILES) {
    await mkdir(dirname(join(app.dataDir, file)), { recursive: true })
    await writeFile(join(app.dataDir, file), `of ${file}`)
  }
  await app.app.copies.begin()
  await app.app.pictures.begin()
  for (const id of [SEEN, LISTED, HIDDEN]) {
    await mkdir(app.app.previews.draftOf(id), { recursive: true })
    await writeFile(join(app.app.previews.draftOf(id), '1.jpg'), 'a sheet')
    await app.app.previews.keep(id, { ...shapeFor(10), width: 160, height: 90 })
  }
  const view = { channel: [OPEN], playlist: [LIST] }
  assert.equal((await app.as('admin').post('/api/user/', { username: 'child', password: PASSWORD })).status, 200)
  // From before the view was set, when it saw everything.
  for (const video_id of [HIDDEN, SEEN])
    assert.equal((await app.as('child').post('/api/playlist/watchlater/', { action: 'create', video_id })).status, 201)
  await app.as('child').post(`/api/video/${HIDDEN}/progress/`, { position: 5 })
  assert.deepEqual((await app.as('admin').post('/api/user/3/', { view })).body.view, view)
  await app.app.jobs.notify({ title: `Downloading ${MARK}`, group: 'download:run', level: 'info', messages: [] })
  // A reply that is cached for others must not be sent to the child.
  await app.as('admin').post(`/api/video/${HIDDEN}/progress/`, { position: 7 })
  return app
}

const askAs = (client: Client, method: string, path: string, body?: object) =>
  method === 'GET' ? client.get(path) : method === 'POST' ? client.post(path, body) : client.delete(path)

const idsOf = async (client: Client, path: string, key = 'platform_id') => {
  const { data, paginate } = (await client.get(path)).body
  return [data.map((record: any) => record[key]).toSorted(), paginate.total_hits]
}

/** Requested names may occur in the answer. */
const without = (text: string, ...names: string[]): string =>
  names.reduce((left, name) => left.replaceAll(name, '…'), text)
const idsIn = (asked: string): string[] => asked.match(/[\w-]{11,40}/g) ?? []

for (const { index, skip } of INDEXES)
  describe(`a view on ${index}`, { skip }, () => {
    test('each route that is open to it is requested for hidden content, and reveals nothing', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const open = app.app.registry.routes
        .filter(({ access }) => access === 'viewer')
        .map(({ method, path }) => `${method} ${plain(path)}`)
      assert.deepEqual(open.toSorted(), Object.keys(ASKED).toSorted(), 'each route says how it is asked here')

      for (const [route, { seen, alike = [], body, bodies }] of Object.entries(ASKED)) {
        const [method = ''] = route.split(' ')
        const ask = (path: string, sent = body) => askAs(app.as('child'), method, path, sent)
        for (const path of seen)
          for (const sent of bodies?.seen ?? [body]) {
            // The data of the answer to another account is now cached.
            if (method === 'GET') await app.as('admin').get(path)
            const { status, text } = await ask(path, sent)
            assert.ok(status < 300, `${method} ${path}: ${status} ${text}`)
            for (const mark of MARKS)
              assert.ok(!without(text, ...idsIn(path)).includes(mark), `${method} ${path} tells of ${mark}: ${text}`)
          }
        const sent = body ?? bodies?.seen[0]
        const pairs = [
          ...alike.map(([hidden, none]) => [hidden, none, sent, sent] as const),
          ...(bodies?.alike ?? []).map(([hidden, none]) => [seen[0]!, seen[0]!, hidden, none] as const),
        ]
        for (const [hidden, none, ofHidden, ofNone] of pairs) {
          const [one, other] = [await ask(hidden, ofHidden), await ask(none, ofNone)]
          const what = `${method} ${hidden} ${JSON.stringify(ofHidden) ?? ''}`
          assert.equal(one.status, other.status, what)
          assert.equal(
            without(one.text, ...idsIn(what)),
            without(other.text, ...idsIn(`${none} ${JSON.stringify(ofNone)}`)),
            what,
          )
        }
      }
    })

    test('it sees and counts the content of its view, and an admin sees everything', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const [child, admin] = [app.as('child'), app.as('admin')]
      const stats = async (name: string) => (await child.get(`/api/stats/${name}/`)).body

      assert.deepEqual(await idsOf(child, '/api/video/'), [[LISTED, SEEN], 2])
      assert.deepEqual(await idsOf(child, `/api/video/?playlist=${LIST}`), [[LISTED, SEEN], 2])
      assert.deepEqual(await idsOf(child, `/api/video/?channel=${SHUT}`), [[LISTED], 1])
      assert.deepEqual(await idsOf(child, '/api/channel/', 'channel_id'), [[OPEN], 1])
      assert.deepEqual(await idsOf(child, '/api/playlist/', 'playlist_id'), [[LIST, 'watchlater'], 2])
      const { playlist_entries: entries } = (await child.get(`/api/playlist/${LIST}/`)).body.data
      assert.deepEqual(
        entries.map(({ platform_id }: any) => platform_id),
        [LISTED, SEEN, AWAY],
      )
      assert.deepEqual(await idsOf(admin, '/api/video/'), [[HIDDEN, LISTED, SEEN], 3])

      const video = await stats('video')
      assert.deepEqual([video.doc_count, video.media_size, video.type_videos.doc_count], [2, 30, 2])
      assert.equal((await stats('channel')).doc_count, 1)
      assert.equal((await stats('playlist')).doc_count, 1)
      assert.deepEqual((await stats('watch')).total.items, 2)
      assert.deepEqual(
        (await stats('biggestchannels')).map(({ name, doc_count }: any) => [name, doc_count]).toSorted(),
        [
          ['Night bakery', 1],
          ['Open bakery', 1],
        ],
      )
      const figures = async (client: Client, channel: string) => {
        const { total_items, total_size } = (await client.get(`/api/channel/${channel}/aggs/`)).body
        return [total_items.value, total_size.value]
      }
      assert.deepEqual(await figures(child, SHUT), [1, 20])
      assert.equal((await figures(admin, SHUT))[0], 2)
      const parts = async (client: Client, channel: string) => {
        const { body } = await client.get(`/api/channel/${channel}/nav/`)
        return Object.keys(body).filter((key) => body[key])
      }
      assert.deepEqual(await parts(child, OPEN), ['has_playlists', 'has_videos'])
      assert.deepEqual(await parts(admin, OPEN), ['has_pending', 'has_playlists', 'has_videos'])
      const listsOf = async (client: Client) =>
        (await client.get(`/api/video/${SEEN}/nav/`)).body.map((list: any) => [
          list.playlist_meta.playlist_id,
          list.playlist_previous?.platform_id,
          list.playlist_next?.platform_id,
        ])
      assert.deepEqual(await listsOf(child), [[LIST, LISTED, undefined]])
      assert.equal((await listsOf(admin)).length, 2)
      const { body: found } = await child.get('/api/search/?query=full:bread')
      assert.deepEqual(
        found.results.fulltext_results
          .map(({ platform_id, subtitle_channel }: any) => [platform_id, subtitle_channel])
          .toSorted(),
        [
          [LISTED, 'Night bakery'],
          [SEEN, 'Open bakery'],
        ],
      )
      const { data: similar } = (await child.get(`/api/video/${SEEN}/similar/`)).body
      assert.deepEqual(
        similar.map(({ platform_id }: any) => platform_id),
        [LISTED],
      )
      assert.deepEqual((await child.get(`/api/video/${SEEN}/`)).body.data.playlist, [LIST])
      const { data: threads } = (await child.get(`/api/video/${LISTED}/comment/`)).body
      assert.deepEqual(threads[0].comment_text, 'nice bread')
      const { channel } = (await child.get(`/api/video/${LISTED}/`)).body.data
      assert.deepEqual(
        [channel.channel_name, channel.channel_description, channel.channel_tags],
        ['Night bakery', '', []],
      )
    })

    test('a view that hides shows everything else, including new content, and keeps hiding what is removed and returns', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const [admin, child] = [app.as('admin'), app.as('child')]
      const set = async (view: object) => (await admin.post('/api/user/3/', { view })).body.view
      const ids = async (path: string, key?: string) => (await idsOf(child, path, key))[0]
      const entries = async (client: Client): Promise<string[]> =>
        (await client.get(`/api/playlist/${LIST}/`)).body.data.playlist_entries.map((one: any) => one.platform_id)
      const NEW = 'newsNews_06'
      const NEW_CHANNEL = 'UCnewn0000000000000000aa'
      const OF_SHUT = 'PLofsh00000000000000000000000000aa'
      await app.given(aPlaylist({ id: OF_SHUT, playlist_name: `List of ${MARK}`, playlist_channel_id: SHUT }))

      assert.deepEqual(await set({ not_channel: [SHUT] }), { not_channel: [SHUT], not_playlist: [] })
      assert.deepEqual(await ids('/api/video/'), [SEEN])
      assert.deepEqual(await ids('/api/channel/', 'channel_id'), [OPEN])
      assert.deepEqual(await ids('/api/playlist/', 'playlist_id'), [LIST, SHUT_LIST, 'watchlater'].toSorted())
      for (const path of [
        ...[HIDDEN, LISTED].map((id) => `/api/video/${id}/`),
        ...[`/api/channel/${SHUT}/`, `/api/playlist/${OF_SHUT}/`, `/media/${SHUT}/${HIDDEN}.mp4`],
        ...[`/api/video/${HIDDEN}/comment/`, `/cache/channels/${SHUT}_thumb.jpg`],
      ])
        assert.equal((await child.get(path)).status, 404, path)
      const { body: found } = await child.get('/api/search/?query=full:bread')
      assert.deepEqual(
        found.results.fulltext_results.map((one: any) => one.platform_id),
        [SEEN],
      )
      for (const path of [
        ...[`/api/playlist/${LIST}/`, `/api/playlist/${SHUT_LIST}/`, '/api/playlist/', `/api/video/${SEEN}/nav/`],
        ...['/api/search/?query=playlist:bread', '/api/search/?query=bread', '/api/shelf/'],
      ]) {
        // The data of the answer to another account is now cached.
        await admin.get(path)
        const { text } = await child.get(path)
        for (const id of [HIDDEN, LISTED, AWAY]) assert.ok(!text.includes(id), `${path} tells of ${id}: ${text}`)
      }
      assert.deepEqual(await entries(child), [SEEN])
      assert.deepEqual(await entries(admin), [LISTED, SEEN, AWAY])
      const picture = `/cache/playlists/${LIST}.jpg`
      const pictures = async (client: Client): Promise<string[]> => {
        const replies = await Promise.all(
          [`/api/playlist/${LIST}/`, '/api/playlist/', '/api/search/?query=playlist:bread'].map((one) =>
            client.get(one),
          ),
        )
        const records = replies.flatMap(({ body }) => body.data ?? body.results.playlist_results)
        return records.flatMap((one: any) => (one.playlist_id === LIST ? one.playlist_thumbnail : []))
      }
      const shown = `/cache/videos/${SEEN[0]}/${SEEN}.jpg`
      assert.deepEqual(await pictures(child), [shown, shown, shown], 'not that of the hidden first one')
      assert.deepEqual(await pictures(admin), [picture, picture, picture])
      const [forChild, forAdmin] = [await child.get(picture), await admin.get(picture)]
      assert.equal(forAdmin.text, `of ${picture.slice(1)}`)
      assert.deepEqual([forChild.status, forChild.text === forAdmin.text], [200, false])
      assert.equal((await child.get('/api/stats/video/')).body.doc_count, 1)
      assert.equal((await child.get('/api/download/')).status, 403)

      await app.given(aChannel({ id: NEW_CHANNEL }), aVideo({ id: NEW, channelId: NEW_CHANNEL }))
      assert.deepEqual(await ids('/api/video/'), [NEW, SEEN].toSorted())

      await set({ not_playlist: [LIST] })
      assert.deepEqual(await ids('/api/video/'), [HIDDEN, NEW].toSorted())
      assert.equal((await child.get(`/api/playlist/${LIST}/`)).status, 404)
      await set({ not_playlist: [] })
      assert.deepEqual((await ids('/api/video/')).length, 4)

      assert.deepEqual(await set({ not_channel: [SHUT], playlist: [LIST] }), {
        ...{ not_channel: [SHUT], not_playlist: [], playlist: [LIST] },
      })
      assert.deepEqual(await ids('/api/video/'), [LISTED, NEW, SEEN].toSorted(), 'a list is an exception')
      assert.deepEqual(await entries(child), [LISTED, SEEN])
      for (const path of [`/api/video/${LISTED}/comment/`, `/media/${SHUT}/${LISTED}.mp4`])
        assert.equal((await child.get(path)).status, 200, path)
      assert.equal((await child.get(`/api/channel/${SHUT}/`)).status, 404)
      const { fulltext_results: said } = (await child.get('/api/search/?query=full:bread')).body.results
      assert.deepEqual(said.map((one: any) => one.platform_id).toSorted(), [LISTED, SEEN].toSorted())
      await set({ not_playlist: [LIST], channel: [SHUT] })
      assert.deepEqual(await ids('/api/video/'), [HIDDEN, LISTED, NEW].toSorted(), 'so is a channel')
      assert.deepEqual(await set({ not_channel: [SHUT], channel: [SHUT] }), {
        ...{ not_channel: [SHUT], not_playlist: [], channel: [] },
      })
      const odd = await admin.post('/api/user/3/', { view: { not_channel: [SHUT], group: ['1'] } })
      assert.deepEqual([odd.status, Object.keys(odd.body.fields)], [400, ['view.group']])

      await set({ not_channel: [SHUT] })
      await admin.delete(`/api/channel/${SHUT}/`)
      await app.settled()
      assert.deepEqual((await admin.get('/api/user/3/')).body.view.not_channel, [SHUT], 'it may return')
    })

    test('a record does not name a playlist that a view hides with its channel', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const [admin, child] = [app.as('admin'), app.as('child')]
      const OF_SHUT = 'PLofsh00000000000000000000000000aa'
      await app.given(aPlaylist({ id: OF_SHUT, playlist_channel_id: SHUT, entries: listed(SEEN) }))
      await app.app.videos.collection.patch(SEEN, { add: { playlist: [OF_SHUT] } }, { visible: true })
      for (const [view, lists] of [
        [{ not_channel: [SHUT] }, [LIST, SHUT_LIST]],
        [{ not_channel: [SHUT], playlist: [OF_SHUT] }, [LIST, SHUT_LIST, OF_SHUT]],
      ] as const) {
        assert.equal((await admin.post('/api/user/3/', { view })).status, 200)
        for (const path of [`/api/video/${SEEN}/`, '/api/video/', '/api/search/?query=video:one', '/api/shelf/']) {
          // The data of the answer to another account is now cached.
          await admin.get(path)
          const { text } = await child.get(path)
          assert.equal(text.includes(OF_SHUT), lists.length > 2, `${path}: ${text}`)
        }
        assert.deepEqual((await child.get(`/api/video/${SEEN}/`)).body.data.playlist, lists)
      }
    })

    test('a shelf of lost videos is listed only for accounts that see one of them', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const { ledger, history, videos } = app.app
      const shelves = async (who: 'admin' | 'child') => (await app.as(who).get('/api/session/')).body.shelves
      const lose = async (id: string) => {
        const loss = 'removed'
        await videos.collection.patch(id, { set: { lost: { date: 1, kind: loss } } }, { visible: true })
        await ledger.write(() =>
          history.losses.put({ kind: 'video', subject: id, channel: SHUT, loss, ask_at: 1, lost_at: 1, is_marked: 1 }),
        )
      }

      await lose(HIDDEN)
      assert.deepEqual([await shelves('admin'), await shelves('child')], [['lost'], []])

      await lose(LISTED)
      assert.deepEqual(await shelves('child'), ['lost'])
    })

    test('a limited account sees no groups: its lists are not filtered by them', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const [admin, child] = [app.as('admin'), app.as('child')]
      const { id } = (
        await admin.post('/api/group/', { name: 'Both', members: [OPEN, SHUT].map((id) => ({ kind: 'channel', id })) })
      ).body
      for (const path of ['/api/video/', '/api/video/months/', '/api/channel/']) {
        const [there, none] = await Promise.all([id, 99].map((group) => child.get(`${path}?group=${group}`)))

        assert.deepEqual(there!.body.data ?? there!.body, none!.body.data ?? none!.body, path)
        assert.ok((await admin.get(`${path}?group=${id}`)).text.includes(path === '/api/channel/' ? OPEN : '20'), path)
      }
    })

    test('a view names groups: their current members are shown or hidden', async (t) => {
      const scope = lastFirst(t)
      const app = await household(scope as never, await indexSettings(scope, index))
      const [admin, child] = [app.as('admin'), app.as('child')]
      const set = (view: object) => admin.post('/api/user/3/', { view })
      const ids = async () => (await idsOf(child, '/api/video/'))[0]
      const members = [{ kind: 'channel', id: SHUT }]
      const { id } = (await admin.post('/api/group/', { name: 'Night', members })).body
      const group = String(id)

      assert.deepEqual((await set({ group: [group] })).body.view, { channel: [], playlist: [], group: [group] })
      assert.deepEqual(await ids(), [HIDDEN, LISTED].toSorted())
      await set({ channel: [OPEN], group: [group] })
      assert.equal((await ids()).length, 3)

      await set({ not_group: [group] })
      assert.deepEqual(await ids(), [SEEN])
      assert.equal((await child.get(`/api/video/${HIDDEN}/`)).status, 404)
      await admin.post(`/api/group/${group}/`, { members: [...members, { kind: 'channel', id: OPEN }] })
      assert.deepEqual(await ids(), [], 'at once')
      await admin.post(`/api/group/${group}/`, { members: [] })
      assert.equal((await ids()).length, 3, 'a group without members hides nothing')

      assert.equal((await admin.delete(`/api/group/${group}/`)).status, 409)
      const unknown = await set({ not_group: ['99'] })
      assert.deepEqual([unknown.status, Object.keys(unknown.body.fields)], [400, ['view.not_group']])
      app.app.accounts.setGroups(() => undefined)
      assert.deepEqual(await ids(), [], 'where groups are switched off, nothing hidden comes to light')
    })
  })
