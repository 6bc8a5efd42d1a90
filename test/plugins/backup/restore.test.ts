/** Backups of the reference and our own are restored completely; malicious archives change nothing. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin, Type } from 'archivolt'
import { aChannel, aNewItem, aQueued, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { waitAtBarrier } from '../../../core/index/write-barrier.ts'
import { openLog } from '../../../core/log.ts'
import '../../support/slow.ts'
import {
  aStoredChannel,
  aStoredVideo,
  CENTRAL_RECORD,
  documentsOf,
  END_RECORD,
  fileOf,
  patched,
  zipOf,
} from './zips.ts'

const NAME = 'ta_backup-20260110-auto.zip'
const REFERENCE = await readFile(new URL('../../data/recordings/ta_backup-small-auto.zip', import.meta.url))
const COLLECTIONS = ['channel', 'video', 'download', 'playlist', 'subtitle', 'comment']

const upload = (app: TestApp, zip: Buffer, name = NAME) =>
  app.as('admin').put(`/api/backup/${name}/`, zip, { 'content-type': 'application/zip' })

/** @returns the task's record */
async function restore(app: TestApp, name = NAME) {
  const { status, body, text } = await app.as('admin').post(`/api/backup/${name}/`)
  assert.equal(status, 200, text)
  assert.deepEqual(
    { message: body.message, filename: body.filename },
    { message: 'backup restore task started', filename: name },
  )
  await app.settled()
  return (await app.as('admin').get(`/api/task-id/${body.task_id}/`)).body
}

async function everything(app: TestApp): Promise<Record<string, Record<string, object>>> {
  const all: Record<string, Record<string, object>> = {}
  for (const name of COLLECTIONS) {
    all[name] = {}
    for (const id of await app.ids(name)) all[name][id] = await app.doc(name, id)
  }
  return all
}

test('a backup of the reference is restored completely, and our own backup then contains the same', async (t) => {
  const app = await testApp(t, { settings: { prefix: 'ta' } })
  await upload(app, REFERENCE)

  const task = await restore(app)

  assert.equal(task.status, 'SUCCESS')
  assert.equal(task.result, `${NAME} restored: 85 documents, 0 skipped`)
  const theirs = await documentsOf(REFERENCE)
  for (const name of COLLECTIONS) assert.deepEqual(await app.ids(name), Object.keys(theirs[name]!).toSorted(), name)

  await app.as('admin').post('/api/backup/')
  await app.settled()
  const ours = await documentsOf((await app.as('admin').get('/api/backup/ta_backup-20260115-auto.zip/download/')).bytes)
  assert.deepEqual(Object.keys(ours), ['config', ...COLLECTIONS])
  for (const name of COLLECTIONS)
    for (const [id, doc] of Object.entries(theirs[name]!)) assertSays(ours[name]![id], doc, `${name} ${id}`)
})

/**
 * Everything that the reference stored is also in ours, in its form; an empty value may be filled, and keys may be
 * added.
 */
function assertSays(ours: any, theirs: any, path: string): void {
  if (theirs === null || theirs === false)
    return assert.ok(
      ['', 0, false, null, undefined].includes(ours) || (Array.isArray(ours) && ours.length === 0),
      `${path}: ${JSON.stringify(ours)} for ${theirs}`,
    )
  if (typeof theirs !== 'object') {
    // Never trusted, but computed: the served format, the art of a custom playlist, a date of an unwatched video.
    if (/\.(ext|playlist_thumbnail|watched_date)$/.test(path)) return
    return assert.equal(ours, theirs, path)
  }
  if (Array.isArray(theirs)) assert.equal(ours?.length, theirs.length, path)
  for (const [key, value] of Object.entries(theirs)) assertSays(ours?.[key], value, `${path}.${key}`)
}

