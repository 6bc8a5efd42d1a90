/** Removed things are restored exactly: documents, rows and files are compared completely, on both indexes. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { definePlugin, errors } from 'archivolt'
import { aChannel, aFragment, aPlaylist, aVideo, someComments, type TestApp, testApp } from 'archivolt/testing'
import { DAY_MS } from '../../../core/base/clock.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { placesApp } from '../../support/places.ts'
import { noDisk, secondDisk } from '../../support/second-disk.ts'

const TABLES = [
  'watch_mark',
  'watch_position',
  'watch_unindexed',
  'playlist_custom',
  'playlist_custom_entry',
  'media_film',
]
const KINDS = ['video', 'comment', 'subtitle', 'channel', 'playlist']

async function filesBelow(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile() && entry.name !== '.archivolt-lock')
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length), (await readFile(path)).toString('base64')]),
    ),
  )
}

/** The playlists of a video are a set: those of a restored channel are appended. */
function sortedLists(doc: { playlist?: string[] }): object {
  return doc.playlist ? { ...doc, playlist: doc.playlist.toSorted() } : doc
}

/** All documents, ledger rows and files. */
async function everything(app: TestApp) {
  const docs: Record<string, unknown> = {}
  for (const kind of KINDS)
    for (const id of await app.ids(kind)) docs[`${kind} ${id}`] = sortedLists(await app.doc(kind, id))
  const rows = Object.fromEntries(TABLES.map((table) => [table, app.app.ledger.sql(`SELECT * FROM ${table}`).all()]))
  const { mediaDir, cacheDir } = app.app.settings
  return { docs, rows, library: await filesBelow(mediaDir), pictures: await filesBelow(cacheDir) }
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** Two channels; marks, positions and playlist entries of two accounts; comments, subtitles, pictures. */
async function aHousehold(app: TestApp): Promise<void> {
  const { media } = app.app
  const videos = ['v1', 'v2', 'v3'].map((id) => aVideo({ id, channelId: 'UC1', title: `Herring ${id}` }))
  await app.given(
    aChannel({ id: 'UC1', channel_subscribed: true, channel_overwrites: { autodelete_days: 7 } }),
    aChannel({ id: 'UC2' }),
    ...videos,
    aVideo({ id: 'w1', channelId: 'UC2', keep: true }),
    aFragment({ platform_id: 'v1', subtitle_line: 'herring at dawn' }),
    someComments('v1', [{ comment_id: 'c1' }]),
    aPlaylist({ id: 'PL1', playlist_channel_id: 'UC1', entries: ['v1', 'w1'] }),
  )
  for (const id of ['v1', 'v2', 'v3']) {
    await put(media.pathOf('UC1', id), `the film ${id}`)
    await put(media.artPathOf('video', id), `the picture ${id}`)
  }
  await put(media.pathOf('UC2', 'w1'), 'the film w1')
  await put(media.subtitlePathOf('UC1', 'v1', 'en'), 'WEBVTT')
  await put(join(app.app.settings.mediaDir, 'UC1', 'notes.txt'), 'what people have put there')
  await app.app.playlists.takeInAll()
  for (const who of ['admin', 'user'] as const) {
    const asked = [
      await app.as(who).post('/api/watched/', { id: 'v2', is_watched: true }),
      await app.as(who).post('/api/video/v1/progress/', { position: 3 }),
    ]
    for (const { status, text } of asked) assert.equal(status, 200, text)
    for (const id of ['v3', 'v1', 'w1'])
      await app.as(who).post('/api/playlist/watchlater/', { action: 'create', video_id: id })
  }
  const shared = await app
    .as('user')
    .post('/api/playlist/custom/', { playlist_name: 'Ours', playlist_visibility: 'shared' })
  const id = shared.body.playlist_id as string
  for (const videoId of ['w1', 'v1', 'v2'])
    assert.equal(
      (await app.as('user').post(`/api/playlist/${id}/`, { action: 'create', video_id: videoId })).status,
      201,
    )
  await app.settled()
}

const undo = (app: TestApp, removal: string) => app.as('admin').post('/api/bin/restore/', { removal })

for (const { index, skip } of INDEXES) {
  describe(`on ${index}`, { skip }, () => {
    const household = async (t: Parameters<typeof lastFirst>[0]) => {
      const scope = lastFirst(t)
      const app = await testApp(scope, { settings: await indexSettings(scope, index, 'bin') })
      await aHousehold(app)
      return app
    }

    test('one video, selected videos and a channel are removed, and an undo restores exactly what was there', async (t) => {
      const app = await household(t)
      const removals: Array<[string, () => Promise<{ body: any; status: number }>, string[]]> = [
        ['one', () => app.as('admin').delete('/api/video/v1/'), ['v2', 'v3', 'w1']],
        [
          'chosen',
          () => app.as('admin').post('/api/video/bulk/', { action: 'delete', ids: ['v1', 'w1', 'v2'] }),
          ['v3'],
        ],
        ['a channel', () => app.as('admin').delete('/api/channel/UC1/'), ['w1']],
      ]
      for (const [what, remove, left] of removals) {
        const before = await everything(app)

        const reply = await remove()

        assert.equal(reply.status, 200)
        assert.deepEqual(await app.ids('video'), left, what)
        assert.equal(
          (await app.as('user').get('/api/search/?query=herring')).body.results?.video_results?.length ?? 0,
          left.filter((id) => id.startsWith('v')).length,
        )
        await app.settled()
        const undone = await undo(app, reply.body.removal)
        assert.deepEqual([undone.status, undone.body.refused], [200, []], undone.text)
        await app.settled()
        assert.deepEqual(await everything(app), before, what)
        assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 0)
      }
    })
  })
}

