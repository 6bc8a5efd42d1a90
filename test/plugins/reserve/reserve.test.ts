/** A really full disk: people can sign in and free space, and a start serves the existing videos. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import { toFault } from '../../../core/http/fault.ts'
import { lastFirst } from '../../support/last-first.ts'
import { type SmallDisk, smallDisk } from '../../support/small-disk.ts'

const IDS = Array.from({ length: 20 }, (_, at) => `v${at}`)

async function openOn(t: TestContext, disk: SmallDisk): Promise<TestApp> {
  const app = await testApp(lastFirst(t), { dataDir: join(disk.path, 'data'), settings: { username: 'admin' } })
  await app.given(aChannel(), ...IDS.map((id) => aVideo({ id, description: 'x'.repeat(100_000) })))
  await mkdir(join(disk.path, 'data/media/UC1'), { recursive: true })
  for (const id of IDS) await writeFile(join(disk.path, `data/media/UC1/${id}.mp4`), 'film')
  return app
}

const reserveOf = (disk: SmallDisk) => join(disk.path, 'data/reserve')

const told = (app: TestApp) =>
  app.app.jobs.notifications().flatMap(({ title }) => (title === 'The disk is full' ? [title] : []))

/** The clock is stopped: it advances once, by the interval of the check of the disk, so that no hourly task starts. */
async function isKept(app: TestApp, disk: SmallDisk): Promise<void> {
  await app.clock.advance(60_000)
  while (![reserveOf(disk), `${reserveOf(disk)}-start`].every((path) => existsSync(path))) await delay(5)
}

test('on a full disk people sign in, work and remove, in reserved space; it is reserved again later', async (t) => {
  const disk = await smallDisk(t, 128 << 20)
  if (!disk) return
  const app = await openOn(t, disk)
  await isKept(app, disk)
  const giveBack = await disk.fill()
  const admin = app.as('admin')

  const signedIn = await app.as('nobody').post('/api/login/', { username: 'admin', password: PASSWORD })
  const removed = []
  for (const id of IDS) removed.push((await admin.delete(`/api/video/${id}/`)).status)
  for (let at = 0; existsSync(reserveOf(disk)) && at < 3000; at++)
    await app.app.ledger.write(() =>
      app.app.ledger
        .sql('INSERT INTO users (name, password, is_staff, created_at) VALUES (?, ?, 0, 0)')
        .run(`u${at}`, 'x'.repeat(20_000)),
    )

  const changed = await admin.post('/api/config/', { downloads: { comment_max: 'all' } })

  assert.equal(signedIn.status, 200, signedIn.text)
  assert.equal(changed.status, 200)
  assert.deepEqual(
    removed,
    IDS.map(() => 200),
  )
  assert.ok(!existsSync(reserveOf(disk)))
  assert.deepEqual(told(app), ['The disk is full'])

  await giveBack()
  await isKept(app, disk)
  assert.deepEqual(told(app), [], 'it is no longer full')
})

test('a start on a full disk serves the existing videos and says so, even if other programs take all released space', async (t) => {
  const disk = await smallDisk(t, 128 << 20)
  if (!disk) return
  const app = await openOn(t, disk)
  await isKept(app, disk)
  for (const kept of [['reserve', 'reserve-start'], ['reserve-start'], ['reserve']]) {
    await app.close()
    for (const name of ['reserve', 'reserve-start']) if (!kept.includes(name)) await rm(join(disk.path, 'data', name))
    const giveBack = await disk.fill()

    await app.restart()

    assert.deepEqual(
      [
        (await app.as('admin').get('/api/video/v1/')).status,
        (await app.as('admin').get('/api/video/')).body.data.length,
      ],
      [200, 12],
      String(kept),
    )
    assert.deepEqual(told(app), ['The disk is full'])
    await giveBack()
    await isKept(app, disk)
  }
})

test('a request whose file does not fit is answered with 503, not as a defect', () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const { status, isDefect, body } = toFault(
      new Error('it failed', { cause: Object.assign(new Error('/srv/data/cookie: no space'), { code }) }),
    )
    assert.deepEqual(
      [status, isDefect, JSON.parse(body).message],
      [503, false, 'A disk of the server is full: free some space on it'],
    )
  }
})

test('if nothing is reserved and nothing is free, the start says so', async (t) => {
  const disk = await smallDisk(t, 64 << 20)
  if (!disk) return
  const app = await openOn(t, disk)
  await app.close()
  const giveBack = await disk.fill()

  await assert.rejects(app.restart(), {
    name: 'StartError',
    message: /^The disk with the data folder \S+ is full, and the emergency reserve is used up: free some space$/,
  })

  await giveBack()
  await app.restart()
  assert.equal((await app.as('admin').get('/api/video/v1/')).status, 200)
})
