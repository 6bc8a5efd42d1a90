/** Imports libraries of other programs in place: the plan, its result, and that an undo leaves nothing. */
import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type ExpectedLibrary, type ExpectedVideo, expectedOf, makeLibraries } from '../support/libraries.ts'
import { listing, type PlacesApp, type PlannedRow, withPlaces } from '../support/places.ts'
import '../support/long.ts'

const LIBRARIES = [
  ...['tubearchivist-v05', 'tubearchivist-v04', 'pinchflat', 'tubesync', 'ytdl-sub'],
  ...['youtarr', 'metube', 'youtubedl-material', 'yt-dlp'],
]
/** Remarks about files that do not belong to a library, and those that need no action. */
const NOT_TOLD = new Set(['stray_sidecar', 'wal', 'not_downloaded', 'filtered', 'upcoming', 'position_without_video'])
/** These are found when the platform is asked; the plan says that it will be. */
const AFTER_ASKING = new Set(['unsure_id', 'no_facts'])

/** Owners there, and the matching accounts here. */
const ALONG = {
  kinds: ['watched', 'position', 'keep', 'ignore', 'channel', 'playlist', 'list', 'platform_list'],
  users: { '': 'admin', '1': 'admin', '2': 'user', 'jellyfin:u1': 'admin', 'plex:7': 'user' } as Record<string, string>,
}
/** Settings that are only reported. */
const SET_THERE: Record<string, string[]> = {
  pinchflat: [
    'Harbour & Tide titles (?i)^(?!.*unboxing)',
    'Harbour & Tide shortest 1',
    'Harbour & Tide since 2023-03-10',
    'Harbour & Tide kept_for 365',
    'Harbour & Tide quality 1080p',
    'Harbour & Tide shorts exclude',
    'The coast in five films quality 720p',
    'Orbit Notes quality audio',
  ],
  tubesync: [
    'Harbour and Tide not_titles unboxing',
    'Harbour and Tide newest 31536000',
    'Harbour and Tide kept_for 30',
    'Harbour and Tide quality 1080p',
    'Werkstatt quality 1080p',
    'Sounds quality audio',
  ],
  youtarr: [
    'Harbour & Tide shortest 60',
    'Harbour & Tide quality 720',
    'Harbour & Tide streams exclude',
    'Orbit Notes shorts exclude',
    'Orbit Notes streams exclude',
  ],
}

/** The channel with the handle that some of them mention. */
const HARBOUR = 'UCqnT2_QO_aL5-D0vQbK5hpy'

let root: string
let platform: Awaited<ReturnType<typeof startTestPlatform>>

before(async (t) => {
  root = await temporaryFolder(t as TestContext)
  platform = await startTestPlatform(t as TestContext)
  await makeLibraries(root, [...LIBRARIES, 'exports'])
})

async function ended(app: PlacesApp, taskId: string): Promise<void> {
  const { state, result } = await app.app.jobs.ended(taskId)
  assert.equal(state, 'SUCCESS', result ?? '')
}
const rowsOf = async (app: PlacesApp, id: number): Promise<PlannedRow[]> =>
  (await app.as('admin').get(`/api/adoption/${id}/item/`)).body.data

async function scan(app: PlacesApp, place: number) {
  const { body } = await app.as('admin').post('/api/adoption/', { place })
  await ended(app, body.task_id)
  return (await app.as('admin').get(`/api/adoption/${body.id}/`)).body
}

