/**
 * Every task that accepts a stop obeys it, even while it waits for something that never answers, and begins nothing
 * else.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { definePlugin, errors, type Services } from 'archivolt'
import { aChannel, aDegraded, aNewItem, aReceipt, aVideo, testApp } from 'archivolt/testing'
import type { PlaceReader } from '../../plugins/library/reader.ts'
import { scanned } from '../support/adopting.ts'
import { makeFilm } from '../support/ffmpeg.ts'
import { type PlacesApp, placesApp } from '../support/places.ts'
import { layFilm } from '../support/ytdlp-folder.ts'
import '../support/slow.ts'

const FILM = 'aaaaaaaaaaa'

/** Calls that never return; an abort signal ends them with its reason. */
function silence() {
  let heard = (): void => undefined
  let goOn = (): void => undefined
  const isStopped = new Promise<void>((resolve) => (goOn = resolve))
  const asked = new Promise<void>((resolve) => (heard = resolve))
  const self = {
    count: 0,
    asked,
    wait(signal: AbortSignal): Promise<never> {
      self.count++
      heard()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    },
    /** Work of the task itself during which it is stopped; it completes. */
    async work(): Promise<void> {
      self.count++
      heard()
      await isStopped
    },
    stopped: () => goOn(),
  }
  return self
}

interface Scene {
  t: TestContext
  app: PlacesApp
  /** The call that the task waits for. */
  silent: ReturnType<typeof silence>
  shelf: Shelf
}

async function holdSecondSite({ t, app, silent }: Scene): Promise<void> {
  t.mock.method(app.app.offsite, 'restic', (_args: unknown, { signal }: { signal: AbortSignal }) => silent.wait(signal))
  await app.app.preferences.change({ offsite: { repository: 'rest:http://127.0.0.1:1/', password: 'secret' } })
}

/** A kind of location whose films are described by tags in the file, which are delayed. */
interface Shelf {
  isHeldAt: 'read' | 'factsOf' | undefined
  isGuess: boolean
}

const readerOf = (shelf: Shelf): PlaceReader => ({
  name: 'shelf',
  title: 'A shelf',
  recognise: () => 2,
  async read(files, tools) {
    if (shelf.isHeldAt === 'read') await tools.idInTags(files[0]!)
    return files.map((file) => ({ video: { file, id: file.base, isGuess: shelf.isGuess, title: '' }, problems: [] }))
  },
  async factsOf(films, tools) {
    if (shelf.isHeldAt === 'factsOf') await tools.idInTags(films[0]!.file)
    return films.map(() => undefined)
  },
})

type Platform = Services['platform']['platform']

/** The platform does not answer. */
function holdPlatform({ t, app, silent }: Scene, method: keyof Platform): void {
  const signalIn = (given: unknown[]) => (given.at(-1) as { signal: AbortSignal }).signal
  t.mock.method(app.app.platform, method as 'video', (...given: unknown[]) => silent.wait(signalIn(given)))
}

async function planned({ app }: Scene): Promise<number> {
  await layFilm(app, `shelf/${FILM}.mp4`)
  return app.place('shelf')
}

async function commanded({ app }: Scene, adoption: number): Promise<string> {
  const { status, body } = await app.as('admin').post(`/api/adoption/${adoption}/`, { command: 'adopt' })
  assert.equal(status, 200)
  return body.task_id
}

/**
 * Brings each task to a wait.
 * @returns the job's id
 */
