/**
 * The server with which our media are compared: a bare node:http server that pipes createReadStream of one file, with
 * support for ranges.
 */
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const path = process.argv[2]!
const { size } = statSync(path)

const server = createServer((request, response) => {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
  const [start, end] = from === undefined ? [0, size - 1] : [Number(from), Number(to)]
  response.writeHead(from === undefined ? 200 : 206, {
    'Content-Type': 'video/mp4',
    'Content-Length': end - start + 1,
    ...(from !== undefined && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  })
  createReadStream(path, { start, end }).pipe(response)
})
server.keepAliveTimeout = 600_000
const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
process.on('message', () => void listening.then(() => process.send!({ port: (server.address() as AddressInfo).port })))