test('a backup is restored unchanged, with the settings; accounts and positions are not touched', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await upload(app, REFERENCE)
  await restore(app)
  await admin.post('/api/config/', { downloads: { limit_speed: 500, subtitle: 'en' } })
  await app.as('user').post('/api/video/5BMU_yVNr17/progress/', { position: 33 })
  const before = await everything(app)
  await admin.post('/api/backup/')
  await app.settled()

  await admin.delete('/api/video/ZEUmdQyx53e/')
  await admin.post('/api/watched/', { id: '5BMU_yVNr17', is_watched: true })
  await admin.post('/api/config/', { downloads: { limit_speed: 7 } })
  await app.given(aVideo({ id: 'newer', channelId: 'UCI2wQfcpyGB1bwAcuO85BBi' }))
  const task = await restore(app, 'av_backup-20260115-auto.zip')

  assert.equal(task.status, 'SUCCESS', task.result)
  assert.deepEqual(await everything(app), before)
  assert.equal((await admin.get('/api/config/')).body.downloads.limit_speed, 500)
  assert.equal((await app.as('user').get('/api/video/5BMU_yVNr17/progress/')).body.position, 33)
})

test('a backup contains no password of a proxy: its restore leaves the proxy unchanged, and says so', async (t) => {
  const [one, other] = [await testApp(t), await testApp(t)]
  const set = (app: TestApp, proxy: string) => app.as('admin').post('/api/config/', { platform: { proxy } })
  const proxyOf = ({ app }: TestApp) => app.preferences.section('platform').proxy
  await one.given(aChannel())
  await set(one, 'http://me:secret@127.0.0.1:3128')
  await one.as('admin').post('/api/backup/')
  await one.settled()
  const name = 'av_backup-20260115-auto.zip'
  const zip = (await one.as('admin').get(`/api/backup/${name}/download/`)).bytes
  await upload(other, zip, name)

  const results = [await restore(one, name), await restore(other, name)].map(({ result }) => result)
  await set(other, 'http://you:word@127.0.0.1:9999')
  results.push((await restore(other, name)).result)

  const isNotApplied = (result: string) => result.includes('settings not applied: platform.proxy')
  assert.deepEqual(results.map(isNotApplied), [false, true, true])
  assert.deepEqual([one, other].map(proxyOf), ['http://me:secret@127.0.0.1:3128', 'http://you:word@127.0.0.1:9999'])
})

test('invalid documents are skipped and counted, the others are restored', async (t) => {
  const app = await testApp(t)
  const good = { UC1: aStoredChannel('UC1') }
  const videos = {
    v1: aStoredVideo('v1'),
    climbs: aStoredVideo('../../etc/passwd'),
    long: aStoredVideo('x'.repeat(129)),
    homeless: aStoredVideo('v2', { channel: {} }),
    kinds: aStoredVideo('v3', { vid_type: 'film' }),
    nothing: {},
    twoIds: aStoredVideo('v4', { platform_id: 'v5' }),
  }
  await upload(
    app,
    await zipOf(fileOf('channel', good), fileOf('video', videos), fileOf('strange', { a: { b: 1 } }), {
      name: 'README',
      content: 'not ours',
    }),
  )

  const task = await restore(app)

  assert.equal(task.result, `${NAME} restored: 2 documents, 6 skipped`)
  assert.deepEqual(await app.ids('video'), ['v1'])
  const log = (await app.as('admin').get(`/api/task-id/${task.task_id}/log/`)).body
  assert.ok(log.some(({ message }: { message: string }) => message.includes('skipped')))
})

test('invalid documents of a whole backup are reported after the start that restores the others', async (t) => {
  const app = await testApp(t)
  const restoring = join(app.dataDir, 'restoring')
  await mkdir(restoring)
  const videos = { v1: aVideo({ id: 'v1' }).doc, v2: { ...aVideo({ id: 'v2' }).doc, title: 5 } }
  await writeFile(join(restoring, 'documents.zip'), await zipOf(fileOf('video', videos, 'av_video-20260110-0.json')))

  await app.restart()

  assert.deepEqual(await app.ids('video'), ['v1'])
  const messages = async (who: string) =>
    (await app.as(who).get('/api/notification/')).body
      .filter(({ title }: { title: string }) => title === 'The restore is incomplete')
      .flatMap((one: { messages: string[] }) => one.messages)
  assert.deepEqual(await messages('admin'), [
    'Documents of the backup that could not be used, and are missing now: 1. The log of the server lists the first of them',
  ])
  assert.deepEqual(await messages('user'), [])
  assert.equal(existsSync(restoring), false)
})

