/**
 * Generates load from its own process: keep-alive connections with one pending request each, on plain sockets, so that
 * the server is what is measured.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startPeer } from './processes.ts'
import { percentile, type Scope } from './report.ts'

/** Ample time for an idle server to accept all connections. */
const TAKEN_MS = 50

export interface Load {
  port: number
  token: string
  /** Sent in order; after the last one, the first one is sent again. */
  requests: Array<{ path: string; headers?: Record<string, string> }>
  connections: number
  seconds: number
  /** Sends each request once; the run may end before the time is up. */
  isOnce?: boolean
  /** Answers slower than this count as slow, for `share`. */
  limitMs?: number
}

export interface Loaded {
  count: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Share of answers slower than `limitMs`. */
  share: number
  bytes: number
}

export interface LoadGenerator {
  /** @throws if a request fails, with the answer */
  run(load: Load): Promise<Loaded>
}

export function openLoad(scope: Scope): LoadGenerator {
  const peer = startPeer(scope, 'load.ts', ['peer'])
  return {
    async run(load) {
      const answer = await peer.ask<Loaded | { failure: string }>(load)
      if ('failure' in answer) throw new Error(answer.failure)
      return answer
    },
  }
}

if (process.argv[2] === 'peer') {
  process.on('message', (load: Load) => {
    run(load).then(
      (loaded) => process.send!(loaded),
      (error: Error) => process.connected && process.send!({ failure: error.message }),
    )
  })
  process.on('disconnect', () => process.exit())
}

async function run({
  port,
  token,
  requests: asked,
  connections,
  seconds,
  isOnce = false,
  limitMs = Infinity,
}: Load): Promise<Loaded> {
  const requests = asked.map(({ path, headers = {} }) => {
    const extra = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Token ${token}\r\n${extra.join('')}\r\n`,
    )
  })
  const sockets = await connected(port, connections)
  const took: number[] = []
  let bytes = 0
  let next = 0
  const take = () => (isOnce && next >= requests.length ? undefined : requests[next++ % requests.length])
  const started = performance.now()
  const end = started + seconds * 1000
  await Promise.all(
    sockets.map((socket) =>
      converse(socket, end, take, (ms, size) => {
        took.push(ms)
        bytes += size
      }),
    ),
  )
  const elapsed = (performance.now() - started) / 1000
  return {
    count: took.length,
    perSecond: took.length / elapsed,
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
    share: took.filter((ms) => ms > limitMs).length / took.length,
    bytes,
  }
}

/**
 * Opens connections and waits until the server has accepted them. Node accepts one in each turn of its event loop: if
 * the first connections sent requests at once, the last one would wait for all of these turns, which a keep-alive
 * connection never does.
 */
async function connected(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').setNoDelay(true))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await delay(TAKEN_MS)
  return sockets
}

/** Uses one connection: sends a request, reads its answer, sends the next, until the requests or the time run out. */
function converse(
  socket: Socket,
  end: number,
  take: () => Buffer | undefined,
  done: (ms: number, bytes: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let request: Buffer | undefined
    let sentAt = 0
    let head = ''
    let missing = -1
    let size = 0
    const ask = () => {
      request = performance.now() >= end ? undefined : take()
      if (!request) {
        socket.destroy()
        return resolve()
      }
      missing = -1
      head = ''
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The server closed a connection')))
    socket.on('data', (chunk: Buffer) => {
      let rest = chunk.length
      if (missing < 0) {
        head += chunk.toString('latin1', 0, Math.min(chunk.length, 4096))
        const at = head.indexOf('\r\n\r\n')
        if (at < 0) return
        const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
        if (!/^HTTP\/1\.1 20[06]/.test(head) || length === undefined) {
          socket.destroy()
          return reject(new Error(`Asked ${request!.toString().split('\r\n')[0]}, answered:\n${head.slice(0, 600)}`))
        }
        size = missing = Number(length)
        // The servers here send the head in one piece; otherwise the body starts a new chunk.
        rest = head.length <= 4096 && chunk.length >= at + 4 ? chunk.length - (at + 4) : chunk.length
      }
      missing -= rest
      if (missing > 0) return
      done(performance.now() - sentAt, size)
      ask()
    })
    ask()
  })
}
