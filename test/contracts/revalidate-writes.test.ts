/** Sends a write of each kind in the contract between two reads of every cached reply. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestApp } from '../support/testing.ts'
import { archive, CHANNEL, PENDING, PLAYLIST, VIDEO } from './api/archive.ts'
import { channels, pages, playlists, statistics, videos } from './api/library.ts'
import { beyond, operating, queue, schedules, service } from './api/operate.ts'
import { askRow, titleOf } from './api/row.ts'
import '../support/long.ts'

const IDS: Record<string, string> = {
  videoId: VIDEO,
  channelId: CHANNEL,
  playlistId: PLAYLIST,
}
/** All requests of the contract's tables that change something. */
const WRITES = [service, pages, videos, playlists, channels, statistics, queue, operating, schedules, beyond]
  .flat()
  .filter(({ method, status }) => method !== 'GET' && method !== 'HEAD' && status < 400)

/** Some would wait for the missing platform. */
async function endJobs({ app: { ledger }, as }: TestApp): Promise<void> {
  const running = ledger.sql<{ id: string }>("SELECT id FROM jobs WHERE state IN ('PENDING', 'STARTED')")
  for (const { id } of running.all()) await as('admin').post(`/api/task-id/${id}/`, { command: 'kill' })
}

test('after each request of the contract every reply is the same as without a cache', async (t) => {
  const app = await archive(t)
  const urls = app.app.registry.routes
    .filter(({ revalidates }) => revalidates)
    .map(({ path }) =>
      path.replace(/:(\w+)/g, (_all, name: string) => (path.startsWith('/api/download/') ? PENDING : IDS[name]!)),
    )
    .map((path) => path + (path === '/api/search/' ? '?query=a' : ''))
  const shown = async () => {
    const replies: Record<string, string> = {}
    for (const url of urls) {
      const { status, text } = await app.as('admin').get(url)
      replies[url] = `${status} ${status < 400 ? text : ''}`
    }
    return replies
  }
  let changed = 0
  let fresh = await shown()
  for (const row of WRITES) {
    await askRow(row, app)
    await endJobs(app)
    await app.settled()
    const cached = await shown()
    app.app.touch()
    const before = fresh
    fresh = await shown()
    assert.deepEqual(cached, fresh, titleOf(row))
    if (JSON.stringify(fresh) !== JSON.stringify(before)) changed++
  }
  assert.ok(changed > 20, `${changed} of ${WRITES.length} requests changed a reply`)
})