test('paths and URLs of a backup are recomputed, never trusted', async (t) => {
  const app = await testApp(t)
  const evil = {
    media_url: '../../../etc/passwd',
    vid_thumb_url: 'https://intern.example/x.jpg',
    subtitles: [{ lang: 'en', name: 'English', source: 'user', ext: 'json3', url: false, media_url: '/etc/shadow' }],
  }
  await upload(app, await zipOf(fileOf('video', { v1: aStoredVideo('v1', evil) })))

  await restore(app)

  const { data } = (await app.as('admin').get('/api/video/v1/')).body
  assert.equal(data.media_url, '/media/UC1/v1.mp4')
  assert.equal(data.vid_thumb_url, '/cache/videos/v/v1.jpg')
  assert.equal(data.subtitles[0].media_url, '/media/UC1/v1.en.vtt')
  assert.deepEqual(await app.ids('channel'), ['UC1'], 'a channel that stands only inside its videos')
})

test('a time of publication becomes the day that the platform gives, whatever the time zone of the server', async (t) => {
  const before = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
  const app = await testApp(t)
  const published = Date.parse('2024-03-02T01:00:00Z') / 1000 // the 1st in New York
  const downloads = { d1: { youtube_id: 'd1', timestamp: 1_768_000_000, published } }
  await upload(
    app,
    await zipOf(fileOf('video', { v1: aStoredVideo('v1', { published }) }), fileOf('download', downloads)),
  )

  await restore(app)

  const [video, queued] = await Promise.all([app.doc('video', 'v1'), app.doc('download', 'd1')])
  assert.deepEqual([video?.published, queued?.published], ['2024-03-02', '2024-03-02'])
})

test('an impossible date leaves out its document and no other, in a preview, too', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const never = 1e13
  const videos = {
    v1: aStoredVideo('v1'),
    v2: aStoredVideo('v2', { vid_last_refresh: never }),
    v3: aStoredVideo('v3', { published: -never }),
    v4: aStoredVideo('v4', { date_downloaded: never }),
    v5: aStoredVideo('v5', { player: { watched: true, watched_date: never } }),
    v6: aStoredVideo('v6', { vid_last_refresh: 1e300 }),
    v7: aStoredVideo('v7', { published: 8.64e12, date_downloaded: -8.64e12 }),
  }
  const channels = { UC1: aStoredChannel('UC1'), UC2: aStoredChannel('UC2', { channel_last_refresh: never }) }
  const downloads = { d1: { youtube_id: 'd1', timestamp: never }, d2: { youtube_id: 'd2', timestamp: 1_768_000_000 } }
  await upload(app, await zipOf(fileOf('channel', channels), fileOf('video', videos), fileOf('download', downloads)))

  const preview = await admin.get(`/api/backup/${NAME}/preview/`)
  const task = await restore(app)

  assert.equal(preview.status, 200, preview.text)
  assert.deepEqual([preview.body.channel.backup, preview.body.video.backup, preview.body.download.backup], [1, 2, 1])
  assert.equal(task.result, `${NAME} restored: 4 documents, 7 skipped`)
  assert.deepEqual(
    [await app.ids('channel'), await app.ids('video'), await app.ids('download')],
    [['UC1'], ['v1', 'v7'], ['d2']],
  )
  for (const path of ['/api/video/', '/api/channel/', '/api/download/', '/api/stats/growth/'])
    assert.equal((await admin.get(path)).status, 200, path)
})

test('a channel inside a video is checked like a separate one, and used only with its video', async (t) => {
  const app = await testApp(t)
  const inside = (id: string, channelId: string, changes: object = {}) =>
    aStoredVideo(id, { channel: aStoredChannel(channelId, changes) })
  const overwrites = { channel_overwrites: { autodelete_days: 'soon', nonsense: [1] } }
  const videos = {
    v1: inside('v1', 'UC1'),
    v2: inside('v2', 'not an id!'),
    v3: inside('v3', 'UC3', overwrites),
    v4: inside('v4', 'UC3', overwrites),
    '!': inside('!', 'UC4'),
    v5: inside('v5', 'UC5', { channel_last_refresh: 1e13 }),
    v6: aStoredVideo('v6', { channel: { channel_id: 'UC6' } }),
  }
  await upload(app, await zipOf(fileOf('video', videos)))

  const task = await restore(app)

  assert.equal(task.result, `${NAME} restored: 6 documents, 4 skipped`)
  assert.deepEqual(await app.ids('video'), ['v1', 'v3', 'v4', 'v5', 'v6'])
  assert.deepEqual(await app.ids('channel'), ['UC1'])
})

