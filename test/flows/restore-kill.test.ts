/** The remains of a snapshot or a restore after a power failure, with the real program. */
import assert from 'node:assert/strict'
import { watch } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { type Server, startServer, taskEnded, until } from '../support/server.ts'
import { aChannel, aVideo, testApp, testClock } from '../support/testing.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const MANY = 6000
const ACCOUNT = { AV_USERNAME: 'admin', AV_PASSWORD: 'a password for tests' }

/** Filled by a server that was closed cleanly. */
async function filledFolder(t: TestContext): Promise<{ folder: string; snapshot: string }> {
  const filling = await testApp({ after: () => undefined }, { clock: testClock(Date.now()) })
  t.after(() => rm(filling.dataDir, { recursive: true, force: true }))
  await filling.settled()
  await filling.clock.advance(1000)
  await filling.given(aChannel())
  const videos = filling.app.index.collection(filling.app.index.definitions.find(({ name }) => name === 'video')!)
  await videos.putMany(
    Array.from({ length: MANY }, (_, number) =>
      aVideo({ id: `v${number}`, description: `Long ${number} `.repeat(300) }),
    ),
  )
  const { body } = await filling.as('admin').post('/api/snapshot/')
  await filling.settled()
  await filling.given(aVideo({ id: 'newer' }))
  await filling.as('admin').post('/api/video/newer/progress/', { position: 5 })
  await filling.close()
  return { folder: filling.dataDir, snapshot: body.snapshot_name }
}

const start = (t: TestContext, folder: string, env: Record<string, string> = {}) =>
  startServer(t, folder, { ...ACCOUNT, ...env })
const total = async (server: Server) => (await server.api('GET', '/api/stats/video/')).body.doc_count
const snapshots = async (server: Server) =>
  (await server.api('GET', '/api/snapshot/')).body.snapshots as Array<{ id: string; state: string }>
const unfinished = async (folder: string) =>
  (await readdir(join(folder, 'snapshots'))).filter((name) => !/^[\w-]+\.(sqlite|json)$/.test(name))
const isCutOff = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    () => undefined,
  )

test('killed at any point of a snapshot or a restore, the next start is complete', { timeout: 240_000 }, async (t) => {
  const { folder, snapshot } = await filledFolder(t)

  await t.test('before and after a snapshot is taken', async (t) => {
    for (const [point, more] of [
      ['snapshot.take:before', 0],
      ['snapshot.take:after', 1],
    ] as const) {
      const count = (await readdir(join(folder, 'snapshots'))).filter((name) => name.endsWith('.json')).length
      const dying = await start(t, folder, { AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point })
      await isCutOff(dying.api('POST', '/api/snapshot/'))
      assert.equal(await dying.ended, null)

      const server = await start(t, folder)
      assert.equal((await snapshots(server)).length, count + more, point)
      assert.ok((await snapshots(server)).every(({ state }) => state === 'SUCCESS'))
      assert.equal((await server.api('GET', '/api/task-name/create_snapshot/')).body[0].status, 'FAILED')
      await server.end('SIGTERM')
    }
  })

  await t.test('in the middle of a snapshot', async (t) => {
    let before: Awaited<ReturnType<typeof snapshots>>
    // If the snapshot completed before the kill, it is one more complete snapshot, and the next one is interrupted.
    for (let tries = 0; tries < 20 && (await unfinished(folder)).length === 0; tries++) {
      const doomed = await start(t, folder)
      before = await snapshots(doomed)
      const watcher = watch(join(folder, 'snapshots'), (_event, name) => {
        if (name?.endsWith('.part')) doomed.child.kill('SIGKILL')
      })
      await isCutOff(doomed.api('POST', '/api/snapshot/'))
      await doomed.ended
      watcher.close()
    }
    assert.ok((await unfinished(folder)).length > 0)

    const server = await start(t, folder)
    assert.deepEqual(await snapshots(server), before!)
    assert.deepEqual(await unfinished(folder), [])
    assert.match(server.output(), /a snapshot was interrupted: its leftovers are removed/)
    await server.end('SIGTERM')
  })

  await t.test('in the middle of a restore', async (t) => {
    const doomed = await start(t, folder)
    await doomed.api('POST', `/api/snapshot/${snapshot}/`)
    await until(
      'it is in the middle',
      () => doomed.api('GET', '/api/notification/'),
      ({ body }) =>
        body.some(
          ({ group, progress }: { group: string; progress: number }) => group === 'setting:restore' && progress > 0.1,
        ),
    )
    await doomed.end('SIGKILL')

    const server = await start(t, folder)
    assert.equal(await total(server), MANY + 1)
    assert.equal((await server.api('GET', '/api/video/newer/progress/')).body.position, 5)
    assert.equal((await server.api('GET', '/api/task-name/restore_snapshot/')).body[0].status, 'FAILED')
    await server.end('SIGTERM')
  })

  await t.test('after a restore, before it is told', async (t) => {
    const doomed = await start(t, folder, { AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: 'snapshot.restore:after' })
    await isCutOff(doomed.api('POST', `/api/snapshot/${snapshot}/`))
    assert.equal(await doomed.ended, null)

    const server = await start(t, folder)
    assert.equal(await total(server), MANY)
    const ledger = new Database(join(folder, 'ledger.sqlite'), { readonly: true })
    t.after(() => ledger.close())
    await until(
      'the position is forgotten',
      async () => ledger.prepare('SELECT video_id FROM watch_position').all(),
      (rows) => rows.length === 0,
    )
    await server.end('SIGTERM')
  })

  await t.test('and it can be restored after all', async (t) => {
    const server = await start(t, folder)
    await server.api('POST', `/api/snapshot/${snapshot}/`)
    const [{ task_id: id }] = (await server.api('GET', '/api/task-name/restore_snapshot/')).body
    assert.equal((await taskEnded(server, id)).status, 'SUCCESS')
    assert.equal(await total(server), MANY)
    assert.equal(await server.end('SIGTERM'), 0)
  })
})
