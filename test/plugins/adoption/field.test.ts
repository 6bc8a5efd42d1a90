/** Libraries of further programs: metadata that only their database has, or that is in other folders. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { GONE, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import '../../support/ffmpeg.ts'
import { FILM_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { CHANNEL, layOldMetube, layTartube, layYtptube } from '../../support/further-libraries.ts'
import { lastFirst } from '../../support/last-first.ts'
import { listing, type PlacesApp, type PlannedRow, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/long.ts'

const run = promisify(execFile)

interface Plan {
  source: string
  rows: string[]
}

/** @returns how the location was read, and for each row its file, its video and its state */
async function plannedIn(app: PlacesApp, path: string): Promise<Plan> {
  const id = await scanned(app, await app.place(path))
  const { source } = (await app.as('admin').get(`/api/adoption/${id}/`)).body
  const { data } = (await app.as('admin').get(`/api/adoption/${id}/item/`)).body
  const rows = (data as PlannedRow[]).map(({ file, platform_id: video, outcome, code }) =>
    [file.replace(app.root, ''), video, code || outcome].join('|'),
  )
  return { source, rows: rows.sort() }
}

test('YTPTube’s history identifies films whose names have no id, and its list names what is gone', async (t) => {
  const app = await placesApp(t)
  await layYtptube(app, 'tube', ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'fffffffffff'])
  const before = await listing(app.root)

  const { source, rows } = await plannedIn(app, 'tube/downloads')

  assert.equal(source, 'ytptube')
  assert.deepEqual(rows, [
    'Harbour/Season 2024/S2024E01 - Film.mkv|bbbbbbbbbbb|new',
    'Renamed.mp4|aaaaaaaaaaa|ask',
    '|fffffffffff|in_archive_only',
  ])
  const { along } = (await app.as('admin').get('/api/adoption/')).body.adoptions[0]
  assert.deepEqual(along, [{ kind: 'channel', owner: '', count: 1 }])
  assert.deepEqual(await listing(app.root), before)
})

for (const form of ['database', 'export'] as const)
  test(`Tartube’s ${form} identifies films; hidden files next to them are Tartube’s`, async (t) => {
    const app = await placesApp(t)
    await layTartube(app, 'data', ['aaaaaaaaaaa', 'ccccccccccc'], form)

    const { found } = (await app.as('admin').get('/api/adoption/found/')).body
    assert.deepEqual(
      found.map(({ path, source }: Record<string, string>) => [path, source]),
      [[join(app.root, 'data'), 'tartube']],
    )
    const { source, rows } = await plannedIn(app, 'data')

    assert.equal(source, 'tartube')
    assert.deepEqual(rows, ['Films/Harbour/A film.mp4|aaaaaaaaaaa|new', 'Films/Harbour/B film.mkv|ccccccccccc|new'])
    const { along } = (await app.as('admin').get('/api/adoption/')).body.adoptions[0]
    assert.deepEqual(
      along.map(({ kind }: { kind: string }) => kind),
      form === 'database' ? ['channel', 'keep', 'watched'] : ['channel'],
    )
  })

for (const form of ['sqlite', 'dumb'] as const)
  test(`MeTube’s list before April 2026, a shelf of the form ${form}, identifies films`, async (t) => {
    const app = await placesApp(t)
    await layOldMetube(app, 'downloads', 'aaaaaaaaaaa', form)

    const { source, rows } = await plannedIn(app, 'downloads')

    assert.deepEqual([source, rows], ['metube', ['Sea/A film.mp4|aaaaaaaaaaa|new']])
  })

const { ferry, fog, nets } = VIDEO
const FURTHER: Record<
  string,
  { lay(app: PlacesApp): Promise<void>; place: string; videos: string[]; watched: string[] }
> = {
  YTPTube: {
    lay: (app) => layYtptube(app, 'old', [ferry, fog, nets]),
    place: 'old/downloads',
    videos: [ferry, fog],
    watched: [],
  },
  Tartube: { lay: (app) => layTartube(app, 'old', [ferry, fog]), place: 'old', videos: [ferry, fog], watched: [ferry] },
  'an older MeTube': {
    lay: (app) => layOldMetube(app, 'old', ferry, 'dumb'),
    place: 'old',
    videos: [ferry],
    watched: [],
  },
}

