/** Kills the server at random moments, hundreds of times, while it downloads and deletes: after each start it goes on, at the end the library is whole. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { VIDEO } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { archivedIds, assertWhole, queuedIds } from '../support/library.ts'
import { allQuiet, startServer, temporaryFolder } from '../support/server.ts'

const KILLS = Number(process.argv[2] ?? 300)
/** Every so often the server is left in peace until it has nothing to do, and everything is compared. */
const KILLS_BETWEEN_LOOKS = 10
const LONGEST_LIFE_MS = 4000

test(`${KILLS} kills at random moments lose nothing and leave nothing half done`, { timeout: 12 * 3_600_000 }, async (t) => {
  const folder = await temporaryFolder(t)
  const { env } = await startTestPlatform(t)
  const ids = Object.values(VIDEO) as string[]
  const pick = () => ids[Math.floor(Math.random() * ids.length)] as string
  /** Asked for and answered: what has been accepted must come true. */
  const wanted = new Set<string>()
  for (let kill = 1; kill <= KILLS; kill++) {
    const server = await startServer(t, folder, env)
    const work = (async () => {
      await server.api('POST', '/api/config/', { downloads: { sleep_interval: 0, subtitle: 'en,de', comment_max: '20' } })
      for (;;) {
        const id = pick()
        if (wanted.has(id)) {
          wanted.delete(id) // from now on both are right, until a delete has been answered
          const { status } = await server.api('DELETE', `/api/video/${id}/`)
          if (status === 404) wanted.add(id)
        } else {
          const { status } = await server.api('POST', '/api/download/?autostart=true', { data: [{ youtube_id: id }] })
          if (status === 200) wanted.add(id)
        }
        await delay(Math.random() * 300)
      }
    })()
    await Promise.race([work.catch(() => undefined), delay(Math.random() * LONGEST_LIFE_MS)])
    await server.end('SIGKILL')
    await work.catch(() => undefined)

    if (kill % KILLS_BETWEEN_LOOKS === 0 || kill === KILLS) {
      const calm = await startServer(t, folder, env)
      await allQuiet(calm, 600_000)
      await assertWhole(calm, folder)
      const found = new Set([...(await archivedIds(calm)), ...(await queuedIds(calm))])
      assert.deepEqual([...wanted].filter((id) => !found.has(id)), [], `after ${kill} kills everything accepted is there`)
      for (const id of found) wanted.add(id)
      await calm.end('SIGTERM')
      console.log(`# ${kill} kills, ${wanted.size} videos`)
    }
  }
})
