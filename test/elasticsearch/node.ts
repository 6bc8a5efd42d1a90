/** Runs one real Elasticsearch node on loopback, from the server that config/tools.sh has fetched. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chown, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const [BUNDLE = ''] = readFileSync(new URL('version', import.meta.url), 'utf8').split('\n')
const HOME = join(ROOT, '.cache/elasticsearch', BUNDLE)
const GUARD = fileURLToPath(new URL('guard.sh', import.meta.url))
const START_WITHIN_MS = 180_000
const STOP_WITHIN_MS = 30_000
/**
 * Below the system's range of ephemeral ports, so that no other program takes a port while the node starts or is
 * stopped.
 */
const PORTS = { first: 20_000, count: 12_000 }

export interface NodeOptions {
  /** Default: a free port. */
  port?: number
  heapMb?: number
  /** Additional lines for elasticsearch.yml. */
  settings?: string[]
}

export interface ElasticNode {
  readonly url: string
  /** A folder in which snapshots may be stored (path.repo). */
  readonly repository: string
  /** The log of its start, to find the reason of a failure. */
  readonly logFile: string
  pid(): number | undefined
  /** Resolves when the node answers. May be called again after `stop`: with the same port and data. */
  start(): Promise<void>
  /** Stops it as an operator would; `SIGKILL`: as a power failure would. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Stops it and removes its data. */
  close(): Promise<void>
}

/** @returns the reason why no node can be started here, or undefined */
export function whyNoElasticsearch(): string | undefined {
  if (process.platform !== 'linux') return 'Elasticsearch is tested on Linux only'
  if (!existsSync(join(HOME, 'complete')))
    return 'Elasticsearch has not been fetched: run make test ALL=1, with Java and Maven'
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'Elasticsearch needs Java 17 or newer'
  }
}

/** Creates the folders and the settings of a node, which runs after `start`. */
export async function makeNode({ port: wanted, heapMb = 512, settings = [] }: NodeOptions = {}): Promise<ElasticNode> {
  const port = wanted ?? (await freePort())
  const base = await mkdtemp(join(tmpdir(), 'av-elasticsearch-'))
  const at = (...names: string[]) => join(base, ...names)
  const [pidFile, logFile] = [at('logs/pid'), at('logs/start.log')]
  for (const folder of ['config', 'tmp', 'data', 'logs', 'repository']) await mkdir(at(folder))
  await copyFile(join(HOME, 'config/log4j2.properties'), at('config/log4j2.properties'))
  await writeFile(at('config/jvm.options'), jvmOptions(heapMb, base))
  await writeFile(at('config/elasticsearch.yml'), [...nodeSettings(port, base), ...settings, ''].join('\n'))
  for (const name of ['users', 'users_roles', 'roles.yml', 'role_mapping.yml']) await writeFile(at('config', name), '')

  const url = `http://127.0.0.1:${port}`
  let running: number | undefined

  async function start(): Promise<void> {
    // -d: the launcher returns when the node has started or failed.
    const launch = [
      '-Xms4m',
      '-Xmx64m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      `-Djava.io.tmpdir=${at('tmp')}`,
      '-Dcli.name=server',
      `-Dcli.script=${HOME}/bin/elasticsearch`,
      '-Dcli.libs=lib/tools/server-cli',
      `-Des.path.home=${HOME}`,
      `-Des.path.conf=${at('config')}`,
      '-Des.distribution.type=tar',
      '-cp',
      `${HOME}/lib/*:${HOME}/lib/cli-launcher/*`,
      'org.elasticsearch.launcher.CliToolLauncher',
      '-d',
      '-p',
      pidFile,
    ]
    const [program, args] = await asUser(base, 'java', launch)
    // The launcher searches its working folder for modules.
    const child = spawn(program, args, {
      cwd: HOME,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ES_TMPDIR: at('tmp'), ES_JAVA_OPTS: '' },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    const code = await new Promise<number | null>((resolve) => {
      const tooLong = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS)
      child.once('error', (error) => {
        said += error.message
        resolve(null)
      })
      child.once('exit', (value) => {
        clearTimeout(tooLong)
        resolve(value)
      })
    })
    await writeFile(logFile, said)
    if (code !== 0)
      throw new Error(
        `Elasticsearch did not start (code ${code}):\n${
          said
            .split('\n')
            .filter((line) => /ERROR|Caused by|exception/i.test(line))
            .slice(0, 8)
            .join('\n') || said.slice(-2000)
        }`,
      )
    running = Number(await readFile(pidFile, 'utf8'))
    // Ends the node when this process ends, even by kill -9.
    spawn('sh', [GUARD, String(process.pid), String(running), base], { detached: true, stdio: 'ignore' }).unref()
    for (const end = Date.now() + START_WITHIN_MS; !(await isServing(url)); await delay(100)) {
      if (Date.now() > end) throw new Error(`Elasticsearch runs, but does not answer as expected (see ${at('logs')})`)
    }
  }

  async function stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const pid = running
    if (pid === undefined) return
    running = undefined
    kill(pid, signal)
    for (const end = Date.now() + STOP_WITHIN_MS; isAlive(pid); await delay(50)) {
      if (Date.now() > end) kill(pid, 'SIGKILL')
    }
    await rm(pidFile, { force: true })
  }

  return {
    url,
    repository: at('repository'),
    logFile,
    pid: () => running,
    start,
    stop,
    async close() {
      await stop('SIGKILL')
      await rm(base, { recursive: true, force: true })
    },
  }
}

