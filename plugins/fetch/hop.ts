/** Sends one request to an external server, directly or through a proxy, up to the arrival of the response headers. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { abortable } from 'archivolt'
import type { Dispatcher } from 'undici'

export interface Hop {
  url: URL
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal: AbortSignal
}

export interface HopAnswer {
  status: number
  headers: Headers
  chunks: AsyncIterable<Buffer>
  /** Closes the connection, even if the response was not completely read. */
  end(): void
}

/** @param lookup  resolves the name and refuses forbidden addresses */
export function askStraight({ url, body, ...asked }: Hop, lookup: LookupFunction): Promise<HopAnswer> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      { ...asked, lookup, agent: false },
      (answer: IncomingMessage) =>
        resolve({
          status: answer.statusCode!,
          headers: headersOf(answer.headersDistinct),
          chunks: answer,
          end: () => void answer.destroy(),
        }),
    )
    request.on('error', reject)
    request.end(body)
  })
}

/** Https goes through a tunnel (CONNECT), which the proxy cannot read; http requests are sent to the proxy. */
export async function askThrough(proxy: string, { url, body, ...asked }: Hop): Promise<HopAnswer> {
  // The error of the parser would contain the password in the URL.
  if (!URL.canParse(proxy)) throw new Error('AV_FETCH_PROXY is not the address of a proxy')
  // Loaded on demand, because most servers have no proxy. In a bundle the module has only a default export.
  const loaded = await import('undici')
  const { Client, ProxyAgent, request } = loaded.default as unknown as typeof loaded
  const tunnels: Dispatcher[] = []
  const dispatcher = new ProxyAgent({
    uri: proxy,
    proxyTunnel: false,
    clientFactory(origin, options) {
      const tunnel = new Client(origin, options)
      tunnels.push(tunnel)
      return tunnel
    },
  })
  // Without this, the agent would wait forever for a tunnel that the proxy refuses.
  const drop = () => {
    for (const one of [...tunnels, dispatcher]) one.destroy().catch(() => {})
  }
  try {
    // Only the app's clock limits the time.
    const unlimited = { headersTimeout: 0, bodyTimeout: 0 }
    const asking = request(url, { ...asked, ...unlimited, body: body ?? null, dispatcher })
    // undici ignores the signal until the tunnel is open.
    const answer = await abortable<Awaited<typeof asking>>(asked.signal, (resolve, reject) => {
      asking.then(resolve, reject)
    })
    // Ignores the error of a connection that breaks while the response is not being read.
    answer.body.on('error', () => {})
    const end = () => {
      answer.body.destroy()
      drop()
    }
    return { status: answer.statusCode, headers: headersOf(answer.headers), chunks: answer.body, end }
  } catch (error) {
    drop()
    throw error
  }
}

function headersOf(named: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(named))
    for (const value of [values ?? []].flat()) headers.append(name, value)
  return headers
}