test('a channel’s own document takes precedence over those inside its videos, wherever it is in the archive', async (t) => {
  const app = await testApp(t)
  const many = Object.fromEntries(
    Array.from({ length: 250 }, (_, number) => [
      `v${number}`,
      aStoredVideo(`v${number}`, { channel: aStoredChannel(`UC${number}`) }),
    ]),
  )
  const own = (id: string) =>
    fileOf(
      'channel',
      { [id]: aStoredChannel(id, { channel_name: 'Its own' }) },
      `es_channel-20260110-${id.slice(2)}.json`,
    )
  await upload(app, await zipOf(own('UC7'), fileOf('video', many), own('UC8'), own('UC9')))

  const task = await restore(app)

  assert.equal(task.result, `${NAME} restored: 500 documents, 0 skipped`)
  assert.equal((await app.ids('channel')).length, 250)
  for (const [id, name] of [
    ['UC7', 'Its own'],
    ['UC8', 'Its own'],
    ['UC9', 'Its own'],
    ['UC10', 'Channel UC10'],
  ])
    assert.equal((await app.doc('channel', id!)).channel_name, name)
})

const GOOD = await zipOf(fileOf('channel', { UC1: aStoredChannel('UC1') }))
const BOMB = Buffer.alloc(4 * 2 ** 20)
const REFUSED: Array<[what: string, zip: Buffer]> = [
  ['nothing', Buffer.alloc(0)],
  ['no zip', Buffer.from('hello, I am no archive at all')],
  ['half a zip', GOOD.subarray(0, GOOD.length - 30)],
  ['a zip without its beginning', GOOD.subarray(40)],
  ['a zip of nothing', await zipOf()],
  ['a zip without documents', await zipOf({ name: 'notes.txt', content: 'hello' })],
  ['documents in a folder', await zipOf({ ...fileOf('channel', {}), name: 'deep/es_channel-20260110-0.json' })],
  ['a link', await zipOf({ name: 'es_channel-20260110-0.json', content: '/etc/passwd', mode: 0o120777 })],
  [
    'a path that climbs',
    Buffer.from(
      (await zipOf({ name: 'xx/es_channel-20260110-0.json', content: '' })).toString('latin1').replaceAll('xx/', '../'),
      'latin1',
    ),
  ],
  ['a bomb', await zipOf(fileOf('channel', {}), { name: 'es_video-20260110-0.json', content: BOMB })],
  ['more entries than it has', patched(patched(GOOD, END_RECORD, 8, 0x0005_0005), END_RECORD, 12, 46)],
  ['an entry outside of the file', patched(GOOD, END_RECORD, 16, 0x7fff_ffff)],
]

/** Detected when the documents are located: no restore begins. */
const BROKEN: Array<[what: string, zip: Buffer]> = [
  ['more bytes than it says', patched(GOOD, CENTRAL_RECORD, 24, 10)],
  ['another checksum', patched(GOOD, CENTRAL_RECORD, 16, 1)],
  [
    'content that is not compressed as it says',
    (() => {
      const bytes = Buffer.from(GOOD)
      bytes.fill(0xff, 60, 90)
      return bytes
    })(),
  ],
  [
    'documents without action lines',
    await zipOf({ name: 'es_channel-20260110-0.json', content: '{"channel_id":"UC1"}\n{"channel_id":"UC2"}\n' }),
  ],
  [
    'an action line without its document',
    await zipOf({ name: 'es_channel-20260110-0.json', content: '{"index":{"_index":"ta_channel","_id":"UC1"}}\n' }),
  ],
]
/** Detected only when everything is read: the restore fails, and nothing has changed. */
const HALF_BROKEN = await zipOf(fileOf('channel', { UC8: aStoredChannel('UC8') }), {
  name: 'es_video-20260110-0.json',
  content: 'no json\n',
})

