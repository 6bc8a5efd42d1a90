/** Handles one request of a connection at a time. Pipelined requests wait, and are dropped with their connection. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { hasBody } from './body.ts'
import { refusalOf } from './refusal.ts'

/** This many may always wait on a connection, whatever other connections do. */
const FEW_WAITING = 16
/** Limit on all connections together: each waiting request takes some kilobytes, and few clients pipeline. */
const MOST_WAITING = 4000

interface Turn {
  /** undefined: a reply without a request, after which the connection is closed. */
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined
  run: () => void
}

interface Line {
  socket: Duplex
  running: Turn | undefined
  waiting: Turn[]
}

export class Turns {
  readonly #lines = new WeakMap<Duplex, Line>()
  #waiting = 0

  /** Calls `run` once every earlier request of the connection has been answered; never if the connection closes. */
  request(request: IncomingMessage, response: ServerResponse, run: () => void): void {
    this.#take(this.#lineOf(request.socket), { exchange: { request, response }, run })
  }

  /** Answers what is no request, after the replies still owed. @param isCutOff  the client left in the middle of one */
  refusal(socket: Duplex, isCutOff: boolean, refuse: () => void): void {
    const line = this.#lineOf(socket)
    const owed = line.running?.exchange
    if (owed && (isCutOff || !owed.request.complete))
      return owed.response.headersSent ? void socket.destroy() : refuse()
    this.#take(line, { exchange: undefined, run: refuse })
  }

  #take(line: Line, turn: Turn): void {
    const { socket, running, waiting } = line
    if (socket.destroyed) return
    if (!running) return this.#start(line, turn)
    if (waiting.length >= FEW_WAITING && this.#waiting >= MOST_WAITING) return void socket.destroy()
    waiting.push(turn)
    this.#waiting++
    // By then a written response has ended, and the client may send its next body.
    if (turn.exchange && hasBody(turn.exchange.request)) setImmediate(() => dropLargeBody(line, turn))
  }

  #start(line: Line, turn: Turn): void {
    line.running = turn
    turn.exchange?.response.on('close', () => this.#next(line))
    turn.run()
  }

  #next(line: Line): void {
    line.running = undefined
    const turn = line.waiting.shift()
    if (!turn) return
    this.#waiting--
    // A response without a socket would come after the last response of the connection.
    if (line.socket.destroyed || turn.exchange?.response.socket === null) this.#drop(line)
    else this.#start(line, turn)
  }

  #lineOf(socket: Duplex): Line {
    const known = this.#lines.get(socket)
    if (known) return known
    const line: Line = { socket, running: undefined, waiting: [] }
    this.#lines.set(socket, line)
    socket.once('close', () => this.#drop(line))
    return line
  }

  #drop(line: Line): void {
    this.#waiting -= line.waiting.length
    line.waiting = []
  }
}

/** An unread body would hide that its client has left. A body that arrived whole with its headers is kept. */
function dropLargeBody({ waiting }: Line, turn: Turn): void {
  const { request, response } = turn.exchange!
  if (request.complete || !waiting.includes(turn)) return
  request.resume()
  turn.run = () => {
    const { headers, body } = refusalOf('bad_request', 'A large body was sent before the answer to an earlier request')
    response.writeHead(400, headers).end(body)
  }
}