for (const [title, { lay, place, videos, watched }] of Object.entries(FURTHER))
  test(`a library of ${title} is imported in place, and undone without a trace`, async (t) => {
    const scope = lastFirst(t)
    const { settings } = await startTestPlatform(scope)
    const app = await placesApp(scope, { settings })
    await lay(app)
    const before = await listing(app.root)
    const id = await app.place(place)
    const plan = await scanned(app, id)

    await commanded(app, plan, {
      command: 'adopt',
      along: { kinds: ['watched', 'keep', 'channel'], users: { '': 'admin' } },
    })
    await app.settled()

    assert.deepEqual(await app.ids('video'), videos.toSorted())
    const seen = (await app.as('admin').get('/api/video/?watch=watched')).body.data
    assert.deepEqual(
      seen.map(({ youtube_id }: { youtube_id: string }) => youtube_id),
      watched,
    )
    assert.equal((await scanned(app, id)) > plan, true)
    const { unchanged, outcomes } = (await app.as('admin').get('/api/adoption/')).body.adoptions[0]
    assert.deepEqual([unchanged, outcomes.new.count], [videos.length, 0], 'nothing new in a second scan')
    await commanded(app, plan, { command: 'undo' })
    for (const index of ['video', 'channel', 'playlist', 'subtitle', 'comment', 'download'])
      assert.deepEqual(await app.ids(index), [], `${index} is as it was`)
    assert.deepEqual(await listing(app.root), before)
  })

test('information is in the film, in other folders and in the NFO of a show, and is used only for its own film', async (t) => {
  const app = await placesApp(t)
  const titled = (id: string, title: string) => JSON.stringify(infoOf(id, { title }))
  const scratch = await temporaryFolder(t)
  await writeFile(join(scratch, 'info.json'), titled('aaaaaaaaaaa', 'Inside'))
  await app.lay('old/x', '')
  const attached = ['-attach', join(scratch, 'info.json'), '-metadata:s:t', 'mimetype=application/json']
  await run('ffmpeg', ['-v', 'error', '-i', FILM_FILE, '-c', 'copy', ...attached, join(app.root, 'old/Inside.mkv')])
  await layFilm(app, 'old/Harbour/Ferry at dawn.mp4')
  await app.lay('old/info/Harbour/Ferry at dawn.info.json', titled('bbbbbbbbbbb', 'Ferry at dawn'))
  await layFilm(app, 'old/Harbour/Gulls [ccccccccccc].mp4')
  await app.lay('old/meta/Gulls [ccccccccccc].info.json', titled('ccccccccccc', 'Something else'))
  // Has the same name by chance.
  await layFilm(app, 'old/Private/01.mp4')
  await app.lay('old/info/Others/01.info.json', titled('ddddddddddd', 'A lecture'))
  const show = `<tvshow><title>Tide</title><uniqueid type="YoutubeMetadata">${CHANNEL}</uniqueid></tvshow>`
  await app.lay('old/Show/tvshow.nfo', show)
  const episode =
    '<episodedetails><title>Storm</title><youtubemetadataid>eeeeeeeeeeg</youtubemetadataid></episodedetails>'
  await layFilm(app, 'old/Show/Season 1/Storm.mp4', undefined, { nfo: episode })
  await layFilm(app, `old/Orbit [${CHANNEL}]/By folder.mp4`, undefined, {
    nfo: '<movie><title>Comet</title><uniqueid type="youtube">fffffffffff</uniqueid></movie>',
  })
  const before = await listing(app.root)

  const { rows } = await plannedIn(app, 'old')

  assert.deepEqual(rows, [
    'Harbour/Ferry at dawn.mp4|bbbbbbbbbbb|new',
    'Harbour/Gulls [ccccccccccc].mp4|ccccccccccc|new',
    'Inside.mkv|aaaaaaaaaaa|new',
    `Orbit [${CHANNEL}]/By folder.mp4|fffffffffff|new`,
    'Private/01.mp4||no_id',
    'Show/Season 1/Storm.mp4|eeeeeeeeeeg|new',
  ])
  const { id } = (await app.as('admin').get('/api/adoption/')).body.adoptions[0]
  await commanded(app, id, { command: 'adopt' })
  const ids = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc', 'eeeeeeeeeeg', 'fffffffffff']
  assert.deepEqual(await app.ids('video'), ids)
  assert.deepEqual((await app.ids('channel')).sort(), ['UCaaaaaaaaaaaaaaaaaaaaaa', CHANNEL].sort())
  assert.deepEqual((await plannedIn(app, 'old')).rows, ['Private/01.mp4||no_id'], 'nothing new in a second scan')
  await commanded(app, id, { command: 'undo' })
  assert.deepEqual([await app.ids('video'), await app.ids('channel')], [[], []])
  assert.deepEqual(await listing(app.root), before)
})

