/**
 * Measures what reading crowd-sourced titles and segments costs: processor time per video, and the share of a core at
 * the pace of the rounds, which is one request per second for each service.
 */
import { aChannel, aVideo, testApp } from '../support/testing.ts'
import { startPeer } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 20 : 300
/** Percentage of a core, at one request per second. */
const MOST_SHARE = 1

const report = openReport('community')
const scope = openScope()
const service = startPeer(scope, 'community-server.ts')
const tell = (ids: string[]) => service.ask<{ url: string; asked: number; bytes: number }>(ids)
const { url } = await tell([])
const app = await testApp(scope, { settings: { dearrowUrl: url, segmentsUrl: url } })
const ids = Array.from({ length: VIDEOS }, (_, at) => `video-${at}`)
await app.given(aChannel(), ...ids.map((id) => aVideo({ id })))
await app.as('admin').post('/api/config/', { dearrow: { enabled: true }, downloads: { integrate_sponsorblock: true } })
const { dearrow, segments } = app.app

await measure('titles', (id) => dearrow.read(id))
await measure('segments', (id) => segments.read(id))
await scope.close()

async function measure(name: string, read: (id: string) => Promise<void>): Promise<void> {
  await read(ids[0]!)
  const before = await tell([ids[0]!])
  const cpu = process.cpuUsage()
  for (const id of ids) await read(id)
  const { user, system } = process.cpuUsage(cpu)
  const after = await tell([])
  const each = (user + system) / 1000 / VIDEOS
  const [requests, size] = [after.asked - before.asked, (after.bytes - before.bytes) / (after.asked - before.asked)]
  // The round that started when the setting was switched on may have sent requests, too.
  if (Math.abs(requests - VIDEOS) > 2) throw new Error(`${requests} requests for ${VIDEOS} videos`)
  report(`${name}, a video a second`, {
    unit: '% of a core',
    value: each / 10,
    atMost: MOST_SHARE,
    limits: 'value',
    ratio: each / 10 / MOST_SHARE,
    note: `${each.toFixed(1)} ms each; one request by four digits of a hash, ${Math.round(size / 1000)} kB`,
  })
}
