/** The client of Elasticsearch: its addresses, account, certificate and time limits. */

import { readFileSync } from 'node:fs'
import { Client, type ClientOptions, ClusterConnectionPool } from '@elastic/elasticsearch'
import { StartError } from 'archivolt'

export interface ClientAccess {
  /** URL of one node, or of several nodes of a cluster, separated by commas. */
  url: string
  username?: string | null | undefined
  password?: string | null | undefined
  apiKey?: string | null | undefined
  /** PEM file with the certificate that signed the server's certificate. */
  ca?: string | null | undefined
}

const REQUEST_TIMEOUT_MS = 30_000
/** For `bulk`, `reindex` and similar requests: pass it as `requestTimeout`. */
export const BULK_TIMEOUT_MS = 120_000
const CONNECT_TIMEOUT_MS = 5_000
const MOST_CONNECTIONS = 32

/**
 * @returns the client and its URL, without credentials
 * @throws StartError  the settings cannot be used
 */
export function openClient({ url, username, password, apiKey, ca }: ClientAccess): { client: Client; address: string } {
  const nodes = url.split(',').map((one) => new URL(one))
  const [user, secret] = [
    username ?? decodeURIComponent(nodes[0]!.username),
    password ?? decodeURIComponent(nodes[0]!.password),
  ]
  for (const node of nodes) [node.username, node.password] = ['', '']
  const tls = nodes.some(({ protocol }) => protocol === 'https:')
    ? { tls: { ...(ca && { ca: certificateIn(ca) }), timeout: CONNECT_TIMEOUT_MS } }
    : {}
  const auth: ClientOptions['auth'] = apiKey ? { apiKey } : user ? { username: user, password: secret } : undefined
  try {
    const client = new Client({
      nodes: nodes.map(({ href }) => href),
      ...(auth && { auth }),
      ...tls,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // If a node does not respond, the next one is tried; the same one is not retried, because `run` checks it first.
      // If all nodes are marked dead, the first one tried may be the one that has just failed.
      maxRetries: nodes.length === 1 ? 0 : nodes.length,
      ConnectionPool: ClusterConnectionPool,
      sniffOnStart: false,
      sniffInterval: false,
      sniffOnConnectionFault: false,
      agent: { connections: MOST_CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } } as NonNullable<
        ClientOptions['agent']
      >,
      redaction: { type: 'remove' },
    })
    return { client, address: nodes.map(({ origin }) => origin).join(', ') }
  } catch (error) {
    throw new StartError('AV_ELASTICSEARCH_URL or a related setting cannot be used: correct it', {
      cause: error,
    })
  }
}

function certificateIn(path: string): string {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    throw new StartError(
      `AV_ELASTICSEARCH_CA: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}); correct the path or its permissions`,
      { cause: error },
    )
  }
  throw new StartError(`AV_ELASTICSEARCH_CA: ${path} contains no certificate in PEM format`)
}