test('a playlist is removed with its videos or alone, and an undo restores it with its entries', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { data: lists } = (await app.as('user').get('/api/playlist/?type=custom')).body
  const shared = lists.find((one: Record<string, unknown>) => one['playlist_name'] === 'Ours').playlist_id
  const made = await app.as('user').post('/api/playlist/custom/', { playlist_name: 'Mine' })
  const own = made.body.playlist_id as string
  await app.as('user').post(`/api/playlist/${own}/`, { action: 'create', video_id: 'v2' })
  const removals: Array<[who: 'admin' | 'user', path: string, left: string[]]> = [
    ['admin', '/api/playlist/PL1/?delete-videos=true', ['v2', 'v3']],
    ['admin', '/api/playlist/PL1/', ['v1', 'v2', 'v3', 'w1']],
    ['admin', `/api/playlist/${shared}/?delete-videos=true`, ['v3']],
    ['user', `/api/playlist/${shared}/`, ['v1', 'v2', 'v3', 'w1']],
    ['user', `/api/playlist/${own}/`, ['v1', 'v2', 'v3', 'w1']],
  ]
  for (const [who, path, left] of removals) {
    const before = await everything(app)

    const reply = await app.as(who).delete(path)

    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(await app.ids('video'), left, path)
    assert.equal((await app.as(who).get(path.split('?')[0]!)).status, 404)
    await app.settled()
    const undone = await app.as(who).post('/api/bin/restore/', { removal: reply.body.removal })
    assert.deepEqual([undone.status, undone.body.refused], [200, []], undone.text)
    await app.settled()
    assert.deepEqual(await everything(app), before, path)
  }
})

