/** How much of the server one client may hold, so that nobody holds all of it. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf } from '../address.ts'

/** A quarter of all connections: a large household behind one address opens some dozens. */
export const MOST_OF_ADDRESS = 500

export class Shares {
  readonly #held = new Map<string, number>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** @returns gives it back; undefined: this one holds as much as it may */
  take(who: string): (() => void) | undefined {
    const held = this.#held.get(who) ?? 0
    if (held >= this.#most) return undefined
    this.#held.set(who, held + 1)
    return () => {
      const left = this.#held.get(who)! - 1
      if (left > 0) this.#held.set(who, left)
      else this.#held.delete(who)
    }
  }
}

/**
 * Further connections of an address that has its share are closed at once. @param isLimited  not a proxy of ours, nor
 * this machine
 */
export function shareConnections(
  server: Pick<Server, 'on'>,
  isLimited: (address: string) => boolean,
  most = MOST_OF_ADDRESS,
): void {
  const connections = new Shares(most)
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (!isLimited(address)) return
    const giveBack = connections.take(clientOf(address))
    if (giveBack) socket.on('close', giveBack)
    else socket.destroy()
  })
}
