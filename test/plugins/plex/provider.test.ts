/** The metadata provider as a Plex server uses it: what it finds, in which form, and for which account. */
import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { aChannel, aPlaylist, aVideo, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import { openLog } from '../../../core/log.ts'
import type { ArtKind } from '../../../plugins/media/types.ts'
import { makePicture } from '../../support/ffmpeg.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'
import { comeIn } from '../faces/coming.ts'

const SCHEME = 'tv.plex.agents.custom.archivolt'
const WHO = 'user' as const

async function madeBy(app: TestApp, who: 'user' | 'admin' | (string & {}) = WHO): Promise<string> {
  const { status, body } = await app.as(who).post('/api/plex/', {})
  assert.equal(status, 200, JSON.stringify(body))
  return body.url
}

/** Sends requests as a Plex server does: with nothing but the address. */
async function ask(url: string, init: RequestInit = {}): Promise<any> {
  const reply = await fetch(url, init)
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  return JSON.parse(text)
}

const match = (address: string, body: object): Promise<any> =>
  ask(`${address}/library/metadata/matches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const keysOf = ({ MediaContainer }: any): string[] => MediaContainer.Metadata.map((one: any) => one.ratingKey)

async function withMill(t: Scope, options: TestOptions = {}): Promise<TestApp> {
  const app = await testApp(t, options)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Old Mill', channel_description: 'Grain & bread' }),
    aChannel({ id: 'UC2', channel_name: 'Old Mill' }),
    aVideo({
      ...{ id: 'v1', title: 'Grain\u0007', description: 'Sown', published: '2025-12-31', category: ['Food'] },
      player: { duration: 61 },
    }),
    aVideo({ id: 'v2', title: 'Flour', published: '2026-01-03' }),
    aVideo({ id: 'v3', title: 'Bread', published: '2026-01-04' }),
    aVideo({ id: 'w1', channelId: 'UC2', title: 'Water', published: '2026-01-05' }),
    aVideo({ id: 'new', title: 'Without a number', published: '2026-01-06' }),
    aPlaylist({
      id: 'PL1',
      playlist_name: 'Loaf',
      entries: ['v3', 'w1', 'v1'].map((id) => ({ platform_id: id, downloaded: true })),
    }),
  )
  const { ledger, faces } = app.app
  await ledger.write(() => {
    faces.rows.giveNumber('UC1', 2025, 'v1')
    faces.rows.giveNumber('UC1', 2026, 'v2')
    faces.rows.giveNumber('UC1', 2026, 'v3')
    faces.rows.giveNumber('UC2', 2026, 'w1')
  })
  return app
}

async function keepPictures(app: TestApp, ...pictures: Array<[kind: ArtKind, id: string]>): Promise<void> {
  for (const [kind, id] of pictures) {
    const path = app.app.media.artPathOf(kind, id)
    await mkdir(dirname(path), { recursive: true })
    await makePicture(path)
  }
}

test('its address lists its features, in the form that Plex reads', async (t) => {
  const app = await withMill(t)
  const { MediaProvider } = await ask(await madeBy(app))

  assert.match(MediaProvider.identifier, /^tv\.plex\.agents\.custom\.[A-Za-z0-9.]+$/)
  assert.deepEqual(
    MediaProvider.Types,
    [2, 3, 4].map((type) => ({ type, Scheme: [{ scheme: SCHEME }] })),
  )
  assert.deepEqual(MediaProvider.Feature, [
    { type: 'metadata', key: '/library/metadata' },
    { type: 'match', key: '/library/metadata/matches' },
    { type: 'collection', key: '/library/collections' },
  ])
})

describe('a match', () => {
  const FILE = '/tv/Old Mill [UC1]/Season 2026/S2026E2 - Bread [v3].mp4'

  for (const { index, skip } of INDEXES)
    test(`is found by the ids in names, in ${index}`, { skip }, async (t) => {
      const scope = lastFirst(t)
      const app = await withMill(scope, { settings: await indexSettings(scope, index) })
      const address = await madeBy(app)
      const asked: Array<[object, string[]]> = [
        [{ type: 2, title: 'Something', filename: FILE }, ['show-UC1']],
        [{ type: 2, title: 'Old Mill [UC2]' }, ['show-UC2']],
        [{ type: 2, title: 'x', filename: 'Films/Flour [v2].mp4' }, ['show-UC1']],
        [{ type: 2, title: 'x', guid: `${SCHEME}://show/show-UC2` }, ['show-UC2']],
        [{ type: 2, title: 'Mill' }, []],
        [{ type: 2, title: 'Mill', manual: 1 }, ['show-UC1', 'show-UC2']],
        [{ type: 3, parentTitle: 'x', index: 2026, filename: FILE }, ['season-UC1-2026']],
        [{ type: 3, parentTitle: 'x', index: 1999, filename: FILE }, []],
        [{ type: 4, grandparentTitle: 'x', parentIndex: 1, index: 1, filename: FILE }, ['episode-v3']],
        [{ type: 4, grandparentTitle: 'Old Mill [UC1]', parentIndex: 2026, index: 1 }, ['episode-v2']],
        [{ type: 4, grandparentTitle: 'Old Mill [UC1]', date: '2025-12-31' }, ['episode-v1']],
        [{ type: 4, grandparentTitle: 'Old Mill [UC1]', filename: 'Other [new].mp4' }, []],
        [{ type: 2, title: 'Nothing of ours', filename: '/Films/A [1080p].mkv' }, []],
      ]

      const found = []
      for (const [body] of asked) found.push(keysOf(await match(address, body)).sort())

      assert.deepEqual(
        found,
        asked.map(([, keys]) => keys),
      )
    })

  test('is found by an id that a face has split, because Plex would read a number in it', async (t) => {
    const app = await withMill(t)
    await app.given(aVideo({ id: 'aS01E02-03bc', published: '2026-02-01' }))
    await app.app.ledger.write(() => app.app.faces.rows.giveNumber('UC1', 2026, 'aS01E02-03bc'))

    const found = await match(await madeBy(app), { type: 4, filename: 'S2026E3 - x [aS 01E 02-03bc].mp4' })

    assert.deepEqual(keysOf(found), ['episode-aS01E02-03bc'])
  })

  test('for a face on disk: the number in a file’s name is the number here, and an edit and a removal arrive', async (t) => {
    const app = await testApp(t)
    await app.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
    const root = join(app.dataDir, 'faces', 'tv')
    await app.as('admin').post('/api/face/', { name: 'TV', root, form: 'shows', selection: {} })
    await app.settled()
    await comeIn(app, { id: 'v1', title: 'To sea', published: '2026-01-02' })
    await comeIn(app, { id: 'v2', title: 'And back', published: '2026-01-03' })
    const address = await madeBy(app)
    const films = (await readdir(root, { recursive: true })).filter((path) => path.endsWith('.mp4'))

    for (const filename of films) {
      const [, season, number, id] = /S(\d+)E(\d+) .*\[(\w+)\]\.mp4$/.exec(filename)!
      const [show] = (await match(address, { type: 2, title: '', filename })).MediaContainer.Metadata
      const { MediaContainer } = await ask(`${address}/library/metadata/season-UC1-${season}/children`)
      const episode = MediaContainer.Metadata.find((one: any) => one.index === Number(number))
      assert.deepEqual([show.ratingKey, episode.ratingKey], ['show-UC1', `episode-${id}`])
    }
    assert.equal(films.length, 2)

    await app.app.videos.collection.patch('v1', { set: { title: 'To the open sea' } }, { visible: true })
    const { MediaContainer } = await ask(`${address}/library/metadata/episode-v1`)
    assert.equal(MediaContainer.Metadata[0].title, 'To the open sea')
    await app.as('admin').delete('/api/video/v1/')
    await app.settled()
    assert.equal((await fetch(`${address}/library/metadata/episode-v1`)).status, 404)
    assert.deepEqual(keysOf(await ask(`${address}/library/metadata/show-UC1/grandchildren`)), ['episode-v2'])
  })
})

