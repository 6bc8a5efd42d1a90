/**
 * A loopback proxy that breaks connections to a server as a test says: it delays, cuts, refuses, stays silent or
 * answers itself.
 */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { lastFirst, type Scope } from './last-first.ts'

export interface Break {
  /** Affects only requests whose method and path match, such as /^POST .*_bulk/. Default: all. */
  on?: RegExp
  /** Number of affected requests; default: until it is mended. */
  times?: number
  what:
    | { delayMs: number }
    /** The request arrives, but its answer is cut off. */
    | { cutAfterBytes: number }
    /** The connection ends before the request arrives. */
    | 'cut'
    /** No answer ever arrives. */
    | 'silent'
    | { status: number; body?: object; headers?: Record<string, string> }
}

export interface Proxy {
  readonly url: string
  /** `METHOD path` of all requests, oldest first. */
  readonly asked: string[]
  break(fault: Break): void
  mend(): void
  /** Closes the port and all connections: new connections are refused, as by a machine whose server is down. */
  refuse(): Promise<void>
  accept(): Promise<void>
}

/** The answer of Elasticsearch when its disk is too full. */
export const FULL_DISK = elasticError(
  429,
  'cluster_block_exception',
  'index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];',
)
export const NO_SHARDS = elasticError(503, 'no_shard_available_action_exception', 'No shard available for [get]')
export const TOO_BUSY = elasticError(
  429,
  'es_rejected_execution_exception',
  'rejected execution of coordinating operation',
)

export function elasticError(status: number, type: string, reason: string): { status: number; body: object } {
  return { status, body: { error: { root_cause: [{ type, reason }], type, reason }, status } }
}

export async function startProxy(
  scope: Scope,
  target: string,
  tls?: { pfx: Buffer; passphrase: string },
): Promise<Proxy> {
  const asked: string[] = []
  const breaks: Break[] = []
  const sockets = new Set<Socket>()
  let port = 0
  let server: Server | undefined

  const faultFor = (line: string): Break | undefined => {
    const fault = breaks.find(({ on, times = Infinity }) => times > 0 && (on?.test(line) ?? true))
    if (fault?.times !== undefined) fault.times--
    return fault
  }

  function handle(incoming: IncomingMessage, reply: ServerResponse): void {
    const line = `${incoming.method} ${incoming.url}`
    asked.push(line)
    const { what } = faultFor(line) ?? {}
    if (what === 'cut') return void incoming.socket.destroy()
    if (what === 'silent') return void incoming.resume()
    if (what && typeof what === 'object' && 'status' in what) return answer(incoming, reply, what)
    const pass = () => forward(incoming, reply, what && 'cutAfterBytes' in what ? what.cutAfterBytes : undefined)
    if (what && 'delayMs' in what) setTimeout(pass, what.delayMs)
    else pass()
  }

  function forward(incoming: IncomingMessage, reply: ServerResponse, cutAfterBytes?: number): void {
    const { method, headers } = incoming
    const onward = request(new URL(incoming.url!, target), { method, headers, agent: false }, (answered) => {
      reply.writeHead(answered.statusCode!, answered.headers)
      if (cutAfterBytes === undefined) return void answered.pipe(reply)
      let bytes = 0
      answered.on('data', (chunk: Buffer) => {
        const left = Math.max(0, cutAfterBytes - bytes)
        bytes += chunk.length
        reply.write(chunk.subarray(0, left))
      })
      answered.on('end', () => reply.socket?.destroy())
    })
    onward.on('error', () => reply.socket?.destroy())
    // The client is gone; otherwise a stream would continue for ever.
    reply.on('close', () => onward.destroy())
    incoming.pipe(onward)
  }

  async function accept(): Promise<void> {
    server = (tls ? createTlsServer({ ...tls }, handle) : createServer(handle)) as Server
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }

  async function refuse(): Promise<void> {
    const closing = server
    server = undefined
    for (const socket of sockets) socket.destroy()
    if (closing) await new Promise((resolve) => closing.close(resolve))
  }

  await accept()
  lastFirst(scope).after(refuse)
  return {
    get url() {
      return `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
    },
    asked,
    break: (fault) => void breaks.push({ ...fault }),
    mend: () => void breaks.splice(0),
    refuse,
    accept,
  }
}

function answer(
  incoming: IncomingMessage,
  reply: ServerResponse,
  { status, body = {}, headers = {} }: { status: number; body?: object; headers?: Record<string, string> },
): void {
  incoming.resume()
  reply.writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch', ...headers })
  reply.end(JSON.stringify(body))
}