const WAITING: Record<string, (scene: Scene) => Promise<string>> = {
  async download_pending(scene) {
    holdPlatform(scene, 'download')
    await scene.app.app.queue.add([aNewItem('q1'), aNewItem('q2')], 'pending')
    return (await scene.app.app.jobs.start('download_pending')).id
  },
  async extract_download(scene) {
    holdPlatform(scene, 'video')
    const targets = ['bbbbbbbbbbb', 'ccccccccccc'].map((id) => ({ type: 'video', id }))
    return (await scene.app.app.jobs.start('extract_download', { targets })).id
  },
  async redownload_degraded(scene) {
    holdPlatform(scene, 'downloadBetter')
    scene.t.mock.method(scene.app.app.platform, 'downloaderVersion', async () => '2026.10.26')
    const degraded = { receipt: aReceipt('degraded'), degraded: aDegraded({ next_try: 1 }) }
    await scene.app.given(aVideo({ id: 'v1', ...degraded }), aVideo({ id: 'v2', ...degraded }))
    return (await scene.app.app.jobs.start('redownload_degraded')).id
  },
  async subscribe_to(scene) {
    holdPlatform(scene, 'playlist')
    const targets = ['PL1', 'PL2'].map((id) => ({ type: 'playlist', id }))
    return (await scene.app.app.jobs.start('subscribe_to', { targets })).id
  },
  async update_subscribed(scene) {
    const { t, app, silent } = scene
    t.mock.method(app.app.platform, 'list', async function* (_id: string, _tab: string, { signal }: never) {
      await silent.wait(signal)
    })
    await app.given(...['UC1', 'UC2'].map((id) => aChannel({ id, channel_subscribed: true })))
    return (await app.app.jobs.start('update_subscribed')).id
  },
  async download_missing({ t, app, silent }) {
    t.mock.method(app.app.queue, 'add', async () => silent.work().then(() => []))
    const ids = Array.from({ length: 101 }, (_, number) => `v${number}`)
    await app.given(aChannel(), ...ids.map((id) => aVideo({ id })))
    await app.app.media.missing.replace(async () => ids)
    return (await app.app.jobs.start('download_missing')).id
  },
  async make_copy({ t, app, silent }) {
    const { media } = app.app
    t.mock.method(media, 'filmPath', async () => '/nowhere/v1.mkv')
    t.mock.method(media, 'probe', async () => ({ sizeBytes: 1, durationSeconds: 1, streams: [] }))
    t.mock.method(media, 'streamsIn', (_path: string, signal: AbortSignal) => silent.wait(signal))
    await app.given(aVideo({ id: 'v1' }))
    return (await app.app.jobs.start('make_copy', { id: 'v1' })).id
  },
  async cut_said({ t, app, silent }) {
    const { media } = app.app
    t.mock.method(media, 'filmPath', async () => '/nowhere/v1.mp4')
    t.mock.method(media, 'isThere', async () => true)
    t.mock.method(media, 'streamsIn', (_path: string, signal: AbortSignal) => silent.wait(signal))
    await app.given(aVideo({ id: 'v1' }))
    const { id: file } = await app.app.saidFiles.add(1, 'full:x', [{ id: 'v1', start: 0, end: 1 }])
    return (await app.app.jobs.start('cut_said', { file })).id
  },
  async check_lost(scene) {
    holdPlatform(scene, 'video')
    const { app } = scene
    await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2', channelId: 'UC2', active: false }))
    const doubt = { kind: 'video', subject: 'v2', channel: 'UC2', loss: 'removed', ask_at: 0 } as const
    await app.app.ledger.write(() => app.app.history.losses.put(doubt))
    return (await app.app.jobs.start('check_lost')).id
  },
  async scrub({ t, app, silent }) {
    const { media, jobs } = app.app
    t.mock.method(media, 'streamHash', (_path: string, signal: AbortSignal) => silent.wait(signal))
    await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
    for (const id of ['v1', 'v2']) await makeFilm(media.pathOf('UC1', id))
    return (await jobs.start('scrub')).id
  },
  async change_plugins({ t, app, silent }) {
    const registry = createServer(() => void silent.work()).listen(0, '127.0.0.1')
    await once(registry, 'listening')
    t.after(() => (registry.closeAllConnections(), registry.close()))
    const asNpmReads = {
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
      npm_config_noproxy: '127.0.0.1',
    }
    Object.assign(process.env, asNpmReads)
    t.after(() => Object.keys(asNpmReads).forEach((name) => delete process.env[name]))
    const { body } = await app.as('admin').post('/api/plugin/', { package: 'archivolt-plugin-tide' })
    return body.task_id
  },
  async back_up_offsite(scene) {
    await holdSecondSite(scene)
    const { app } = scene
    return (await app.app.jobs.start('back_up_offsite')).id
  },
  async back_up_all({ t, app, silent }) {
    t.mock.method(app.app.ledger, 'backup', (_path: string, signal: AbortSignal) => silent.wait(signal))
    return (await app.app.jobs.start('back_up_all')).id
  },
  async rehearse_restore({ t, app, silent }) {
    const { wholeBackups, jobs } = app.app
    t.mock.method(wholeBackups, 'list', () => silent.work().then(() => [{ filename: 'av_whole.tar' }]))
    t.mock.method(wholeBackups, 'pathOf', async () => '/nowhere')
    return (await jobs.start('rehearse_restore')).id
  },
  async check_offsite(scene) {
    await holdSecondSite(scene)
    const { app } = scene
    return (await app.app.jobs.start('check_offsite')).id
  },
  async write_sidecars({ t, app, silent }) {
    const { jobs, videos } = app.app
    t.mock.method(videos, 'collect', () => silent.work().then(() => new Map()))
    await app.given(aChannel(), ...Array.from({ length: 60 }, (_, number) => aVideo({ id: `v${number}` })))
    return (await jobs.start('write_sidecars')).id
  },
  async scan_place(scene) {
    scene.shelf.isHeldAt = 'read'
    const { body } = await scene.app.as('admin').post('/api/adoption/', { place: await planned(scene) })
    return body.task_id
  },
  async adopt_videos(scene) {
    const adoption = await scanned(scene.app, await planned(scene))
    scene.shelf.isHeldAt = 'factsOf'
    return commanded(scene, adoption)
  },
  async complete_videos(scene) {
    scene.shelf.isGuess = true
    holdPlatform(scene, 'video')
    const adopting = await commanded(scene, await scanned(scene.app, await planned(scene)))
    await scene.app.app.jobs.ended(adopting)
    return scene.app.app.jobs.active('complete_videos')!.id
  },
}

