/** Runs in its own process: serves an unchanging feed of fifteen videos for every channel. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ENTRIES = 15
/** Makes a feed as large as those of the platform, which is 30 kB. */
const FILLING = 'x'.repeat(1800)

const entryOf = (channel: string, at: number) =>
  `<entry><yt:videoId>${channel.slice(-8)}-${String(at).padStart(2, '0')}</yt:videoId><title>${FILLING}</title></entry>`

const served = { whole: 0, same: 0 }
const server = createServer(({ url = '', headers }, response) => {
  const channel = new URL(url, 'http://localhost').searchParams.get('channel_id') ?? ''
  const etag = `"${channel}"`
  if (headers['if-none-match'] === etag) {
    served.same++
    return void response.writeHead(304, { etag }).end()
  }
  served.whole++
  const entries = Array.from({ length: ENTRIES }, (_, at) => entryOf(channel, at)).join('')
  response
    .writeHead(200, { etag, 'content-type': 'application/atom+xml' })
    .end(
      `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015">${entries}</feed>`,
    )
})
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.on('message', () => process.send?.({ url, ...served }))
})
