/**
 * The manual import: by name or information file, any container, with or without the platform, and nothing outside its
 * folder.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aChannel, aVideo } from 'archivolt/testing'
import { CHANNEL, GONE, VIDEO } from '../../platform/seed.mjs'
import { makeFilm, makePicture } from '../../support/ffmpeg.ts'
import { FILM_FILE } from '../../support/film.ts'
import { type LibraryApp, libraryApp, play, probe, SRT, VTT } from '../../support/library-app.ts'
import '../../support/long.ts'

const { harbour, orbit } = CHANNEL
const { ferry, nets, fog, comet, breakwater } = VIDEO

const aVideoRecord = async (app: LibraryApp, id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data
const anInfo = (id: string, more: object = {}) => ({
  id,
  title: 'The film that was',
  description: 'of old',
  channel_id: harbour,
  channel: 'Harbour & Tide',
  upload_date: '20200131',
  duration: 1,
  tags: ['herring'],
  view_count: 7,
  ...more,
})
const putInfo = (app: LibraryApp, base: string, info: unknown) =>
  writeFile(app.at('import', `${base}.info.json`), typeof info === 'string' ? info : JSON.stringify(info))

test('an audio file is imported as m4a with its sidecar files, and does not replace its film', async (t) => {
  const app = await libraryApp(t)
  const ids = { m4a: nets, opus: ferry, mp3: fog }
  for (const [ending, id] of Object.entries(ids)) {
    const codec = { m4a: 'aac', opus: 'libopus', mp3: 'libmp3lame' }[ending]!
    await makeFilm(app.at('import', `A song [${id}].${ending}`), ['-vn', '-c:a', codec])
    await putInfo(app, `A song [${id}]`, anInfo(id!))
  }
  await writeFile(app.at('import', `A song [${nets}].en.vtt`), VTT)
  await makePicture(app.at('import', `A song [${nets}].webp`))
  await app.film('import', `${comet}.mp4`)
  await makeFilm(app.at('import', `${comet}.m4a`), ['-vn', '-c:a', 'aac'])

  await app.runTask('manual_import', { preferLocal: true })

  assert.deepEqual(await app.files('import'), [`${comet}.m4a`])
  assert.deepEqual(
    await app.files('media'),
    [
      ...Object.values(ids).map((id) => `${harbour}/${id}.m4a`),
      ...[`${harbour}/${nets}.en.vtt`, `${orbit}/${comet}.mp4`],
    ].sort(),
  )
  for (const id of Object.values(ids)) {
    const { media_url: url, streams } = await aVideoRecord(app, id!)
    assert.deepEqual([url, streams.length, streams[0].type], [`/media/${harbour}/${id}.m4a`, 1, 'audio'])
    assert.equal((await app.as('user').get(url, { range: 'bytes=4-7' })).text, 'ftyp')
  }
})

test('films are imported by the id in their names, with subtitles and picture, as mp4, and leave the import folder', async (t) => {
  const app = await libraryApp(t)
  const base = `Mending -- nets [4k] [${nets}]`
  await makeFilm(app.at('import', `${base}.mkv`))
  await writeFile(app.at('import', `${base}.en.vtt`), VTT)
  await writeFile(app.at('import', `${base}.de.srt`), SRT)
  await makePicture(app.at('import', `${base}.webp`), '500x500')
  await app.film('import', `${breakwater}.mp4`)
  await app.film('import', 'older', 'season 1', `[${comet}].MP4`)

  const { state, result } = await app.runTask('manual_import')

  assert.deepEqual({ state, result }, { state: 'SUCCESS', result: null })
  assert.deepEqual(await app.files('import'), [])
  assert.deepEqual(
    await app.files('media'),
    [
      `${harbour}/${breakwater}.mp4`,
      `${harbour}/${nets}.de.vtt`,
      `${harbour}/${nets}.en.vtt`,
      `${harbour}/${nets}.mp4`,
      `${orbit}/${comet}.mp4`,
    ].sort(),
  )
  const video = await aVideoRecord(app, nets)
  assert.equal(video.title, 'Mending nets with Ingrid')
  assert.deepEqual(video.subtitles.map(({ lang, source }: Record<string, string>) => `${lang} ${source}`).sort(), [
    'de file',
    'en file',
  ])
  assert.equal(video.media_size, (await stat(app.at('media', harbour, `${nets}.mp4`))).size)
  assert.match((await app.as('user').get(`/media/${harbour}/${nets}.de.vtt`)).text, /^WEBVTT[\s\S]*herring at dawn/)
  const picture = await probe(app.at('cache', 'videos', nets[0]!.toLowerCase(), `${nets}.jpg`))
  assert.equal((picture.streams[0] as unknown as { width: number }).width, 500)
  for (const path of await app.files('media')) if (path.endsWith('.mp4')) await play(app.at('media', path))
})

test('an import that prefers sidecar files uses them if they contain enough', async (t) => {
  const app = await libraryApp(t)
  for (const id of [nets, fog]) await app.film('import', `${id}.mp4`)
  await putInfo(app, nets, anInfo(nets))
  await putInfo(app, fog, { id: fog, title: 'Of no channel' })

  const asked = await app.as('admin').post('/api/library/import/', { prefer_local: true })
  assert.equal((await app.app.jobs.ended(asked.body.task_id)).state, 'SUCCESS')

  assert.equal((await aVideoRecord(app, nets)).title, 'The film that was')
  assert.notEqual((await aVideoRecord(app, fog)).title, 'Of no channel')
  assert.deepEqual(await app.files('import'), [])
})

test("a film for an archived video keeps the video's subtitles", async (t) => {
  const app = await libraryApp(t)
  await app.as('admin').post('/api/config/', { downloads: { subtitle_index: true } })
  await app.film('import', `${nets}.mp4`)
  await writeFile(app.at('import', `${nets}.en.vtt`), VTT)
  await writeFile(app.at('import', `${nets}.de.vtt`), VTT)
  await app.runTask('manual_import')
  await app.film('import', `${nets}.mp4`)
  await writeFile(app.at('import', `${nets}.de.vtt`), VTT.replace('herring', 'Hering'))

  assert.equal((await app.runTask('manual_import')).state, 'SUCCESS')

  assert.deepEqual((await aVideoRecord(app, nets)).subtitles.map(({ lang }: Record<string, string>) => lang).sort(), [
    'de',
    'en',
  ])
  const said = (await app.as('user').get('/api/search/?query=full:dawn')).body.results.fulltext_results
  assert.deepEqual(said.map((one: Record<string, string>) => `${one.subtitle_lang} ${one.subtitle_line}`).sort(), [
    'de Hering at <span class="settings-current">dawn</span>',
    'en herring at <span class="settings-current">dawn</span>',
  ])
})

test('streams that fit into mp4 are copied, and only the others are encoded again', async (t) => {
  const app = await libraryApp(t)
  await makeFilm(app.at('import', `${ferry}.mkv`), ['-c:v', 'libx264', '-c:a', 'aac'])
  await makeFilm(app.at('import', `${nets}.webm`), ['-c:v', 'libvpx', '-c:a', 'libopus'])
  await makeFilm(app.at('import', `${fog}.mov`), ['-c:v', 'mpeg4', '-c:a', 'pcm_s16le'])
  await makeFilm(app.at('import', `${comet}.avi`), ['-c:v', 'mpeg4', '-c:a', 'mp3'])

  assert.equal((await app.runTask('manual_import')).state, 'SUCCESS')

  const codecs = async (channelId: string, id: string) => {
    const path = app.at('media', channelId, `${id}.mp4`)
    await play(path)
    const { streams, format } = await probe(path)
    assert.match(format.format_name, /mp4/)
    return streams.map(({ codec_name }) => codec_name)
  }
  assert.deepEqual(await codecs(harbour, ferry), ['h264', 'aac'])
  assert.deepEqual(await codecs(harbour, nets), ['h264', 'opus'])
  assert.deepEqual(await codecs(harbour, fog), ['mpeg4', 'aac'])
  assert.deepEqual(await codecs(orbit, comet), ['mpeg4', 'mp3'])
})

test('unusable sidecar files stay where they are, and are reported', async (t) => {
  const app = await libraryApp(t)
  await app.film('import', `${nets}.mp4`)
  const put = (ending: string, content: string | Buffer) => writeFile(app.at('import', `${nets}.${ending}`), content)
  const umlauts = SRT.replace('herring', 'Früh-Hering')
  await put('de.srt', Buffer.from(umlauts, 'latin1'))
  await put('en.vtt', Buffer.from(`\ufeff${VTT}`, 'utf16le'))
  await put('sv.srt', Buffer.from(`\ufeff${umlauts}`, 'utf16le').swap16())
  const unusable = {
    'fr.srt': Buffer.from(SRT, 'utf16le'), // nothing says so
    'ru.srt': Buffer.from(umlauts, 'latin1'),
    'es.srt': '1\n00:00:00,000 --> \n',
    'info.json': '{ no JSON, but notes of mine',
    jpg: 'no picture',
  }
  for (const [ending, content] of Object.entries(unusable)) await put(ending, content)

  const { state, messages } = await app.runTask('manual_import')

  assert.equal(state, 'SUCCESS')
  const left = Object.keys(unusable).map((ending) => `${nets}.${ending}`)
  assert.deepEqual(await app.files('import'), left.sort())
  for (const name of left)
    assert.ok(
      messages.some((text) => text.startsWith(`${name}: `)),
      name,
    )
  for (const lang of ['de', 'sv'])
    assert.match(
      (await app.as('user').get(`/media/${harbour}/${nets}.${lang}.vtt`)).text,
      /^WEBVTT[\s\S]*Früh-Hering at dawn/,
    )
  assert.equal((await app.as('user').get(`/media/${harbour}/${nets}.en.vtt`)).text, VTT)
  assert.deepEqual((await aVideoRecord(app, nets)).subtitles.map(({ lang }: Record<string, string>) => lang).sort(), [
    'de',
    'en',
    'sv',
  ])
  await app.runTask('manual_import')
  assert.deepEqual(await app.files('import'), left)
})

test('subtitles inside a film are imported with it; a film with subtitles that mp4 cannot contain stays, and is reported', async (t) => {
  const app = await libraryApp(t)
  await makeFilm(app.at('made', 'film.mkv'))
  await writeFile(app.at('made', 'en.srt'), SRT)
  await mkdir(app.at('import'))
  // Subtitles of a Blu-ray are pictures: an empty one, and its end.
  await writeFile(
    app.at('made', 'pictures.sup'),
    Buffer.from('5047000000000000000016000b014000b41000008000000050470000000000000000800000', 'hex'),
  )
  const withSubtitles = (id: string, codec: string, name: string) =>
    execFileSync('ffmpeg', [
      '-v',
      'error',
      '-i',
      app.at('made', 'film.mkv'),
      ...['-i', '-i'].flatMap((option) => [option, app.at('made', name)]),
      '-map',
      '0',
      '-map',
      '1',
      '-map',
      '2',
      '-c',
      'copy',
      '-c:s',
      codec,
      app.at('import', `${id}.mkv`),
    ])
  withSubtitles(nets, 'subrip', 'en.srt')
  withSubtitles(ferry, 'ass', 'en.srt')
  withSubtitles(fog, 'copy', 'pictures.sup')

  const { state, messages } = await app.runTask('manual_import')

  assert.equal(state, 'SUCCESS')
  for (const id of [nets, ferry]) {
    const path = app.at('media', harbour, `${id}.mp4`)
    assert.deepEqual(
      (await probe(path)).streams.map(({ codec_name }) => codec_name),
      ['h264', 'aac', 'mov_text', 'mov_text'],
    )
    assert.match(
      execFileSync('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:s:1', '-f', 'webvtt', '-']).toString(),
      /herring at dawn/,
    )
    await play(path)
  }
  assert.deepEqual(await app.files('import'), [`${fog}.mkv`])
  assert.ok(
    messages.some((text) => text.startsWith(`${fog}.mkv: it has subtitles (hdmv_pgs_subtitle)`)),
    messages.join(),
  )
})

test('a subtitle with the longest language tag is restored from a snapshot and from a backup', async (t) => {
  const lang = 'English-hearing-impaired-and-spoken'
  const app = await libraryApp(t)
  const admin = app.as('admin')
  await app.film('import', `${nets}.mp4`)
  await writeFile(app.at('import', `${nets}.${lang}.vtt`), VTT)
  const languages = async () => (await aVideoRecord(app, nets))?.subtitles.map((one: { lang: string }) => one.lang)
  const restored = async (path: string) => {
    assert.equal((await admin.post(path)).status, 200)
    await app.settled()
    return languages()
  }

  await app.runTask('manual_import')
  assert.deepEqual(await languages(), [lang])
  await admin.post('/api/backup/')
  await app.settled()
  const [{ filename }] = (await admin.get('/api/backup/')).body
  const { snapshot_name: name } = (await admin.post('/api/snapshot/')).body
  await app.settled()

  assert.deepEqual(await restored(`/api/snapshot/${name}/`), [lang])
  assert.deepEqual(await restored(`/api/backup/${filename}/`), [lang])
})

test('without the platform an information file suffices; without both the film stays, and is reported', async (t) => {
  const app = await libraryApp(t)
  await app.film('import', `told [${GONE.private}].mp4`)
  await putInfo(
    app,
    `told [${GONE.private}]`,
    anInfo(GONE.private, {
      comments: Array.from({ length: 1000 }, (_, id) => ({ id })),
      formats: [{}],
      chapters: [
        { start_time: 0, title: 'Bait', end_time: 1 },
        { start_time: 'x', title: 'none' },
      ],
    }),
  )
  await app.film('import', 'a holiday.mp4')
  await putInfo(
    app,
    'a holiday',
    anInfo('of-another-kind_1', {
      channel_id: undefined,
      uploader_id: 'somebody',
      channel: undefined,
      uploader: 'Some Body',
      webpage_url: 'https://x/shorts/1',
    }),
  )
  await app.film('import', `untold [${GONE.deleted}].mp4`)
  await app.film('import', 'nameless.mp4')

  const { state, messages } = await app.runTask('manual_import')

  assert.equal(state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), ['of-another-kind_1', GONE.private].sort())
  const video = await aVideoRecord(app, GONE.private)
  assert.equal(video.title, 'The film that was')
  assert.equal(video.published, '2020-01-31')
  assert.deepEqual(video.tags, ['herring'])
  assert.deepEqual(video.chapters, [{ start: 0, title: 'Bait' }])
  assert.equal(video.channel.channel_name, 'Harbour & Tide')
  const other = await aVideoRecord(app, 'of-another-kind_1')
  assert.equal(other.vid_type, 'shorts')
  assert.equal(other.channel.channel_name, 'Some Body')
  assert.deepEqual(await app.files('import'), ['nameless.mp4', `untold [${GONE.deleted}].mp4`])
  assert.ok(messages.some((text) => text.includes('nameless.mp4') && text.includes('no video id')))
  assert.ok(messages.some((text) => text.includes(GONE.deleted)))
})

test('the long name of a file that cannot be imported is told in whole characters', async (t) => {
  const app = await libraryApp(t)
  const name = `x${'😀'.repeat(50)}.mp4`
  await app.film('import', name)

  const { messages } = await app.runTask('manual_import')

  assert.ok(
    messages.some((text) => text.startsWith(`${name}: `)),
    messages.join(),
  )
})

test('a platform that refuses all requests does not delay films that have an information file', async (t) => {
  let heard: () => void
  const oneIsIn = new Promise<void>((resolve) => (heard = resolve))
  const listener = definePlugin({
    name: 'listener',
    on: { 'job.step': () => (event) => void (event.step === 'import.remove' && event.phase === 'after' && heard()) },
  })
  const app = await libraryApp(t, { replace: [listener] })
  await app.app.platform.command('pause')
  await app.film('import', `${nets}.mp4`)
  await putInfo(app, nets, anInfo(nets))
  // They wait for the platform, whatever the order of names in the folder.
  const untold = [fog, comet, VIDEO.gull, VIDEO.knot, VIDEO.wave]
  for (const id of untold) await app.film('import', `${id}.mp4`)

  const job = await app.app.jobs.start('manual_import')
  await oneIsIn
  assert.equal((await aVideoRecord(app, nets)).title, 'The film that was')

  await app.app.platform.command('resume')
  assert.equal((await app.app.jobs.ended(job.id)).state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), [nets, ...untold].sort())
})

test('an information file is checked like any answer from outside', async (t) => {
  const app = await libraryApp(t)
  const [deep, other, escape, noChannel, noObject] = [
    'deepdeepdee',
    'otherothero',
    'escapeescap',
    'nochannelno',
    'noobjectnoo',
  ]
  for (const id of [deep, other, escape, noChannel, noObject]) await app.film('import', `${id}.mp4`)
  await putInfo(app, deep!, `{"id":"${deep}","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
  await putInfo(app, other!, anInfo('another-one'))
  await putInfo(app, escape!, anInfo(escape!, { channel_id: '../../../etc', uploader_id: '..' }))
  await putInfo(app, noChannel!, { id: noChannel })
  await putInfo(app, noObject!, '["not", "an object"]')
  await app.film('import', 'path.mp4')
  await putInfo(app, 'path', anInfo('../../escape'))
  await app.film('import', 'odd.mp4')
  await putInfo(
    app,
    'odd',
    anInfo('odd-but-fine', {
      title: `<b>\u0000${'x'.repeat(100_000)}`,
      description: { not: 'a text' },
      tags: 'none',
      timestamp: 'never',
      view_count: -5,
      upload_date: '99999999',
      thumbnails: [{ url: 'http://169.254.169.254/latest' }, { url: 'file:///etc/passwd' }, null],
      live_status: 'is_upcoming',
      formats: null,
    }),
  )

  const { state, messages } = await app.runTask('manual_import')

  assert.equal(state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), ['odd-but-fine'])
  const video = await aVideoRecord(app, 'odd-but-fine')
  assert.equal(video.title.length, 500)
  assert.doesNotMatch(video.title, /\u0000/)
  assert.equal(video.description, '')
  assert.deepEqual(video.tags, [])
  assert.equal(video.stats.view_count, 0)
  assert.equal((await app.files('import')).filter((name) => name.endsWith('.mp4')).length, 6)
  assert.ok(messages.some((text) => text.includes('path.mp4')))
})

test('links, and files that only have the name of a film, are refused', async (t) => {
  const app = await libraryApp(t)
  await mkdir(app.at('import'), { recursive: true })
  await makeFilm(app.at('outside', 'secret.mp4'))
  await symlink(app.at('outside', 'secret.mp4'), app.at('import', `${ferry}.mp4`))
  await symlink(app.at('outside'), app.at('import', 'folder'))
  await writeFile(app.at('outside', 'list.vtt'), VTT)
  await writeFile(
    app.at('import', `${nets}.mkv`),
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${app.at('outside', 'secret.mp4')}\n#EXT-X-ENDLIST\n`,
  )
  await writeFile(app.at('import', `${fog}.mkv`), `ffconcat version 1.0\nfile ../outside/secret.mp4\n`)
  await app.film('import', `${comet}.mp4`)
  await symlink(app.at('outside', 'list.vtt'), app.at('import', `${comet}.en.vtt`))
  await symlink(app.at('outside', 'secret.mp4'), app.at('import', `${comet}.jpg`))
  await writeFile(app.at('import', `${comet}.de.srt`), 'no subtitles')

  const { state } = await app.runTask('manual_import')

  assert.equal(state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), [comet])
  assert.deepEqual(await app.files('media'), [`${orbit}/${comet}.mp4`])
  assert.ok(existsSync(app.at('outside', 'secret.mp4')))
  assert.ok(existsSync(app.at('outside', 'list.vtt')))
  for (const name of [`${nets}.mkv`, `${fog}.mkv`]) assert.ok(existsSync(app.at('import', name)))
})

test("an import that was interrupted before it removed its source is finished by the next, and the user's settings stay", async (t) => {
  const app = await libraryApp(t)
  await app.given(aChannel({ id: harbour }), aVideo({ id: nets, channelId: harbour, date_downloaded: 77 }))
  await app.as('user').post('/api/watched/', { id: nets, is_watched: true })
  await app.film('media', harbour, `${nets}.mp4`)
  await mkdir(app.at('import'), { recursive: true })
  // The same file under two names, as the interruption leaves it.
  await link(app.at('media', harbour, `${nets}.mp4`), app.at('import', `${nets}.mp4`))

  assert.equal((await app.runTask('manual_import')).state, 'SUCCESS')

  assert.deepEqual(await app.files('import'), [])
  await play(app.at('media', harbour, `${nets}.mp4`))
  const { player, date_downloaded } = await aVideoRecord(app, nets)
  assert.equal(player.watched, true)
  assert.equal(date_downloaded, 77)
  assert.equal((await stat(app.at('media', harbour, `${nets}.mp4`))).nlink, 1)
})

test('killed while it works, it leaves the source complete and nothing in the library', async (t) => {
  let kill: (() => unknown) | undefined
  const scissors = definePlugin({
    name: 'scissors',
    on: { 'job.step': () => (event) => void (event.step === 'import.prepare' && event.phase === 'after' && kill?.()) },
  })
  const app = await libraryApp(t, { replace: [scissors] })
  const path = await app.film('import', `${nets}.mp4`)
  const isClosed = new Promise<void>((resolve, reject) => (kill = () => app.close().then(resolve, reject)))

  await app.app.jobs.start('manual_import')
  await isClosed
  kill = undefined
  await app.restart()

  assert.deepEqual(await readFile(path), await readFile(FILM_FILE))
  assert.equal((await app.runTask('manual_import')).state, 'SUCCESS')
  assert.deepEqual(await app.files('media'), [`${harbour}/${nets}.mp4`])
  assert.deepEqual(await app.files('import'), [])
})

test('a folder for imports that is the library, or lies in it, is refused', async (t) => {
  const app = await libraryApp(t, { settings: { importDir: 'media-too' } })
  await app.close()
  for (const importDir of [app.at('media'), app.at('media', harbour), app.dataDir]) {
    const other = await libraryApp(t, { dataDir: app.dataDir, settings: { importDir } })
    await other.film('media', harbour, `${nets}.mp4`)
    const { state, result } = await other.runTask('manual_import')
    assert.equal(state, 'FAILURE')
    assert.match(result ?? '', /separate folder/)
    assert.ok(existsSync(other.at('media', harbour, `${nets}.mp4`)))
    await other.close()
  }
})