test('a private playlist in the bin is shown only to its account, which alone can restore it', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { playlist_id: id } = (await app.as('user').post('/api/playlist/custom/', { playlist_name: 'Mine' })).body
  const { removal } = (await app.as('user').delete(`/api/playlist/${id}/`)).body
  const ofVideo = (await app.as('admin').delete('/api/video/v1/')).body.removal

  const { body } = await app.as('admin').get('/api/bin/')

  assert.deepEqual(
    body.data.map((entry: Record<string, unknown>) => entry['platform_id']),
    ['v1'],
  )
  assert.equal((await app.as('user').post('/api/bin/restore/', { removal: ofVideo })).status, 403)
  const entries = app.app.ledger
    .sql<{ id: number }>("SELECT id FROM bin_entry WHERE kind = 'playlist'")
    .all()
    .map((row) => row.id)
  for (const chosen of [{ removal }, { entries }]) {
    assert.equal((await app.as('admin').post('/api/bin/restore/', chosen)).status, 404)
    assert.deepEqual((await app.as('admin').post('/api/bin/empty/', chosen)).body, { deleted: 0 })
  }
  assert.deepEqual((await app.as('admin').post('/api/bin/restore/', { all: true })).body, { restored: 1, refused: [] })
  assert.equal((await app.as('user').get(`/api/playlist/${id}/`)).status, 404)
  assert.deepEqual((await app.as('admin').post('/api/bin/empty/', { all: true })).body, { deleted: 0 })
  assert.equal((await app.as('user').post('/api/bin/restore/', { removal })).body.restored, 1)
  assert.equal((await app.as('user').get(`/api/playlist/${id}/`)).status, 200)
})

test('the bin lists and searches what was removed, and only admins see it', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  await app.as('admin').delete('/api/video/v1/')
  await app.as('admin').delete('/api/video/w1/')

  const { body } = await app.as('admin').get('/api/bin/?q=v1')

  assert.deepEqual(
    body.data.map((entry: Record<string, unknown>) => [entry['platform_id'], entry['why'], entry['by'], entry['kind']]),
    [['v1', 'removed', 'admin', 'video']],
  )
  assert.equal(body.data[0].until - body.data[0].removed, 30 * 86_400)
  assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 2)
  for (const ask of [
    app.as('user').get('/api/bin/'),
    app.as('user').post('/api/bin/restore/', { all: true }),
    app.as('user').post('/api/bin/empty/', { all: true }),
  ])
    assert.equal((await ask).status, 403)
})

test('the bin is searched without regard to case, accents and the form of letters', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Küche' }),
    aVideo({ id: 'v1', channelId: 'UC1', title: 'Über den Dächern' }),
    aVideo({ id: 'v2', channelId: 'UC1', title: 'Menü'.normalize('NFD') }),
    aVideo({ id: 'v3', channelId: 'UC1', title: '100 %' }),
  )
  for (const id of ['v1', 'v2', 'v3']) await app.as('admin').delete(`/api/video/${id}/`)

  const found = async (words: string) =>
    (await app.as('admin').get(`/api/bin/?q=${encodeURIComponent(words)}`)).body.data.map(
      (entry: { platform_id: string }) => entry.platform_id,
    )

  assert.deepEqual(await Promise.all(['über', 'dachern', 'MENÜ', 'kÜCHE', '%', '_'].map(found)), [
    ['v1'],
    ['v1'],
    ['v2'],
    ['v3', 'v2', 'v1'],
    ['v3'],
    [],
  ])
})

test('what is added to the bin during a restore of everything is not part of its count', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { bin, ledger } = app.app
  await app.as('admin').delete('/api/video/v1/')
  const columns = 'video_id, channel_id, title, channel_name, size_bytes, duration, is_gone, why, note, removed_at'

  const restoring = bin.restore({ all: true })
  // A film that a download has replaced stays in the bin.
  await ledger.write(() =>
    ledger
      .sql(
        `INSERT INTO bin_entry (kind, removal, trash, ${columns}) SELECT 'film', 'r', 'r', ${columns} FROM bin_entry LIMIT 1`,
      )
      .run(),
  )

  assert.deepEqual(await restoring, { restored: 1, refused: [] })
})

