/** A loopback server that collects JSON posted to it, for tests of messages to other programs. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export interface Receiver<Body> {
  received: Body[]
  port: number
  /** Resolves once this many messages have arrived. */
  until(count: number): Promise<void>
}

export async function aReceiver<Body>(t: TestContext): Promise<Receiver<Body>> {
  const received: Body[] = []
  let onNext = () => {}
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    response.end('{}')
    received.push(JSON.parse(text) as Body)
    onNext()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => (server.closeAllConnections(), server.close()))
  const until = async (count: number) => {
    while (received.length < count) await new Promise<void>((resolve) => (onNext = resolve))
  }
  return { received, port: (server.address() as AddressInfo).port, until }
}
