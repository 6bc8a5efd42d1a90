/** Importing on the page: a folder is named, scanned, imported, played from, and removed again. */
import assert from 'node:assert/strict'
import { mkdir, rename } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { changeAnswer, noBrowser, openPage } from '../../support/browser.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { listening } from '../../support/listening.ts'
import { otherWork } from '../../support/other-work.ts'
import { listing, placesApp } from '../../support/places.ts'
import { until } from '../../support/server.ts'
import { PASSWORD } from '../../support/testing.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const ADMIN = { username: 'admin', password: PASSWORD }
/** A row of a table in the form of mysqldump. */
const dumped = (table: string, row: Record<string, string | number>): string =>
  [
    `CREATE TABLE \`${table}\` (`,
    ...Object.keys(row).map((name) => `  \`${name}\` text,`),
    ');',
    `INSERT INTO \`${table}\` VALUES (${Object.values(row).map((value) => `'${value}'`)});`,
  ].join('\n')
/** What Youtarr stores about one of the films. */
const DUMP = [
  dumped('Videos', {
    id: 1,
    youtubeId: 'aaaaaaaaaaa',
    filePath: '/usr/src/app/data/A film [aaaaaaaaaaa].webm',
    protected: 1,
  }),
  dumped('channels', {
    channel_id: 'UCaaaaaaaaaaaaaaaaaaaaaa',
    title: 'Harbour & Tide',
    enabled: 1,
    video_quality: 720,
  }),
  dumped('video_watch_status', { video_id: 1, server_type: 'jellyfin', server_user_id: 'u1', played: 1 }),
].join('\n')

