/** The rescan synchronizes index and disk, and a missing disk never empties the archive. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin, inEnglish } from 'archivolt'
import { aChannel, aFragment, aVideo, someComments } from 'archivolt/testing'
import { CHANNEL, GONE, VIDEO } from '../../platform/seed.mjs'
import { makeFilm, makePicture } from '../../support/ffmpeg.ts'
import { garble } from '../../support/garble.ts'
import { type LibraryApp, libraryApp, play, remove, thumbnailOf, VTT } from '../../support/library-app.ts'
import '../../support/long.ts'

const { harbour, orbit } = CHANNEL
const { ferry, nets, fog, comet, breakwater } = VIDEO

test('films without a document are indexed with fresh metadata, in the folder of their channel', async (t) => {
  const app = await libraryApp(t)
  await app.as('admin').post('/api/config/', { downloads: { comment_max: 'all', subtitle_index: true } })
  await app.film('media', harbour, `${breakwater}.mp4`) // its id begins with a dash
  await app.film('media', harbour, `${nets}.mp4`)
  await writeFile(app.at('media', harbour, `${nets}.en.vtt`), VTT)
  await app.film('media', harbour, `${comet}.mp4`) // of another channel
  await writeFile(app.at('media', harbour, `${comet}.de.vtt`), VTT)
  await app.film('media', `${ferry}.mp4`) // in no channel's folder

  const { state, result } = await app.runTask('rescan_filesystem')

  assert.deepEqual({ state, result }, { state: 'SUCCESS', result: null })
  assert.deepEqual(
    await app.files('media'),
    [
      `${harbour}/${breakwater}.mp4`,
      `${harbour}/${ferry}.mp4`,
      `${harbour}/${nets}.en.vtt`,
      `${harbour}/${nets}.mp4`,
      `${orbit}/${comet}.de.vtt`,
      `${orbit}/${comet}.mp4`,
    ].sort(),
  )
  assert.deepEqual(await app.ids('video'), [breakwater, nets, comet, ferry].sort())
  const video = (await app.as('user').get(`/api/video/${nets}/`)).body.data
  assert.equal(video.title, 'Mending nets with Ingrid')
  assert.equal(video.channel.channel_name, 'Harbour & Tide')
  assert.deepEqual(
    video.subtitles.map(({ lang, name, source }: Record<string, string>) => ({ lang, name, source })),
    [{ lang: 'en', name: 'English', source: 'file' }],
  )
  assert.equal((await app.as('user').get(video.media_url)).status, 200)
  assert.equal((await app.as('user').get(video.vid_thumb_url)).headers.get('content-type'), 'image/jpeg')
  assert.ok(existsSync(app.at('cache', 'videos', nets[0]!.toLowerCase(), `${nets}.jpg`)))
  assert.equal((await app.as('user').get(`/api/video/${breakwater}/comment/`)).body.data.length, 45)
  assert.equal((await app.as('user').get('/api/search/?query=full:herring')).body.results.fulltext_results.length, 2)
})

test('a rescan that prefers sidecar files does not ask the platform, and moves the information file along', async (t) => {
  const app = await libraryApp(t)
  await app.as('admin').post('/api/config/', { downloads: { comment_max: 'all' } })
  const info = { id: nets, title: 'As it was', channel_id: harbour, channel: 'Harbour & Tide', upload_date: '20200131' }
  for (const [place, id, text] of [
    ['elsewhere', nets, JSON.stringify(info)],
    [harbour, comet, '{ notes of mine'],
    [orbit, fog, JSON.stringify({ ...info, id: comet })],
  ] as const) {
    await app.film('media', place, `${id}.mp4`)
    await writeFile(app.at('media', place, `${id}.info.json`), text)
  }

  const asked = await app.as('admin').post('/api/appsettings/rescan-filesystem/', { prefer_local: true })
  assert.deepEqual(Object.keys(asked.body).sort(), ['message', 'status', 'task_id'])
  assert.equal((await app.app.jobs.ended(asked.body.task_id)).state, 'SUCCESS')

  const titleOf = async (id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.data.title
  assert.equal(await titleOf(nets), 'As it was')
  assert.deepEqual(
    app.platform.requests.filter((request) => JSON.stringify(request).includes(nets)),
    [],
    'nothing that names it was asked for, no picture and no comment either',
  )
  assert.ok(existsSync(app.at('media', harbour, `${nets}.info.json`)))
  for (const id of [comet, fog])
    assert.notEqual(await titleOf(id), 'As it was', 'these files say nothing of their films')
})

test('an indexed film gets the subtitles that are configured for downloads', async (t) => {
  const app = await libraryApp(t)
  await app
    .as('admin')
    .post('/api/config/', { downloads: { subtitle: 'en,de', subtitle_source: 'user', subtitle_index: true } })
  await app.film('media', harbour, `${breakwater}.mp4`)
  await app.film('media', harbour, `${fog}.mp4`) // the platform has none for it

  const { state, result } = await app.runTask('rescan_filesystem')

  assert.deepEqual({ state, result }, { state: 'SUCCESS', result: null })
  assert.deepEqual(await app.ids('video'), [breakwater, fog].sort())
  assert.deepEqual((await app.doc('video', breakwater)).subtitles.map(({ lang }: { lang: string }) => lang).sort(), [
    'de',
    'en',
  ])
  assert.deepEqual(
    await app.files('media'),
    [
      `${harbour}/${breakwater}.de.vtt`,
      `${harbour}/${breakwater}.en.vtt`,
      `${harbour}/${breakwater}.mp4`,
      `${harbour}/${fog}.mp4`,
    ].sort(),
  )
  assert.equal((await app.as('user').get('/api/search/?query=full:tide')).body.results.fulltext_results.length, 1)
})

test('a forced download with fewer subtitles keeps the existing ones, and a rescan indexes new subtitle files', async (t) => {
  const app = await libraryApp(t)
  const admin = app.as('admin')
  const download = async (force: boolean) => {
    await admin.post(`/api/download/?autostart=true&force=${force}`, {
      data: [{ youtube_id: breakwater, status: 'pending' }],
    })
    await app.settled()
  }
  const languages = async () =>
    (await app.doc('video', breakwater)).subtitles
      .map(({ lang, source }: Record<string, string>) => `${lang} ${source}`)
      .sort()
  const hits = async (word: string) =>
    (await admin.get(`/api/search/?query=full:${word}`)).body.results.fulltext_results.length
  await admin.post('/api/config/', { downloads: { subtitle: 'en,de', subtitle_source: 'user', subtitle_index: true } })
  await download(false)
  assert.deepEqual(await languages(), ['de user', 'en user'])
  const said = await hits('tide')

  await admin.post('/api/config/', { downloads: { subtitle: false, subtitle_index: false } })
  await download(true)

  assert.deepEqual(await languages(), ['de user', 'en user'])
  assert.equal(await hits('tide'), said)

  await admin.post('/api/config/', { downloads: { subtitle_index: true } })
  const beside = (lang: string, content: string | Buffer) =>
    writeFile(app.at('media', harbour, `${breakwater}.${lang}.vtt`), content)
  await beside('it', VTT)
  await beside('not_a_language', VTT)
  await beside('fr', 'nothing that is said')
  await beside('es', Buffer.alloc(33 << 20, VTT))
  await writeFile(app.at('media', harbour, 'nobody.en.vtt'), VTT)
  await symlink('/etc/hostname', app.at('media', harbour, `${breakwater}.pt.vtt`))
  const { state, messages } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'SUCCESS')
  assert.deepEqual(await languages(), ['de user', 'en user', 'it file'])
  assert.equal(await hits('herring'), 1)
  assert.equal(await hits('tide'), said)
  assert.deepEqual(
    messages
      .filter((text) => text.includes('.vtt'))
      .map((text) => text.split('.')[1])
      .sort(),
    ['es', 'fr', 'not_a_language'],
  )
})

test('an empty, truncated or unreadable film is reported and queued once; a replaced film updates the document’s metadata', async (t) => {
  const app = await libraryApp(t)
  const admin = app.as('admin')
  const ids = [nets, fog, breakwater, ferry]
  await admin.post('/api/config/', { downloads: { sleep_interval: 0 } })
  await app.given(aChannel({ id: harbour }), aChannel({ id: orbit }))
  for (const id of ids) await app.film('media', harbour, `${id}.mp4`)
  const [{ size }] = await Promise.all([
    stat(app.at('media', harbour, `${ferry}.mp4`)),
    makeFilm(app.at('media', orbit, `${comet}.mp4`), ['-movflags', '+faststart']),
  ])
  const whole = (await stat(app.at('media', orbit, `${comet}.mp4`))).size
  await app.given(
    aVideo({ id: comet, channelId: orbit, media_size: whole }),
    ...ids.map((id) => aVideo({ id, channelId: harbour, media_size: id === ferry ? 12_345_678 : size })),
  )
  await truncate(app.at('media', harbour, `${nets}.mp4`))
  await truncate(app.at('media', harbour, `${fog}.mp4`), size >> 1)
  await writeFile(app.at('media', harbour, `${breakwater}.mp4`), 'no film')
  await truncate(app.at('media', orbit, `${comet}.mp4`), whole - 1000) // its head still tells of all of it
  await admin.post(`/api/refresh/`, { video: [comet] })
  await app.settled()

  const { state, messages } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'SUCCESS')
  const told = (id: string) => messages.find((text) => text.includes(`${id}.mp4`)) ?? ''
  assert.match(told(nets), /it is empty; it was queued to be downloaded again/)
  for (const id of [fog, breakwater])
    assert.match(told(id), /it is not a readable video file; it was queued to be downloaded again/)
  assert.match(told(comet), /it is cut off after \d+ of \d+ bytes; it was queued to be downloaded again/)
  assert.equal(told(ferry), '')
  assert.deepEqual(await app.ids('download'), [nets, fog, breakwater, comet].sort())
  assert.deepEqual(await app.ids('video'), [...ids, comet].sort())
  const { media_size, streams, player } = await app.doc('video', ferry)
  assert.deepEqual([media_size, streams.length, player.duration], [size, 2, 1])
  assert.equal((await app.doc('video', comet)).media_size, whole)

  await admin.post('/api/task-name/download_pending/')
  await app.settled()
  await app.clock.advance(60_000) // the message has expired
  const again = await app.runTask('rescan_filesystem')
  assert.deepEqual([again.messages.filter((text) => text.includes('.mp4')), await app.ids('download')], [[], []])
  for (const [channelId, id] of [
    [harbour, nets],
    [harbour, fog],
    [harbour, breakwater],
    [orbit, comet],
  ] as const)
    await play(app.at('media', channelId, `${id}.mp4`))
})

test('subtitles whose files are gone are removed from the document and the search, and return with their files', async (t) => {
  const app = await libraryApp(t)
  const admin = app.as('admin')
  const languages = async () => (await app.doc('video', breakwater)).subtitles.map(({ lang }: { lang: string }) => lang)
  const path = (lang: string) => app.at('media', harbour, `${breakwater}.${lang}.vtt`)
  const said = async () => (await admin.get('/api/search/?query=full:flut')).body.results.fulltext_results.length
  await admin.post('/api/config/', { downloads: { subtitle: 'en,de', subtitle_source: 'user', subtitle_index: true } })
  await admin.post('/api/download/?autostart=true', { data: [{ youtube_id: breakwater, status: 'pending' }] })
  await app.settled()
  assert.deepEqual((await languages()).toSorted(), ['de', 'en'])
  const before = await said()
  assert.ok(before > 0)

  await rename(path('de'), app.at('media', 'aside'))
  await app.runTask('rescan_filesystem')
  assert.deepEqual(await languages(), ['en'])
  assert.equal(await said(), 0)

  await rename(app.at('media', 'aside'), path('de'))
  await app.runTask('rescan_filesystem')
  assert.deepEqual((await languages()).toSorted(), ['de', 'en'])
  assert.equal(await said(), before)
})

test('subtitles that are invisible because the library disappears during a rescan stay in the document', async (t) => {
  let goAway = async (): Promise<void> => undefined
  const disk = definePlugin({
    name: 'disk',
    on: {
      'job.step':
        () =>
        ({ step, phase }) =>
          step === 'rescan.unsubtitle' && phase === 'before' ? goAway() : undefined,
    },
  })
  const app = await libraryApp(t, { replace: [disk] })
  const subtitles = ['de', 'en'].map((lang) => ({
    ...{ ext: 'vtt' as const, lang, name: lang, source: 'user' as const, url: '' },
    media_url: `/media/${harbour}/${ferry}.${lang}.vtt`,
  }))
  await app.given(aChannel({ id: harbour }), aVideo({ id: ferry, channelId: harbour, subtitles }))
  await app.film('media', harbour, `${ferry}.mp4`)
  await writeFile(app.at('media', harbour, `${ferry}.en.vtt`), VTT)
  goAway = () => rename(app.at('media'), app.at('elsewhere'))

  const { state } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'FAILURE')
  assert.deepEqual((await app.doc('video', ferry)).subtitles, subtitles)
})

test('a rescan removes comments and subtitles whose video is gone', async (t) => {
  const app = await libraryApp(t)
  await app.film('media', harbour, `${nets}.mp4`)
  await app.given(aChannel({ id: harbour }), aVideo({ id: nets, channelId: harbour }))
  const comment = (id: string) => someComments(id, [])
  const said = (id: string) => aFragment({ platform_id: id, channel_id: harbour })
  const gone = Array.from({ length: 1100 }, (_, at) => `gone-${at}`)
  await app.given(comment(nets), said(nets), ...gone.map(comment), said(gone[0]!), said('only-said'))

  assert.equal((await app.runTask('rescan_filesystem')).state, 'SUCCESS')

  assert.deepEqual([await app.ids('comment'), await app.ids('subtitle')], [[nets], [`${nets}-en-1`]])
})

test('after the loss of the index a rescan restores the videos in the library, and the index no longer counts as lost', async (t) => {
  const app = await libraryApp(t)
  await app.film('media', harbour, `${nets}.mp4`)
  await app.close()
  await writeFile(join(app.dataDir, 'index.sqlite'), '')
  await app.restart()
  await app.settled()
  assert.match(inEnglish(app.app.index.lost?.reason ?? ''), /was empty/)

  assert.equal((await app.runTask('rescan_filesystem')).state, 'SUCCESS')

  assert.deepEqual(await app.ids('video'), [nets])
  await app.restart()
  assert.equal(app.app.index.lost, undefined)
})

test('a video whose document is damaged and in no snapshot is indexed again from its film', async (t) => {
  const app = await libraryApp(t)
  await app.settled()
  await app.given(aChannel({ id: harbour }))
  await app.film('media', harbour, `${nets}.mp4`)
  await app.runTask('rescan_filesystem')
  garble(app, 'video', nets)

  assert.equal((await app.as('user').get(`/api/video/${nets}/`)).status, 404)
  await app.runTask('run_backup')
  await app.settled()

  assert.equal((await app.as('user').get(`/api/video/${nets}/`)).body.data.title, 'Mending nets with Ingrid')
  assert.deepEqual(await app.files('media'), [`${harbour}/${nets}.mp4`])
})

test('hidden files and those of file servers are skipped; files that cannot be indexed are reported, and stay', async (t) => {
  const app = await libraryApp(t)
  const ignored = [
    ['.hidden.mp4'],
    [harbour, `._${ferry}.mp4`],
    ['@eaDir', `${ferry}.mp4`],
    ['#recycle', `${ferry}.mp4`],
    ['lost+found', `${ferry}.mp4`],
    ['.Trash-1000', `${ferry}.mp4`],
    ['System Volume Information', `${ferry}.mp4`],
  ]
  for (const parts of ignored) await app.film('media', ...parts)
  await app.film('media', harbour, `${GONE.private}.mp4`)
  await app.film('media', harbour, 'my holiday film.mp4')
  await mkdir(app.at('media', harbour), { recursive: true })
  await writeFile(app.at('media', harbour, `${nets}.mp4`), 'no film')
  await writeFile(app.at('media', harbour, `${fog}.webm`), 'not counted as a video')
  await symlink('/dev/zero', app.at('media', harbour, 'endless.mp4'))
  await symlink(app.at('media', harbour), app.at('media', harbour, 'circle.mp4'))
  await app.film('media', harbour, `${comet}.mp4`)

  const { state, messages } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), [comet])
  assert.ok(messages.some((text) => text.includes('my holiday film.mp4')))
  assert.ok(messages.some((text) => text.includes(`${GONE.private}.mp4`)))
  assert.ok(messages.some((text) => text.includes(`${nets}.mp4`)))
  assert.ok(!messages.some((text) => text.includes('eaDir') || text.includes(app.dataDir)))
  for (const parts of [
    ...ignored,
    [harbour, `${GONE.private}.mp4`],
    [harbour, 'my holiday film.mp4'],
    [harbour, `${nets}.mp4`],
  ])
    assert.ok(existsSync(app.at('media', ...parts)))
})

test('a video whose file is gone stays, paths are corrected, misplaced films moved and reported, missing pictures fetched', async (t) => {
  const moved: unknown[] = []
  const tide = definePlugin({
    name: 'tide',
    needs: ['media', 'video'],
    on: {
      'video.moved':
        ({ media }) =>
        async ({ id, channelId, path, oldPath }) => {
          assert.equal(path, await media.filmPath(channelId, id))
          moved.push(id, ...[oldPath, path].map((one) => one.split('/').at(-2)))
        },
    },
  })
  const app = await libraryApp(t, { outside: [tide] })
  const art = thumbnailOf(app.platform, ferry)
  await app.given(aChannel({ id: harbour }), aChannel({ id: orbit }))
  await app.given(
    aVideo({ id: ferry, channelId: harbour, art }),
    aVideo({
      id: nets,
      channelId: harbour,
      media_url: `/media/${orbit}/old.mp4`,
      subtitles: [{ ext: 'vtt', lang: 'en', name: 'English', source: 'user', url: '', media_url: '/media/x/y.en.vtt' }],
    }),
    aVideo({ id: comet, channelId: orbit }),
    aVideo({ id: fog, channelId: harbour }),
  )
  await app.film('media', harbour, `${ferry}.mp4`)
  await writeFile(app.at('media', harbour, `${nets}.en.vtt`), VTT)
  await app.film('media', harbour, `${nets}.mp4`)
  await app.film('media', harbour, `${comet}.mp4`)
  await app.film('media', orbit, `${ferry}.mp4`) // a second one

  const { state, messages } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'SUCCESS')
  assert.deepEqual(await app.ids('video'), [ferry, nets, comet, fog].sort())
  assert.deepEqual(
    await app.files('media'),
    [
      `${harbour}/${ferry}.mp4`,
      `${harbour}/${nets}.en.vtt`,
      `${harbour}/${nets}.mp4`,
      `${orbit}/${comet}.mp4`,
      `${orbit}/${ferry}.mp4`,
    ].sort(),
  )
  assert.ok(messages.some((text) => text.includes(`${orbit}/${ferry}.mp4`) && text.includes('already')))
  await app.settled()
  assert.deepEqual(moved, [comet, harbour, orbit])
  const corrected = await app.doc('video', nets)
  assert.equal(corrected.media_url, `/media/${harbour}/${nets}.mp4`)
  assert.equal(corrected.subtitles[0].media_url, `/media/${harbour}/${nets}.en.vtt`)
  assert.ok(existsSync(app.at('cache', 'videos', ferry[0]!.toLowerCase(), `${ferry}.jpg`)))
})

/** States of a disk that is not mounted. */
const AWAY: Array<[what: string, lose: (app: LibraryApp) => Promise<void>]> = [
  ['is missing', (app) => remove(app.at('media'))],
  [
    'is an empty mount point',
    async (app) => {
      await remove(app.at('media'))
      await mkdir(app.at('media'))
    },
  ],
]
for (const [what, lose] of AWAY) {
  test(`if the media folder ${what}, tasks that use it end with a sentence and change nothing, even with force`, async (t) => {
    const app = await libraryApp(t)
    await app.given(aChannel({ id: harbour }), ...[ferry, nets, fog].map((id) => aVideo({ id, channelId: harbour })))
    for (const id of [ferry, nets, fog]) await app.film('media', harbour, `${id}.mp4`)
    await app.film('import', `${comet}.mp4`)
    await makePicture(app.at('cache', 'videos', 'x', 'x-of-no-document.jpg'))
    await utimes(app.at('cache', 'videos', 'x', 'x-of-no-document.jpg'), 0, 0)
    await lose(app)

    for (const [task, payload] of [
      ['rescan_filesystem'],
      ['rescan_filesystem', { force: true }],
      ['manual_import'],
      ['resync_thumbs'],
    ] as const) {
      const { state, result } = await app.runTask(task, payload)
      assert.deepEqual([task, state], [task, 'FAILURE'])
      assert.match(result ?? '', /^The library can’t be found/)
      assert.doesNotMatch(result ?? '', new RegExp(app.dataDir))
    }
    assert.equal((await app.runTask('thumbnail_check')).state, 'SUCCESS')

    assert.deepEqual(await app.ids('video'), [ferry, nets, fog].sort())
    assert.deepEqual(existsSync(app.at('media')) ? await readdir(app.at('media')) : [], [])
    assert.deepEqual(await app.files('import'), [`${comet}.mp4`])
    assert.ok(existsSync(app.at('cache', 'videos', 'x', 'x-of-no-document.jpg')))
  })
}

