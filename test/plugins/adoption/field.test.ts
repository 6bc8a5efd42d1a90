/** Libraries as further programs leave them: what only their database knows, and what lies in other folders. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { GONE, VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import '../../support/ffmpeg.ts'
import { FILM_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { listing, type PlacesApp, type PlannedRow, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const run = promisify(execFile)
const python = (code: string, ...args: string[]) => run('python3', ['-c', code, ...args])
const CHANNEL = 'UCzwZWdfRLgxL-Z1bvxbT7Wr'

interface Plan {
  source: string
  rows: string[]
}

/** @returns how the place was read, and per row its file, its video and what becomes of it */
async function plannedIn(app: PlacesApp, path: string): Promise<Plan> {
  const id = await scanned(app, await app.place(path))
  const { source } = (await app.as('admin').get(`/api/adoption/${id}/`)).body
  const { data } = (await app.as('admin').get(`/api/adoption/${id}/item/`)).body
  const rows = (data as PlannedRow[]).map(({ file, platform_id: video, outcome, code }) =>
    [file.replace(app.root, ''), video, code || outcome].join('|'),
  )
  return { source, rows: rows.sort() }
}

test('YTPTube’s history names films whose names have no id, and its list what is no longer here', async (t) => {
  const app = await placesApp(t)
  await layFilm(app, 'tube/downloads/Renamed.mp4')
  await layFilm(app, 'tube/downloads/Harbour/Season 2024/S2024E01 - Film.mkv')
  const data = (id: string, more: object) =>
    JSON.stringify({ id, title: `Title of ${id}`, status: 'finished', ...more })
  await app.lay('tube/config/archive.log', 'youtube aaaaaaaaaaa\nyoutube fffffffffff\nno line\n')
  const db = new Database(join(app.root, 'tube/config/ytptube.db'))
  db.exec(`CREATE TABLE history (id TEXT PRIMARY KEY, type TEXT NOT NULL, url TEXT NOT NULL, data JSON NOT NULL,
      created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, name TEXT, url TEXT, enabled INTEGER)`)
  const add = db.prepare('INSERT INTO history (id, type, url, data) VALUES (?, ?, ?, ?)')
  const page = (id: string) => `https://www.youtube.com/watch?v=${id}`
  add.run('1', 'done', page('aaaaaaaaaaa'), data('aaaaaaaaaaa', { folder: '', filename: 'Renamed.mp4' }))
  const inner = { folder: 'Harbour', filename: 'Season 2024/S2024E01 - Film.mkv', extras: { channel_id: CHANNEL } }
  add.run('2', 'done', page('bbbbbbbbbbb'), data('bbbbbbbbbbb', inner))
  add.run('3', 'done', page('ccccccccccc'), data('ccccccccccc', { filename: 'Failed.mp4', status: 'error' }))
  add.run('4', 'queue', page('ddddddddddd'), data('ddddddddddd', { filename: 'Waits.mp4' }))
  add.run('5', 'done', page('eeeeeeeeeee'), 'no JSON')
  db.prepare('INSERT INTO tasks (name, url, enabled) VALUES (?, ?, 1)').run(
    'H',
    `https://youtube.com/channel/${CHANNEL}`,
  )
  db.close()
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

/** Tartube's classes, as far as its database has them. */
const TARTUBE = `
import pickle, sys, types
media = types.ModuleType('media'); sys.modules['media'] = media
def kind(name):
    made = type(name, (object,), {'__module__': 'media'}); setattr(media, name, made); return made
Channel, Folder, Video = kind('Channel'), kind('Folder'), kind('Video')
def new(made, **fields):
    one = made(); one.__dict__.update(fields); return one
top = new(Folder, dbid=1, name='Films', parent_obj=None, master_dbid=1, external_dir=None, child_list=[])
channel = new(Channel, dbid=2, name='Harbour', parent_obj=top, master_dbid=2, external_dir=None, child_list=[],
    source='https://www.youtube.com/channel/${CHANNEL}/videos', dl_disable_flag=False)
film = new(Video, dbid=3, name='A film', nickname='A film: whole', parent_obj=channel, vid='aaaaaaaaaaa', source=None,
    file_name='A film', file_ext='.mp4', dl_flag=True, new_flag=False, archive_flag=True, upload_time=1689415200.0,
    duration=7, descrip='About it')
never = new(Video, dbid=4, name='Never', parent_obj=channel, vid='bbbbbbbbbbb', file_name='Never', file_ext='.mp4',
    dl_flag=False)
channel.child_list = [film, never]; top.child_list = [channel]
with open(sys.argv[1], 'wb') as file:
    pickle.dump({'script_name': 'tartube', 'media_reg_dict': {1: top, 2: channel, 3: film, 4: never},
        'container_reg_dict': {1: top, 2: channel}}, file)
`
const EXPORT = {
  script_name: 'tartube',
  file_type: 'db_export',
  db_dict: {
    '1': {
      type: 'folder',
      name: 'Films',
      db_dict: {
        '2': {
          type: 'channel',
          name: 'Harbour',
          source: `https://www.youtube.com/channel/${CHANNEL}`,
          db_dict: { '3': { type: 'video', vid: 'aaaaaaaaaaa', name: 'A film', file: 'A film.mp4', db_dict: {} } },
        },
      },
    },
  },
}

for (const form of ['database', 'export'] as const)
  test(`Tartube’s ${form} names films; what it hides beside them is theirs`, async (t) => {
    const app = await placesApp(t)
    await layFilm(app, 'data/Films/Harbour/A film.mp4')
    await layFilm(app, 'data/Films/Harbour/B film.mkv')
    await app.lay('data/Films/Harbour/.data/B film.info.json', JSON.stringify(infoOf('ccccccccccc')))
    await app.lay('data/Films/Harbour/.thumbs/B film.jpg', 'a picture')
    await app.lay('data/Films/Harbour/.data/Gone film.info.json', JSON.stringify(infoOf('ddddddddddd')))
    if (form === 'database') await python(TARTUBE, join(app.root, 'data/tartube.db'))
    else {
      await app.lay('data/tartube.db', 'damaged')
      await app.lay('data/tartube_db_export.json', JSON.stringify(EXPORT))
    }

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

const SHELF = `
import dbm.dumb, shelve, sqlite3, pickle, sys, types
ytdl = types.ModuleType('ytdl'); sys.modules['ytdl'] = ytdl
class DownloadInfo: pass
DownloadInfo.__module__ = 'ytdl'; ytdl.DownloadInfo = DownloadInfo
def info(id, name, status='finished'):
    one = DownloadInfo(); address = 'https://www.youtube.com/watch?v=' + id
    one.__dict__.update(id=id, title=name, url=address, folder='Sea', filename=name + '.mp4', status=status,
        timestamp=1700000000000000000, error=None, entry={'id': id, 'channel_id': '${CHANNEL}', 'channel': 'Harbour'})
    return address, one
made = [info('aaaaaaaaaaa', 'A film'), info('bbbbbbbbbbb', 'Failed', 'error')]
if sys.argv[2] == 'sqlite':
    db = sqlite3.connect(sys.argv[1]); db.execute('CREATE TABLE Dict (key BLOB UNIQUE NOT NULL, value BLOB NOT NULL)')
    for key, one in made: db.execute('INSERT INTO Dict VALUES (?, ?)', (key.encode(), pickle.dumps(one)))
    db.commit()
else:
    with shelve.Shelf(dbm.dumb.open(sys.argv[1])) as shelf:
        for key, one in made: shelf[key] = one
`

for (const form of ['sqlite', 'dumb'] as const)
  test(`MeTube’s list before 2026, a shelf of the form ${form}, names films`, async (t) => {
    const app = await placesApp(t)
    await layFilm(app, 'downloads/Sea/A film.mp4')
    await app.lay('downloads/.metube/queue', '')
    await python(SHELF, join(app.root, 'downloads/.metube/completed'), form)

    const { source, rows } = await plannedIn(app, 'downloads')

    assert.deepEqual([source, rows], ['metube', ['Sea/A film.mp4|aaaaaaaaaaa|new']])
  })

test('information lies in the film, in other folders and in the NFO of a show, and is only used for its own film', async (t) => {
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
  // Of the same name by chance.
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

test('a video that the platform no longer has comes by its name, its tags and the channel of its folder', async (t) => {
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

test('a person says which video a film is and whose films they are; the platform is asked first', async (t) => {
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
