/**
 * Kills the server at random moments, hundreds of times, in all its tasks, with a disk that disappears and fills up: it
 * continues after each start, and at the end the library is complete. `make soak KILLS=50` sets the number.
 */
import assert, { AssertionError } from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestPlatform } from '../platform/start.ts'
import { makeFilm } from '../support/ffmpeg.ts'
import { temporaryFolder } from '../support/folder.ts'
import { lay } from '../support/lay.ts'
import { startServer } from '../support/server.ts'
import { infoOf } from '../support/ytdlp-folder.ts'
import { openDisk } from './disk.ts'
import { PLACED, Story } from './story.ts'

const KILLS = Number(process.argv[2] ?? process.env['KILLS'] ?? 500)
/** After this many, each task has probably been killed at least once. */
const ENOUGH_KILLS = 200
/** After this many kills the server runs until it has nothing to do, and everything is compared. */
const KILLS_BETWEEN_LOOKS = 10
const LONGEST_LIFE_MS = 4000
const DISK_MB = 1024

/** A request to a server that is killed has no answer; a wrong answer before that is a failure. */
function cutOff(error: unknown): void {
  if (error instanceof AssertionError) throw error
}

/**
 * Creates films of another program that no browser can play.
 * @returns the folder above the location
 */
async function layPlace(t: TestContext): Promise<string> {
  const root = await temporaryFolder(t)
  for (const id of PLACED) {
    await lay(root)(`films/${id}.info.json`, JSON.stringify(infoOf(id)))
    await makeFilm(join(root, `films/${id}.mkv`), ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-c:a', 'libopus'])
  }
  return root
}

/** Receives the webhooks. */
async function openReceiver(t: TestContext): Promise<string> {
  const receiver = createServer((request, response) => request.resume().once('end', () => response.end('ok')))
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => {
    receiver.close()
    receiver.closeAllConnections()
  })
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
}

test(`${KILLS} kills at random moments lose nothing and leave nothing half done`, {
  timeout: 12 * 3_600_000,
}, async (t) => {
  const folder = await temporaryFolder(t)
  const disk = await openDisk(t, DISK_MB)
  if (typeof disk === 'string') console.log(`# ${disk}`)
  const { env: platform, segmentsUrl, dislikesUrl } = await startTestPlatform(t)
  const [root, receiver] = [await layPlace(t), await openReceiver(t)]
  const env = {
    ...platform,
    AV_SEGMENTS_URL: segmentsUrl,
    AV_DISLIKES_URL: dislikesUrl,
    AV_LIBRARY_ROOTS: root,
    AV_PRIVATE_HOSTS: '127.0.0.1',
    ...(typeof disk !== 'string' && { AV_MEDIA_DIR: disk.mediaDir }),
  }
  const story = new Story({ dataDir: folder, disk: typeof disk === 'string' ? undefined : disk, root, receiver })
  for (let kill = 1; kill <= KILLS; kill++) {
    const server = await startServer(t, folder, env)
    const living = story.live(server).catch(cutOff)
    await Promise.race([living, delay(Math.random() * LONGEST_LIFE_MS)])
    await server.end('SIGKILL')
    await living

    if (kill % KILLS_BETWEEN_LOOKS === 0 || kill === KILLS) {
      const calm = await startServer(t, folder, env)
      await story.look(calm)
      await calm.end('SIGTERM')
      const left = story.tasksLeft()
      console.log(`# ${kill} kills, nothing lost; so far ${JSON.stringify(story.counts)}; not yet: ${left.join(', ')}`)
    }
  }
  if (KILLS >= ENOUGH_KILLS) assert.deepEqual(story.tasksLeft(), [], 'each task has run')
})
