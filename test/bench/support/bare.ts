/**
 * What our server is compared with: a bare node:http server in a process of its own. For each request it runs one
 * prepared statement, the plain one that finds the same rows and reads the same texts in the same index file, and sends
 * the bytes that our server answers.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Database from 'better-sqlite3'
import { startPeer } from './processes.ts'
import type { Scope } from './report.ts'

export interface BareReply {
  path: string
  sql: string
  values: Array<string | number>
  /** As our server answered it. */
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
  const statements = new Map<string, Database.Statement<unknown[]>>()
  const routes = new Map<string, { statement: Database.Statement<unknown[]>; values: unknown[]; body: string }>()

  const server = createServer((request, response) => {
    const { statement, values, body } = routes.get(request.url!)!
    statement.all(...values)
    const bytes = Buffer.from(body)
    response
      .writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': bytes.length })
      .end(bytes)
  })
  server.keepAliveTimeout = 600_000
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  process.on('message', ({ replies }: { replies: BareReply[] }) => {
    routes.clear()
    for (const { path, sql, values, body } of replies) {
      const statement = statements.get(sql) ?? db.prepare<unknown[]>(sql)
      statements.set(sql, statement)
      routes.set(path, { statement, values, body })
    }
    void listening.then(() => process.send!({ port: (server.address() as AddressInfo).port }))
  })
}
