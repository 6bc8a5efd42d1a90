/**
 * Downloads whose library disappears, with the real yt-dlp: the items wait, nothing is written to the empty folder, and
 * they continue by themselves.
 */
import assert from 'node:assert/strict'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { definePlugin } from 'archivolt'
import { aNewItem, type TestApp, testApp, testClock } from 'archivolt/testing'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import '../../support/long.ts'

const MINUTE = 60_000
const [fog, nets] = [VIDEO.fog, VIDEO.nets] as [string, string]

interface AwayApp {
  app: TestApp
  platform: Awaited<ReturnType<typeof startTestPlatform>>['platform']
  unmount(): Promise<void>
  mount(): Promise<void>
  /** Unmounts just before the next step of this name. */
  unmountBefore(step: string): void
  /** The content of the mount point. */
  strays(): Promise<string[]>
}

async function awayApp(t: TestContext): Promise<AwayApp> {
  let awaited = ''
  const vanishing = definePlugin({
    name: 'vanishing',
    on: {
      'job.step':
        () =>
        async ({ step, phase }) => {
          if (step !== awaited || phase !== 'before') return
          awaited = ''
          await unmount()
        },
    },
  })
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, { settings: settings as never, clock: testClock(Date.now()), replace: [vanishing] })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  const [folder, disk] = [join(app.dataDir, 'media'), join(app.dataDir, 'disk')]
  const unmount = async () => {
    await rename(folder, disk)
    await mkdir(folder)
  }
  return {
    app,
    platform,
    unmount,
    async mount() {
      await rm(folder, { recursive: true })
      await rename(disk, folder)
    },
    unmountBefore: (step) => void (awaited = step),
    strays: () => readdir(folder, { recursive: true }),
  }
}

const ask = (app: TestApp, ...ids: string[]) =>
  app.as('admin').post('/api/download/?autostart=true', { data: ids.map((id) => ({ youtube_id: id })) })
const stateOf = async (app: TestApp) => (await app.as('admin').get('/api/platform/')).body

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(20) // leaves processor time to yt-dlp
}

/** The items wait, without a message on any of them. */
async function assertWaits({ app, strays }: AwayApp, ids: string[]): Promise<void> {
  const { state, reason, waiting, next_attempt, space } = await stateOf(app)
  assert.equal(state, 'halted')
  assert.match(reason, /^The library can’t be found: .*disk/)
  assert.deepEqual(
    [waiting, next_attempt, space],
    [{}, Math.round((app.clock.now() + MINUTE) / 1000), { media_free: 0, media_total: 0 }],
  )
  assert.deepEqual(await app.ids('download'), ids.toSorted())
  for (const id of ids) assert.equal((await app.doc('download', id)).message ?? null, null)
  assert.deepEqual(await strays(), [])
}

/** The run has noticed it, and says so while it waits; a message expires. */
const saysSo = ({ app }: AwayApp) =>
  until(
    async () => (
      await app.clock.advance(50),
      app.app.jobs
        .notifications()
        .some(({ messages }) => messages.some((text) => text.startsWith('The library can’t be found')))
    ),
  )
/** The request has noticed it, because nothing else has checked. */
const isHeld = ({ app }: AwayApp) => until(async () => app.app.platform.state().state === 'halted')

async function assertGoesOn({ app, mount }: AwayApp, ids: string[]): Promise<void> {
  await mount()
  await app.clock.advance(MINUTE)
  await app.settled()
  assert.equal(app.app.platform.state().state, 'open')
  assert.deepEqual([await app.ids('video'), await app.ids('download')], [ids.toSorted(), []])
}

test('while the library is away nothing starts; within a minute of its return it does', async (t) => {
  const away = await awayApp(t)
  const { app } = away
  await app.app.queue.add(
    [fog, nets].map((id) => aNewItem(id, { channelId: '', vidType: 'unknown' })),
    'pending',
  )
  await away.unmount()

  await app.as('admin').post('/api/task-name/download_pending/')
  await saysSo(away)

  await assertWaits(away, [fog, nets])
  assert.equal((await app.as('admin').get('/api/channel/search/?q=@HarbourTide')).status, 503)
  await assertGoesOn(away, [fog, nets])
})

for (const step of ['download.stage', 'download.fetch', 'video.probe', 'video.adopt']) {
  test(`the disk disappears just before ${step}: the item waits and is retried`, async (t) => {
    const away = await awayApp(t)
    away.unmountBefore(step)

    await ask(away.app, fog)
    await (step === 'download.fetch' ? isHeld : saysSo)(away)

    await assertWaits(away, [fog])
    await assertGoesOn(away, [fog])
  })
}

test('the disk disappears during a download: the item waits, and resumes', async (t) => {
  const away = await awayApp(t)
  const { app, platform } = away
  platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 60_000 })
  await ask(app, fog)
  await until(async () => (await app.as('admin').get(`/api/download/${fog}/`)).body.data?.progress?.fraction > 0)

  await away.unmount()
  platform.faults.clear()
  await isHeld(away)

  await assertWaits(away, [fog])
  await assertGoesOn(away, [fog])
})