test('emptied entries are gone for good, with their files and pictures', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { removal } = (await app.as('admin').post('/api/video/bulk/', { action: 'delete', ids: ['v1', 'v2'] })).body
  const [{ id, platform_id: gone }] = (await app.as('admin').get('/api/bin/')).body.data

  assert.deepEqual((await app.as('admin').post('/api/bin/empty/', { entries: [id] })).body, { deleted: 1 })

  assert.equal(
    Object.keys(await filesBelow(app.app.settings.cacheDir)).some((path) => path.includes(gone)),
    false,
  )
  assert.equal(
    Object.keys(await filesBelow(app.app.settings.mediaDir)).some((path) => path.includes(`${gone}.`)),
    false,
  )
  assert.equal((await undo(app, removal)).body.restored, 1)
  assert.deepEqual(await readdir(join(app.app.settings.mediaDir, '.trash')), [])
  assert.equal((await app.as('admin').post('/api/bin/restore/', { entries: [id] })).status, 404)
})

test('after its days a video leaves the bin automatically, unless the platform no longer has it', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  await app.given(aVideo({ id: 'lost', channelId: 'UC1', active: false }))
  await app.as('admin').post('/api/video/bulk/', { action: 'delete', ids: ['v1', 'lost'] })

  await app.clock.advance(29 * DAY_MS)
  const lying = async () => {
    const { data } = (await app.as('admin').get('/api/bin/')).body
    return data.map((entry: Record<string, unknown>) => [entry['platform_id'], entry['until'] === null]).sort()
  }
  assert.deepEqual(
    (await lying()).filter(([id]: string[]) => id !== 'v2'),
    [
      ['lost', true],
      ['v1', false],
    ],
  )
  for (let hour = 0; hour < 26; hour++) {
    await app.clock.advance(3_600_000)
    await app.settled()
  }

  // v2 was watched long ago, so it was removed later, automatically.
  assert.deepEqual(
    (await lying()).filter(([id]: string[]) => id !== 'v2'),
    [['lost', true]],
  )
})

test('a clock that is suddenly far ahead deletes nothing for a day, and nothing at all once it is right again', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await app.as('admin').post('/api/video/bulk/', { action: 'delete', ids: ['v1'] })
  const hours = async (count: number) => {
    for (let hour = 0; hour < count; hour++) {
      await app.clock.advance(3_600_000)
      await app.settled()
    }
  }
  const lying = async () => (await app.as('admin').get('/api/bin/')).body.data.length
  await hours(2)

  const right = app.clock.now()
  app.clock.set(right + 400 * DAY_MS)
  await app.restart()
  await hours(20)
  assert.equal(await lying(), 1)
  app.clock.set(right + 20 * 3_600_000)
  await app.restart()
  await hours(20)
  assert.equal(await lying(), 1)

  app.clock.set(right + 400 * DAY_MS)
  await app.restart()
  await hours(26)
  assert.equal(await lying(), 0)
})

test('a video that was removed while the clock was behind or ahead stays in the bin for its days', async (t) => {
  const app = await testApp(t)
  const right = app.clock.now()
  const clockAt = async (ms: number) => {
    app.clock.set(ms)
    await app.clock.advance(3_600_000)
    await app.settled()
  }
  const remove = (id: string) => app.as('admin').post('/api/video/bulk/', { action: 'delete', ids: [id] })
  const lying = async () =>
    (await app.as('admin').get('/api/bin/')).body.data.map((entry: Record<string, unknown>) => entry['platform_id'])
  await app.given(aChannel({ id: 'UC1' }), ...['old', 'later'].map((id) => aVideo({ id, channelId: 'UC1' })))

  await clockAt(right - 4000 * DAY_MS)
  await remove('old')
  await clockAt(right + 4000 * DAY_MS)
  await remove('later')
  await clockAt(right)
  for (let hour = 0; hour < 48; hour++) await clockAt(app.clock.now())
  assert.deepEqual(await lying(), ['later', 'old'])
  await app.clock.advance(29 * DAY_MS)
  for (let hour = 0; hour < 48; hour++) await clockAt(app.clock.now())

  assert.deepEqual(await lying(), [])
})