describe('the metadata', () => {
  test('of a show, a season and an episode', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)
    const item = async (key: string) => (await ask(`${address}/library/metadata/${key}`)).MediaContainer

    assert.deepEqual(await item('show-UC1'), {
      ...{ offset: 0, totalSize: 1, identifier: SCHEME, size: 1 },
      Metadata: [
        {
          ...{ ratingKey: 'show-UC1', key: '/library/metadata/show-UC1/children', guid: `${SCHEME}://show/show-UC1` },
          ...{ type: 'show', title: 'Old Mill', originallyAvailableAt: '2025-12-31', year: 2025 },
          ...{ summary: 'Grain & bread', studio: 'Old Mill' },
        },
      ],
    })
    const season = {
      ...{ ratingKey: 'season-UC1-2025', key: '/library/metadata/season-UC1-2025/children' },
      ...{ guid: `${SCHEME}://season/season-UC1-2025`, type: 'season', title: '2025', index: 2025 },
      ...{ originallyAvailableAt: '2025-12-31', year: 2025 },
      ...{ parentRatingKey: 'show-UC1', parentKey: '/library/metadata/show-UC1', parentType: 'show' },
      ...{ parentGuid: `${SCHEME}://show/show-UC1`, parentTitle: 'Old Mill' },
    }
    assert.deepEqual((await item('season-UC1-2025')).Metadata, [season])
    const episode = {
      ...{ ratingKey: 'episode-v1', key: '/library/metadata/episode-v1', guid: `${SCHEME}://episode/episode-v1` },
      ...{ type: 'episode', title: 'Grain', originallyAvailableAt: '2025-12-31', year: 2025 },
      ...{ index: 1, parentIndex: 2025, duration: 61_000, summary: 'Sown', Genre: [{ tag: 'Food' }] },
      ...{ parentRatingKey: season.ratingKey, parentKey: '/library/metadata/season-UC1-2025', parentType: 'season' },
      ...{ parentGuid: season.guid, parentTitle: '2025' },
      ...{ grandparentRatingKey: 'show-UC1', grandparentKey: '/library/metadata/show-UC1' },
      ...{ grandparentGuid: `${SCHEME}://show/show-UC1`, grandparentType: 'show', grandparentTitle: 'Old Mill' },
    }
    assert.deepEqual((await item('episode-v1')).Metadata, [episode])
    assert.deepEqual((await item('season-UC1-2025?includeChildren=1')).Metadata, [
      { ...season, Children: { size: 1, Metadata: [episode] } },
    ])
    const matched = await match(address, { type: 2, title: 'x [UC1]', includeChildren: 1 })
    assert.equal(matched.MediaContainer.Metadata[0].Children.size, 2)
    assert.deepEqual((await item('episode-v1/extras')).Metadata, [])
  })

  test('of children, page by page, counted from one as providers do and from zero as Plex does', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)
    const many = Array.from({ length: 50 }, (_, at) => `n${String(at).padStart(2, '0')}`)
    await app.given(
      ...many.map((id, at) => aVideo({ id, published: `2024-01-${String(1 + (at % 28)).padStart(2, '0')}` })),
    )
    await app.app.ledger.write(() => {
      for (const id of many) app.app.faces.rows.giveNumber('UC1', 2024, id)
    })
    const below = `${address}/library/metadata/season-UC1-2024/children`
    const all = many.map((id) => `episode-${id}`)

    for (const from of [1, 0]) {
      const keys: string[] = []
      for (let start = from; start < 50 + from; start += 20)
        keys.push(...keysOf(await ask(`${below}?X-Plex-Container-Start=${start}&X-Plex-Container-Size=20`)))
      assert.deepEqual(keys, all, `from ${from}`)
    }
    const byHeader = await fetch(below, { headers: { 'X-Plex-Container-Start': '11', 'X-Plex-Container-Size': '5' } })
    const { MediaContainer } = (await byHeader.json()) as any
    assert.deepEqual([MediaContainer.offset, MediaContainer.size, MediaContainer.totalSize], [10, 5, 50])
    assert.equal(byHeader.headers.get('x-plex-container-total-size'), '50')
    assert.equal((await ask(below)).MediaContainer.size, 20)
    const seasons = keysOf(await ask(`${address}/library/metadata/show-UC1/children`))
    assert.deepEqual(seasons, ['season-UC1-2024', 'season-UC1-2025', 'season-UC1-2026'])
    const grandchildren = await ask(`${address}/library/metadata/show-UC1/grandchildren?X-Plex-Container-Size=100`)
    assert.deepEqual(keysOf(grandchildren), [...all, 'episode-v1', 'episode-v2', 'episode-v3'])
  })

  test('of a playlist, as a collection in its order', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)

    const { MediaContainer } = await ask(`${address}/library/collections/collection-PL1`)
    const episodes = await ask(`${address}/library/collections/collection-PL1/children`)

    assert.deepEqual([MediaContainer.Metadata[0].type, MediaContainer.Metadata[0].title], ['collection', 'Loaf'])
    assert.deepEqual(keysOf(episodes), ['episode-v3', 'episode-w1', 'episode-v1'])
  })

  test('of pictures: existing ones, each at its full address', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)
    await keepPictures(app, ['channel_thumb', 'UC1'], ['channel_tvart', 'UC1'], ['video', 'v1'])

    const [show] = (await ask(`${address}/library/metadata/show-UC1`)).MediaContainer.Metadata
    const { MediaContainer } = await ask(`${address}/library/metadata/episode-v1/images`)

    assert.deepEqual(
      show.Image.map(({ type }: any) => type),
      ['coverPoster', 'background'],
    )
    assert.deepEqual([show.thumb, show.art], [show.Image[0].url, show.Image[1].url])
    assert.deepEqual(
      MediaContainer.Image.map(({ type }: any) => type),
      ['snapshot'],
    )
    for (const { url } of [...show.Image, ...MediaContainer.Image]) {
      const reply = await fetch(url)
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'image/jpeg'])
    }
    assert.equal((await fetch(`${address}/picture/video/v2.jpg`)).status, 404)
  })
})

