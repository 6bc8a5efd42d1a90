/**
 * Kills the server while a channel is marked, and while shared marks become marks of each account: the next start
 * completes both.
 */
import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defineIndex } from '../../core/index/mapping.ts'
import { Type } from '../../plugins/plugin-kit/public.ts'
import sidecarPlugin from '../../plugins/sidecar/plugin.ts'
import videoPlugin from '../../plugins/video/plugin.ts'
import { commentIndex, commentTextIndex, subtitleIndex, VideoDoc, videoIndex } from '../../plugins/video/schema.ts'
import watchPlugin from '../../plugins/watch/plugin.ts'
import { positionTables } from '../../plugins/watch/positions.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leftBehind } from '../support/left-behind.ts'
import { startServer } from '../support/server.ts'
import { aChannel, aVideo, type TestApp, type TestOptions, testApp, testClock } from '../support/testing.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const ACCOUNT = { AV_USERNAME: 'admin', AV_PASSWORD: 'a password for tests' }
const VIDEOS = 1100
const idOf = (number: number) => `v${String(number).padStart(4, '0')}`

async function copyOf(t: TestContext, folder: string): Promise<string> {
  const copy = await temporaryFolder(t)
  await cp(folder, copy, { recursive: true })
  return copy
}

/** Starts again, and waits until interrupted work is finished. */
async function opened(t: TestContext, dataDir: string): Promise<TestApp> {
  const app = await testApp(t, { dataDir, clock: testClock(Date.now()) })
  await app.settled()
  return app
}

/** Ids of the videos that each account has watched, in the index and in the ledger, which must agree. */
async function watchedByEach(app: TestApp): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const { id: account, username } of app.app.accounts.list()) {
    const indexed: string[] = []
    const filter = { eq: ['watched_by', String(account)] as ['watched_by', string] }
    for await (const batch of app.app.videos.collection.scan({ filter })) indexed.push(...batch.map(({ id }) => id))
    const rows = app.app.ledger.sql<{ id: string }>('SELECT video_id AS id FROM watch_mark WHERE user_id = ?')
    assert.deepEqual(
      indexed.sort(),
      rows
        .all(account)
        .map(({ id }) => id)
        .sort(),
      username,
    )
    assert.equal(await app.app.videos.collection.count(filter), indexed.length)
    assert.equal(await app.app.videos.collection.count({ not: filter }), VIDEOS - indexed.length)
    found[username] = indexed
  }
  assert.deepEqual(app.app.ledger.sql('SELECT * FROM watch_unindexed').all(), [])
  return found
}

const all = Array.from({ length: VIDEOS }, (_, number) => idOf(number))

test('interrupted marks of a channel are finished by the next start', { timeout: 240_000 }, async (t) => {
  const folder = await leftBehind(t, (app) => app.given(aChannel(), ...all.map((id) => aVideo({ id }))))
  for (const point of ['watch.note:before', 'watch.note:after', 'patchWhere:2', 'watch.index:after']) {
    await t.test(point, async (t) => {
      const copy = await copyOf(t, folder)
      const server = await startServer(t, copy, { ...ACCOUNT, AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })
      await assert.rejects(server.api('POST', '/api/watched/', { id: 'UC1', is_watched: true }))
      assert.equal(await server.ended, null, 'it was killed')

      const app = await opened(t, copy)

      assert.deepEqual(await watchedByEach(app), { admin: all, user: [] })
    })
  }
})

/** The plugins as they were before each account had its own marks. */
function asBefore(): NonNullable<TestOptions['replace']> {
  const { watched_by: _by, shared_mark: _shared, restored_mark: _restored, ...fields } = videoIndex.fields
  const doc = Type.Object({
    ...VideoDoc.properties,
    player: Type.Object({
      ...VideoDoc.properties.player.properties,
      watched: Type.Boolean(),
      watched_date: Type.Optional(Type.Integer()),
    }),
  })
  const before = defineIndex({
    name: 'video',
    doc,
    newest: 'date_downloaded',
    lastKey: 'player',
    form: Intl.DateTimeFormat().resolvedOptions().timeZone,
    fields: {
      ...fields,
      watched: { type: 'boolean', path: 'player.watched', filter: true },
      watched_date: { type: 'date', path: 'player.watched_date', filter: true },
    },
    lists: [['published'], ['watched', 'published']],
  })
  const { setup: _setup, on: _on, ...watching } = watchPlugin
  // Its setup follows tables that did not exist.
  const { setup: _follow, ...sidecars } = sidecarPlugin
  return [
    { ...videoPlugin, indexes: [before as never, commentIndex, commentTextIndex, subtitleIndex] },
    { ...watching, migrations: [positionTables] },
    sidecars,
  ]
}

test('shared marks become marks of each account, wherever the start that converts them is interrupted', {
  timeout: 240_000,
}, async (t) => {
  const player = (number: number) => ({
    duration: 100,
    duration_str: '1m 40s',
    watched: number % 2 === 0,
    ...(number % 2 === 0 && number > 0 && { watched_date: 1_700_000_000 + number }),
  })
  const folder = await leftBehind(
    t,
    (app) => app.given(aChannel(), ...all.map((id, number) => aVideo({ id, player: player(number) }))),
    { replace: asBefore() },
  )
  const even = all.filter((_, number) => number % 2 === 0)
  const points: Array<[what: string, env: Record<string, string>, line?: RegExp]> = [
    ['when documents are brought into their new form', {}, /index video: rebuilding/],
    ['when they have it', {}, /index video: done/],
    ['before the first marks', { AV_CRASH_AT: 'patchWhere:1' }],
    ['between the marks', { AV_CRASH_AT: 'patchWhere:2' }],
    ['not at all', {}],
  ]
  for (const [what, env, line] of points) {
    await t.test(what, async (t) => {
      const copy = await copyOf(t, folder)
      if (what !== 'not at all') {
        const server = await startServer(t, copy, { ...ACCOUNT, AV_PLUGINS_DIR: CRASH, ...env }, 'listening')
        const look = () => void (line?.test(server.output()) && server.child.kill('SIGKILL'))
        server.child.stderr!.on('data', look)
        look()
        assert.equal(await server.ended, null, 'it was killed')
      }

      const app = await opened(t, copy)

      assert.deepEqual(await watchedByEach(app), { admin: even, user: even })
      const { player: known } = (await app.as('user').get(`/api/video/${even[1]}/`)).body.data
      const { player: unknown } = (await app.as('user').get(`/api/video/${even[0]}/`)).body.data
      assert.deepEqual([known.watched, known.watched_date], [true, 1_700_000_002])
      assert.deepEqual([unknown.watched, 'watched_date' in unknown], [true, false])
      assert.doesNotMatch(JSON.stringify(await app.doc('video', even[1]!)), /"watched"|watched_date|shared_mark/)
      // From now on the marks in the ledger count, and those in an older snapshot are dropped.
      await app.as('admin').post('/api/watched/', { id: 'UC1', is_watched: false })
      const { snapshots } = (await app.as('admin').get('/api/snapshot/')).body
      const older = snapshots.find(({ id }: { id: string }) => id.startsWith('av_upgrade_'))
      await app.as('admin').post(`/api/snapshot/${older.id}/`)
      await app.settled()
      assert.deepEqual(await watchedByEach(app), { admin: [], user: even })
    })
  }
})