test('videos of many channels are restored with one write of their documents and one event each', async (t) => {
  const heard: string[] = []
  const listener = definePlugin({
    name: 'listener',
    needs: ['video'],
    on: {
      'video.restored':
        ({ videos }) =>
        async ({ id, channelId }) =>
          void heard.push(`${channelId}/${id}${(await videos.has(id)) ? '' : ' is not there'}`),
    },
  })
  const app = await testApp(t, { outside: [listener] })
  const channels = ['UC1', 'UC2', 'UC3']
  await app.given(...channels.flatMap((id) => [aChannel({ id }), aVideo({ id: `v${id}`, channelId: id })]))
  const ids = channels.map((id) => `v${id}`)
  const { removal } = (await app.as('admin').post('/api/video/bulk/', { action: 'delete', ids })).body
  const writes = t.mock.method(app.app.videos, 'giveBack')

  assert.equal((await undo(app, removal)).body.restored, 3)

  await app.settled()
  assert.deepEqual([writes.mock.callCount(), await app.ids('video')], [1, ids])
  assert.deepEqual(heard.toSorted(), ['UC1/vUC1', 'UC2/vUC2', 'UC3/vUC3'])
})

test('a restored video names the playlists that list it now, and none that was removed meanwhile', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { removal } = (await app.as('admin').delete('/api/video/v1/')).body
  await app.as('admin').delete('/api/playlist/PL1/')
  const entries = ['v1', 'w1']
  await app.given(aPlaylist({ id: 'PL2', playlist_channel_id: 'UC1', entries }))
  await app.given(aPlaylist({ id: 'PL3', playlist_channel_id: 'UC2', entries }))

  assert.equal((await undo(app, removal)).body.restored, 1)

  assert.deepEqual(
    ((await app.doc('video', 'v1')) as { playlist: string[] }).playlist.filter((id) => id.startsWith('PL')).toSorted(),
    ['PL2', 'PL3'],
  )
  const { playlist_entries: listed } = (await app.doc('playlist', 'PL2')) as {
    playlist_entries: Array<{ platform_id: string; downloaded: boolean }>
  }
  assert.equal(listed.find(({ platform_id: id }) => id === 'v1')!.downloaded, true)
})

test('pictures of entries in the bin survive the check of thumbnails', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { media } = app.app
  const old = app.clock.now() / 1000 - 7 * 86_400
  const pictures = ['v1', 'nobody'].map((id) => media.artPathOf('video', id))
  await put(pictures[1]!, 'a picture of no video')
  for (const path of pictures) await utimes(path, old, old)
  await app.as('admin').delete('/api/video/v1/')

  const { task_id: id } = (await app.as('admin').post('/api/task-name/thumbnail_check/')).body
  assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')

  assert.deepEqual(await Promise.all(pictures.map((path) => media.isThere(path))), [true, false])
})

test('with a retention of no days everything is deleted at once', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  await app.as('admin').post('/api/config/', { bin: { days: 0 } })

  const reply = await app.as('admin').delete('/api/video/v1/')

  assert.deepEqual(reply.body, { video: 'v1', state: 'delete' })
  assert.deepEqual(await readdir(join(app.app.settings.mediaDir, '.trash')), [])
  assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 0)
})