test('an admin accepts the library if its folder exists; the rescan then asks before it removes anything', async (t) => {
  const app = await libraryApp(t)
  await app.given(aChannel({ id: harbour }), aVideo({ id: ferry, channelId: harbour }))
  await remove(app.at('media'))
  const accept = (who: 'admin' | 'user') => app.as(who).post('/api/library/', { command: 'accept' })

  assert.equal((await app.as('user').get('/api/library/')).status, 403)
  assert.equal((await accept('user')).status, 403)
  assert.equal((await app.as('admin').post('/api/library/', { command: 'burn' })).status, 400)
  assert.equal((await accept('admin')).status, 409)
  const { state, reason } = (await app.as('admin').get('/api/library/')).body
  assert.equal(state, 'away')
  assert.match(reason, /media folder is missing/)

  await mkdir(app.at('media'))
  assert.deepEqual((await accept('admin')).body, { state: 'there', reason: '' })
  assert.equal((await app.as('admin').get('/api/platform/')).body.state, 'open')
  assert.match((await app.runTask('rescan_filesystem')).result ?? '', /^The files of 1 of 1 videos were not found/)
  assert.deepEqual(await app.ids('video'), [ferry])
})

/** A library of 40 films of one channel and one of another. */
const many = Array.from({ length: 40 }, (_, at) => `film-${String(at).padStart(2, '0')}`)
const LOSSES: Array<[what: string, lose: (app: LibraryApp) => Promise<void>, lost: string[]]> = [
  ['one file is', (app) => remove(app.at('media', 'UC1', `${many[0]}.mp4`)), many.slice(0, 1)],
  [
    'half of the files are',
    async (app) => void (await Promise.all(many.slice(0, 21).map((id) => remove(app.at('media', 'UC1', `${id}.mp4`))))),
    many.slice(0, 21),
  ],
  [
    'the whole folder of a channel is',
    async (app) => {
      await remove(app.at('media', 'UC2'))
      await remove(app.at('media', 'UC1', `${many[0]}.mp4`))
    },
    [many[0]!, 'other'],
  ],
  [
    'the folder of a channel, a link to a disk that is away, is',
    async (app) => {
      await remove(app.at('media', 'UC2'))
      await symlink(app.at('second-disk'), app.at('media', 'UC2'))
    },
    ['other'],
  ],
]
for (const [what, lose, lost] of LOSSES) {
  test(`if ${what} gone, the rescan does the rest, reports the number and waits for a confirmation`, async (t) => {
    const app = await libraryApp(t)
    await app.given(
      aChannel({ id: 'UC1' }),
      aChannel({ id: 'UC2' }),
      ...many.map((id) => aVideo({ id, channelId: 'UC1', media_size: id.length })),
      aVideo({ id: 'other', channelId: 'UC2', media_size: 5 }),
    )
    for (const [channelId, ids] of [
      ['UC1', many],
      ['UC2', ['other']],
    ] as const) {
      await mkdir(app.at('media', channelId))
      for (const id of ids) await writeFile(app.at('media', channelId, `${id}.mp4`), id)
    }
    await app.film('media', harbour, `${ferry}.mp4`)
    await lose(app)
    const all = [...many, 'other', ferry]

    const { state, result, messages } = await app.runTask('rescan_filesystem')

    assert.equal(state, 'SUCCESS')
    assert.deepEqual(await app.ids('video'), all.sort())
    assert.match(result ?? '', new RegExp(`^The files of ${lost.length} of 41 videos were not found`))
    assert.ok(messages.includes(result!))
    if (what.includes('link')) await remove(app.at('media', 'UC2'))
    const asked = await app.as('admin').post('/api/library/rescan/', { force: true })
    const { state: then, result: nothing } = await app.app.jobs.ended(asked.body.task_id)
    assert.deepEqual([then, nothing], ['SUCCESS', null])
    assert.deepEqual(await app.ids('video'), all.filter((id) => !lost.includes(id)).sort())
  })
}

