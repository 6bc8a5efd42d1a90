/**
 * Measures how long it takes to queue all 100,000 entries of a channel, with the memory of the server and the child
 * process; and a scan that finds 10,000 new videos of a subscription.
 */
import { addLargeChannel } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { taskEnded } from '../support/server.ts'
import { delaysDuring, descendants, peakWhile, rssMb, startArchive, threadSeconds } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const ENTRIES = isQuick ? 20_000 : 100_000
const SHARE = ENTRIES / 100_000
const SCANNED = 10_000
const TASK_DEADLINE_MS = 600_000

const report = openReport('listing')
const scope = openScope()
const platform = await startTestPlatform(scope)
const channelId = addLargeChannel(platform.platform.catalogue, { videos: ENTRIES })
const server = await startArchive(
  scope,
  { dataDir: await temporaryFolder(scope) },
  { isWatched: true, env: platform.env },
)

/** Lists a short channel first, so that what is loaded only once is not measured. */
await addAll(addLargeChannel(platform.platform.catalogue, { videos: 1000, key: 'warm0' }))
const before = await rssMb(server.pid)

let childPeak = 0
const serverMemory = async () => {
  for (const pid of await descendants(server.pid))
    childPeak = Math.max(childPeak, (await rssMb(pid).catch(() => 0)) || 0) // the child may have just ended
  return rssMb(server.pid)
}
const {
  result: memory,
  own,
  idle,
  tookMs,
} = await delaysDuring(scope, server, () => peakWhile(serverMemory, () => addAll(channelId)))
const { body } = await server.api('GET', '/api/stats/download/')
if (body.pending !== ENTRIES + 1000) throw new Error(`${body.pending} items are in the queue, not ${ENTRIES + 1000}`)

report(`${ENTRIES} entries into the queue`, { unit: 's', value: tookMs / 1000, atMost: 10 * SHARE })
report("the child's memory", { unit: 'MB', value: childPeak, atMost: 80 })
report("the server's memory, beside before", {
  unit: 'MB',
  value: memory.peak,
  beside: before,
  limits: 'value',
  atMost: before + 20,
})
report('event loop delay p99 meanwhile', { unit: 'ms', value: own.p99, beside: idle.p99, limits: 'value', atMost: 20 })
report('event loop delay, longest', { unit: 'ms', value: own.max, beside: idle.max })
await measureScan()
await server.end('SIGTERM')
await scope.close()

async function measureScan(): Promise<void> {
  const id = addLargeChannel(platform.platform.catalogue, { videos: SCANNED, key: 'scan0' })
  await server.api('POST', '/api/config/', { subscriptions: { channel_size: SCANNED } })
  const subscribed = await server.api('POST', '/api/channel/', { data: [{ channel_id: id, channel_subscribed: true }] })
  await ended(subscribed.body.task_id)
  const cpuBefore = await threadSeconds(server.pid)
  const { peak } = await peakWhile(
    () => rssMb(server.pid),
    async () => ended((await server.api('POST', '/api/task-name/update_subscribed/')).body.task_id),
  )
  const { body: now } = await server.api('GET', '/api/stats/download/')
  if (now.pending !== body.pending + SCANNED) throw new Error(`${now.pending - body.pending} videos were found`)
  report(`a scan that finds ${SCANNED} videos, processor time of the server`, {
    unit: 's',
    value: (await threadSeconds(server.pid)) - cpuBefore,
    atMost: 1,
  })
  report("a scan, the server's memory", { unit: 'MB', value: peak, atMost: 150 })
}

async function addAll(id: string): Promise<void> {
  const { body } = await server.api('POST', '/api/download/', { data: [{ youtube_id: id, status: 'pending' }] })
  await ended(body.task_id)
}

async function ended(taskId: string): Promise<void> {
  const task = await taskEnded(server, taskId, TASK_DEADLINE_MS)
  if (task['status'] !== 'SUCCESS') throw new Error(`The listing ended: ${JSON.stringify(task)}`)
}
