/**
 * The server with which ours is compared: a bare node:http server in its own process. For each request it runs prepared
 * statements that find, join and count the same rows in the same index file and ledger (`cases.ts`, for searches
 * `plain-search.ts`), and sends the reply of our server, compressed if the client accepts that. It caches nothing.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { acceptsGzip, compressed, isWorthCompressing } from '../../../core/http/compression.ts'
import type { PlainQuery } from './plain-search.ts'
import { startPeer } from './processes.ts'
import type { Scope } from './report.ts'

export interface BareReply {
  path: string
  queries: PlainQuery[]
  /** The reply of our server. */
  body: string
}

export interface BareServer {
  port: number
  pid: number
  serve(replies: BareReply[]): Promise<void>
}

export async function startBare(scope: Scope, indexFile: string): Promise<BareServer> {
  const peer = startPeer(scope, 'bare.ts', ['peer', indexFile])
  const { port } = await peer.ask<{ port: number }>({ replies: [] })
  return { port, pid: peer.child.pid!, serve: async (replies) => void (await peer.ask({ replies })) }
}

if (process.argv[2] === 'peer') {
  const db = new Database(process.argv[3]!, { readonly: true })
  db.pragma('cache_size = -8000')
  db.prepare('ATTACH ? AS ledger').run(join(dirname(process.argv[3]!), 'ledger.sqlite'))
  const statements = new Map<string, Database.Statement<unknown[]>>()
  const prepared = (sql: string): Database.Statement<unknown[]> => {
    const statement = statements.get(sql) ?? db.prepare<unknown[]>(sql)
    statements.set(sql, statement)
    return statement
  }
  interface Answer {
    queries: Array<{ statement: Database.Statement<unknown[]>; values: unknown[] }>
    body: string
  }
  const routes = new Map<string, Answer>()

  const server = createServer(async (request, response) => {
    const { queries, body } = routes.get(request.url!)!
    for (const { statement, values } of queries) statement.all(...values)
    const isCompressed = acceptsGzip(request) && isWorthCompressing(body)
    const bytes = isCompressed ? await compressed(body) : Buffer.from(body)
    response
      .writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': bytes.length,
        ...(isCompressed && { 'Content-Encoding': 'gzip' }),
      })
      .end(bytes)
  })
  server.keepAliveTimeout = 600_000
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  process.on('message', ({ replies }: { replies: BareReply[] }) => {
    routes.clear()
    for (const { path, queries, body } of replies)
      routes.set(path, { queries: queries.map(({ sql, values }) => ({ statement: prepared(sql), values })), body })
    void listening.then(() => process.send!({ port: (server.address() as AddressInfo).port }))
  })
}
