/** An HTTP proxy on loopback that resolves every name to one server, and a certificate for such a name. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from './folder.ts'
import { listening } from './listening.ts'

export interface ForwardProxy {
  url: string
  /** The requests, oldest first. */
  asked: string[]
  headers: IncomingMessage['headers'][]
}

/**
 * Like a usual proxy, it forwards requests with an absolute address and creates tunnels, except to `forbidden.…`.
 * @param target  host and port to which every name resolves
 */
export async function aForwardProxy(t: TestContext, target: string): Promise<ForwardProxy> {
  const { hostname: host, port } = new URL(`http://${target}`)
  const [asked, seen]: [string[], IncomingMessage['headers'][]] = [[], []]
  const note = ({ method, url, headers }: IncomingMessage): void => {
    asked.push(`${method} ${url}`)
    seen.push(headers)
  }
  const server = createServer((incoming, reply) => {
    note(incoming)
    const { method, headers } = incoming
    const path = new URL(incoming.url!).pathname
    const onward = request({ host, port, method, headers, path, agent: false }, (answer) => {
      reply.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(reply)
    })
    onward.on('error', () => reply.destroy())
    // The client is gone; otherwise a stream would continue for ever.
    reply.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.on('connect', (incoming: IncomingMessage, socket) => {
    note(incoming)
    if (incoming.url!.startsWith('forbidden.')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const end of [socket, onward]) end.on('error', () => socket.destroy())
    socket.on('close', () => onward.destroy())
  })
  return { url: `http://${await listening(t, server)}`, asked, headers: seen }
}

/** Self-signed. */
export async function aCertificate(
  t: TestContext,
  name: string,
): Promise<{ cert: Buffer; key: Buffer; certPath: string }> {
  const folder = await temporaryFolder(t)
  const [certPath, keyPath] = [join(folder, 'certificate'), join(folder, 'key')]
  const made = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-days', '2']
  const files = ['-keyout', keyPath, '-out', certPath]
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made, ...files])
  return { cert: await readFile(certPath), key: await readFile(keyPath), certPath }
}