test('if the disk disappears during a rescan, nothing is removed', async (t) => {
  const app = await libraryApp(t)
  await app.given(aChannel({ id: 'UC1' }), ...many.map((id) => aVideo({ id, channelId: 'UC1' })))
  await mkdir(app.at('media', 'UC1'))
  for (const id of many) await writeFile(app.at('media', 'UC1', `${id}.mp4`), id)
  const { collection } = app.app.videos
  const scan = collection.scan.bind(collection)
  t.mock.method(
    collection,
    'scan',
    async function* (...given: Parameters<typeof scan>) {
      await rename(app.at('media'), app.at('disk'))
      yield* scan(...given)
    },
    { times: 1 },
  )

  const { state, result } = await app.runTask('rescan_filesystem', { force: true })

  assert.equal(state, 'FAILURE')
  assert.match(result ?? '', /^The library can’t be found/)
  assert.deepEqual(await app.ids('video'), many)
})

test('a disk that answers with an error does not count as empty', async (t) => {
  const app = await libraryApp(t)
  await app.given(
    aChannel({ id: harbour }),
    aVideo({ id: ferry, channelId: harbour }),
    aVideo({ id: nets, channelId: orbit }),
    aVideo({ id: fog, channelId: orbit }),
  )
  await app.film('media', orbit, `${nets}.mp4`)
  await app.film('media', orbit, `${fog}.mp4`)
  await symlink(harbour, app.at('media', harbour)) // a circle: ELOOP

  const { state } = await app.runTask('rescan_filesystem')

  assert.equal(state, 'FAILURE')
  assert.deepEqual(await app.ids('video'), [ferry, nets, fog].sort())
})

