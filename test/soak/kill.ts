/**
 * Kills the server at random moments, hundreds of times, in all its tasks, with a disk that vanishes and fills: after
 * each start it goes on, at the end the library is whole.
 */
import { AssertionError } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startServer } from '../support/server.ts'
import { openDisk } from './disk.ts'
import { Story } from './story.ts'

const KILLS = Number(process.argv[2] ?? 500)
/** Every so often the server is left in peace until it has nothing to do, and everything is compared. */
const KILLS_BETWEEN_LOOKS = 10
const LONGEST_LIFE_MS = 4000
const DISK_MB = 1024

/** What is asked of a server that is killed has no answer; what it answered wrongly before is a failure. */
function cutOff(error: unknown): void {
  if (error instanceof AssertionError) throw error
}

test(`${KILLS} kills at random moments lose nothing and leave nothing half done`, {
  timeout: 12 * 3_600_000,
}, async (t) => {
  const folder = await temporaryFolder(t)
  const disk = await openDisk(t, DISK_MB)
  if (typeof disk === 'string') console.log(`# ${disk}`)
  const { env: platform, segmentsUrl } = await startTestPlatform(t)
  const env = {
    ...platform,
    AV_SEGMENTS_URL: segmentsUrl,
    ...(typeof disk !== 'string' && { AV_MEDIA_DIR: disk.mediaDir }),
  }
  const story = new Story(folder, typeof disk === 'string' ? undefined : disk)
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
      console.log(`# ${kill} kills, nothing lost; so far ${JSON.stringify(story.counts)}`)
    }
  }
})
