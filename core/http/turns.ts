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

export function openTurns() {
  const lines = new WeakMap<Duplex, Line>()
  let allWaiting = 0

  function take(line: Line, turn: Turn): void {
    const { socket, running, waiting } = line
    if (socket.destroyed) return
    if (!running) return start(line, turn)
    if (waiting.length >= FEW_WAITING && allWaiting >= MOST_WAITING) return void socket.destroy()
    waiting.push(turn)
    allWaiting++
    // By then a written response has ended, and the client may send its next body.
    if (turn.exchange && hasBody(turn.exchange.request)) setImmediate(() => dropLargeBody(line, turn))
  }

  function start(line: Line, turn: Turn): void {
    line.running = turn
    turn.exchange?.response.on('close', () => next(line))
    turn.run()
  }

  function next(line: Line): void {
    line.running = undefined
    const turn = line.waiting.shift()
    if (!turn) return
    allWaiting--
    // A response without a socket would come after the last response of the connection.
    if (line.socket.destroyed || turn.exchange?.response.socket === null) drop(line)
    else start(line, turn)
  }

  function lineOf(socket: Duplex): Line {
    const known = lines.get(socket)
    if (known) return known
    const line: Line = { socket, running: undefined, waiting: [] }
    lines.set(socket, line)
    socket.once('close', () => drop(line))
    return line
  }

  function drop(line: Line): void {
    allWaiting -= line.waiting.length
    line.waiting = []
  }

  return {
    /** Calls `run` once every earlier request of the connection has been answered; never if the connection closes. */
    request(request: IncomingMessage, response: ServerResponse, run: () => void): void {
      take(lineOf(request.socket), { exchange: { request, response }, run })
    },

    /** Answers what is no request, after the replies still owed. @param isCutOff  the client left in the middle of one */
    refusal(socket: Duplex, isCutOff: boolean, refuse: () => void): void {
      const line = lineOf(socket)
      const owed = line.running?.exchange
      if (owed && (isCutOff || !owed.request.complete))
        return owed.response.headersSent ? void socket.destroy() : refuse()
      take(line, { exchange: undefined, run: refuse })
    },
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