test('a video that the platform no longer has is imported by its name, its tags and the channel of its folder', async (t) => {
  const scope = lastFirst(t)
  const { settings } = await startTestPlatform(scope)
  const app = await placesApp(scope, { settings })
  const gone = GONE.deleted.replace(/.$/, '0')
  await layFilm(app, `old/Harbour [${CHANNEL}]/20230715 A storm [${gone}].mp4`)
  await layFilm(app, `old/Elsewhere/A calm [${gone.replace(/.$/, '4')}].mp4`)
  const plan = await scanned(app, await app.place('old'))

  await commanded(app, plan, { command: 'adopt' })

  assert.deepEqual(await app.ids('video'), [gone])
  const { title, channel, published, active } = (await app.as('admin').get(`/api/video/${gone}/`)).body.data
  assert.deepEqual([title, channel.channel_id, channel.channel_name], ['A storm', CHANNEL, 'Harbour'])
  assert.deepEqual([published, active], ['2023-07-15', false])
})

test('a person can say which video a film is and which channel it belongs to; the platform is asked first', async (t) => {
  const scope = lastFirst(t)
  const { settings } = await startTestPlatform(scope)
  const app = await placesApp(scope, { settings })
  const gone = ['0', '4', '8'].map((last) => GONE.deleted.replace(/.$/, last))
  await layFilm(app, `old/Sea/A storm [${gone[0]}].mp4`)
  await layFilm(app, `old/Sea/deep/A calm [${gone[1]}].mp4`)
  await layFilm(app, `old/Seaside/A walk [${gone[2]}].mp4`)
  await layFilm(app, 'old/No name.mp4')
  await layFilm(app, `old/Wrong [${VIDEO.nets}].mp4`)
  const admin = app.as('admin')
  const plan = await scanned(app, await app.place('old'))
  const address = `/api/adoption/${plan}/item/`
  const rows = async () => (await admin.get(address)).body.data as Array<PlannedRow & { number: number }>
  const numberOf = async (name: string) => (await rows()).find(({ file }) => file.startsWith(name))!.number
  const say = async (body: object) => (await admin.post(address, body)).status

  assert.equal(await say({ numbers: [await numberOf('No name')], video: `https://youtu.be/${VIDEO.fog}` }), 200)
  assert.equal(await say({ numbers: [await numberOf('Wrong')], video: VIDEO.fog }), 409, 'another file is that video')
  assert.equal(await say({ numbers: [await numberOf('Wrong')], video: 'no video at all' }), 400)
  assert.equal(await say({ numbers: [0, 1], video: VIDEO.gull }), 400)
  assert.equal(await say({ folder: 'Sea', numbers: [0], channel: CHANNEL }), 400)
  assert.equal(await say({ folder: 'Nowhere', channel: CHANNEL }), 409)
  assert.equal((await app.as('user').post(address, { folder: 'Sea', channel: CHANNEL })).status, 403)
  assert.equal(await say({ numbers: [await numberOf('Wrong')], video: VIDEO.gull }), 200)
  await commanded(app, plan, { command: 'adopt' })
  assert.deepEqual(await app.ids('video'), [VIDEO.fog, VIDEO.gull].sort())
  const left = (await admin.get(`${address}?part=left`)).body.data as PlannedRow[]
  assert.deepEqual(
    left.map(({ platform_id: id, code }) => [id, code]).sort(),
    gone.map((id) => [id, 'unsure_id']).sort(),
  )

  assert.equal(await say({ folder: 'Sea', channel: `https://www.youtube.com/channel/${CHANNEL}` }), 200)
  await app.settled()

  assert.deepEqual(await app.ids('video'), [VIDEO.fog, VIDEO.gull, gone[0], gone[1]].sort())
  const { data } = (await admin.get(`/api/video/${gone[1]}/`)).body
  assert.deepEqual([data.title, data.channel.channel_id, data.active], ['A calm', CHANNEL, false])
})