test('a library that links spread over disks is one library', async (t) => {
  const app = await libraryApp(t)
  await app.film('second-disk', `${ferry}.mp4`)
  await mkdir(app.at('media'), { recursive: true })
  await symlink(app.at('second-disk'), app.at('media', harbour))

  assert.equal((await app.runTask('rescan_filesystem')).state, 'SUCCESS')

  assert.deepEqual(await app.ids('video'), [ferry])
  await play(app.at('media', harbour, `${ferry}.mp4`))
})

test('interrupted by the end of the server, it continues at the next start', async (t) => {
  let isCut = false
  let cut = async (): Promise<void> => undefined
  const scissors = definePlugin({
    name: 'scissors',
    on: {
      'job.step': () => (event) => {
        if (event.step !== 'rescan.ingest' || event.phase !== 'before' || isCut) return
        isCut = true
        void cut()
      },
    },
  })
  const app = await libraryApp(t, { replace: [scissors] })
  for (const id of [ferry, nets, fog]) await app.film('media', orbit, `${id}.mp4`)
  const isClosed = new Promise<void>((resolve, reject) => (cut = () => app.close().then(resolve, reject)))

  await app.app.jobs.start('rescan_filesystem')
  await isClosed
  await app.restart()
  await app.settled()

  assert.deepEqual(await app.ids('video'), [ferry, nets, fog].sort())
  assert.deepEqual(await app.files('media'), [ferry, nets, fog].map((id) => `${harbour}/${id}.mp4`).sort())
})

test('only admins start the rescan, which answers like its task, and accepts no stop', async (t) => {
  const app = await libraryApp(t)

  assert.equal((await app.as('user').post('/api/library/rescan/')).status, 403)
  assert.equal((await app.as('admin').post('/api/library/rescan/', { force: 'yes' })).status, 400)
  const started = await app.as('admin').post('/api/library/rescan/')
  assert.equal(started.body.task_name, 'rescan_filesystem')
  assert.deepEqual(started.body.message, {
    task_id: started.body.task_id,
    status: 'PENDING',
    task_name: 'rescan_filesystem',
  })
  assert.equal((await app.as('admin').post(`/api/task-id/${started.body.task_id}/`, { command: 'stop' })).status, 400)
  await app.settled()
})
