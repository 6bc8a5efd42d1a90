/**
 * Free space, on a small real disk: nothing starts that would fill it, and everything continues when there is space.
 */
import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { errors } from 'archivolt'
import { type TestApp, testApp, testClock } from 'archivolt/testing'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { UNPACED } from '../../support/preferences.ts'
import { until } from '../../support/server.ts'
import { type SmallDisk, smallDisk } from '../../support/small-disk.ts'
import '../../support/long.ts'

const SPARE = 200 << 20
const [fog, breakwater] = [VIDEO.fog, VIDEO.breakwater] as [string, string]

async function openAppOn(t: TestContext, options: { mediaDir: string; dataDir?: string }) {
  const { platform, settings } = await startTestPlatform(lastFirst(t))
  const { mediaDir, ...more } = options
  const app = await testApp(lastFirst(t), {
    ...more,
    settings: { ...settings, mediaDir },
    clock: testClock(Date.now()),
  })
  await app.as('admin').post('/api/config/', UNPACED)
  const watched = () => platform.requests.filter(({ path }: { path: string }) => path.includes(breakwater)).length
  return { app, watched }
}

const stateOf = async (app: TestApp) => (await app.as('admin').get('/api/platform/')).body
const halted = (app: TestApp) =>
  until(
    'it says so',
    () => stateOf(app),
    ({ state }) => state === 'halted',
  )

async function download(app: TestApp, ...ids: string[]): Promise<void> {
  await app.as('admin').post('/api/download/', { data: ids.map((id) => ({ youtube_id: id })) })
  await app.settled()
  await app.as('admin').post('/api/task-name/download_pending/')
}

async function waitsFor(app: TestApp, disk: SmallDisk, reason: RegExp, roomBytes: number): Promise<void> {
  await download(app, fog)
  assert.match((await halted(app)).reason, reason)
  await app.clock.advance(10 * 60_000)
  assert.equal((await stateOf(app)).state, 'halted')
  assert.deepEqual([(await app.doc('download', fog)).message, await app.ids('video')], [undefined, []])

  await disk.resize(roomBytes)
  await app.clock.advance(60_000)
  await app.settled()
  assert.deepEqual([await app.ids('video'), (await stateOf(app)).state], [[fog], 'open'])
}

test('nothing is downloaded while the library’s disk is nearly full; then everything continues', async (t) => {
  const disk = await smallDisk(t, SPARE - (1 << 20))
  if (!disk) return
  const { app } = await openAppOn(t, { mediaDir: join(disk.path, 'media') })

  await waitsFor(app, disk, /^The disk is full; downloads continue when 200 MB are free\.$/, SPARE + (32 << 20))
})

test('nor while the disk of the data folder is, which may be another one', async (t) => {
  const disk = await smallDisk(t, 24 << 20)
  if (!disk) return
  const { app } = await openAppOn(t, { dataDir: join(disk.path, 'data'), mediaDir: await temporaryFolder(t) })

  await waitsFor(
    app,
    disk,
    /^The disk of the data folder is full; downloads continue when 32 MB are free there\.$/,
    64 << 20,
  )
})

test('an item larger than the free space waits, smaller ones are downloaded, and the platform is not asked for it meanwhile', async (t) => {
  const disk = await smallDisk(t, SPARE + (2 << 20))
  if (!disk) return
  const { app, watched } = await openAppOn(t, { mediaDir: join(disk.path, 'media') })
  await download(app, breakwater, fog)

  const { reason, next_attempt } = await halted(app)

  assert.match(reason, /^There is not enough space for this video: 20\d MB must be free on the library's disk$/)
  assert.ok(next_attempt > app.clock.now() / 1000)
  assert.deepEqual([await app.ids('video'), await app.ids('download')], [[fog], [breakwater]])
  const asked = watched()
  for (let minute = 0; minute < 10; minute++) await app.clock.advance(60_000)
  assert.equal((await halted(app)).reason, reason)
  assert.equal(watched(), asked)
  assert.equal((await app.doc('download', breakwater)).message, undefined)

  await disk.resize(SPARE + (64 << 20))
  await app.clock.advance(60_000)
  await app.settled()
  assert.deepEqual([await app.ids('video'), (await stateOf(app)).state], [[fog, breakwater].sort(), 'open'])
})

/** An app whose downloads are stored on a disk of their own, until they are complete. */
async function withStagingOnDisk(t: TestContext) {
  const disk = await smallDisk(t, SPARE + (64 << 20))
  if (!disk) return undefined
  const mediaDir = await temporaryFolder(t)
  await symlink(disk.path, join(mediaDir, '.staging'))
  const { app } = await openAppOn(t, { mediaDir })
  return { app, disk }
}

test('an item waits as long as the library’s disk is read-only, and is not at fault', async (t) => {
  const given = await withStagingOnDisk(t)
  if (!given) return
  const { app, disk } = given
  await disk.setReadOnly(true)

  await download(app, fog)
  const reason = /^\S+ cannot be written \(EROFS\): check its disk and its permissions$/
  assert.match((await halted(app)).reason, reason)
  for (let minute = 0; minute < 15; minute++) await app.clock.advance(60_000)
  const { reason: stillSaid, next_attempt: next } = await halted(app)
  assert.match(stillSaid, reason)
  assert.equal((await app.doc('download', fog)).message, undefined)

  await disk.setReadOnly(false)
  await app.clock.advance(next * 1000 - app.clock.now())
  await app.settled()
  assert.deepEqual([await app.ids('video'), await app.ids('download')], [[fog], []])
})

test('an item whose download had begun waits for a read-only disk, too', async (t) => {
  const given = await withStagingOnDisk(t)
  if (!given) return
  const { app, disk } = given
  await mkdir(join(disk.path, fog))
  await disk.setReadOnly(true)

  await download(app, fog)
  assert.match((await halted(app)).reason, /cannot be written \(EROFS\)/)
  for (let minute = 0; minute < 15; minute++) await app.clock.advance(60_000)

  assert.equal((await app.doc('download', fog)).message, undefined)
})

test('waiting for a disk uses up none of the attempts for other failures', async (t) => {
  const { app } = await openAppOn(t, { mediaDir: await temporaryFolder(t) })
  const { staging } = app.app.media
  let refuse = () => errors.unavailable('the disk is away') as Error
  app.app.media.staging = async () => Promise.reject(refuse())
  const again = async () => {
    const { next_attempt: next } = await halted(app)
    await app.clock.advance(next * 1000 - app.clock.now())
  }
  await download(app, fog)
  for (let attempt = 0; attempt < 5; attempt++) await again()
  await halted(app)

  const failed = new Promise<void>((resolve) => {
    refuse = () => {
      resolve()
      app.app.media.staging = staging
      return new Error('a hiccup')
    }
  })
  await again()
  await failed
  const isWaiting = () => app.app.jobs.notifications().some(({ messages }) => messages.includes('Waiting to try again'))
  const hasEnded = () => app.app.jobs.active('download_pending') === undefined
  await until('it waits', async () => (await app.clock.advance(50), isWaiting() || hasEnded()), Boolean)
  await app.clock.advance(10_000)
  await app.settled()

  assert.deepEqual([await app.ids('video'), await app.ids('download')], [[fog], []])
})