test('an entry that cannot be restored stays in the bin, with a sentence', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const remove = async (id: string): Promise<string> => (await app.as('admin').delete(`/api/video/${id}/`)).body.removal
  const { media, settings } = app.app

  const again = await remove('v1')
  await app.given(aVideo({ id: 'v1', channelId: 'UC1' }))
  assert.match((await undo(app, again)).body.error, /is in the archive again/)

  const taken = await remove('v2')
  await put(media.pathOf('UC1', 'v2'), 'another film')
  const { error, said } = (await undo(app, taken)).body
  assert.match(error, /Another file v2\.mp4 is already in the library/)
  assert.deepEqual(said[error].params, { file: 'v2.mp4' }, 'the page translates it')
  assert.equal(await readFile(media.pathOf('UC1', 'v2'), 'utf8'), 'another film')

  const damaged = await remove('v3')
  const [entry] = (await app.as('admin').get('/api/bin/?q=v3')).body.data
  const [{ trash }] = app.app.ledger
    .sql<{ trash: string }>('SELECT trash FROM bin_entry WHERE id = ?')
    .all(entry.id) as [{ trash: string }]
  const record = join(settings.mediaDir, '.trash', trash, 'UC1', 'v3.belongings.json')
  const whole = await readFile(record, 'utf8')
  const hostile = [
    '{',
    'null',
    whole.replaceAll('"v3"', '"w1"'),
    JSON.stringify({ ...JSON.parse(whole), video: { ...JSON.parse(whole).video, channel_id: '../../etc' } }),
  ]
  for (const text of hostile) {
    await writeFile(record, text)
    assert.equal((await undo(app, damaged)).status, 409, text.slice(0, 50))
  }
  assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 3)
  await writeFile(record, whole)
  assert.equal((await undo(app, damaged)).body.restored, 1)
  assert.equal((await app.as('admin').post('/api/bin/restore/', { removal: 'x', all: true })).status, 400)
})

test('the reason why an entry cannot be restored is reported, however many others stay in the bin', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const { ledger, media } = app.app
  await ledger.write(() => {
    for (let number = 0; number < 500; number++)
      ledger
        .sql(
          `INSERT INTO bin_entry (kind, removal, trash, video_id, channel_id, title, channel_name, size_bytes, duration,
             is_gone, why, note, removed_at) VALUES ('film', @id, @id, 'v1', 'UC1', '', '', 1, 1, 0, 'replaced', '', 0)`,
        )
        .run({ id: `film_${number}` })
  })
  await app.as('admin').delete('/api/video/v2/')
  await put(media.pathOf('UC1', 'v2'), 'another film')

  const { status, body } = await app.as('admin').post('/api/bin/restore/', { all: true })

  assert.equal(status, 409)
  assert.match(body.error, /Another file v2\.mp4 is already in the library/)
})

test('on a full disk the oldest entries are deleted, as many as needed, and none that the platform no longer has', async (t) => {
  const app = await testApp(t)
  const size = 1024 ** 3
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'gone', channelId: 'UC1', media_size: size, active: false }),
    ...['old', 'newer', 'newest'].map((id) => aVideo({ id, channelId: 'UC1', media_size: size })),
  )
  for (const id of ['gone', 'old', 'newer', 'newest']) await put(app.app.media.pathOf('UC1', id), 'a film')
  for (const id of ['gone', 'old', 'newer']) {
    await app.as('admin').delete(`/api/video/${id}/`)
    await app.clock.advance(60_000)
  }
  const { ledger, media } = app.app
  const isOldThere = () => ledger.sql("SELECT 1 FROM bin_entry WHERE video_id = 'old'").get() !== undefined
  t.mock.method(media, 'space', async () => ({ free: (isOldThere() ? 2 : 3) * size - 10, total: 100 * size }))

  await app.as('admin').delete('/api/video/newest/')
  await app.clock.advance(2000)

  const inBin = async (): Promise<string[]> =>
    (await app.as('admin').get('/api/bin/')).body.data.map((entry: { platform_id: string }) => entry.platform_id)
  while ((await inBin()).includes('old')) await setImmediate()
  assert.deepEqual((await inBin()).sort(), ['gone', 'newer', 'newest'])
})

