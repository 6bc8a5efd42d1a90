/**
 * Runs in its own process: answers requests by four digits of a hash as the crowd-sourced services do, with as many
 * other videos under the same digits as the real services have.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The number for a service that knows some million videos. */
const ALIKE = 60
let [known, asked, bytes]: [string[], number, number] = [[], 0, 0]

const segmentsOf = (id: string) => ({
  videoID: id,
  segments: Array.from({ length: 4 }, (_, at) => ({
    ...{ UUID: `${id}-${at}`, actionType: 'skip', category: 'sponsor', segment: [at * 10, at * 10 + 5] },
    ...{ locked: 0, votes: at, videoDuration: 0 },
  })),
})
const titlesOf = (id: string) => ({
  titles: Array.from({ length: 4 }, (_, at) => ({ title: `A calm title ${at} of ${id}`, votes: at, locked: false })),
  thumbnails: [{ timestamp: 3, votes: 2, locked: false }],
  ...{ randomTime: 0.5, videoDuration: null },
})

const server = createServer(({ url = '' }, response) => {
  asked++
  const ids = [...known, ...Array.from({ length: ALIKE }, (_, at) => `alike-${at}`)]
  const body = JSON.stringify(
    url.startsWith('/api/branding/') ? Object.fromEntries(ids.map((id) => [id, titlesOf(id)])) : ids.map(segmentsOf),
  )
  bytes += body.length
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
})
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.on('message', (ids: string[]) => {
    known = ids
    process.send?.({ url, asked, bytes })
  })
})
