/**
 * Kills the server in each step of collecting transcripts in a file: the next start continues, and no incomplete file
 * is sent or left.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeFilm } from '../support/ffmpeg.ts'
import { mayTake } from '../support/hanging.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { aChannel, aFragment, aVideo, PASSWORD, testApp } from '../support/testing.ts'
import '../support/long.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const ENV = { AV_USERNAME: 'admin', AV_PASSWORD: PASSWORD, AV_PLATFORM_URL: 'http://127.0.0.1:9' }
const FILE = '/api/said/file/'
const POINTS = ['cut', 'join', 'keep'].flatMap((step) => [`said.${step}:before`, `said.${step}:after`])
const CLIPS = 2

const killed = async (server: Server): Promise<void> => {
  const alive = new Promise((resolve) => setTimeout(resolve, 60_000, 'still alive').unref())
  assert.equal(await Promise.race([server.ended, alive]), null)
}

test('a file of transcripts is complete or absent, wherever the server is killed', async (t) => {
  mayTake(400)
  const filling = await testApp({ after: () => undefined })
  const folder = filling.dataDir
  t.after(() => rm(folder, { recursive: true, force: true }))
  await filling.given(aChannel({ id: 'mill' }))
  for (const id of ['v1', 'v2']) {
    const start = { subtitle_start: '00:00:05.000', subtitle_end: '00:00:06.000' }
    await filling.given(
      aVideo({ id, channelId: 'mill' }),
      aFragment({ platform_id: id, channel_id: 'mill', subtitle_line: 'our bread', ...start }),
    )
    const long = ['-vf', 'tpad=stop_duration=19:stop_mode=clone', '-af', 'apad=pad_dur=19']
    await makeFilm(join(filling.app.settings.mediaDir, 'mill', `${id}.mp4`), long)
  }
  await filling.close()
  const said = join(folder, 'cache', 'said')
  const start = (point?: string) =>
    startServer(t, folder, { ...ENV, ...(point && { AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point }) })
  const namesThere = () => readdir(said)

  /**
   * Requests a file from a server that is killed before it is complete, starts another, and checks the file of that
   * one.
   */
  async function goesOn(point: string, kill?: (server: Server, id: string) => Promise<void>): Promise<void> {
    const doomed = await start(kill ? undefined : point)
    const { status, body } = await doomed.api('POST', FILE, { query: 'full:bread' })
    assert.deepEqual([status, body.clips], [200, CLIPS], point)
    await kill?.(doomed, body.id)
    await killed(doomed)
    const isKept = point === 'said.keep:after'
    assert.equal((await namesThere()).includes(`${body.id}.mp4`), isKept, point)

    const server = await start()
    const listed = async () => (await server.api('GET', FILE)).body
    if (!isKept) assert.notEqual((await listed())[0].state, 'failed', point)
    const [made] = await until(`the file is there after ${point}`, listed, ([one]) => one?.state === 'there')
    await allQuiet(server)
    assert.deepEqual([made.id, made.clips, made.reason], [body.id, CLIPS, ''])
    assert.deepEqual(await namesThere(), [`${body.id}.mp4`], `nothing else is left after ${point}`)
    const sent = await server.api('GET', `${FILE}${body.id}/`)
    assert.deepEqual([sent.status, sent.bytes.byteLength], [200, made.bytes])
    assert.equal((await server.api('DELETE', `${FILE}${body.id}/`)).status, 200)
    assert.deepEqual(await namesThere(), [])
    assert.equal(await server.end('SIGTERM'), 0)
  }

  for (const point of POINTS) await t.test(point, () => goesOn(point))
  await t.test('while ffmpeg cuts the second clip', () =>
    goesOn('during said.cut', async (server, id) => {
      await until(
        'ffmpeg writes',
        async () => existsSync(join(said, `${id}-clips.part`, '1.ts')),
        (isThere) => isThere,
      )
      server.child.kill('SIGKILL')
    }),
  )
})
