/** One request to a server outside, straight or through a proxy, until the head of its answer is there. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import { abortable } from './concurrency/abortable.ts'

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
  /** Drops the connection, read to its end or not. */
  end(): void
}

/** @param lookup  judges the address that is connected to */
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

/** Https goes through a tunnel (CONNECT), so the proxy reads nothing of it; http is asked of the proxy. */
export async function askThrough(proxy: string, { url, body, ...asked }: Hop): Promise<HopAnswer> {
  // What cannot be parsed would stand in the error, with its password.
  if (!URL.canParse(proxy)) throw new Error('AV_FETCH_PROXY is no address of a proxy')
  // Loaded where it is used: most servers have no proxy. In a bundle it has no names but its default.
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
  // The agent alone would wait for a tunnel that the proxy does not grant.
  const drop = () => {
    for (const one of [...tunnels, dispatcher]) one.destroy().catch(() => {})
  }
  try {
    // How long it may take is judged by the app's clock alone.
    const unlimited = { headersTimeout: 0, bodyTimeout: 0 }
    const asking = request(url, { ...asked, ...unlimited, body: body ?? null, dispatcher })
    // Until there is a tunnel, it does not hear the signal.
    const answer = await abortable<Awaited<typeof asking>>(asked.signal, (resolve, reject) => {
      asking.then(resolve, reject)
    })
    // What breaks off while nobody reads is nobody's matter.
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
