/**
 * Migrations in the running program: what a start does with an index of another version, and what an interruption
 * leaves.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineIndex, type IndexDefinition } from '../../core/index/mapping.ts'
import { openLog } from '../../core/log.ts'
import { definePlugin } from '../../core/plugin/define.ts'
import shelf1, { shelfIndex } from '../data/plugins/shelf-1/plugin.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leftBehind } from '../support/left-behind.ts'
import { type Server, startServer, until } from '../support/server.ts'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp, testClock } from '../support/testing.ts'
import '../support/long.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const folderOf = (plugin: string) => fileURLToPath(new URL(`../data/plugins/${plugin}`, import.meta.url))
const ACCOUNT = { AV_USERNAME: 'admin', AV_PASSWORD: 'a password for tests' }
const UPGRADE = /^av_upgrade_[a-z0-9]{22}$/

interface Snapshot {
  id: string
  state: string
}

/** A data folder of a server with these documents. */
const left = (t: TestContext, fill: (app: TestApp) => Promise<unknown>, replace = [shelf1]) =>
  leftBehind(t, fill, { replace })

const aShelf = (number: number) => ({
  id: `s${number}`,
  doc: { title: `Shelf ${number}`, place: `room ${number % 3}`, year: 2000 + number, code: `c${number}` },
})
const shelves = (count: number) => async (app: TestApp) =>
  app.app.index.collection(shelfIndex).putMany(Array.from({ length: count }, (_, number) => aShelf(number)))

test('an unchanged mapping does nothing, an added field is filled in place, a changed one rebuilds after a snapshot', async (t) => {
  const dataDir = await left(t, shelves(300))
  const year = { type: 'long', filter: true } as const
  const changed = { ...shelfIndex.fields, year, place: { type: 'text', search: 1 } } as const
  const start = async (fields: IndexDefinition['fields']) => {
    const lines: string[] = []
    const log = openLog('info', { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) })
    const definition = defineIndex({ ...shelfIndex, fields }) as IndexDefinition
    const app = await testApp(t, {
      dataDir,
      log,
      clock: testClock(Date.now()),
      replace: [definePlugin({ name: 'shelf', indexes: [definition] })],
    })
    await app.settled()
    const snapshots = ((await app.as('admin').get('/api/snapshot/')).body.snapshots as Snapshot[]).filter(({ id }) =>
      UPGRADE.test(id),
    )
    return {
      app,
      shelf: app.app.index.collection(definition),
      snapshots,
      lines: lines.filter((line) => line.startsWith('index ')),
    }
  }

  const same = await start(shelfIndex.fields)
  assert.deepEqual([same.lines, same.snapshots], [[], []])
  await same.app.close()

  const added = await start({ ...shelfIndex.fields, year })
  assert.deepEqual([added.lines, added.snapshots], [['index shelf: adding column year', 'index shelf: done'], []])
  assert.equal(await added.shelf.count({ eq: ['year', 2007] }), 1)
  await added.app.as('admin').post('/api/config/', { application: { enable_snapshot: false } })
  await added.app.close()

  const rebuilt = await start(changed)
  assert.deepEqual(
    rebuilt.lines.map((line) => line.split(',')[0]),
    ['index shelf: rebuilding', 'index shelf: done'],
  )
  assert.equal((await rebuilt.shelf.find({ text: { words: 'room 2' } })).total, 100)
  assert.deepEqual(await rebuilt.app.doc('shelf', 's7'), aShelf(7).doc)
  assert.deepEqual(
    rebuilt.snapshots.map(({ state }) => state),
    ['SUCCESS'],
    'also where snapshots are switched off: there is no other way back',
  )

  await rebuilt.app.as('admin').post(`/api/snapshot/${rebuilt.snapshots[0]!.id}/`)
  await rebuilt.app.settled()
  assert.equal(
    (await rebuilt.shelf.find({ text: { words: 'room 2' } })).total,
    100,
    'the snapshot of the older version is restored into this one',
  )
})

const start = (t: TestContext, folder: string, env: Record<string, string> = {}) =>
  startServer(t, folder, { ...ACCOUNT, ...env })

