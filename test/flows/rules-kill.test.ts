/** Kills the server at every step of a run of rules and of its undo, on both indexes: nothing is lost. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { mayTake } from '../support/hanging.ts'
import { INDEXES, indexSettings } from '../support/indexes.ts'
import { lastFirst } from '../support/last-first.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { aChannel, aPlaylist, aVideo, testApp, testClock } from '../support/testing.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const ACCOUNT = { AV_USERNAME: 'admin', AV_PASSWORD: 'a password for tests' }
const OUTSIDE = { AV_SEGMENTS_URL: 'http://127.0.0.1:9', AV_PLATFORM_URL: 'http://127.0.0.1:9' }
const POINTS: ReadonlyArray<[ofRun: string, ofUndo: string]> = [
  ['rules.touch:before', 'rules.untouch:before'],
  ['video.trash:after', 'bin.files:before'],
  ['video.hold:after', 'bin.files:after'],
  ['video.drop:after', 'bin.documents:after'],
  ['video.keep:after', 'bin.end:before'],
  ['rules.touch:after', 'bin.end:after'],
  ['rules.end:after', 'rules.untouch:after'],
]
const IDS = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5']
const GOING = IDS.slice(2)

/** Contents by path, without the server's own files, which begin with a dot. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.mp4')).sort()
  const contents = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, at) => [name, contents[at]!]))
}

/** Everything that a person would miss. */
async function stateOf(server: Server, folder: string): Promise<object> {
  const body = async (path: string) => (await server.api('GET', path)).body
  return {
    videos: await Promise.all(IDS.map((id) => body(`/api/video/${id}/`))),
    comments: await Promise.all(IDS.map((id) => body(`/api/video/${id}/comment/`))),
    playlist: (await body('/api/playlist/PL1/')).playlist_entries,
    queue: (await body('/api/download/')).data,
    bin: (await body('/api/bin/')).data,
    files: await filesOf(join(folder, 'media')),
  }
}

async function dies(server: Server, path: string, body: object): Promise<void> {
  const reply = await server.api('POST', path, body).catch(() => undefined)
  if (reply) assert.equal(reply.status, 200, JSON.stringify(reply.body))
  const alive = new Promise((resolve) => setTimeout(resolve, 60_000, 'still alive').unref())
  assert.equal(await Promise.race([server.ended, alive]), null, `killed at ${path}`)
}

const inState = (server: Server, state: string) =>
  until(
    `the run is ${state}`,
    async () => (await server.api('GET', '/api/rule/run/')).body.runs[0],
    (run) => run?.state === state,
  )

for (const { index, skip } of INDEXES)
  test(`a run of rules and its undo continue after a kill at any point: ${index}`, {
    skip,
  }, async (t) => {
    mayTake(600)
    const scope = lastFirst(t)
    const settings = await indexSettings(scope, index)
    const filling = await testApp({ after: () => undefined }, { clock: testClock(Date.now()), settings })
    const folder = filling.dataDir
    t.after(() => rm(folder, { recursive: true, force: true }))
    await filling.given(
      aChannel({ id: 'UC1' }),
      aPlaylist({
        id: 'PL1',
        playlist_entries: IDS.map((id) => ({ platform_id: id, title: id, downloaded: true })) as never,
      }),
      ...IDS.map((id, at) => aVideo({ id, channelId: 'UC1', playlist: ['PL1'], published: `2024-01-1${9 - at}` })),
    )
    for (const id of IDS) {
      const path = filling.app.media.pathOf('UC1', id)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, `film of ${id}`)
    }
    await filling.as('admin').post('/api/video/v3/progress/', { position: 7 })
    await filling.as('admin').post('/api/watched/', { id: 'v4', is_watched: true })
    const rule = {
      ...{ side: 'keep', scope: { kind: 'channel', id: 'UC1' }, outcome: 'remove' },
      conditions: { not_newest: { count: 2 } },
    }
    await filling.close()
    const env = {
      ...{ ...ACCOUNT, ...OUTSIDE },
      ...(settings.elasticsearchUrl && { AV_ELASTICSEARCH_URL: settings.elasticsearchUrl }),
      ...(settings.prefix && { AV_PREFIX: settings.prefix }),
    }
    const start = (point?: string) =>
      startServer(t, folder, { ...env, ...(point && { AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point }) })
    const first = await start()
    await allQuiet(first)
    const before = await stateOf(first, folder)
    assert.equal(await first.end('SIGTERM'), 0)

    for (const [ofRun, ofUndo] of POINTS)
      await t.test(`${ofRun}, then ${ofUndo}`, async () => {
        const doomed = await start(ofRun)
        // A new rule each time, because a rule leaves videos alone that it removed and that were restored.
        const { id } = (await doomed.api('POST', '/api/rule/', rule)).body
        const { body: preview } = await doomed.api('POST', '/api/rule/preview/', {})
        assert.equal(preview.outcomes.remove.videos, GOING.length, JSON.stringify(preview))
        await dies(doomed, '/api/rule/run/', { preview: preview.id, confirmed: true })

        const second = await start(ofUndo)
        const run = await inState(second, 'done')
        await allQuiet(second)
        assert.equal(run.done, GOING.length)
        const { body: list } = await second.api('GET', '/api/video/')
        assert.deepEqual(
          list.data.map((video: { platform_id: string }) => video.platform_id).sort(),
          IDS.filter((id) => !GOING.includes(id)),
        )
        const { body: ignored } = await second.api('GET', '/api/download/?filter=ignore')
        assert.deepEqual(ignored.data.map((item: { platform_id: string }) => item.platform_id).sort(), GOING)
        await dies(second, `/api/rule/run/${run.id}/`, { action: 'undo' })

        const third = await start()
        assert.equal((await inState(third, 'undone')).undone, GOING.length)
        await allQuiet(third)
        assert.deepEqual(await stateOf(third, folder), before)
        assert.equal((await third.api('DELETE', `/api/rule/${id}/`)).status, 200)
        assert.equal(await third.end('SIGTERM'), 0)
      })
  })
