/** Kills the server while sound replaces a film, or the reverse: one complete file remains. */
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CHANNEL, VIDEO } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { allQuiet, type Server, startServer } from '../support/server.ts'
import '../support/long.ts'

const KILL = fileURLToPath(new URL('../support/kill-at.cjs', import.meta.url))
const fog = VIDEO.fog as string
const MOST_CALLS = 10

const wish = (server: Server, codec: 'sound' | 'best') =>
  server.api('POST', '/api/config/', { downloads: { sleep_interval: 0, quality_codec: codec } })
const download = (server: Server) =>
  server.api('POST', '/api/download/?autostart=true&force=true', { data: [{ platform_id: fog }] })

test('sound and film of a video replace each other completely, wherever the server is killed', async (t) => {
  const folder = await temporaryFolder(t)
  const { env } = await startTestPlatform(t)
  const films = async () =>
    (await readdir(join(folder, 'media', CHANNEL.harbour as string))).filter((name) => /\.(?:mp4|m4a)$/.test(name))
  const first = await startServer(t, folder, env)
  await wish(first, 'best')
  await download(first)
  await allQuiet(first)
  assert.deepEqual(await films(), [`${fog}.mp4`])
  assert.equal(await first.end('SIGTERM'), 0)
  const path = `/${CHANNEL.harbour}/${fog}\\.(?:mp4|m4a)$`

  let [calls, hasBeenBoth] = [0, false]
  for (let isKilled = true; isKilled && calls < MOST_CALLS; calls++) {
    const [codec, ending] = calls % 2 === 0 ? (['sound', 'm4a'] as const) : (['best', 'mp4'] as const)
    const doomed = await startServer(t, folder, {
      ...{ ...env, NODE_OPTIONS: `--require ${KILL}` },
      ...{ AV_TEST_KILL_PATH: path, AV_TEST_KILL_CALLS: String(calls) },
    })
    await wish(doomed, codec)
    await download(doomed).catch(() => undefined)
    isKilled = await Promise.race([
      doomed.ended.then((code) => code === null),
      allQuiet(doomed).then(() => false),
    ]).catch(async () => (await doomed.ended) === null)
    if (!isKilled) assert.equal(await doomed.end('SIGTERM'), 0)

    hasBeenBoth ||= (await films()).length === 2
    const server = await startServer(t, folder, env)
    await allQuiet(server)
    assert.deepEqual(await films(), [`${fog}.${ending}`], `killed before call ${calls}`)
    const { body } = await server.api('GET', `/api/video/${fog}/`)
    const { media_url: url, streams } = body.data
    assert.deepEqual([url.split('.').at(-1), streams.length], [ending, ending === 'm4a' ? 1 : 2])
    assert.equal(await server.end('SIGTERM'), 0)
  }
  assert.deepEqual([hasBeenBoth, calls > 2, calls < MOST_CALLS], [true, true, true], `${calls} runs`)
})