/** Starts the program and passes each log line to `look`; resolves with its end. */
function startUntil(
  t: TestContext,
  folder: string,
  env: Record<string, string>,
  look: (message: string, child: ChildProcess, url: string) => void,
): Promise<NodeJS.Signals | number | null> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_')))
  const child = spawn(process.execPath, [MAIN], {
    env: { ...inherited, AV_DATA_DIR: folder, AV_PORT: '0', ...ACCOUNT, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => void child.kill('SIGKILL'))
  let url = ''
  createInterface(child.stderr).on('line', (line) => {
    const { msg, url: told } = JSON.parse(line) as { msg: string; url?: string }
    url = told ?? url
    look(msg, child, url)
  })
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
}

async function assertMigrated(server: Server, count: number): Promise<void> {
  const { body } = await server.api('GET', '/api/shelf/?q=room')
  assert.equal(body.paginate.total_hits, count)
  for (let page = 1; page <= Math.ceil(count / 12); page += 40) {
    for (const { code, year } of (await server.api('GET', `/api/shelf/?q=room&page=${page}`)).body.data)
      assert.equal(code, `second c${year - 2000}`)
  }
}

test('a migration that is interrupted anywhere is finished by the next start, with nothing lost and nothing done twice', {
  timeout: 240_000,
}, async (t) => {
  const COUNT = 3000
  const filled = await left(t, shelves(COUNT))
  const atLine = (wanted: RegExp) => ({
    look: (message: string, child: ChildProcess) => void (wanted.test(message) && child.kill('SIGKILL')),
  })
  const points: Record<
    string,
    { look?: (message: string, child: ChildProcess) => void; env?: Record<string, string>; isInSnapshot?: boolean }
  > = {
    'before anything': atLine(/^listening/),
    'in the middle of the snapshot': { isInSnapshot: true },
    'when the rebuild begins': atLine(/^index shelf: rebuilding/),
    'at the first document': { env: { SHELF_DIES_AT: '1' } },
    'in the middle': { env: { SHELF_DIES_AT: '1500' } },
    'at the last document': { env: { SHELF_DIES_AT: String(COUNT) } },
    'after the swap': atLine(/^index shelf: done/),
  }
  for (const [point, { look = () => undefined, env = {}, isInSnapshot }] of Object.entries(points)) {
    await t.test(point, async (t) => {
      const folder = await temporaryFolder(t)
      await cp(filled, folder, { recursive: true })
      const shelf2 = { AV_PLUGINS_DIR: folderOf('shelf-2') }
      let dying: ChildProcess | undefined
      const watcher = isInSnapshot
        ? watch(join(folder, 'snapshots'), (_event, name) => void (name?.endsWith('.part') && dying?.kill('SIGKILL')))
        : undefined
      const ended = await startUntil(t, folder, { ...shelf2, ...env }, (message, child) => {
        dying = child
        look(message, child)
      })
      watcher?.close()
      assert.equal(ended, 'SIGKILL')

      const server = await start(t, folder, shelf2)
      await until(
        'the index is ready',
        () => server.api('GET', '/api/ping/'),
        ({ status }) => status === 200,
      )
      await assertMigrated(server, COUNT)
      const { snapshots } = (await server.api('GET', '/api/snapshot/')).body
      const upgrade = snapshots.filter(({ id, state }: Snapshot) => UPGRADE.test(id) && state === 'SUCCESS')
      assert.ok(upgrade.length >= 1)
      assert.equal(await server.end('SIGTERM'), 0)
    })
  }
})

test('during a migration the program is healthy, and answers everything else with 503', async (t) => {
  const folder = await left(t, shelves(8000))
  const answers = new Map<string, Promise<number[]>>()
  const ask = async (url: string) => {
    const replies = await Promise.all(
      ['health', 'api/ping/', 'api/video/', 'api/snapshot/'].map((path) => fetch(url + path)),
    )
    assert.ok(replies.slice(1).every((reply) => Number(reply.headers.get('retry-after')) > 0))
    return replies.map(({ status }) => status)
  }
  const ended = startUntil(t, folder, { AV_PLUGINS_DIR: folderOf('shelf-2') }, (message, child, url) => {
    if (/^listening|^index shelf: rebuilding/.test(message)) answers.set(message, ask(url))
    if (/^index shelf: done/.test(message)) void Promise.allSettled(answers.values()).then(() => child.kill('SIGTERM'))
  })
  await ended
  assert.equal(answers.size, 2)
  for (const [message, statuses] of answers) assert.deepEqual(await statuses, [200, 503, 503, 503], message)
})

/** 2026-01-10T23:30:00Z: already the next day in Tokyo. */
const LATE = 1_768_087_800
const dayOf = async (server: Server) => ({
  channel: (await server.api('GET', '/api/channel/UC1/')).body.data.channel_last_refresh,
  video: (await server.api('GET', '/api/video/v1/')).body.data.vid_last_refresh,
  ofVideo: (await server.api('GET', '/api/video/v1/')).body.data.channel.channel_last_refresh,
  playlist: (await server.api('GET', '/api/playlist/PL1/')).body.data.playlist_last_refresh,
})
const allOn = (day: string) => ({ channel: day, video: day, ofVideo: day, playlist: day })

test('another time zone rewrites the stored days, wherever that is interrupted, and restored documents have them, too', {
  timeout: 120_000,
}, async (t) => {
  const folder = await left(
    t,
    (app) =>
      app.given(
        aChannel({ refreshed_at: LATE }),
        aVideo({ refreshed_at: LATE, published: '2026-01-10' }),
        aPlaylist({ refreshed_at: LATE }),
      ),
    [],
  )
  const inUtc = await start(t, folder, { TZ: 'UTC' })
  assert.deepEqual(await dayOf(inUtc), allOn('2026-01-10'))
  const { body } = await inUtc.api('POST', '/api/snapshot/')
  await until(
    'it is taken',
    () => inUtc.api('GET', `/api/snapshot/${body.snapshot_name}/`),
    (reply) => reply.body?.state === 'SUCCESS',
  )
  await inUtc.end('SIGTERM')

  for (const done of ['channel', 'video', 'playlist']) {
    const copy = await temporaryFolder(t)
    await cp(folder, copy, { recursive: true })
    assert.equal(
      await startUntil(
        t,
        copy,
        { TZ: 'Asia/Tokyo' },
        (message, child) => void (message === `index ${done}: done` && child.kill('SIGKILL')),
      ),
      'SIGKILL',
    )
    const server = await start(t, copy, { TZ: 'Asia/Tokyo' })
    assert.deepEqual(await dayOf(server), allOn('2026-01-11'), `cut off after ${done}`)
    await server.end('SIGTERM')
  }

  const inTokyo = await start(t, folder, { TZ: 'Asia/Tokyo' })
  assert.deepEqual(await dayOf(inTokyo), allOn('2026-01-11'))
  const { data: video } = (await inTokyo.api('GET', '/api/video/v1/')).body
  assert.deepEqual([video.published, video.title, video.player.duration], ['2026-01-10', 'Video v1', 100])
  const { snapshots } = (await inTokyo.api('GET', '/api/snapshot/')).body
  assert.equal(snapshots.filter(({ id, state }: Snapshot) => UPGRADE.test(id) && state === 'SUCCESS').length, 1)
  await inTokyo.api('POST', `/api/snapshot/${body.snapshot_name}/`)
  await until(
    'it is restored',
    () => inTokyo.api('GET', '/api/task-name/restore_snapshot/'),
    (reply) => reply.body[0].status === 'SUCCESS',
  )
  assert.deepEqual(await dayOf(inTokyo), allOn('2026-01-11'), 'a snapshot of another zone')
  await inTokyo.end('SIGTERM')

  const back = await start(t, folder, { TZ: 'UTC' })
  assert.deepEqual(await dayOf(back), allOn('2026-01-10'))
})

test('a different second name for ids is in every record at once, without a rebuild', async (t) => {
  const folder = await left(t, (app) => app.given(aChannel(), aVideo(), aPlaylist({ entries: ['v1'] })), [])
  for (const [field, keys] of [
    ['youtube_id', ['platform_id', 'youtube_id']],
    ['clip_id', ['platform_id', 'clip_id']],
    ['', ['platform_id']],
  ] as const) {
    const server = await start(t, folder, { AV_PLATFORM_ID_FIELD: field })
    const idKeys = (record: Record<string, unknown>) => Object.keys(record).filter((key) => record[key] === 'v1')
    assert.deepEqual(idKeys((await server.api('GET', '/api/video/v1/')).body.data).toSorted(), keys.toSorted(), field)
    assert.deepEqual(
      idKeys((await server.api('GET', '/api/playlist/PL1/')).body.data.playlist_entries[0]).toSorted(),
      keys.toSorted(),
      field,
    )
    assert.deepEqual(
      idKeys((await server.api('GET', '/api/video/v1/progress/')).body).toSorted(),
      keys.toSorted(),
      field,
    )
    assert.doesNotMatch(server.output(), /rebuilding/)
    await server.end('SIGTERM')
  }
  assert.deepEqual(
    (await readdir(join(folder, 'snapshots'))).filter((name) => name.includes('upgrade')),
    [],
  )
})