describe('access', () => {
  const statusOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status

  test('its address opens only the provider, within its account’s view, until it ends', async (t) => {
    const app = await withMill(t)
    const [own, other] = [await madeBy(app), await madeBy(app, 'admin')]
    assert.equal(await madeBy(app), own)
    const signature = own.split('/').at(-1)!
    const crossed = other.replace(other.split('/').at(-1)!, signature)

    assert.deepEqual([await statusOf(own), await statusOf(crossed)], [200, 401])
    assert.equal(await statusOf(`${app.url}api/video/?signed=${signature}`), 401)

    assert.equal((await app.as(WHO).delete('/api/plex/')).status, 200)
    assert.equal((await app.as(WHO).delete('/api/plex/')).status, 404)
    assert.equal((await app.as(WHO).get('/api/plex/')).body.url, null)
    const anew = await madeBy(app)
    assert.deepEqual([await statusOf(own), await statusOf(anew), await statusOf(other)], [404, 200, 200])
    assert.equal(await statusOf(`${own}/library/metadata/show-UC1`), 404)
  })

  test('a child’s provider shows the child’s view', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)
    assert.deepEqual(keysOf(await ask(`${address}/library/metadata/show-UC2/grandchildren`)), ['episode-w1'])

    await app.as('admin').post('/api/user/2/', { view: { channel: ['UC1'] } })

    for (const path of ['show-UC2', 'season-UC2-2026', 'episode-w1', 'show-UC2/grandchildren'])
      assert.equal(await statusOf(`${address}/library/metadata/${path}`), 404, path)
    assert.equal(await statusOf(`${address}/library/collections/collection-PL1`), 404)
    assert.equal(await statusOf(`${address}/picture/channel_thumb/UC2.jpg`), 404)
    assert.deepEqual(keysOf(await match(address, { type: 2, title: 'Watermill [UC2]' })), [])
    assert.deepEqual(keysOf(await ask(`${address}/library/metadata/show-UC1/grandchildren`)), [
      'episode-v1',
      'episode-v2',
      'episode-v3',
    ])
  })

  test('a child’s provider shows no pictures of a channel of which the child sees only single videos', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)
    await keepPictures(app, ['channel_thumb', 'UC2'], ['channel_tvart', 'UC2'], ['video', 'w1'])
    await app.app.videos.collection.patch('w1', { set: { playlist: ['PL1'] } }, { visible: true })
    const pictures = ['channel_thumb', 'channel_tvart'].map((kind) => `${address}/picture/${kind}/UC2.jpg`)
    const keys = ['show-UC2', 'season-UC2-2026', 'episode-w1']
    const items = async () => {
      const replies = await Promise.all(keys.map((key) => ask(`${address}/library/metadata/${key}`)))
      return replies.map(({ MediaContainer }) => JSON.stringify(MediaContainer.Metadata))
    }
    for (const text of await items()) assert.match(text, /channel_thumb/)
    assert.deepEqual(await Promise.all(pictures.map((url) => statusOf(url))), [200, 200])

    await app.as('admin').post('/api/user/2/', { view: { playlist: ['PL1'] } })

    const [show, season, episode] = await items()
    assert.match(show!, /"title":"Old Mill"/)
    for (const text of [show!, season!]) assert.doesNotMatch(text, /"(Image|thumb|art|\w+Thumb)"/)
    assert.doesNotMatch(episode!, /channel_/)
    assert.match(episode!, /picture\/video\/w1\.jpg/)
    assert.deepEqual(await Promise.all(pictures.map((url) => statusOf(url))), [404, 404])
  })

  test('a child’s provider shows no picture of a playlist, whose first video may be hidden', async (t) => {
    const app = await withMill(t)
    const address = await madeBy(app)
    await keepPictures(app, ['playlist', 'PL1'])
    const [collection, picture] = [
      `${address}/library/collections/collection-PL1`,
      `${address}/picture/playlist/PL1.jpg`,
    ]
    const images = async () => (await ask(`${collection}/images`)).MediaContainer.size
    assert.deepEqual([await images(), await statusOf(picture)], [1, 200])

    await app.as('admin').post('/api/user/2/', { view: { not_channel: ['UC2'] } })

    assert.deepEqual([await images(), await statusOf(picture)], [0, 404])
  })

  test('the log has no signature', async (t) => {
    const lines: string[] = []
    const app = await withMill(t, { log: openLog('debug', { write: (line: string) => void lines.push(line) }) })
    const address = await madeBy(app)

    await ask(`${address}/library/metadata/show-UC1`)
    await statusOf(address.replace('/plex/1/', '/plex/9/'))

    assert.ok(lines.some((line) => line.includes('/plex/1/***/library/metadata/show-UC1')))
    assert.ok(!lines.some((line) => line.includes(address.split('/').at(-1)!)))
  })
})

