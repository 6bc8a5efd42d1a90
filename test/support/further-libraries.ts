/**
 * Libraries of programs that are described only by the program's own database, for tests: YTPTube, Tartube and older
 * MeTubes.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import type { PlacesApp } from './places.ts'
import { infoOf, layFilm } from './ytdlp-folder.ts'

const run = promisify(execFile)
const python = (code: string, ...args: string[]) => run('python3', ['-c', code, ...args])

export type Root = Pick<PlacesApp, 'lay' | 'root'>

/** The channel of all their films. */
export const CHANNEL = 'UCzwZWdfRLgxL-Z1bvxbT7Wr'

/** Creates two films whose names do not contain their ids; a third one exists only in the download archive. */
export async function layYtptube(app: Root, folder: string, [named, inner, gone]: readonly string[]): Promise<void> {
  await layFilm(app, `${folder}/downloads/Renamed.mp4`)
  await layFilm(app, `${folder}/downloads/Harbour/Season 2024/S2024E01 - Film.mkv`)
  await app.lay(`${folder}/config/archive.log`, `youtube ${named}\nyoutube ${gone}\nno line\n`)
  const db = new Database(join(app.root, folder, 'config/ytptube.db'))
  db.exec(`CREATE TABLE history (id TEXT PRIMARY KEY, type TEXT NOT NULL, url TEXT NOT NULL, data JSON NOT NULL,
      created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, name TEXT, url TEXT, enabled INTEGER)`)
  const insert = db.prepare('INSERT INTO history (id, type, url, data) VALUES (?, ?, ?, ?)')
  const add = (type: string, id: string, more: object | string) =>
    insert.run(
      id,
      type,
      `https://www.youtube.com/watch?v=${id}`,
      typeof more === 'string' ? more : JSON.stringify({ id, title: `Title of ${id}`, status: 'finished', ...more }),
    )
  add('done', named!, { folder: '', filename: 'Renamed.mp4' })
  const extras = { channel_id: CHANNEL }
  add('done', inner!, { folder: 'Harbour', filename: 'Season 2024/S2024E01 - Film.mkv', extras })
  add('done', 'ccccccccccc', { filename: 'Failed.mp4', status: 'error' })
  add('queue', 'ddddddddddd', { filename: 'Waits.mp4' })
  add('done', 'eeeeeeeeeee', 'no JSON')
  const page = `https://youtube.com/channel/${CHANNEL}`
  db.prepare('INSERT INTO tasks (name, url, enabled) VALUES (?, ?, 1)').run('H', page)
  db.close()
}

/** The classes of Tartube that its database contains. */
const tartubeOf = (listed: string) => `
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
film = new(Video, dbid=3, name='A film', nickname='A film: whole', parent_obj=channel, vid='${listed}', source=None,
    file_name='A film', file_ext='.mp4', dl_flag=True, new_flag=False, archive_flag=True, upload_time=1689415200.0,
    duration=7, descrip='About it')
never = new(Video, dbid=4, name='Never', parent_obj=channel, vid='bbbbbbbbbbb', file_name='Never', file_ext='.mp4',
    dl_flag=False)
channel.child_list = [film, never]; top.child_list = [channel]
with open(sys.argv[1], 'wb') as file:
    pickle.dump({'script_name': 'tartube', 'media_reg_dict': {1: top, 2: channel, 3: film, 4: never},
        'container_reg_dict': {1: top, 2: channel}}, file)
`
const exportOf = (listed: string) => ({
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
          db_dict: { '3': { type: 'video', vid: listed, name: 'A film', file: 'A film.mp4', db_dict: {} } },
        },
      },
    },
  },
})

/** Creates two films: one is in the database, the other has its information file in a hidden folder. */
export async function layTartube(
  app: Root,
  folder: string,
  [listed, beside]: readonly string[],
  form: 'database' | 'export' = 'database',
): Promise<void> {
  await layFilm(app, `${folder}/Films/Harbour/A film.mp4`)
  await layFilm(app, `${folder}/Films/Harbour/B film.mkv`)
  await app.lay(`${folder}/Films/Harbour/.data/B film.info.json`, JSON.stringify(infoOf(beside!)))
  await app.lay(`${folder}/Films/Harbour/.thumbs/B film.jpg`, 'a picture')
  await app.lay(`${folder}/Films/Harbour/.data/Gone film.info.json`, JSON.stringify(infoOf('ddddddddddd')))
  if (form === 'database') await python(tartubeOf(listed!), join(app.root, folder, 'tartube.db'))
  else {
    await app.lay(`${folder}/tartube.db`, 'damaged')
    await app.lay(`${folder}/tartube_db_export.json`, JSON.stringify(exportOf(listed!)))
  }
}

const shelfOf = (id: string) => `
import dbm.dumb, shelve, sqlite3, pickle, sys, types
ytdl = types.ModuleType('ytdl'); sys.modules['ytdl'] = ytdl
class DownloadInfo: pass
DownloadInfo.__module__ = 'ytdl'; ytdl.DownloadInfo = DownloadInfo
def info(id, name, status='finished'):
    one = DownloadInfo(); address = 'https://www.youtube.com/watch?v=' + id
    one.__dict__.update(id=id, title=name, url=address, folder='Sea', filename=name + '.mp4', status=status,
        timestamp=1700000000000000000, error=None, entry={'id': id, 'channel_id': '${CHANNEL}', 'channel': 'Harbour'})
    return address, one
made = [info('${id}', 'A film'), info('bbbbbbbbbbb', 'Failed', 'error')]
if sys.argv[2] == 'sqlite':
    db = sqlite3.connect(sys.argv[1]); db.execute('CREATE TABLE Dict (key BLOB UNIQUE NOT NULL, value BLOB NOT NULL)')
    for key, one in made: db.execute('INSERT INTO Dict VALUES (?, ?)', (key.encode(), pickle.dumps(one)))
    db.commit()
else:
    with shelve.Shelf(dbm.dumb.open(sys.argv[1])) as shelf:
        for key, one in made: shelf[key] = one
`

/** Creates the library of a MeTube older than April 2026, whose list is a Python shelf, with one film in the list. */
export async function layOldMetube(app: Root, folder: string, id: string, form: 'sqlite' | 'dumb'): Promise<void> {
  await layFilm(app, `${folder}/Sea/A film.mp4`)
  await app.lay(`${folder}/.metube/queue`, '')
  await python(shelfOf(id), join(app.root, folder, '.metube/completed'), form)
}
