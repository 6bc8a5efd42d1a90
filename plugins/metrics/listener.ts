/** The separate address for metrics, which serves nothing else. */
import { createServer } from 'node:http'
import type { App } from './app.ts'
import { METRICS_TYPE } from './text-format.ts'

const REQUEST_MS = 10_000
const MOST_CONNECTIONS = 20

/**
 * @param address  such as `127.0.0.1:9100` or `[::1]:9100`
 * @returns a function that closes it. @throws Error  the address is in use or does not belong to this machine
 */
export async function listenAt(
  address: string,
  read: () => Promise<string>,
  log: App['log'],
): Promise<() => Promise<void>> {
  const at = address.lastIndexOf(':')
  const [host, port] = [address.slice(0, at).replace(/^\[|\]$/g, ''), Number(address.slice(at + 1))]
  const server = createServer({ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    read().then(
      (text) => response.writeHead(200, { 'Content-Type': METRICS_TYPE }).end(text),
      (err: unknown) => {
        log.error({ err }, 'the metrics could not be read')
        response.writeHead(500).end()
      },
    )
  })
  server.maxConnections = MOST_CONNECTIONS
  server.maxRequestsPerSocket = 1 // otherwise all pipelined requests would be read at once
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: Error) =>
      reject(
        new Error(`AV_METRICS_LISTEN: cannot listen at ${address} (${cause.message}): set another address`, { cause }),
      )
    server.once('error', onError)
    server.listen(port, host, resolve)
  })
  log.info({ address }, 'metrics are served there without a token')
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}