test('a malformed request is refused as the client’s fault', async (t) => {
  const app = await withMill(t)
  const address = await madeBy(app)
  const items = `${address}/library/metadata`
  for (const [path, status] of [
    ['show-', 404],
    ['show-none', 404],
    ['season-UC1', 404],
    ['season-UC1-1999', 404],
    ['film-v1', 404],
    ['collection-PL1', 404],
    ['..%2f..%2fetc', 404],
    ['show-UC1%00', 404],
    ['a'.repeat(3000), 404],
    ['show-UC1/children?X-Plex-Container-Start=-1', 400],
    ['show-UC1/children?X-Plex-Container-Size=x', 400],
    ['show-UC1/nothing', 404],
  ] as const)
    assert.equal((await fetch(`${items}/${path}`)).status, status, path)
  const headers = { 'X-Plex-Container-Start': '1e9', 'content-type': 'application/json' }
  assert.equal((await fetch(`${items}/show-UC1/children`, { headers })).status, 400)

  for (const [body, status] of [
    ['', 400],
    ['[]', 400],
    ['{', 400],
    ['{"type":1}', 400],
    ['{"type":2,"title":5}', 400],
    ['{"type":2,"index":-1}', 400],
    ['{"type":2,"title":"[[[[]]]]"}', 200],
    [JSON.stringify({ type: 4, filename: '[x]'.repeat(1000) }), 200],
    [JSON.stringify({ type: 2, title: 'x'.repeat(5000) }), 400],
  ] as const) {
    const reply = await fetch(`${items}/matches`, { method: 'POST', headers, body })
    assert.equal(reply.status, status, body.slice(0, 80))
  }
  assert.equal((await fetch(`${items}/matches`)).status, 405)
})
