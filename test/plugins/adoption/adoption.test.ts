/**
 * Imports in place: a location is scanned, the plan lists its videos, they are imported without a copy, and removed
 * again.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aChannel, aPlaylist, aVideo } from 'archivolt/testing'
import type { PlaceReader } from '../../../plugins/library/reader.ts'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned, succeeded } from '../../support/adopting.ts'
import '../../support/ffmpeg.ts'
import { PICTURE_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { layYtptube } from '../../support/further-libraries.ts'
import { lastFirst } from '../../support/last-first.ts'
import { lay } from '../../support/lay.ts'
import { handAt, otherWork } from '../../support/other-work.ts'
import { listing, type PlacesApp, type PlannedRow, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/long.ts'

const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nherring at dawn\n'

const show = async (app: PlacesApp, id: number) => (await app.as('admin').get(`/api/adoption/${id}/`)).body
const rowsOf = async (app: PlacesApp, id: number, query = ''): Promise<PlannedRow[]> =>
  (await app.as('admin').get(`/api/adoption/${id}/item/?${query}`)).body.data

const scan = async (app: PlacesApp, place: number, source?: string) =>
  show(app, await scanned(app, place, source === undefined ? {} : { source }))

async function command(app: PlacesApp, id: number, what: 'adopt' | 'undo') {
  await commanded(app, id, { command: what })
  return show(app, id)
}
const planOf = (rows: PlannedRow[]) =>
  rows.map(({ outcome, code, file, platform_id: id }) => [code || outcome, id, file].join(' ')).sort()

test('a folder of yt-dlp is recognized, imported without a copy, and undone without a trace', async (t) => {
  const app = await placesApp(t, { settings: { pageSize: 100 } })
  const place = await app.place('old', 'Old films')
  await app.as('admin').post('/api/config/', { downloads: { subtitle_index: true } })
  await layFilm(app, 'old/Harbour/The storm：part one [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'), {
    'en.vtt': VTT,
    webp: await readFile(PICTURE_FILE),
    description: 'About it',
  })
  await layFilm(app, 'old/Harbour/2023-07-15 No id here.mkv', infoOf('bbbbbbbbbbb', { timestamp: undefined }))
  await app.given(aPlaylist({ id: 'PL1', entries: ['aaaaaaaaaaa', 'zzzzzzzzzzz'] }))
  const before = { files: await listing(app.root), channels: await app.ids('channel'), videos: await app.ids('video') }

  const plan = await scan(app, place)
  assert.deepEqual([plan.state, plan.source, plan.outcomes.new.count, plan.problems], ['planned', 'yt-dlp', 2, {}])
  assert.deepEqual(plan.containers, { mkv: 1, mp4: 1 })
  assert.deepEqual(await app.ids('video'), before.videos, 'a plan changes nothing')

  const done = await command(app, plan.id, 'adopt')
  assert.deepEqual([done.state, done.states.done, done.states.left], ['adopted', 2, 0])
  const { data } = (await app.as('user').get('/api/video/aaaaaaaaaaa/')).body
  assert.deepEqual(
    [data.title, data.published, data.date_downloaded, data.media_url, data.place, data.channel.channel_name],
    [
      'Title of aaaaaaaaaaa',
      '2023-07-15',
      1_700_000_000,
      `/media/${CHANNEL}/aaaaaaaaaaa.mp4`,
      { label: 'Old films', state: 'there' },
      'Harbour & Tide',
    ],
  )
  assert.deepEqual(
    data.streams.map(({ type, codec, height }: Record<string, unknown>) => [type, codec, height]),
    [
      ['video', 'h264', 180],
      ['audio', 'aac', undefined],
    ],
  )
  assert.deepEqual(
    data.subtitles.map(({ lang, source }: Record<string, unknown>) => [lang, source]),
    [['en', 'file']],
  )
  assert.ok(await app.app.media.hasArt('video', 'aaaaaaaaaaa'))
  assert.deepEqual(data.playlist, ['PL1'])
  const film = await app.as('user').get(`/media/${CHANNEL}/bbbbbbbbbbb.mkv`, { range: 'bytes=0-3' })
  assert.deepEqual([film.status, film.headers.get('content-type')], [206, 'video/x-matroska'])
  assert.equal((await app.as('user').get('/api/search/?query=full:herring')).body.results.fulltext_results.length, 1)

  const again = await scan(app, place)
  assert.deepEqual([again.unchanged, await rowsOf(app, again.id)], [2, []])

  const undone = await command(app, plan.id, 'undo')
  assert.deepEqual([undone.state, undone.states.undone], ['undone', 2])
  assert.deepEqual(await app.ids('video'), before.videos)
  assert.deepEqual(await app.ids('channel'), before.channels)
  assert.deepEqual(await app.ids('subtitle'), [])
  assert.equal(await app.app.media.hasArt('video', 'aaaaaaaaaaa'), false)
  assert.equal(existsSync(app.app.media.subtitlePathOf(CHANNEL, 'aaaaaaaaaaa', 'en')), false)
  assert.deepEqual((await app.doc('playlist', 'PL1')).playlist_entries[0].downloaded, false)
  assert.deepEqual(await listing(app.root), before.files, 'nothing was ever written in the place')
  assert.equal((await scan(app, place)).outcomes.new.count, 2, 'what was undone may come again')
})

test('a second scan reads no film again whose size and time are the same', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, 'old/A film [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  const film = join(app.root, 'old', 'A film [aaaaaaaaaaa].mp4')
  await command(app, (await scan(app, place)).id, 'adopt')

  const { atime, mtime, size } = await stat(film)
  for (const [file, length] of [
    [film, size],
    [film.replace('.mp4', '.info.json'), 1],
  ] as const)
    await writeFile(file, Buffer.alloc(length))
  await utimes(film, atime, mtime)
  const again = await scan(app, place)
  assert.deepEqual([again.unchanged, await rowsOf(app, again.id)], [1, []])
})

test('if files contain enough metadata, the platform is asked neither for a video nor for its segments, and no ffprobe starts', async (t) => {
  const scope = lastFirst(t)
  const { platform, settings, segmentsUrl } = await startTestPlatform(scope)
  const folder = await temporaryFolder(scope)
  const [ffprobe, witness] = [join(folder, 'ffprobe'), join(folder, 'was-started')]
  await writeFile(ffprobe, `#!/bin/sh\necho "$@" >> ${witness}\nexec ffprobe "$@"\n`, { mode: 0o755 })
  const app = await placesApp(scope, { settings: { ...settings, segmentsUrl, ffprobe } })
  await app.as('admin').post('/api/config/', { downloads: { integrate_sponsorblock: true, subtitle_index: true } })
  const place = await app.place('old')
  const ids = ['aaaaaaaaaaa', 'bbbbbbbbbbb']
  for (const id of ids)
    await layFilm(app, `old/${id}.mp4`, infoOf(id), { 'en.vtt': VTT, webp: await readFile(PICTURE_FILE) })
  platform.requests.length = 0

  const { states } = await command(app, (await scan(app, place)).id, 'adopt')
  await app.settled()

  assert.equal(states.done, 2)
  assert.deepEqual(
    [await app.ids('video'), await app.ids('subtitle')].map((all) => all.length > 1),
    [true, true],
  )
  assert.deepEqual([platform.requests, platform.skipSegments.calls], [[], []])
  assert.equal(existsSync(witness), false)

  await layFilm(app, 'old/ccccccccccc.mp4', infoOf('ccccccccccc', { vcodec: undefined, acodec: undefined }))
  await command(app, (await scan(app, place)).id, 'adopt')
  assert.equal(existsSync(witness), true, 'of one whose file does not tell what it is made of it does')
})

test('many videos are removed together: each plugin is called once, or once per video if it has no batch hook', async (t) => {
  const each: string[] = []
  const other = definePlugin({
    name: 'other',
    needs: ['video'],
    implements: { 'video.remove': () => (video) => Promise.resolve(void each.push(video.id)) },
  })
  const app = await placesApp(t, { outside: [other] })
  const forgetting = t.mock.method(app.app.watch, 'forgetAll')
  const place = await app.place('old')
  const ids = Array.from({ length: 20 }, (_, at) => `film-${String(at).padStart(6, '0')}`)
  for (const id of ids) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  const plan = await scan(app, place)
  await command(app, plan.id, 'adopt')

  await command(app, plan.id, 'undo')

  assert.deepEqual(
    forgetting.mock.calls.map(({ arguments: [some] }) => [...some].sort()),
    [ids],
  )
  assert.deepEqual(each.sort(), ids)
  assert.deepEqual(await app.ids('video'), [])
})

test('a plan is counted again only if its rows have changed', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, 'old/aaaaaaaaaaa.mp4', infoOf('aaaaaaaaaaa'))
  const plan = await scan(app, place)
  const { sql } = app.app.ledger
  let counted = 0
  t.mock.method(app.app.ledger, 'sql', (text: string) => {
    if (text.includes('sum(size_bytes)')) counted++
    return sql.call(app.app.ledger, text)
  })

  await show(app, plan.id)
  await show(app, plan.id)
  assert.equal(counted, 0, 'it was counted when the scan had ended')
  const done = await command(app, plan.id, 'adopt')

  assert.deepEqual([done.states.done, counted > 0], [1, true])
})

test('slow follow-up work starts when all videos are imported, because before that it would find nothing to complete', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await layFilm(app, 'old/aaaaaaaaaaa.mp4', infoOf('aaaaaaaaaaa'))
  const plan = await scan(app, place)
  const { ledger, jobs } = app.app
  const states: unknown[] = []
  const unwatch = jobs.watch(({ job }) => {
    if (job?.task !== 'complete_videos') return
    states.push(ledger.sql('SELECT state FROM library_adoption WHERE id = ?').get(plan.id))
  })

  await command(app, plan.id, 'adopt')

  unwatch()
  assert.ok(states.length > 0)
  assert.deepEqual([...new Set(states.map((row) => JSON.stringify(row)))], ['{"state":"adopted"}'])
})

test('each odd file of a folder is a line of the plan, and never ends the scan', async (t) => {
  const app = await placesApp(t, { settings: { pageSize: 100 } })
  const place = await app.place('old')
  const at = (...parts: string[]) => join(app.root, 'old', ...parts)
  await layFilm(app, 'old/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  await layFilm(app, 'old/A smaller copy [aaaaaaaaaaa].webm', infoOf('aaaaaaaaaaa'))
  await layFilm(app, 'old/Whole [bbbbbbbbbbb].mp4', infoOf('bbbbbbbbbbb'))
  await layFilm(app, 'old/Whole - 001 One [bbbbbbbbbbb].mp4')
  await layFilm(app, 'old/Nothing tells [ccccccccccc].mp4')
  await layFilm(app, 'old/Cut file [ddddddddddd].mp4', undefined, { 'info.json': '{"id": "ddddddddddd", "ti' })
  await layFilm(app, 'old/Of another [eeeeeeeeeee].mp4', infoOf('fffffffffff'))
  await layFilm(app, 'old/Elsewhere [76979871].mp4', { id: '76979871', extractor: 'vimeo', extractor_key: 'Vimeo' })
  await layFilm(app, 'old/No id [1080p] [director-cut-x].mp4')
  await layFilm(app, `old/${'O\u0308l'} [ggggggggggg].mp4`)
  await app.lay(`old/${'\u00d6l'} [ggggggggggg].info.json`, JSON.stringify(infoOf('ggggggggggg')))
  await layFilm(app, 'old/known [hhhhhhhhhhh].mp4', infoOf('hhhhhhhhhhh'))
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'hhhhhhhhhhh' }))
  await lay(app.app.settings.mediaDir)('UC1/hhhhhhhhhhh.mp4')
  for (const name of ['x [iiiiiiiiiii].mp4.part', 'x [iiiiiiiiiii].f137.mp4', 'x [iiiiiiiiiii].temp.mp4'])
    await app.lay(`old/${name}`, 'x')
  await app.lay('old/Empty [jjjjjjjjjjj].mp4', '')
  await app.lay('old/A list [kkkkkkkkkkk].mp4', '#EXTM3U\n/etc/passwd\n')
  await app.lay('old/archive.txt', 'youtube aaaaaaaaaaa\r\nyoutube lllllllllll\nvimeo 76979871\nnonsense\n')
  await link(at('A [aaaaaaaaaaa].mp4'), at('Under another name [aaaaaaaaaaa].mp4'))
  await symlink('A [aaaaaaaaaaa].mp4', at('A link [aaaaaaaaaaa].mp4'))
  await symlink('/etc/hostname', at('outside [mmmmmmmmmmm].mp4'))
  await symlink('nowhere', at('dead [mmmmmmmmmmm].mp4'))
  await mkdir(at('deep'))
  await symlink('..', at('deep', 'round'))
  await writeFile(
    Buffer.concat([Buffer.from(at('Latin ')), Buffer.from([0xfc]), Buffer.from(' [nnnnnnnnnnn].mp4')]),
    'x',
  )
  await mkdir(at(...Array.from({ length: 14 }, () => 'd')), { recursive: true })
  const before = await listing(app.root)

  const plan = await scan(app, place)

  assert.deepEqual(planOf(await rowsOf(app, plan.id)), [
    'ask ccccccccccc Nothing tells [ccccccccccc].mp4',
    'ask ddddddddddd Cut file [ddddddddddd].mp4',
    'ask eeeeeeeeeee Of another [eeeeeeeeeee].mp4',
    'duplicate aaaaaaaaaaa A smaller copy [aaaaaaaaaaa].webm',
    'foreign_platform  Elsewhere [76979871].mp4',
    'foreign_sidecar eeeeeeeeeee Of another [eeeeeeeeeee].info.json',
    'hard_link aaaaaaaaaaa Under another name [aaaaaaaaaaa].mp4',
    'in_archive_only lllllllllll ',
    'known hhhhhhhhhhh known [hhhhhhhhhhh].mp4',
    'loop  deep/round',
    'new aaaaaaaaaaa A [aaaaaaaaaaa].mp4',
    'new bbbbbbbbbbb Whole [bbbbbbbbbbb].mp4',
    `new ggggggggggg ${'O\u0308l'} [ggggggggggg].mp4`,
    'no_id  No id [1080p] [director-cut-x].mp4',
    'not_a_film jjjjjjjjjjj Empty [jjjjjjjjjjj].mp4',
    'not_a_film kkkkkkkkkkk A list [kkkkkkkkkkk].mp4',
    'outside_root mmmmmmmmmmm outside [mmmmmmmmmmm].mp4',
    'part_of_film bbbbbbbbbbb Whole - 001 One [bbbbbbbbbbb].mp4',
    'symbolic_link aaaaaaaaaaa A link [aaaaaaaaaaa].mp4',
    `too_deep  ${Array.from({ length: 13 }, () => 'd').join('/')}`,
    'unfinished iiiiiiiiiii x [iiiiiiiiiii].f137.mp4',
    'unreadable_file mmmmmmmmmmm dead [mmmmmmmmmmm].mp4',
    'unreadable_name nnnnnnnnnnn Latin \ufffd [nnnnnnnnnnn].mp4',
    'unreadable_sidecar ddddddddddd Cut file [ddddddddddd].info.json',
  ])
  assert.deepEqual(await listing(app.root), before)
})

test('of a file with several names the shortest path is used, wherever the others are; what a program has set aside is ignored', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const [FIRST, SECOND, THIRD] = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc']
  await layFilm(app, `old/a/deep folder/[${FIRST}].mp4`, infoOf(FIRST))
  await layFilm(app, `old/b/${SECOND}.mp4`, infoOf(SECOND))
  await layFilm(app, `old/b/${SECOND}.orig.mp4`)
  await layFilm(app, `old/a/deep folder/[${THIRD}].mp4`, infoOf(THIRD))
  await mkdir(join(app.root, 'elsewhere'))
  await app.lay(`old/b/[${FIRST}].info.json`, JSON.stringify(infoOf(FIRST)))
  await link(join(app.root, 'old/a/deep folder', `[${THIRD}].mp4`), join(app.root, 'old/b', `[${THIRD}].mp4`))
  await link(join(app.root, 'old/a/deep folder', `[${FIRST}].mp4`), join(app.root, 'old/b', `[${FIRST}].mp4`))
  await link(join(app.root, 'old/b', `${SECOND}.mp4`), join(app.root, 'elsewhere', 'second.mp4'))

  const plan = await scan(app, place)

  assert.deepEqual(planOf(await rowsOf(app, plan.id)), [
    `hard_link ${FIRST} a/deep folder/[${FIRST}].mp4`,
    `hard_link ${THIRD} b/[${THIRD}].mp4`,
    `new ${FIRST} b/[${FIRST}].mp4`,
    `new ${SECOND} b/${SECOND}.mp4`,
    `new ${THIRD} a/deep folder/[${THIRD}].mp4`,
    `unfinished  b/${SECOND}.orig.mp4`,
  ])
})

test('a file that has changed since the plan was made is left out, and reported', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc']) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  const plan = await scan(app, place)
  await app.lay('old/aaaaaaaaaaa.mp4', 'another film')
  await rm(join(app.root, 'old', 'bbbbbbbbbbb.mp4'))

  const { id, states } = await command(app, plan.id, 'adopt')

  assert.deepEqual([states.done, states.left], [1, 2])
  assert.deepEqual(await app.ids('video'), ['ccccccccccc'])
  assert.deepEqual(
    (await rowsOf(app, id)).filter(({ state }) => state === 'left').map(({ code }) => code),
    ['not_a_film', 'unreadable_file'],
  )
})

test('a film that another program has renamed is found again by its id; one that a person removed here does not come back', async (t) => {
  const heard: string[] = []
  const fileIn = (path: string) => path.slice(path.indexOf('/old/') + '/old/'.length)
  const tide = definePlugin({
    name: 'tide',
    needs: ['video'],
    on: {
      'video.moved': () => (event) =>
        void heard.push(`moved ${event.channelId}/${event.id} ${fileIn(event.oldPath)} → ${fileIn(event.path)}`),
      'video.removed': () => (event) => void heard.push(`removed ${event.channelId}/${event.id} ${fileIn(event.path)}`),
      'video.adopted': () => (event) => void heard.push(`adopted ${[...event.ids].sort().join()}`),
    },
  })
  const app = await placesApp(t, { outside: [tide] })
  const place = await app.place('old')
  for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  await command(app, (await scan(app, place)).id, 'adopt')
  await mkdir(join(app.root, 'old', 'new'))
  for (const name of ['aaaaaaaaaaa.mp4', 'aaaaaaaaaaa.info.json'])
    await rename(join(app.root, 'old', name), join(app.root, 'old', 'new', name))
  assert.equal((await app.as('admin').delete('/api/video/bbbbbbbbbbb/')).body.file, 'kept')
  assert.equal((await app.as('user').get(`/media/${CHANNEL}/aaaaaaaaaaa.mp4`)).status, 404)

  const plan = await scan(app, place)
  assert.deepEqual(planOf(await rowsOf(app, plan.id)), [
    'moved aaaaaaaaaaa new/aaaaaaaaaaa.mp4',
    'removed bbbbbbbbbbb bbbbbbbbbbb.mp4',
  ])
  await command(app, plan.id, 'adopt')

  assert.equal((await app.as('user').get(`/media/${CHANNEL}/aaaaaaaaaaa.mp4`)).status, 200)
  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
  await app.settled()
  assert.deepEqual(heard.sort(), [
    'adopted ',
    'adopted aaaaaaaaaaa,bbbbbbbbbbb',
    `moved ${CHANNEL}/aaaaaaaaaaa aaaaaaaaaaa.mp4 → new/aaaaaaaaaaa.mp4`,
    `removed ${CHANNEL}/bbbbbbbbbbb bbbbbbbbbbb.mp4`,
  ])
})

test('an undo keeps what has become ours since, and what was here before', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await app.given(aChannel({ id: CHANNEL, channel_name: 'As it was' }))
  for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  const plan = await scan(app, place)
  await command(app, plan.id, 'adopt')
  await app.app.media.places.drop(['aaaaaaaaaaa']) // as a download does

  await command(app, plan.id, 'undo')

  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
  assert.equal((await app.doc('channel', CHANNEL)).channel_name, 'As it was')
})

test('an undo keeps what a later import of the same folder has added', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await app.app.platform.command('pause')
  await layFilm(app, 'old/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  for (const id of ['bbbbbbbbbbb', 'ccccccccccc']) await layFilm(app, `old/Nothing tells [${id}].mp4`)
  const first = await scan(app, place)
  const adopting = await app.as('admin').post(`/api/adoption/${first.id}/`, { command: 'adopt' })
  await succeeded(app, adopting.body.task_id)
  const completing = app.app.jobs.active('complete_videos')!
  await app.as('admin').post(`/api/adoption/${first.id}/`, { command: 'stop' })
  await app.app.jobs.ended(completing.id)
  await layFilm(app, 'old/Nothing tells [bbbbbbbbbbb].mp4', infoOf('bbbbbbbbbbb'))
  const second = await scan(app, place)
  assert.deepEqual([second.outcomes.new.count, second.outcomes.ask.count], [1, 1])
  await succeeded(app, (await app.as('admin').post(`/api/adoption/${second.id}/`, { command: 'adopt' })).body.task_id)

  const undoing = await app.as('admin').post(`/api/adoption/${first.id}/`, { command: 'undo' })
  await succeeded(app, undoing.body.task_id)

  assert.deepEqual(await app.ids('video'), ['bbbbbbbbbbb'])
})

test('an undo keeps what a download adds while the undo waits for it, and says so', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  const plan = await scan(app, place)
  await command(app, plan.id, 'adopt')
  const { videos, media } = app.app
  const { broughtFrom } = media.places
  let download: Promise<void> | undefined
  t.mock.method(media.places, 'broughtFrom', (...asked: Parameters<typeof broughtFrom>) => {
    download ??= videos.exclusive('aaaaaaaaaaa', () => media.places.drop(['aaaaaaaaaaa']))
    return broughtFrom(...asked)
  })

  const { body } = await app.as('admin').post(`/api/adoption/${plan.id}/`, { command: 'undo' })
  const { state, result } = await app.app.jobs.ended(body.task_id)
  await download

  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
  assert.deepEqual([state, result], ['SUCCESS', '1 videos; 1 stay because they were removed or downloaded since'])
})

test('many videos are removed together: their playlists are looked up once, and each playlist says that its videos are gone', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const ids = Array.from({ length: 24 }, (_, at) => `aaaaaaaaa${String(at).padStart(2, '0')}`)
  for (const id of ids) await layFilm(app, `old/${id}.mp4`, infoOf(id))
  await app.given(aPlaylist({ id: 'PL1', entries: ids.slice(0, 9) }), aPlaylist({ id: 'PL2', entries: ids.slice(5) }))
  const plan = await scan(app, place)
  await command(app, plan.id, 'adopt')
  const flags = async (id: string): Promise<boolean[]> =>
    ((await app.doc('playlist', id))['playlist_entries'] as Array<{ downloaded: boolean }>).map((one) => one.downloaded)
  assert.ok([...(await flags('PL1')), ...(await flags('PL2'))].every(Boolean))
  const { collection } = app.app.playlists
  const { aggregate } = collection
  let asked = 0
  collection.aggregate = (query) => (asked++, aggregate(query))

  await command(app, plan.id, 'undo')

  assert.deepEqual(await app.ids('video'), [])
  assert.ok(![...(await flags('PL1')), ...(await flags('PL2'))].some(Boolean))
  assert.ok(asked <= 4, `the playlists of ${ids.length} videos were asked for ${asked} times`)
})

test('an undo does not wait for the platform, and pending requests to it add nothing afterwards', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  await app.app.platform.command('pause')
  await layFilm(app, 'old/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  await layFilm(app, 'old/Nothing tells [bbbbbbbbbbb].mp4')
  const plan = await scan(app, place)
  assert.deepEqual([plan.outcomes.new.count, plan.outcomes.ask.count], [1, 1])
  const { body } = await app.as('admin').post(`/api/adoption/${plan.id}/`, { command: 'adopt' })
  await succeeded(app, body.task_id)
  const waiting = app.app.jobs.active('complete_videos')!

  const undoing = await app.as('admin').post(`/api/adoption/${plan.id}/`, { command: 'undo' })
  await succeeded(app, undoing.body.task_id)

  assert.equal((await app.app.jobs.ended(waiting.id)).state, 'REVOKED')
  await app.app.platform.command('resume')
  await app.settled()
  assert.deepEqual(await app.ids('video'), [])
  assert.equal((await show(app, plan.id)).states.undone, 2)
})

test('a damaged or missing catalog stops nothing: films are read without it', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('tool/films')
  await layFilm(app, 'tool/films/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  const damaged: Record<string, string | Uint8Array> = {
    'tool/config/db/pinchflat.db': 'SQLite format 3\0 and no more',
    'tool/config/db.sqlite3': '',
    'tool/cache/backup/ta_backup-20240601-auto.zip': 'PK\u0003\u0004 cut off',
    'tool/youtarr.sql': "CREATE TABLE `Videos` (\n  `id` int\n);\nINSERT INTO `Videos` VALUES (1,'never ends",
    'tool/config/complete.list': 'youtube aaaaaaaaaaa',
    'tool/films/.metube/completed.json': '{"kind":"persistent_queue:completed","items":[{"info":7},null,',
    'tool/films/appdata/local_db.json': '[]',
    'tool/films/.ytdl-sub-x-download-archive.json': '{"../../etc/passwd": {"file_names": 3}}',
  }
  for (const [path, content] of Object.entries(damaged)) await app.lay(path, content)
  const before = await listing(app.root)

  const plan = await scan(app, place)

  assert.deepEqual([plan.source, plan.catalog, plan.outcomes.new.count], ['yt-dlp', '', 1])
  const told = (await app.as('admin').get(`/api/adoption/${plan.id}/item/?code=unreadable_catalog`)).body.data
  const reasons = told.map(({ file, reason }: PlannedRow & { reason: string }) => `${basename(file)}: ${reason}`)
  assert.deepEqual(reasons.sort(), [
    '.ytdl-sub-x-download-archive.json: It lists no files',
    'completed.json: It is not complete JSON',
    'db.sqlite3: It is not an SQLite database',
    'local_db.json: It contains no list of files',
    'pinchflat.db: The database cannot be read: file is not a database',
    'ta_backup-20240601-auto.zip: It is not a complete zip archive',
    'youtarr.sql: The dump has no table of videos',
  ])
  assert.deepEqual(await listing(app.root), before)
  const admin = app.as('admin')
  const outside = await admin.post('/api/adoption/', { place, catalog: '/etc/passwd' })
  assert.equal(outside.status, 422)
  const asked = await admin.post('/api/adoption/', { place, catalog: join(app.root, 'tool/config/db/pinchflat.db') })
  assert.equal((await app.app.jobs.ended(asked.body.task_id)).state, 'FAILURE')
  assert.match((await show(app, asked.body.id)).reason, /pinchflat\.db cannot be read: The database cannot be read/)
})

test('if most of what a database names is elsewhere, nothing is imported until somebody maps its folder', async (t) => {
  const app = await placesApp(t)
  const admin = app.as('admin')
  const place = await app.place('old')
  const files: object[] = []
  for (const [at, id] of ['aaaaaaaaaaa', 'bbbbbbbbbbb'].entries()) {
    await layFilm(app, `old/inner/film ${at}.mp4`, undefined, { 'info.json': JSON.stringify(infoOf(id)) })
    files.push({
      uid: id,
      path: `/app/video/film ${at}.mp4`,
      url: `https://www.youtube.com/watch?v=${id}`,
      favorite: true,
    })
  }
  const catalog = await app.lay('old/appdata/local_db.json', JSON.stringify({ files, subscriptions: [] }))

  const unsure = await scan(app, place)
  const refused = await admin.post(`/api/adoption/${unsure.id}/`, { command: 'adopt' })

  assert.deepEqual(
    [unsure.source, unsure.catalog, unsure.map],
    ['youtubedl-material', catalog, { from: '/app/video/', to: join(app.root, 'old'), share: 0, sure: false }],
  )
  assert.equal(unsure.problems.catalog_elsewhere, 1)
  assert.equal(refused.status, 409)
  assert.match(refused.body.error, /not in this folder: scan again/)
  assert.deepEqual(await app.ids('video'), [])

  const outside = await admin.post('/api/adoption/', { place, map: { from: '/app/video', to: '/etc' } })
  assert.equal(outside.status, 422)
  const map = { from: '/app/video', to: join(app.root, 'old/inner') }
  const { body } = await admin.post('/api/adoption/', { place, map })
  await succeeded(app, body.task_id)
  const plan = await show(app, body.id)

  assert.deepEqual(plan.map, { from: '/app/video/', to: map.to, share: 1, sure: true })
  assert.deepEqual([plan.problems, plan.outcomes.new.count], [{}, 2])
  await command(app, plan.id, 'adopt')
  assert.equal((await app.doc('video', 'aaaaaaaaaaa')).keep, true)
})

test('a database next to the folder that names nothing in it is reported, and stops nothing', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('tool/films')
  await layFilm(app, 'tool/films/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  const files = [{ uid: 'x', path: 'video/Another.mp4', url: 'https://youtu.be/bbbbbbbbbbb' }]
  await app.lay('tool/other/local_db.json', JSON.stringify({ files, subscriptions: [] }))
  // The database of another folder, with its own films, is not reported.
  await layYtptube(app, 'tool/neighbour', ['aaaaaaaaaab', 'bbbbbbbbbbb', 'fffffffffff'])

  const plan = await scan(app, place)

  assert.deepEqual(
    [plan.source, plan.catalog, plan.map, plan.problems],
    ['yt-dlp', '', undefined, { catalog_elsewhere: 1 }],
  )
  const [told] = (await app.as('admin').get(`/api/adoption/${plan.id}/item/?code=catalog_elsewhere`)).body.data
  assert.match(
    `${told.file}: ${told.reason}`,
    /other\/local_db\.json: it lists 1 videos, and few or none of them are in this folder$/,
  )
  await command(app, plan.id, 'adopt')
  assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
})

test('the second pass yields to other work, is paused and continues, also after a restart', async (t) => {
  const other = otherWork()
  const app = await placesApp(t, { outside: [other.plugin] })
  const place = await app.place('old')
  for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb'])
    await layFilm(app, `old/A [${id}].mp4`, infoOf(id), { jpg: await readFile(PICTURE_FILE) })
  const plan = await scan(app, place)
  const post = (what: string) => app.as('admin').post(`/api/adoption/${plan.id}/`, { command: what })
  assert.deepEqual([(await post('stop')).status, (await post('complete')).status], [409, 409])
  const busy = await app.app.jobs.start('other.work', {})

  await succeeded(app, (await post('adopt')).body.task_id)
  const [second] = app.app.jobs.list({ task: 'complete_videos' })
  assert.equal((await show(app, plan.id)).completing, true)
  assert.equal((await post('stop')).status, 200)
  await app.app.jobs.ended(second!.id)
  const half = await show(app, plan.id)
  other.release()
  await app.app.jobs.ended(busy.id)
  await app.restart()
  const after = await show(app, plan.id)
  const goOn = await post('complete')
  await app.settled()
  const whole = await show(app, plan.id)

  assert.deepEqual([half.state, half.completing, half.states.in, half.states.done], ['adopted', false, 2, 0])
  assert.deepEqual([after.completing, after.states.in], [false, 2])
  assert.deepEqual([goOn.status, goOn.body.completing], [200, true])
  assert.deepEqual([whole.completing, whole.states.in, whole.states.done], [false, 0, 2])
  assert.ok(await app.app.media.hasArt('video', 'aaaaaaaaaaa'))
  assert.equal((await post('complete')).status, 409)
})

test('a scan or a run that is stopped or killed says so, and a run continues from there', async (t) => {
  let stop: ((app: PlacesApp['app']) => Promise<void>) | undefined
  const hand = handAt('adoption.document', 'after', () => stop?.(app.app))
  const app = await placesApp(t, { outside: [hand] })
  const place = await app.place('old')
  const ids = Array.from({ length: 51 }, (_, at) => `video${String(at).padStart(6, '0')}`)
  for (const id of ids) await layFilm(app, `old/A [${id}].mp4`, infoOf(id))
  const plan = await scan(app, place)
  const post = (what: string) => app.as('admin').post(`/api/adoption/${plan.id}/`, { command: what })

  stop = async ({ jobs }) => {
    stop = undefined
    await jobs.command(jobs.active('adopt_videos')!.id, 'STOP')
  }
  await succeeded(app, (await post('adopt')).body.task_id)
  const stopped = await show(app, plan.id)
  stop = async ({ jobs }) => {
    stop = undefined
    await jobs.command(jobs.active('adopt_videos')!.id, 'KILL')
  }
  const again = await post('adopt')
  await app.app.jobs.ended(again.body.task_id)
  await app.settled()
  const killed = await show(app, plan.id)
  const whole = await command(app, plan.id, 'adopt')

  const said = 'it was stopped'
  assert.deepEqual([stopped.state, stopped.reason, stopped.states.planned], ['failed', said, 1])
  assert.deepEqual([killed.state, killed.reason], ['failed', said])
  assert.deepEqual([whole.state, whole.states.done], ['adopted', 51])
})

test('the results of a stopped scan are not imported: it must be scanned again', async (t) => {
  let stop: ((app: PlacesApp['app']) => Promise<void>) | undefined = async ({ jobs }) => {
    stop = undefined
    await jobs.command(jobs.active('scan_place')!.id, 'STOP')
  }
  const hand = handAt('adoption.look', 'after', () => stop?.(app.app))
  const app = await placesApp(t, { outside: [hand] })
  const place = await app.place('old')
  await layFilm(app, 'old/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  const admin = app.as('admin')

  const { body } = await admin.post('/api/adoption/', { place })
  await succeeded(app, body.task_id)
  const stopped = await show(app, body.id)
  const refused = await admin.post(`/api/adoption/${body.id}/`, { command: 'adopt' })

  assert.deepEqual([stopped.state, stopped.reason], ['failed', 'it was stopped'])
  assert.deepEqual([refused.status, (await show(app, body.id)).state], [409, 'failed'])
  assert.match(refused.body.error, /start a new scan/)
  assert.equal((await command(app, (await scan(app, place)).id, 'adopt')).outcomes.new.count, 1)
})

test('subscriptions that wait for the platform are withdrawn by the undo', async (t) => {
  const app = await placesApp(t)
  const admin = app.as('admin')
  const place = await app.place('old')
  await app.app.platform.command('pause')
  await layFilm(app, 'old/A [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
  const files = [{ uid: 'a', path: 'A [aaaaaaaaaaa].mp4', url: 'https://youtu.be/aaaaaaaaaaa' }]
  const subscriptions = [{ url: 'https://www.youtube.com/channel/UCbbbbbbbbbbbbbbbbbbbbbb', name: 'B' }]
  await app.lay('old/appdata/local_db.json', JSON.stringify({ files, subscriptions }))
  const plan = await scan(app, place)
  const adopting = await admin.post(`/api/adoption/${plan.id}/`, { command: 'adopt', along: { kinds: ['channel'] } })
  await succeeded(app, adopting.body.task_id)
  const [job] = app.app.jobs.list({ task: 'subscribe_to' })
  assert.ok(['PENDING', 'STARTED', 'RETRY'].includes(job!.state))

  const undoing = await admin.post(`/api/adoption/${plan.id}/`, { command: 'undo' })
  await succeeded(app, undoing.body.task_id)

  assert.equal(app.app.jobs.get(job!.id)?.state, 'REVOKED')
  assert.deepEqual(await app.ids('channel'), [])
})

test('a command that is invalid in a state is refused with a sentence', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const admin = app.as('admin')
  const plan = await scan(app, place)

  const refused = await admin.post(`/api/adoption/${plan.id}/`, { command: 'undo' })
  assert.equal(refused.status, 409)
  assert.equal((await admin.post('/api/adoption/', { place: 99 })).status, 404)
  assert.equal((await admin.post('/api/adoption/', { place, source: 'nobody' })).status, 422)
  assert.equal((await admin.get('/api/adoption/99/')).status, 404)
  await rm(join(app.root, 'old'), { recursive: true })
  assert.equal((await admin.post('/api/adoption/', { place })).status, 503)
  assert.equal((await admin.post(`/api/adoption/${plan.id}/`, { command: 'adopt' })).status, 503)
  assert.equal((await admin.delete(`/api/adoption/${plan.id}/`)).status, 200)
  assert.equal((await admin.get(`/api/adoption/${plan.id}/`)).status, 404)
})

test('an import can be undone for thirty days; an unused plan is deleted by the next one', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('old')
  const isKept = async (id: number) => (await app.as('admin').get(`/api/adoption/${id}/`)).status === 200
  const done = await scan(app, place)
  await command(app, done.id, 'adopt')
  const unused = await scan(app, place)

  await app.clock.advance(29 * 86_400_000)
  await scan(app, place)
  assert.deepEqual([await isKept(done.id), await isKept(unused.id)], [true, false], 'a new plan takes its place')
  await app.clock.advance(2 * 86_400_000)
  await scan(app, place)
  assert.equal(await isKept(done.id), false)
})

test('a plugin reads its own kind of location', async (t) => {
  const reader: PlaceReader = {
    name: 'shelf',
    title: 'Shelf',
    recognise: (names) => (names.some((name) => name.startsWith('shelf-')) ? 1 : 0),
    read: async (files) =>
      files.map((file) => ({
        video: { file, id: file.base.slice('shelf-'.length), isGuess: false, title: file.base },
        problems: [],
      })),
    factsOf: async (films, tools) =>
      films.map(({ id }) => {
        const metadata = tools.metadataOf(infoOf(id), id)
        return metadata && { metadata: { ...metadata, title: 'From the shelf' } }
      }),
  }
  const shelf = definePlugin({ name: 'shelf', needs: ['library'], implements: { 'library.reader': () => reader } })
  const app = await placesApp(t, { outside: [shelf] })
  const place = await app.place('old')
  await layFilm(app, 'old/shelf-aaaaaaaaaaa.mp4')

  const plan = await scan(app, place)
  assert.equal(plan.source, 'shelf')
  await command(app, plan.id, 'adopt')

  assert.equal((await app.doc('video', 'aaaaaaaaaaa')).title, 'From the shelf')
  assert.deepEqual((await app.doc('video', 'aaaaaaaaaaa')).streams.length, 2, 'what nobody tells the film says')
})