test('a malicious or truncated archive changes nothing', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC9' }), aVideo({ id: 'v9', channelId: 'UC9' }))
  const before = await everything(app)

  for (const [what, zip] of REFUSED) {
    const reply = await upload(app, zip)
    assert.equal(reply.status, 422, `${what}: ${reply.text}`)
    assert.equal(reply.body.code, 'unprocessable', what)
    assert.deepEqual(await readdir(join(app.dataDir, 'backups')), [], `${what}: nothing is kept`)
    await writeFile(join(app.dataDir, 'backups', NAME), zip)
    const asked = await app.as('admin').post(`/api/backup/${NAME}/`)
    assert.equal(asked.status, 422, `${what}, put there by hand: ${asked.text}`)
    await app.as('admin').delete(`/api/backup/${NAME}/`)
  }
  for (const [what, zip] of BROKEN) {
    assert.equal((await upload(app, zip)).status, 200, what)
    const asked = await app.as('admin').post(`/api/backup/${NAME}/`)
    assert.equal(asked.status, 422, `${what}: ${asked.text}`)
    await app.as('admin').delete(`/api/backup/${NAME}/`)
  }
  await upload(app, HALF_BROKEN)
  const task = await restore(app)
  assert.equal(task.status, 'FAILURE')
  assert.doesNotMatch(task.result, /\/tmp|node:/, task.result)
  assert.equal(task.said[task.result].key, 'This backup cannot be read: {reason}', 'it can be translated')

  assert.deepEqual(await everything(app), before)
})

test('an archive without any valid document is not restored, and a preview says so', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await app.given(aChannel({ id: 'UC9' }), aVideo({ id: 'v9', channelId: 'UC9' }))
  const before = await everything(app)
  const archives: Array<[what: string, zip: Buffer]> = [
    [
      'settings alone',
      await zipOf({
        name: 'es_config-20260110-0.json',
        content: '{"index":{"_id":"config"}}\n{"downloads":{"limit_speed":7}}\n',
      }),
    ],
    ['files of nothing', await zipOf(fileOf('channel', {}), fileOf('video', {}))],
    ['kinds that are not known here', await zipOf(fileOf('book', { b1: { title: 'x' } }))],
    ['documents that cannot be used', await zipOf(fileOf('video', { v1: {} }))],
  ]
  for (const [what, zip] of archives) {
    assert.equal((await upload(app, zip)).status, 200, what)

    const replies = [await admin.get(`/api/backup/${NAME}/preview/`), await admin.post(`/api/backup/${NAME}/`)]

    for (const { status, body } of replies) {
      assert.equal(status, 422, what)
      assert.match(body.detail, /has no usable document/, what)
    }
    await admin.delete(`/api/backup/${NAME}/`)
  }
  await app.settled()
  assert.deepEqual(await everything(app), before)
  assert.notEqual((await admin.get('/api/config/')).body.downloads.limit_speed, 7)
})

test('a queue of an earlier version, with its own fields for the order, is restored in its order', async (t) => {
  const app = await testApp(t)
  const item = (id: string, position: number, status: 'pending' | 'ignore' | 'priority') => ({
    ...aQueued({ id, position, status, auto_start: status === 'priority' }).doc,
    ...{ open: status !== 'ignore', ready: status !== 'ignore', later: status !== 'priority' },
  })
  const items = {
    a: item('a', 3, 'pending'),
    b: item('b', 2, 'ignore'),
    c: item('c', 1, 'pending'),
    d: item('d', 4, 'priority'),
    e: item('e', 1e300, 'pending'),
  }
  await app.given(aQueued({ id: 'newer' }))
  await upload(app, await zipOf(fileOf('download', items, 'av_download-20260110-0.json')))
  const preview = (await app.as('admin').get(`/api/backup/${NAME}/preview/`)).body.download

  const task = await restore(app)

  assert.equal(task.result, `${NAME} restored: 4 documents, 1 skipped`)
  assert.deepEqual(preview, { backup: 5, now: 1, added: 5, removed: 1, changed: 0 })
  const { data } = (await app.as('admin').get('/api/download/')).body
  assert.deepEqual(
    data.map(({ platform_id: id, status }: any) => `${id} ${status}`),
    [...['d priority', 'c pending', 'b ignore', 'a pending']],
  )
})