describe('importing', { skip: noBrowser }, () => {
  test('a link to the former address of the section still opens it', async (t) => {
    const app = await placesApp(t)
    const { page, go, check } = await openPage(t, app.url, { as: ADMIN })

    await go('/settings/moving/')

    await page.getByRole('heading', { level: 1, name: 'Import', exact: true }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Import', exact: true }).getAttribute('aria-current'), 'page')
    await check()
  })

  test('from the welcome page, a folder is named, scanned, imported with its history, played from, and undone; a switch follows it', async (t) => {
    const app = await placesApp(t)
    const folder = join(app.root, 'Old films')
    await mkdir(folder)
    for (const [id, ending] of [
      ['aaaaaaaaaaa', 'webm'],
      ['bbbbbbbbbbb', 'mkv'],
    ] as const) {
      await makeFilm(join(folder, `A film [${id}].${ending}`), ['-c:v', 'libvpx', '-b:v', '200k', '-c:a', 'libopus'])
      await app.lay(`Old films/A film [${id}].info.json`, JSON.stringify(infoOf(id, { ext: ending })))
    }
    await app.lay('Old films/No film.mp4', '#EXTM3U')
    await app.lay('Old films/youtarr-backup.sql', DUMP)
    const before = await listing(app.root)
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/welcome/')
    await page.getByRole('heading', { name: 'Already have videos?' }).waitFor()
    await page.getByRole('link', { name: 'Import them' }).click()

    await page.getByLabel('Folder on the server').fill('/etc')
    await page.getByRole('button', { name: 'Scan this folder' }).click()
    await page.getByText(`Start the server with AV_LIBRARY_ROOTS=${app.root},/etc`).waitFor()
    await page.getByLabel('Folder on the server').fill(folder)
    await page.getByRole('button', { name: 'Scan this folder' }).click()
    await page.getByText('2 videos to import').waitFor()
    await page.getByText('Not every browser plays mkv (1).').waitFor()
    await page.getByText('Recognised as Youtarr.').waitFor()
    await page.getByText(`Its data is in ${join(folder, 'youtarr-backup.sql')}.`).waitFor()
    await page
      .getByText(`/usr/src/app/data/ in the other program is ${folder} here (100% of sampled files found).`)
      .waitFor()
    await page.getByText('1 setting of the other program that is not imported').click()
    await page.getByText('Harbour & Tide: quality 720').waitFor()
    await page.getByText('1 file or folder skipped').click()
    await page.getByText('No film.mp4: it is not a video, despite its name').waitFor()
    await page.getByText('By channel').click()
    await page.getByText('Harbour & Tide').first().waitFor()
    await page.getByText('2 videos to import').click()
    await page.getByText('A film [bbbbbbbbbbb].mkv').waitFor()
    await check([/status of 422/])
    await shot('settings-import')
    const along = page.getByRole('group', { name: 'What else to import' })
    const watcher = along.getByLabel('jellyfin:u1’s watch history (1 entry)')
    assert.equal(await watcher.inputValue(), 'admin')
    assert.ok(await along.getByRole('switch', { name: '1 video marked “Never auto-delete”' }).isChecked())
    assert.ok(!(await along.getByRole('switch', { name: '1 subscribed channel' }).isChecked()))
    await watcher.selectOption({ label: 'For user' })
    await along.getByRole('switch', { name: '1 subscribed channel' }).check()

    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Imported', { exact: true }).waitFor()
    for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) {
      await go(`/video/${id}/`)
      await page.waitForFunction(() => (document.querySelector('video')?.currentTime ?? 0) > 0.1)
    }
    const own = async (who: 'admin' | 'user') => (await app.as(who).get('/api/video/aaaaaaaaaaa/')).body.data
    const [ofAdmin, ofUser] = [await own('admin'), await own('user')]
    assert.deepEqual([ofAdmin.player.watched, ofUser.player.watched], [false, true])
    assert.deepEqual([ofAdmin.keep, ofAdmin.channel.channel_subscribed], [true, true])

    await page.getByText('File and streams').click()
    await page.getByText('Old films (read-only)').waitFor()
    for (const [said, isKept] of [
      ['This video will never be deleted automatically', true],
      ['This video may be deleted automatically again', undefined],
    ] as const) {
      await page.getByRole('button', { name: /^More for/ }).click()
      await page.getByRole('menuitemcheckbox', { name: 'Never auto-delete', checked: !isKept }).click()
      await page.getByRole('status').getByText(said).waitFor()
      assert.equal((await app.as('admin').get('/api/video/bbbbbbbbbbb/')).body.data.keep, isKept)
    }

    await go('/settings/import/')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone').waitFor()
    assert.deepEqual(await app.ids('video'), [])

    await page.getByText('Options for Old films').click()
    await page.getByRole('switch', { name: 'Add new videos from Old films every hour' }).check()
    await page.getByText('Imported', { exact: true }).waitFor()
    assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa', 'bbbbbbbbbbb'])
    assert.deepEqual(await listing(app.root), before)

    await page.getByRole('switch', { name: 'Allow Archivolt to delete files in Old films' }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Allow it' }).click()
    await page.getByRole('switch', { name: /^Add new videos from/ }).uncheck()
    const place = async () => (await app.as('admin').get('/api/place/')).body.places[0]
    await until('both are stored', place, ({ follow, ours }) => ours && !follow)
    await go('/video/bbbbbbbbbbb/')
    // Repeated, because at its end the film would be marked, and followed by the other one.
    await page.locator('video').evaluate((film: HTMLVideoElement) => void (film.loop = true))
    await page.getByRole('button', { name: /^More for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Its file will go to the bin on the disk of “Old films”').waitFor()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted').waitFor()
    assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Restored', { exact: true }).waitFor()
    assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa', 'bbbbbbbbbbb'])

    await go('/settings/subscriptions/')
    const history = JSON.stringify({
      subscriptions: [],
      watch_history: ['aaaaaaaaaaa', 'ccccccccccc'],
      playlists: [{ title: 'Evenings', videos: ['bbbbbbbbbbb', 'ccccccccccc'] }],
    })
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'invidious.json', mimeType: 'text/plain', buffer: Buffer.from(history) })
    const form = page.getByRole('form', { name: 'Watch history and playlists' })
    assert.ok(await form.getByRole('switch', { name: '1 of 2 watched videos is in the archive' }).isChecked())
    await form.getByText('1 of 2 are in the archive').waitFor()
    await form.getByRole('button', { name: 'Download the missing video' }).waitFor()
    await check([/status of 422/])
    await shot('exports-watching')
    await form.getByLabel('For').selectOption('user')
    await form.getByRole('button', { name: 'Import' }).click()
    await page.getByText('Done. Watched or started: 1. Playlists: 1.').waitFor()
    assert.equal((await own('user')).player.watched, true)
    const lists = (await app.as('user').get('/api/playlist/?visibility=private')).body.data
    assert.ok(lists.some(({ playlist_name: name }: { playlist_name: string }) => name === 'Evenings'))
    assert.deepEqual(await app.ids('download'), [])
  })

  test('libraries on the server are offered on the welcome page and in the settings, and scanned with one press', async (t) => {
    const app = await placesApp(t)
    await layFilm(app, 'pinchflat/downloads/Harbour/A film [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
    await app.lay('pinchflat/config/pinchflat.db', 'no database')
    await layFilm(app, 'other/A film [bbbbbbbbbbb].mp4', infoOf('bbbbbbbbbbb'))
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    const downloads = join(app.root, 'pinchflat/downloads')

    await go('/welcome/')
    const library = page.getByRole('listitem').filter({ hasText: downloads })
    await library.getByText('Pinchflat · about 1 video').waitFor()
    await shot('welcome-found')
    await page.getByRole('link', { name: 'Import them' }).click()
    const found = page.getByRole('list', { name: 'Found on this server' })
    await found.getByText(join(app.root, 'other')).waitFor()
    await shot('settings-import-found')
    await found.getByRole('button', { name: `Scan ${downloads}` }).click()

    await page.getByText('1 video to import').waitFor()
    await page.getByRole('heading', { name: 'yt-dlp library in pinchflat/downloads' }).waitFor()
    assert.deepEqual(
      (await app.as('admin').get('/api/place/')).body.places.map(({ path }: { path: string }) => path),
      [downloads],
    )
    await found.getByText(downloads).waitFor({ state: 'detached' })
    await found.getByText(join(app.root, 'other')).waitFor()
    await check()
  })

  test('for videos with missing files, somebody chooses what becomes of them', async (t) => {
    const app = await placesApp(t)
    await app.place('old', 'Old films')
    await app.lay('old/archive.txt', 'youtube aaaaaaaaaaa\nyoutube bbbbbbbbbbb\n')
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/import/')
    await page.getByRole('button', { name: 'Scan Old films' }).click()
    const choice = page.getByLabel('The other program lists 2 videos whose files are missing')
    assert.equal(await choice.inputValue(), '')
    await page.getByText('2 videos named in a list of downloads').click()
    await page.getByText('bbbbbbbbbbb: it was downloaded once, but its file is missing here').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0)

    await choice.selectOption({ label: 'Put them on the ignore list' })
    await shot('settings-import-gone')
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Imported', { exact: true }).waitFor()

    assert.deepEqual(await app.ids('download'), ['aaaaaaaaaaa', 'bbbbbbbbbbb'])
    await check()
  })

  test('an import that waits for its disk says so, and is not offered twice', async (t) => {
    const app = await placesApp(t)
    await app.lay('Old films/A film.mp4', 'no film')
    const place = await app.place('Old films')
    await app.as('admin').post('/api/adoption/', { place })
    await app.settled()
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as: ADMIN })
    const reason = 'The place “Old films” does not answer: it continues automatically once it does'
    await changeAnswer(page, /\/api\/adoption\/$/, (answer) => ({
      ...answer,
      adoptions: answer.adoptions.map((one: object) => ({ ...one, state: 'adopting', reason })),
    }))

    await go('/settings/import/')

    await page.getByText(reason).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0)
    await check()
    await shot('settings-import-waits')
  })

  test('an offline folder asks for its new location, explains why another folder is not it, and is online again', async (t) => {
    const app = await placesApp(t)
    const place = await app.place('Old films')
    for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) await app.placed({ id, placeId: place, path: `${id}.mp4` })
    await mkdir(join(app.root, 'Others'))
    await rename(join(app.root, 'Old films'), join(app.root, 'New disk'))
    assert.equal(await app.app.media.places.isThere(place), false)
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', as: ADMIN })

    await go('/settings/import/')
    const field = page.getByLabel('Where Old films is now')
    assert.equal(await field.inputValue(), join(app.root, 'Old films'))
    await field.fill(join(app.root, 'Others'))
    await page.getByRole('button', { name: 'Use this folder' }).click()
    await page.getByText(`Only 0 of 2 videos were found in ${join(app.root, 'Others')}`).waitFor()
    await check([/status of 422/])
    await shot('settings-import-away')
    await field.fill(join(app.root, 'New disk'))
    await page.getByRole('button', { name: 'Use this folder' }).click()

    await page.getByText('Old films was found there').waitFor()
    await page.getByText(`${join(app.root, 'New disk')} · 2 videos`).waitFor()
    assert.equal(await field.count(), 0)
    await page.getByText('Options for Old films').click()
    await page.getByRole('button', { name: 'Has Old films moved?' }).click()
    await field.fill('/etc')
    await page.getByRole('button', { name: 'Use this folder' }).click()
    await page.getByText('Start the server with AV_LIBRARY_ROOTS=').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await field.count(), 0)
    assert.equal(app.app.media.places.get(place).path, join(app.root, 'New disk'))
  })

  test('if a database names other folders, somebody maps them; every row of the plan can be read', async (t) => {
    const app = await placesApp(t)
    await app.place('Old films')
    const files: object[] = []
    for (const id of ['aaaaaaaaaaa', 'bbbbbbbbbbb']) {
      await layFilm(app, `Old films/inner/A film [${id}].mp4`, infoOf(id))
      files.push({ uid: id, path: `/app/video/A film [${id}].mp4`, url: `https://youtu.be/${id}` })
    }
    await app.lay('Old films/appdata/local_db.json', JSON.stringify({ files, subscriptions: [] }))
    for (let at = 10; at < 25; at++) await app.lay(`Old films/No film ${at}.mp4`, 'text')
    const { page, go, check, shot } = await openPage(t, app.url, { size: 'phone', colorScheme: 'dark', as: ADMIN })

    await go('/settings/import/')
    await page.getByRole('button', { name: 'Scan Old films' }).click()
    await page
      .getByText('YoutubeDL-Material lists many videos, but only 0% of the sampled files are in this folder.')
      .waitFor()
    assert.equal(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0)
    await check()
    await page.getByLabel('The same folder on this server').scrollIntoViewIfNeeded()
    await shot('settings-import-unsure')
    await page.getByLabel('The same folder on this server').fill('/etc')
    await page.getByRole('button', { name: 'Scan again' }).click()
    await page.getByText('/etc is not a folder in “Old films”').waitFor()
    await page.getByLabel('The same folder on this server').fill(join(app.root, 'Old films/inner'))
    await page.getByRole('button', { name: 'Scan again' }).click()
    await page
      .getByText(
        `/app/video/ in the other program is ${join(app.root, 'Old films/inner')} here (100% of sampled files found).`,
      )
      .waitFor()
    await page.getByRole('button', { name: 'Import', exact: true }).waitFor()

    await page.getByText('15 files or folders skipped').click()
    await page.getByText('No film 10.mp4').waitFor()
    assert.equal(await page.getByText(/^No film/).count(), 12)
    await page.getByRole('button', { name: 'Show more (12 of 15)' }).click()
    await page.getByText('No film 24.mp4').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Show more/ }).count(), 0)
    await check([/status of 422/])
    await shot('settings-import-rows')
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Imported', { exact: true }).waitFor()
    assert.deepEqual(await app.ids('video'), ['aaaaaaaaaaa', 'bbbbbbbbbbb'])
  })

  test('a TubeArchivist without a backup is read from its server, with a name and a password', async (t) => {
    const app = await placesApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
    await app.place('media', 'Archive')
    const channel = { channel_id: 'UCaaaaaaaaaaaaaaaaaaaaaa', channel_name: 'Harbour' }
    await layFilm(app, `media/${channel.channel_id}/aaaaaaaaaaa.mp4`)
    const document = { title: 'As the server says', channel, media_url: `${channel.channel_id}/aaaaaaaaaaa.mp4` }
    const hits = [{ _index: 'ta_video', _id: 'aaaaaaaaaaa', _source: document, sort: ['aaaaaaaaaaa'] }]
    const server = createServer(({ url, headers }, response) => {
      const isKnown = headers.authorization === `Basic ${Buffer.from('elastic:tide').toString('base64')}`
      response.writeHead(isKnown ? 200 : 401)
      response.end(JSON.stringify({ hits: { hits: url?.startsWith('/ta_video/') ? hits : [] } }))
    })
    const address = `http://${await listening(t, server)}`
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/import/')
    await page.getByRole('button', { name: 'Scan Archive' }).click()
    await page.getByText('Recognised as TubeArchivist.').waitFor()
    await page.getByText('Change how it is read').click()
    await page.getByLabel('Database, list or backup').fill(address)
    assert.equal(await page.getByLabel('Elasticsearch username').inputValue(), 'elastic')
    await page.getByLabel('Elasticsearch password').fill('tide')
    await check()
    await shot('settings-import-server')
    await page.getByRole('button', { name: 'Scan again' }).click()
    await page.getByText(`Its data is in ${address}.`).waitFor()
    await page.getByText('1 video to import').waitFor()
    await page.getByText('By channel').click()
    await page.getByText('Harbour').first().waitFor()
  })

  test('a long import waits for other work, is paused, and resumes', async (t) => {
    const other = otherWork()
    const app = await placesApp(t, { outside: [other.plugin] })
    await app.place('Old films')
    await layFilm(app, 'Old films/A film [aaaaaaaaaaa].mp4', infoOf('aaaaaaaaaaa'))
    const { page, go, check, shot } = await openPage(t, app.url, { as: ADMIN })
    await go('/settings/import/')
    await page.getByRole('button', { name: 'Scan Old films' }).click()
    await page.getByText('1 video to import').waitFor()
    const { id } = await app.app.jobs.start('other.work', {})

    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('The thumbnail, subtitles and other details of 1 video will follow').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('1 video still lacks its thumbnail, subtitles or other details.').waitFor()
    await check()
    await shot('settings-import-paused')
    other.release()
    await app.app.jobs.ended(id)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText(/^1 video still/).waitFor({ state: 'detached' })
    await page.getByText('Imported', { exact: true }).waitFor()
  })
})
