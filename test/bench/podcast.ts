/**
 * Measures feeds of 1,000 items from an archive of 10,000 videos: the first request, and later ones without changes.
 */
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { copyOfLibrary } from './support/library.ts'
import { cpuSeconds, firstSnapshotTaken, startArchive } from './support/processes.ts'
import { median, openReport, openScope } from './support/report.ts'

const VIDEOS = 10_000
const ITEMS = 1000
const FEEDS = 9
const TIMES = 50
const IDLE_SHARE = 0.05

const report = openReport('podcast')
const scope = openScope()
const dataDir = await copyOfLibrary(scope, VIDEOS)
// Without the library no sound files can be made; each of them would change the feeds.
await rmdir(join(dataDir, 'media'))
const server = await startArchive(scope, { dataDir })
await firstSnapshotTaken(server)

const members: Array<{ kind: 'channel'; id: string }> = []
for (let page = 1, isLast = false; !isLast; page++) {
  const { data, paginate } = await asked('GET', `/api/channel/?page=${page}`)
  for (const { channel_id: id } of data as Array<{ channel_id: string }>) members.push({ kind: 'channel', id })
  isLast = paginate.last_page === false || page >= paginate.last_page
}

const first: number[] = []
let worked = 0
const again: number[] = []
for (let at = 0; at < FEEDS; at++) {
  const { id: group } = await asked('POST', '/api/group/', { name: `Group ${at}`, members })
  const { url } = await asked('POST', '/api/podcast/', { kind: 'group', target: String(group) })
  await idle()
  const [began, before] = [performance.now(), await cpuSeconds(server.pid)]
  const answer = await fetch(url)
  const bytes = await answer.arrayBuffer()
  first.push(performance.now() - began)
  worked += (await cpuSeconds(server.pid)) - before
  const text = Buffer.from(bytes).toString()
  const items = text.split('<item>').length - 1
  if (items !== ITEMS) throw new Error(`The feed has ${items} items: ${text.slice(0, 300)}`)
  const headers = { 'If-None-Match': answer.headers.get('etag') ?? '' }
  for (let time = 0; time < TIMES; time++) {
    const start = performance.now()
    const { status } = await fetch(url, { headers })
    again.push(performance.now() - start)
    if (status !== 304) throw new Error(`Without changes the feed is ${status}`)
  }
}
const note = `the very first ${first[0]!.toFixed(0)} ms; on the processor ${((1000 * worked) / FEEDS).toFixed(0)} ms each`
report(`a feed of ${ITEMS} items, first`, { unit: 'ms', value: median(first), limits: 'value', atMost: 50, note })
report(`a feed of ${ITEMS} items, again: 304`, { unit: 'ms', value: median(again) })
await server.end('SIGTERM')
await scope.close()

/**
 * Waits until the server is idle: after a feed is created, the server looks for its sound files. People first paste the
 * feed's address into an app.
 */
async function idle(): Promise<void> {
  for (let last = -1, now = 0; now - last > IDLE_SHARE; ) {
    last = await cpuSeconds(server.pid)
    await delay(1000)
    now = await cpuSeconds(server.pid)
  }
}

async function asked(method: string, path: string, body?: object): Promise<any> {
  const answer = await server.api(method, path, body)
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
