/** Starts a real nginx, lighttpd or Caddy with our recipe for it; only ports, names and certificates are changed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { temporaryFolder } from './folder.ts'
import { lastFirst, type Scope } from './last-first.ts'
import { ROOT } from './sources.ts'

export type ProxyProgram = 'nginx' | 'lighttpd' | 'caddy'
const RECIPES: Record<ProxyProgram, string> = {
  nginx: 'nginx.conf',
  lighttpd: 'lighttpd.conf',
  caddy: 'Caddyfile',
}
const STARTS = { nginx: startNginx, lighttpd: startLighttpd, caddy: startCaddy }
const TRIES = 200
const PAUSE_MS = 50

export const isInstalled = (program: string): Promise<boolean> =>
  promisify(execFile)('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  )

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** @returns its address, with the path of the recipe */
export async function startProxy(scope: Scope, program: ProxyProgram, server: number): Promise<string> {
  const folder = await temporaryFolder(scope)
  const port = await freePort()
  const recipe = (await readFile(join(ROOT, 'config/proxies', RECIPES[program]), 'utf8'))
    .replace('127.0.0.1:8000', `127.0.0.1:${server}`)
    .replace('"port" => 8000', `"port" => ${server}`)
  const child = await STARTS[program](recipe, folder, port)
  const ended = once(child, 'exit')
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => void (said += chunk.toString()))
  lastFirst(scope).after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  for (let tried = 0; !(await answers(port)); tried++) {
    if (child.exitCode !== null || tried === TRIES) throw new Error(`${program} does not listen: ${said}`)
    await delay(PAUSE_MS)
  }
  return `https://localhost:${port}/archive/`
}

async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, 'certificate'), join(folder, 'key')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-keyout', key, '-out', certificate]
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject])
  return { certificate, key }
}

async function startLighttpd(recipe: string, folder: string, port: number): Promise<ChildProcess> {
  const { certificate, key } = await makeCertificate(folder)
  const changed = recipe
    .replace('":443"', `"127.0.0.1:${port}"`)
    .replace('/etc/ssl/films.example.pem', certificate)
    .replace('/etc/ssl/films.example.key', key)
  const config = join(folder, 'lighttpd.conf')
  // In addition to the recipe, it listens without https on a port that nobody uses.
  const own = { 'server.document-root': folder, 'server.bind': '127.0.0.1', 'server.port': await freePort() }
  const lines = Object.entries(own).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  await writeFile(config, `${[...lines, `server.upload-dirs = ( "${folder}" )`].join('\n')}\n${changed}`)
  return spawn('lighttpd', ['-D', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
}

async function startNginx(recipe: string, folder: string, port: number): Promise<ChildProcess> {
  const { certificate, key } = await makeCertificate(folder)
  const changed = recipe
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('films.example;', 'localhost;')
    .replace('/etc/ssl/films.example.pem', certificate)
    .replace('/etc/ssl/films.example.key', key)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const config = join(folder, 'nginx.conf')
  // Its workers read files that only our user can read.
  const user = process.getuid!() === 0 ? 'user root;' : ''
  await writeFile(
    config,
    `${user} daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {} http { access_log off; ${temporary.join(' ')}\n${changed}}`,
  )
  return spawn('nginx', ['-p', folder, '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] })
}

async function startCaddy(recipe: string, folder: string, port: number): Promise<ChildProcess> {
  const home = join(folder, 'home')
  await mkdir(home)
  const options = `{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n`
  await writeFile(join(folder, 'Caddyfile'), options + recipe.replace('films.example {', `localhost:${port} {`))
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home }
  return spawn('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** Includes the certificate, which Caddy creates only once it listens. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false })
    const settle = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    socket.once('secureConnect', () => settle(true))
    socket.once('error', () => settle(false))
  })