async function command(app: PlacesApp, id: number, body: Record<string, unknown>) {
  const reply = await app.as('admin').post(`/api/adoption/${id}/`, body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  await ended(app, reply.body.task_id)
  const completing = app.app.jobs.active('complete_videos')
  if (completing) await ended(app, completing.id)
  return (await app.as('admin').get(`/api/adoption/${id}/`)).body
}

const ownLists = async (app: PlacesApp): Promise<Array<{ playlist_entries: unknown[] }>> =>
  (await app.as('admin').get('/api/playlist/?visibility=private')).body.data

const fromPlace = ({ library }: ExpectedLibrary, file = ''): string =>
  library === '.' ? file : file.replace(`${library}/`, '')
/** Only the platform knows its channel. */
const isAsked = ({ facts_from: from, channel_from: channel }: ExpectedVideo): boolean =>
  ['platform', 'tags', 'archive'].includes(from) || channel === 'platform'

function planOf(expected: ExpectedLibrary): string[] {
  const videos: ExpectedLibrary['problems'] = expected.videos.map((one) => ({
    ...one,
    code: isAsked(one) ? 'ask' : 'new',
    severity: 'info',
  }))
  const problems = expected.problems
    .filter(({ code }) => !NOT_TOLD.has(code))
    .map((one) => ({ ...one, code: AFTER_ASKING.has(one.code) ? 'ask' : one.code }))
  return [...videos, ...problems]
    .map(({ code, id = '', file, file_hex: hex = '' }) =>
      // We do not report ids of other platforms.
      [code, /^\d+$/.test(id) ? '' : id, fromPlace(expected, file ?? Buffer.from(hex, 'hex').toString())].join(' '),
    )
    .sort()
}

const CASES: Array<[what: string, name: string, prepare: (at: (path: string) => string) => Promise<void>]> = [
  ...LIBRARIES.map((name): (typeof CASES)[number] => [name, name, () => Promise.resolve()]),
  [
    'youtarr with nothing but its own backup',
    'youtarr',
    async (at) => {
      for (const path of ['youtarr.sql', 'config', 'jobs']) await rm(at(path), { recursive: true })
    },
  ],
]

for (const [what, name, prepare] of CASES)
  test(`a library of ${what} is imported in place, and undone without a trace`, async (t) => {
    await prepare((path) => join(root, name, path))
    const app = withPlaces(
      await testApp(t, { settings: { ...platform.settings, libraryRoots: [root], pageSize: 200 } }),
      root,
    )
    const expected = await expectedOf(root, name)
    const lay = await listing(join(root, name))
    const place = await app.place(join(name, expected.library))

    const plan = await scan(app, place)

    assert.equal(plan.source, expected.source)
    assert.deepEqual(
      plan.settings.map(({ of, key, value }: Record<string, string>) => [of, key, value].join(' ')),
      SET_THERE[name] ?? [],
    )
    const rows = await rowsOf(app, plan.id)
    assert.deepEqual(
      rows.map(({ code, outcome, platform_id: id, file }) => [code || outcome, id, file].join(' ')).sort(),
      planOf(expected),
    )

    const done = await command(app, plan.id, { command: 'adopt', along: ALONG })
    await app.settled()
    // Only the platform can say what an id in a file name stands for; `unsure_id` and `no_facts` are the same to it.
    const left = (await rowsOf(app, plan.id)).filter(({ state }) => state === 'left')
    assert.ok(left.every(({ code }) => AFTER_ASKING.has(code)))
    assert.deepEqual(
      left.map(({ platform_id: id }) => id).sort(),
      expected.problems.flatMap(({ code, id }) => (AFTER_ASKING.has(code) ? [id!] : [])).sort(),
    )
    assert.equal(done.states.done, expected.videos.length)
    for (const video of expected.videos) await comparesWith(video, app)
    await comparesWhatCameAlong(name, expected, app)

    const again = await scan(app, place)
    assert.equal(again.unchanged, expected.videos.length)
    assert.deepEqual([again.outcomes.new.count, again.outcomes.moved.count], [0, 0])

    const undone = await command(app, plan.id, { command: 'undo' })
    assert.equal(undone.state, 'undone')
    assert.deepEqual(await ownLists(app), [])
    for (const index of ['video', 'channel', 'playlist', 'subtitle', 'comment', 'download'])
      assert.deepEqual(await app.ids(index), [], `${index} is as it was`)
    assert.deepEqual(await listing(join(root, name)), lay, 'nothing was ever written there')
  })

async function comparesWith(video: ExpectedVideo, app: PlacesApp): Promise<void> {
  const { data } = (await app.as('admin').get(`/api/video/${video.id}/`)).body
  assert.deepEqual(
    {
      title: data.title,
      channel: data.channel.channel_id,
      name: data.channel.channel_name,
      published: data.published.slice(0, 10),
      kind: data.vid_type,
      active: data.active,
      subtitles: data.subtitles.map(({ lang }: { lang: string }) => lang).sort(),
      ...(video.date_downloaded !== undefined && { downloaded: data.date_downloaded }),
    },
    {
      title: video.title,
      channel: video.channel_id,
      name: video.channel_name,
      published: video.published,
      kind: video.vid_type,
      active: video.active !== false,
      subtitles: video.subtitles.map(({ lang }) => lang).sort(),
      ...(video.date_downloaded !== undefined && { downloaded: video.date_downloaded }),
    },
    video.id,
  )
  // If only the platform knows a video, it has the platform's duration, not that of the stand-in film.
  if (!isAsked(video)) assert.equal(data.player.duration, video.duration, video.id)
  if (video.thumbnail !== undefined) assert.ok(await app.app.media.hasArt('video', video.id), `picture of ${video.id}`)
}

async function comparesWhatCameAlong(name: string, expected: ExpectedLibrary, app: PlacesApp): Promise<void> {
  for (const { id, watched, watched_date: at, position = {}, kept } of expected.videos) {
    const { data } = (await app.as('admin').get(`/api/video/${id}/`)).body
    assert.deepEqual([data.player.watched, data.player.watched_date], [watched, at], id)
    assert.equal(data.keep, kept || undefined, id)
    for (const [owner, seconds] of Object.entries(position)) {
      const { body } = await app.as(ALONG.users[owner]!).get(`/api/video/${id}/progress/`)
      assert.equal(body.position, seconds, `${id} of ${owner}`)
    }
  }
  const lists = expected.playlists.filter(({ type }) => type === 'custom').map(({ entries }) => entries)
  assert.deepEqual(
    (await ownLists(app)).map(({ playlist_entries: entries }) => entries.length),
    lists,
  )
  assert.deepEqual(await app.ids('download'), expected.ignored.toSorted())
  const wanted = expected.subscriptions.filter(
    ({ enabled, download, audio_only: isSound }) => enabled !== false && download !== false && isSound !== true,
  )
  for (const [index, type] of [
    ['channel', 'channel'],
    ['playlist', 'playlist'],
  ] as const) {
    const ids: string[] = []
    for (const id of await app.ids(index)) if ((await app.doc(index, id))[`${type}_subscribed`] === true) ids.push(id)
    const held = wanted.filter((one) => one.type === type).map(({ id }) => id ?? HARBOUR)
    assert.deepEqual(ids, held.toSorted(), `${index} of ${name}`)
  }
}

test('every export of subscriptions is recognized, and its channels are listed', async (t) => {
  const app = await testApp(t)
  const { files = {} } = await expectedOf(root, 'exports')
  const lists = Object.entries(files).flatMap(([file, { channels, same_as: same }]) => {
    const held = channels ?? files[same ?? '']?.channels
    return held ? [{ file, held }] : []
  })
  assert.ok(lists.length >= 10)

  for (const { file, held } of lists) {
    const bytes = await readFile(join(root, 'exports', file))
    const type = { 'content-type': 'application/octet-stream' }
    const { status, body } = await app.as('admin').post('/api/subscription/preview/', bytes, type)
    assert.equal(status, 200, `${file}: ${JSON.stringify(body)}`)
    const ids = body.subscriptions.flatMap(({ type, id }: { type: string; id: string }) =>
      type === 'channel' && id.startsWith('UC') ? [id] : [],
    )
    assert.deepEqual(ids.sort(), held.toSorted(), file)
  }
})