test('each task that accepts a stop has a way to make it wait', async (t) => {
  const { app } = await testApp(t)

  const stoppable = [...app.registry.tasks.values()].filter(({ apiStop }) => apiStop).map(({ name }) => name)

  assert.deepEqual(Object.keys(WAITING).sort(), stoppable.sort())
})

for (const [task, begin] of Object.entries(WAITING))
  test(`a stop ends ${task} while it waits for an answer that never comes, and nothing else begins`, async (t) => {
    const shelf: Shelf = { isHeldAt: undefined, isGuess: false }
    const plugin = definePlugin({
      name: 'shelf',
      needs: ['library'],
      implements: { 'library.reader': () => readerOf(shelf) },
    })
    const app = await placesApp(t, { outside: [plugin] })
    const silent = silence()
    t.mock.method(app.app.media, 'tagsIn', (_path: string, signal: AbortSignal) => silent.wait(signal))
    const id = await begin({ t, app, silent, shelf })
    await silent.asked

    const { status } = await app.as('admin').post(`/api/task-id/${id}/`, { command: 'stop' })
    silent.stopped()
    const ended = await app.app.jobs.ended(id)

    assert.deepEqual([status, ended.task, ended.state, ended.command], [200, task, 'SUCCESS', 'STOP'])
    assert.equal(silent.count, 1)
  })

test('a stop ends a wait of minutes before a list is retried', async (t) => {
  const app = await testApp(t)
  let asked = 0
  t.mock.method(app.app.platform, 'playlist', async () => {
    asked++
    throw errors.unavailable('connection reset')
  })
  t.mock.method(app.app.platform, 'failureOf', () => ({ failure: 'network', message: 'connection reset' }))
  const { sleep } = app.clock
  const sleeps = new Promise<void>((resolve) => {
    t.mock.method(app.clock, 'sleep', (ms: number, signal: AbortSignal) => {
      resolve()
      return sleep(ms, signal)
    })
  })
  const { id } = await app.app.jobs.start('extract_download', { targets: [{ type: 'playlist', id: 'PL1' }] })
  await sleeps

  await app.app.jobs.command(id, 'STOP')

  assert.deepEqual([(await app.app.jobs.ended(id)).state, asked], ['SUCCESS', 1])
})

test('a stop waits for a download that has begun', async (t) => {
  const app = await testApp(t)
  let finish = (_thrown: Error): void => undefined
  let signal: AbortSignal | undefined
  const begun = new Promise<void>((resolve) => {
    t.mock.method(app.app.platform, 'download', (_id: string, _wanted: unknown, options: never) => {
      const { progress, signal: given } = options as { progress: (told: object) => void; signal: AbortSignal }
      signal = given
      progress({ fraction: 0.1 })
      resolve()
      return new Promise((_, reject) => (finish = reject))
    })
  })
  await app.app.queue.add([aNewItem('q1')], 'pending')
  const { id } = await app.app.jobs.start('download_pending')
  await begun

  await app.app.jobs.command(id, 'STOP')

  assert.deepEqual([signal?.aborted, app.app.jobs.get(id)?.state], [false, 'STARTED'])
  finish(new Error('it ends'))
  assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
})