test('a failed restore leaves the queue unchanged', async (t) => {
  const app = await testApp(t)
  await app.given(aQueued({ id: 'now' }))
  const one = fileOf('download', { earlier: aQueued({ id: 'earlier' }).doc }, 'av_download-20260110-0.json')
  const unfinished = { name: 'es_video-20260110-0.json', content: '{"index":{"_id":"v1"}}\n' }
  await upload(app, await zipOf(one, unfinished))

  const { status } = await restore(app)

  assert.deepEqual([status, await app.ids('download')], ['FAILURE', ['now']])
})

test('plugins are notified of a restore even if the tables of one plugin cannot be replaced', async (t) => {
  const heard: string[] = []
  const shelf = definePlugin({
    name: 'shelf',
    needs: ['backup'],
    api: 1,
    implements: {
      'archive.documents': () => ({
        name: 'shelf',
        doc: Type.Object({}),
        count: async () => 0,
        getMany: async () => new Map(),
        async *scan() {},
        replacement: async () => ({
          write: async () => ({ written: 0, failed: [] }),
          commit: () => Promise.reject(new Error('disk I/O error')),
        }),
      }),
    },
    on: { 'index.replaced': () => () => void heard.push('replaced') },
  })
  const app = await testApp(t, { settings: { prefix: 'ta' }, outside: [shelf], log: openLog('silent') })
  await upload(app, REFERENCE)

  const { status } = await restore(app)

  assert.deepEqual([status, (await app.ids('channel')).length > 0, heard], ['FAILURE', true, ['replaced']])
})

test('if the last documents cannot be written, when nothing is left to read, the restore fails and changes nothing', async (t) => {
  const app = await testApp(t, { settings: { prefix: 'ta' } })
  await app.given(aVideo({ id: 'v1' }))
  await upload(app, REFERENCE)
  const before = await everything(app)
  const { index } = app.app
  const replaceAll = index.replaceAll.bind(index)
  t.mock.method(index, 'replaceAll', (load: Parameters<typeof replaceAll>[0], swapped?: () => Promise<void>) =>
    replaceAll(
      (write) =>
        load(async (name, docs) => {
          await new Promise((resolve) => setTimeout(resolve, 20))
          if (name === 'playlist') throw new Error('no more room')
          return write(name, docs)
        }),
      swapped,
    ),
  )

  const { status } = await restore(app)

  assert.equal(status, 'FAILURE')
  assert.deepEqual(await everything(app), before)
})

test('an item that a job adds during a restore is in the restored queue', async (t) => {
  const app = await testApp(t)
  await app.given(aQueued({ id: 'before' }))
  await upload(
    app,
    await zipOf(fileOf('download', { earlier: aQueued({ id: 'earlier' }).doc }, 'av_download-20260110-0.json')),
  )
  const { documents } = app.app.queue
  const { replacement } = documents
  let adding: Promise<string[]> | undefined
  t.mock.method(documents, 'replacement', async () => {
    const begun = await replacement()
    return {
      ...begun,
      async commit() {
        adding = waitAtBarrier(new AbortController().signal, () =>
          app.app.queue.add([aNewItem('meanwhile')], 'pending'),
        )
        const refused = await app.as('admin').post('/api/download/before/', { status: 'ignore' })
        assert.equal(refused.status, 503)
        await begun.commit()
      },
    }
  })

  const { status } = await restore(app)
  await adding

  assert.deepEqual([status, await app.ids('download')], ['SUCCESS', ['earlier', 'meanwhile']])
})

test('during a restore a second one is refused', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  await upload(app, REFERENCE)
  await upload(app, GOOD, 'ta_backup-20260111-auto.zip')

  const replies = await Promise.all(
    [NAME, 'ta_backup-20260111-auto.zip'].map((name) => admin.post(`/api/backup/${name}/`)),
  )

  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
  const { body } = replies.find(({ status }) => status === 200)!
  await app.settled()
  const task = (await admin.get(`/api/task-id/${body.task_id}/`)).body
  assert.ok(task.result.startsWith(`${body.filename} restored`), task.result)
})
