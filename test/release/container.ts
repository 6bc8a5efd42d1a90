/**
 * Builds the container with buildah, and starts it as a user who can write only to /data and /tmp. No image registry is
 * used: the base images are made from Debian's packages and npm's package of Node.
 */
import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { releaseOf } from '../../config/build-release.ts'
import { nodePackage } from '../../config/native.ts'
import { addUpdateRemove } from '../support/plugin-by-command.ts'
import { spokenBy } from '../support/said.ts'
import { ROOT } from '../support/sources.ts'

const PACKAGES = ['buildah', 'crun', 'netavark', 'mmdebstrap', 'docker-compose']
const MOST_BYTES = 600e6
const NODE = 24
/** Any user except root, unknown to the image. */
const USER = '4711:4711'
/** The settings with which this machine reaches registries. */
const MACHINE = [
  '/etc/ssl/certs',
  '/usr/share/ca-certificates',
  '/usr/local/share/ca-certificates',
  '/etc/apt',
  '/etc/resolv.conf',
]
const [SYSTEM, BASE, IMAGE] = ['system', 'node', 'made'].map((name) => `localhost/archivolt-test-${name}`) as [
  string,
  string,
  string,
]
const ENV = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' }

const run = async (program: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { cwd: ROOT, env: ENV, maxBuffer: 16 << 20 })).stdout.trim()
const isThere = (program: string): Promise<boolean> =>
  run('sh', '-c', `command -v ${program}`).then(
    () => true,
    () => false,
  )

