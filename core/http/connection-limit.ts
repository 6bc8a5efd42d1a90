/** How many connections and requests one client may have at once, so that nobody occupies the whole server. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf } from '../base/address.ts'
import { Quota } from '../base/quota.ts'

/** A quarter of all connections: a large household behind one address opens some dozens. */
export const MOST_OF_ADDRESS = 500

/** Closes connections beyond the limit of an address. @param isLimited  false: trusted proxies, this machine */
export function limitConnections(
  server: Pick<Server, 'on'>,
  isLimited: (address: string) => boolean,
  most = MOST_OF_ADDRESS,
): void {
  const connections = new Quota(most)
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (!isLimited(address)) return
    const giveBack = connections.take(clientOf(address))
    if (giveBack) socket.on('close', giveBack)
    else socket.destroy()
  })
}