/** C1 only: it starts faster and needs less memory, and no test runs long enough to benefit from more. */
const jvmOptions = (heapMb: number, base: string): string =>
  [
    `-Xms128m`,
    `-Xmx${heapMb}m`,
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-XX:-AlwaysPreTouch',
    '-XX:+ExitOnOutOfMemoryError',
    `-XX:ErrorFile=${base}/logs/hs_err_pid%p.log`,
    `-Djava.io.tmpdir=${base}/tmp`,
    '',
  ].join('\n')

/**
 * Security is on, but anonymous requests may do everything: most tests need no account, and those about accounts still
 * find them enforced.
 * A full disk of this machine must not make indexes read-only.
 */
const nodeSettings = (port: number, base: string): string[] => [
  'cluster.name: archivolt-test',
  'node.name: archivolt-test',
  `path.data: ${base}/data`,
  `path.logs: ${base}/logs`,
  `path.repo: ["${base}/repository"]`,
  'network.host: 127.0.0.1',
  `http.port: ${port}`,
  'transport.port: 0',
  'discovery.type: single-node',
  'cluster.routing.allocation.disk.threshold_enabled: false',
  'cluster.max_shards_per_node: 5000',
  'xpack.security.enabled: true',
  'xpack.security.autoconfiguration.enabled: false',
  'xpack.security.authc.anonymous.username: anybody',
  'xpack.security.authc.anonymous.roles: superuser',
]

/**
 * The server refuses to run as root, so root runs it as nobody. It still may enter root's folders, because a checkout
 * may be inside one.
 * `no_setuid_fixup` makes access(2), which Java calls, respect that right.
 */
async function asUser(base: string, program: string, args: string[]): Promise<[string, string[]]> {
  if (process.getuid?.() !== 0) return [program, args]
  const [user, group] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, 'nobody'])))
  for (const folder of [base, ...['config', 'tmp', 'data', 'logs', 'repository'].map((name) => join(base, name))])
    await chown(folder, user!, group!)
  return [
    'setpriv',
    [
      `--reuid=${user}`,
      `--regid=${group}`,
      '--clear-groups',
      '--securebits=+no_setuid_fixup',
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
      program,
      ...args,
    ],
  ]
}

async function isServing(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(`${url}/_cluster/health?wait_for_status=yellow&timeout=20s`, {
      signal: AbortSignal.timeout(30_000),
    })
    return status === 200
  } catch {
    return false // not yet
  }
}

async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}

function kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A node whose parent does not wait for it remains as a zombie, which counts as ended. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