test('only films on the library’s disk are deleted for space: entries elsewhere or without a film stay', async (t) => {
  const app = await placesApp(t)
  const { ledger, media, settings } = app.app
  const size = 1024 ** 3
  const placeId = await app.place('films')
  await app.placed({ id: 'placed', placeId, path: 'placed.mp4' })
  await media.places.setOurs(placeId, true)
  await app.given(
    aChannel({ id: 'UC2' }),
    ...['bare', 'own'].map((id) => aVideo({ id, channelId: 'UC1', media_size: size })),
    aVideo({ id: 'linked', channelId: 'UC2', media_size: size }),
  )
  await put(media.pathOf('UC1', 'own'), 'a film')
  const disk = noDisk ? undefined : await secondDisk(t)
  if (disk) await symlink(disk, join(settings.mediaDir, 'UC2'))
  if (disk) await put(media.pathOf('UC2', 'linked'), 'a film')
  const { playlist_id: list } = (await app.as('user').post('/api/playlist/custom/', { playlist_name: 'Mine' })).body
  const { removal } = (await app.as('user').delete(`/api/playlist/${list}/`)).body
  for (const id of ['placed', 'linked', 'bare']) await app.as('admin').delete(`/api/video/${id}/`)
  await app.clock.advance(60_000)
  const entries = () => ledger.sql<{ id: string }>('SELECT video_id AS id FROM bin_entry ORDER BY bin_entry.id').all()
  t.mock.method(media, 'space', async () => ({ free: size, total: 100 * size }))

  await app.as('admin').delete('/api/video/own/')
  await app.clock.advance(2000)
  while (entries().length === 5) await setImmediate()
  await app.settled()

  assert.deepEqual(
    entries().map(({ id }) => id),
    [list, 'placed', 'linked', 'bare'],
  )
  assert.equal((await app.as('user').post('/api/bin/restore/', { removal })).body.restored, 1)
})

test('an entry whose restore has failed can be deleted, and restored if its deletion has failed; only a running job blocks both', async (t) => {
  const app = await testApp(t)
  await aHousehold(app)
  const admin = app.as('admin')
  const { binned } = app.app.media
  const full = () => Promise.reject(errors.unavailable('There is not enough space'))
  const lying = async () => (await admin.get('/api/bin/')).body.paginate.total_hits
  const removals: string[] = []
  for (const id of ['v1', 'v2', 'v3']) removals.push((await admin.delete(`/api/video/${id}/`)).body.removal)
  const [first, second, third] = removals

  const putBack = t.mock.method(binned, 'putBack', full)
  assert.equal((await undo(app, first!)).status, 503)
  putBack.mock.restore()
  assert.deepEqual((await admin.post('/api/bin/empty/', { removal: first })).body, { deleted: 1 })

  const drop = t.mock.method(binned, 'drop', full)
  assert.equal((await admin.post('/api/bin/empty/', { removal: second })).status, 503)
  drop.mock.restore()
  assert.equal((await undo(app, second!)).body.restored, 1)

  const { removal: halfGone } = (await admin.delete('/api/video/v2/')).body
  const { drop: really } = binned
  const halfway = t.mock.method(binned, 'drop', async (...args: Parameters<typeof really>) => {
    await really(...args)
    await full()
  })
  assert.equal((await admin.post('/api/bin/empty/', { removal: halfGone })).status, 503)
  halfway.mock.restore()
  assert.equal((await undo(app, halfGone)).status, 409, 'its file is gone')
  assert.deepEqual((await admin.post('/api/bin/empty/', { removal: halfGone })).body, { deleted: 1 })

  const { putBack: move } = binned
  let deleted: unknown
  t.mock.method(binned, 'putBack', async (...args: Parameters<typeof move>) => {
    deleted = (await admin.post('/api/bin/empty/', { removal: third })).body
    return move(...args)
  })
  assert.equal((await undo(app, third!)).body.restored, 1)
  assert.deepEqual([deleted, await lying()], [{ deleted: 0 }, 0])
})
