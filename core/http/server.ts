/** The HTTP server: listening, limits, malformed requests, and a shutdown that lets requests finish. */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Settings } from '../../config/schema.ts'
import { StartError } from '../start-error.ts'
import { limitConnections } from './connection-limit.ts'
import { openLimits } from './origin.ts'
import { openPipeline, type PipelineParts } from './pipeline.ts'
import { refusalOf } from './refusal.ts'
import { openTurns } from './turns.ts'

export interface HttpParts extends PipelineParts {
  settings: PipelineParts['settings'] & Pick<Settings, 'host' | 'port'>
}

export type Http = ReturnType<typeof openHttp>

const HEADERS_TIMEOUT_MS = 15_000
/** Longer than the timeout of proxies, so that they never send into a connection that we are closing. */
const KEEP_ALIVE_MS = 75_000
// the longest query value that a route takes, each sign percent-encoded, with room for the rest
const LARGEST_HEADERS_BYTES = 32 * 1024
const MOST_CONNECTIONS = 2000
/** How long running requests may take to finish when the server closes. */
export const GRACE_MS = 5000
/** TCP keep-alive starts after this silence; a vanished client is noticed some minutes later. */
const PROBE_AFTER_MS = 60_000
/** How long a refused client has to read the reason. */
const REFUSED_MS = 5000

export function openHttp(parts: HttpParts) {
  const pipeline = openPipeline(parts)
  const { host, port, basePath } = parts.settings
  // Bodies have their own limits (core/http/body.ts): a backup of gigabytes may take its time.
  const server = createServer({
    maxHeaderSize: LARGEST_HEADERS_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5000,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    requireHostHeader: false, // the pipeline asks for it
  })
  server.maxConnections = MOST_CONNECTIONS
  limitConnections(server, openLimits(parts.settings.trustedProxies))
  /** Browsers open connections in advance. Node does not count a connection without any request as idle. */
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  const running = new Set<ServerResponse>()
  const turns = openTurns()
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    unused.delete(request.socket)
    turns.request(request, response, () => {
      running.add(response)
      response.on('close', () => running.delete(response))
      if (!server.listening) response.shouldKeepAlive = false
      void pipeline.handle(request, response)
    })
  }
  const refuse = (socket: Duplex, status: number, isCutOff = false) => {
    if (!socket.writable || socket.destroyed) return void socket.destroy()
    turns.refusal(socket, isCutOff, () => {
      refuseRaw(socket, status)
      const deadline = parts.clock.after(REFUSED_MS, () => socket.destroy())
      socket.on('close', () => deadline.cancel())
    })
  }
  server.on('request', serve)
  // The pipeline sends `100 Continue` itself, once it knows that the body will be read.
  server.on('checkContinue', serve)
  server.on('checkExpectation', (request, response) =>
    turns.request(request, response, () => {
      const { headers, body } = refusalOf('bad_request', `${STATUS_CODES[417]}`)
      response.writeHead(417, headers).end(body)
    }),
  )
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const isCutOff = code === 'HPE_INVALID_EOF_STATE'
    refuse(socket, rawStatus(code), isCutOff)
  })
  server.on('connect', ({ socket }) => {
    // Node hands over the socket here: nobody else handles its errors or notices that the client has left.
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.destroySoon()).resume()
    refuse(socket, 405)
  })

  let closing: Promise<void> | undefined
  async function stop(graceMs: number): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const response of running) {
      response.shouldKeepAlive = false
      // If the headers were sent before the stop, the connection stays open after its reply: close it once it is idle.
      response.on('close', () => setImmediate(() => server.closeIdleConnections()))
    }
    pipeline.endStreams()
    server.closeIdleConnections()
    // A request that has arrived already is read first.
    setImmediate(() => {
      for (const socket of unused) socket.destroy()
    })
    const deadline = parts.clock.after(graceMs, () => {
      pipeline.abort()
      server.closeAllConnections()
    })
    await closed
    deadline.cancel()
  }

  return {
    ...pipeline,

    /** @throws StartError  the address is in use or does not belong to this machine */
    listen: () =>
      new Promise<{ address: AddressInfo; url: string }>((resolve, reject) => {
        const refuse = (error: Error) => reject(cannotListen(error, host, port))
        server.once('error', refuse)
        server.listen(port, host, () => {
          server.off('error', refuse)
          const address = server.address() as AddressInfo
          const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
          resolve({ address, url: `http://${name}:${address.port}${basePath}` })
        })
      }),

    /** Accepts no more requests, and ends running ones after `graceMs`. Further calls change nothing. */
    close: (graceMs = GRACE_MS): Promise<void> => (closing ??= stop(graceMs)),
  }
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): StartError {
  const problem =
    cause.code === 'EADDRINUSE'
      ? `Port ${port} on ${host} is already in use. Stop the other program, or set AV_PORT`
      : cause.code === 'EACCES'
        ? `port ${port} needs rights that this user does not have: set AV_PORT to 1024 or above`
        : `${host} is not an address of this machine (${cause.code}): set AV_HOST`
  return new StartError(`Cannot listen: ${problem}`, { cause })
}

function rawStatus(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

/** Answers something that is not an HTTP request: there is no response object, only the socket. */
function refuseRaw(socket: Duplex, status: number): void {
  if (!socket.writable || socket.destroyed) return void socket.destroy()
  const code = status === 405 ? 'method_not_allowed' : 'bad_request'
  const { headers, body } = refusalOf(code, `${STATUS_CODES[status]}`)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