/** @returns the reason why it cannot be built here */
async function missing(): Promise<string | false> {
  const all = async () => (await Promise.all(['buildah', 'mmdebstrap', 'docker-compose'].map(isThere))).every(Boolean)
  if (process.getuid?.() !== 0) return 'it is built by root'
  if (!(await all())) {
    const install = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${PACKAGES.join(' ')}`
    await run('sh', '-c', install).catch(() => undefined)
  }
  return (await all()) ? false : `it needs ${PACKAGES.join(', ')}`
}

/** Creates the base images: Debian without its documentation, and the same with Node and npm. */
async function makeBases(folder: string): Promise<void> {
  const archive = join(folder, 'system.tar')
  const without = ['doc', 'man', 'info', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
  await run('mmdebstrap', '--variant=apt', '--include=ca-certificates', ...without, 'bookworm', archive)
  const container = await run('buildah', 'from', 'scratch')
  await run('buildah', 'add', '-q', container, archive, '/')
  await run('buildah', 'commit', '-q', container, SYSTEM)
  const [bin, lib] = ['/usr/local/bin', '/usr/local/lib/node_modules/npm']
  await run('buildah', 'copy', '-q', container, join(await nodePackage(NODE, 'x64'), 'bin/node'), `${bin}/node`)
  await run('buildah', 'copy', '-q', container, join(await run('npm', 'root', '-g'), 'npm'), lib)
  await run('buildah', 'run', container, '--', 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', `${bin}/npm`)
  // If registries are reached with a certificate of this machine.
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env
  if (certificates) await run('buildah', 'config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container)
  await run('buildah', 'commit', '-q', '--rm', container, BASE)
}

async function build(folder: string): Promise<void> {
  await makeBases(folder)
  const machine = MACHINE.flatMap((path) => ['-v', `${path}:${path}:ro`])
  const given = [`NODE=${BASE}`, `SYSTEM=${SYSTEM}`, `RELEASE=${relative(ROOT, releaseOf('x64'))}`]
  const how = ['--format', 'docker', '--network', 'host', '-f', 'config/container/Containerfile', '-t', IMAGE]
  await run('buildah', 'build', '-q', ...machine, ...given.flatMap((arg) => ['--build-arg', arg]), ...how, '.')
}

/** Ended with its children when the test ends, however it ends. */
function spawned(t: TestContext, program: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = spawn(program, args, { env: ENV, detached: true })
  t.after(() => child.exitCode === null && process.kill(-child.pid!, 'SIGKILL'))
  return child
}

async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('the container is small, and starts as any user', { skip: await missing() }, async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-container-'))
  const data = join(folder, 'data')
  await mkdir(data)
  await chmod(folder, 0o755)
  await chmod(data, 0o777)
  t.after(async () => {
    await run('buildah', 'rmi', '-f', IMAGE, BASE, SYSTEM).catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  })
  await build(folder)
  const container = await run('buildah', 'from', '--pull-never', IMAGE)
  t.after(() => run('buildah', 'rm', container).catch(() => undefined))
  // In buildah, the image's volume hides the folder that is mounted there; in podman and docker it does not.
  await run('buildah', 'config', '--volume', '/data-', container)

  const [size] = (await run('buildah', 'run', '--user', '0', container, '--', 'du', '-sbx', '/')).split('\t')
  t.diagnostic(`${(Number(size) / 1e6).toFixed(0)} MB`)
  assert.ok(Number(size) < MOST_BYTES, `${size} bytes`)

  const port = String(await aFreePort())
  const inside = ['run', '--network', 'host', '--user', USER, '-v', `${data}:/data`, container, '--', 'env']
  const settings = ['AV_HOST=127.0.0.1', `AV_PORT=${port}`]
  const inspected = JSON.parse(await run('buildah', 'inspect', '--type', 'image', IMAGE)) as {
    Docker: { config: { User: string; Env: string[]; Healthcheck: { Test: string[] } } }
  }
  const { User, Healthcheck } = inspected.Docker.config
  const isHealthy = () =>
    run('buildah', ...inside, ...settings, ...Healthcheck.Test.slice(1)).then(
      () => true,
      () => false,
    )
  assert.equal(User, '1000:1000')
  assert.equal(await isHealthy(), false)
  const server = spawned(t, 'buildah', [...inside, ...settings, 'archivolt', 'start'])
  await spokenBy(server)(/listens on (http:\S+)/)
  assert.equal(await isHealthy(), true)
  const check = await run('buildah', ...inside, 'archivolt', 'check')
  for (const what of ['Ledger', 'yt-dlp', 'ffmpeg', 'ffprobe']) assert.match(check, new RegExp(`^ok {5}${what}: `, 'm'))
  const written = 'touch /opt/archivolt/x || touch /usr/x || touch /x'
  await assert.rejects(run('buildah', ...inside, 'sh', '-c', written), 'nothing but /data and /tmp is written')
  server.kill('SIGTERM')
  await once(server, 'exit')

  // The settings of compose.yml. buildah cannot mount the root read-only, so mounts do the same.
  const compose = await run('docker-compose', '-f', 'config/container/compose.yml', 'config')
  for (const said of ['read_only: true', 'user: 1000:1000', '- /tmp', '- ALL', ':/data:rw'])
    assert.ok(compose.includes(said), `${said} in ${compose}`)
  const root = join(folder, 'root')
  await mkdir(root)
  const env = [...inspected.Docker.config.Env, ...settings].map((one) => `'${one}'`).join(' ')
  const mounts = [
    `mount --bind ${await run('buildah', 'mount', container)} ${root}`,
    `mount -o remount,bind,ro ${root}`,
    `mount --bind ${data} ${root}/data`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
  ]
  const enter = `exec chroot --userspec=${USER} ${root} env -i ${env}`
  const readOnly = (command: string) => ['-m', 'sh', '-c', [...mounts, `${enter} ${command}`].join(' && ')]
  await assert.rejects(
    run('unshare', ...readOnly('sh -c "touch /tmp/x && touch /opt/archivolt/x"')),
    /Read-only file system/,
  )
  assert.match(await run('unshare', ...readOnly('archivolt check')), /^ok {5}yt-dlp: /m)
  const plugin = (...words: string[]) => run('unshare', ...readOnly(`archivolt plugin ${words.join(' ')}`))
  await addUpdateRemove(join(data, 'tide'), '/data/tide', plugin, async () => {
    const again = spawned(t, 'unshare', readOnly('archivolt start'))
    await spokenBy(again)(/listens on (http:\S+)/)
    const reply = await fetch(`http://127.0.0.1:${port}/api/tide/`)
    const answer = reply.ok ? await reply.json() : undefined
    again.kill('SIGTERM')
    assert.deepEqual(await once(again, 'exit'), [0, null])
    return answer
  })
})
