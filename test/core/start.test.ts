/** Start and stop of the whole program: its messages when it cannot start, and what it leaves when it ends. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../support/folder.ts'
import { startServer, USERNAME, until } from '../support/server.ts'
import { ROOT } from '../support/sources.ts'
import '../support/long.ts'

interface Refusal {
  code: number | string | null | undefined
  stderr: string
}

const STRICT = { AV_PLUGINS_STRICT: '1' }

function tryToStart(env: Record<string, string>, ...args: string[]): Promise<Refusal & { stdout: string }> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_')))
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, 'dist/main.js'), ...args],
      { env: { ...inherited, AV_PORT: '0', ...env }, timeout: 30_000 },
      (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }),
    )
  })
}

/** The last line is one sentence, there is no stack, and supervisors understand the exit code. */
function assertRefused({ code, stderr }: Refusal, says: RegExp): void {
  const lines = stderr.trimEnd().split('\n')
  assert.equal(code, 1)
  assert.match(lines.at(-1)!, /^Archivolt could not (start|finish [a-z-]+)\. /)
  assert.match(lines.at(-1)!, says)
  assert.doesNotMatch(stderr, /^\s+at /m)
}

test('an unknown setting is named', async (t) => {
  assertRefused(
    await tryToStart({ AV_DATA_DIR: await temporaryFolder(t), AV_PROT: '1' }),
    /AV_PROT: there is no such setting \(did you mean AV_PORT\?\)/,
  )
})

test('a broken plugin is named with the reason if the start must fail because of it', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'plugins/tide'), { recursive: true })
  await writeFile(join(folder, 'plugins/tide/plugin.js'), `export default { name: 'tide', needs: ['moon'] }`)

  assertRefused(
    await tryToStart({ AV_DATA_DIR: join(folder, 'data'), AV_PLUGINS_DIR: join(folder, 'plugins'), ...STRICT }),
    /plugin tide needs the plugin moon, which is not installed/,
  )
})

test('a plugin whose setup fails may end the start, and nothing stays open', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'tide'))
  await writeFile(
    join(folder, 'tide/plugin.js'),
    `export default { name: 'tide', setup() { throw new Error('no water') } }`,
  )
  const env = { AV_DATA_DIR: join(folder, 'data') }

  assertRefused(await tryToStart({ ...env, ...STRICT, AV_PLUGINS_DIR: join(folder, 'tide') }), /plugin tide: no water/)
  await startServer(t, env.AV_DATA_DIR)
})

test('a plugin that cannot be built is left out by the name of its folder', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'tide'))
  await writeFile(join(folder, 'tide/plugin.ts'), 'export default {')
  const env = { AV_DATA_DIR: join(folder, 'data'), AV_PLUGINS_DIR: join(folder, 'tide') }

  assertRefused(
    await tryToStart({ ...env, ...STRICT }),
    /tide cannot be built: .* or start without it: AV_PLUGINS_OFF=tide$/,
  )
  await startServer(t, env.AV_DATA_DIR, { ...env, AV_PLUGINS_OFF: 'tide' })
})

test('an uncaught error of a plugin is logged with its name and the source line, and so is an unhandled rejection', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'tide'))
  await writeFile(
    join(folder, 'tide/basin.ts'),
    `// Nothing here.\nexport function drain(): never {\n  throw new Error('no water')\n}\n`,
  )
  const source = `import { defineRoute, Type } from 'archivolt'
    import { drain } from './basin.ts'
    const route = (path: string, handle: () => object) => defineRoute({ method: 'GET', path, access: 'open', summary: 'x', reply: Type.Object({}), handle })
    export default { name: 'tide', routes: [
      route('/api/late/', () => (void Promise.resolve().then(drain), {})),
      route('/api/fatal/', () => (setTimeout(drain), {})),
    ] }`
  await writeFile(join(folder, 'tide/plugin.ts'), source)
  const server = await startServer(t, join(folder, 'data'), { AV_PLUGINS_DIR: join(folder, 'tide') })

  assert.equal((await server.api('GET', '/api/late/')).status, 200)
  assert.equal((await server.api('GET', '/api/fatal/')).status, 200)
  assert.equal(await server.end('SIGTERM'), 0)

  const logged = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const errs = logged
    .filter(({ err }) => err)
    .map(({ level, err }) => [level, err.plugin, /tide\/basin\.ts:3:\d+/.test(err.stack)])
  assert.deepEqual(errs, [
    ['error', 'tide', true],
    ['error', 'tide', true],
  ])
})

test('an uncaught error during a plugin’s setup may end the start with its name', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'tide'))
  await writeFile(
    join(folder, 'tide/plugin.js'),
    `export default { name: 'tide', setup: () => new Promise(() => setTimeout(() => { throw new Error('no water') })) }`,
  )

  assertRefused(
    await tryToStart({ AV_DATA_DIR: join(folder, 'data'), AV_PLUGINS_DIR: join(folder, 'tide'), ...STRICT }),
    /plugin tide: an uncaught error: no water; correct it, or start without it: AV_PLUGINS_OFF=tide$/,
  )
})

test('a start leaves out broken plugins, says why, and attributes uncaught errors of a setup to its plugin', async (t) => {
  const folder = await temporaryFolder(t)
  const sources = {
    unbuilt: 'export default {',
    needing: `export default { name: 'needing', api: 1, needs: ['unbuilt'] }`,
    failing: `export default { name: 'failing', api: 1, setup() { throw new Error('no water') } }`,
    late: `import { spawn } from 'node:child_process'
      setTimeout(() => { throw new Error('too early') })
      export default { name: 'late', api: 1, setup() { spawn('/no/such/program') } }`,
  }
  for (const [name, source] of Object.entries(sources)) {
    await mkdir(join(folder, 'plugins', name), { recursive: true })
    await writeFile(join(folder, 'plugins', name, 'plugin.js'), source)
  }
  await mkdir(join(folder, 'empty'))
  const dirs = ['plugins', 'empty', 'gone'].map((name) => join(folder, name)).join()
  const env = { AV_DATA_DIR: join(folder, 'data'), AV_PLUGINS_DIR: dirs, AV_UNBUILT_HEIGHT: '3' }

  const server = await startServer(t, env.AV_DATA_DIR, env)
  const plugins = (await server.api('GET', '/api/plugin/')).body.filter((one: { built_in: boolean }) => !one.built_in)
  const told = (await server.api('GET', '/api/notification/')).body

  const faults = Object.fromEntries(plugins.map(({ name, fault }: { name: string; fault?: string }) => [name, fault]))
  assert.match(faults.unbuilt, /^plugin …\/unbuilt cannot be built: .* \(plugin\.js, line 1\)$/)
  assert.match(faults.needing, /needs the plugin unbuilt, which is left out because it is broken/)
  assert.equal(faults.failing, 'plugin failing: no water')
  assert.match(faults.gone, /cannot be read \(ENOENT\)/)
  assert.equal(faults.late, undefined)
  const late = plugins.find(({ name }: { name: string }) => name === 'late')
  assert.deepEqual([late.enabled, /ENOENT$/.test(late.last_failure.message)], [true, true])
  for (const name of ['unbuilt', 'needing', 'failing', 'gone'])
    assert.ok(
      told.some(
        ({ title, level, messages }: { title: string; level: string; messages: string[] }) =>
          title === 'A plugin was left out' && level === 'error' && messages[0] === `${name}: ${faults[name]}`,
      ),
      name,
    )
  assert.equal(server.output().split('no plugin found in ').length, 2)
  assert.equal((await tryToStart({ ...env, AV_DATA_DIR: join(folder, 'other') }, 'check')).code, 1)
})

test('a data folder that another process uses is refused', async (t) => {
  const folder = await temporaryFolder(t)
  await startServer(t, folder)

  assertRefused(await tryToStart({ AV_DATA_DIR: folder }), new RegExp(`already using the data folder ${folder}`))
  assertRefused(await tryToStart({ AV_DATA_DIR: folder }, 'rotate-key'), /already using the data folder/)
})

test('a damaged lock is reported with the advice to remove it, which works', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(
    join(folder, 'lock'),
    'not a lock at all, but something that is longer than a header of SQLite would be, which has a hundred bytes',
  )

  assertRefused(
    await tryToStart({ AV_DATA_DIR: folder }),
    /lock is damaged: remove it and start again\. It contains no data$/,
  )
  await rm(join(folder, 'lock'))
  await mkdir(join(folder, 'lock'))
  assertRefused(await tryToStart({ AV_DATA_DIR: folder }), /lock cannot be opened for writing: .*remove it/)
  await rm(join(folder, 'lock'), { recursive: true })
  await startServer(t, folder)
})

test('a data folder that cannot be created is named', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'data'), '')

  assertRefused(
    await tryToStart({ AV_DATA_DIR: join(folder, 'data') }),
    /data cannot be created or written \(a file is in the way\)/,
  )
  assertRefused(
    await tryToStart({ AV_DATA_DIR: join(folder, 'data/deeper') }),
    /deeper cannot be created or written \(a file is in the way\)/,
  )
})

test('a data folder on a file system that refuses folders is named, and the start ends', async () => {
  assertRefused(
    await tryToStart({ AV_DATA_DIR: '/proc/x/y' }),
    /\/proc\/x\/y cannot be created or written \(the system does not allow a folder here\): choose another location, or set AV_DATA_DIR$/,
  )
})

test('a library or picture folder that cannot be created is named, with its setting', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'file'), '')

  for (const setting of ['AV_MEDIA_DIR', 'AV_CACHE_DIR']) {
    const refusal = await tryToStart({ AV_DATA_DIR: join(folder, 'data'), [setting]: join(folder, 'file') })
    assertRefused(
      refusal,
      new RegExp(`file cannot be created or written \\(a file is in the way\\): move it away, or set ${setting}`),
    )
  }
})

test('a folder for snapshots that cannot be created is named, and the index is closed again', async (t) => {
  const dataDir = await temporaryFolder(t)
  await writeFile(join(dataDir, 'snapshots'), '')

  assertRefused(
    await tryToStart({ AV_DATA_DIR: dataDir }),
    /snapshots cannot be created or written \(a file is in the way\): move it away$/,
  )
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.startsWith('index.')),
    ['index.sqlite'],
  )
})

test('a plugin whose ledger migration fails is named', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'tide'))
  await writeFile(
    join(folder, 'tide/plugin.js'),
    `export default { name: 'tide', migrations: [{ number: 1, sql: 'CREATE TABEL tide_a (id)' }] }`,
  )

  assertRefused(
    await tryToStart({ AV_DATA_DIR: join(folder, 'data'), AV_PLUGINS_DIR: join(folder, 'tide'), ...STRICT }),
    /migration 1 of tide failed: near "TABEL".*AV_PLUGINS_OFF=tide$/,
  )
})

test('a port that is in use is named', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => void other.close())
  const { port } = other.address() as AddressInfo

  assertRefused(
    await tryToStart({ AV_DATA_DIR: await temporaryFolder(t), AV_PORT: String(port) }),
    new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is already in use`),
  )
})

test('an address that this machine does not have is named', async (t) => {
  assertRefused(
    await tryToStart({ AV_DATA_DIR: await temporaryFolder(t), AV_HOST: '192.0.2.1' }),
    /192\.0\.2\.1 is not an address of this machine/,
  )
})

test('the first start says where the password is, and nobody else can read it', async (t) => {
  const folder = await temporaryFolder(t)
  const server = await startServer(t, folder, { AV_USERNAME: '', AV_PASSWORD: '' })

  const path = join(folder, 'first-password')
  const password = (await readFile(path, 'utf8')).trim()
  assert.match(
    server.output(),
    new RegExp(`^Archivolt \\S+ listens on http:\\S+/ – sign in as admin, the password is in ${path}$`, 'm'),
  )
  assert.ok(!server.output().includes(password))
  assert.doesNotMatch(server.output(), /migration applied|index \w+: created/)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal((await stat(folder)).mode & 0o077, 0)
})

test('the next start prints only the address', async (t) => {
  const folder = await temporaryFolder(t)
  assert.equal(await (await startServer(t, folder)).end('SIGTERM'), 0)

  const server = await startServer(t, folder)

  assert.match(server.output(), /^Archivolt \d+\.\d+\.\d+ listens on http:\/\/127\.0\.0\.1:\d+\/\n$/m)
  assert.doesNotMatch(server.output(), /sign in/)
})

test('until the first sign-in, every start says where the first password is', async (t) => {
  const folder = await temporaryFolder(t)
  const env = { AV_USERNAME: '', AV_PASSWORD: '' }
  assert.equal(await (await startServer(t, folder, env)).end('SIGTERM'), 0)

  const server = await startServer(t, folder, env)

  assert.match(server.output(), /listens on .* – sign in as admin, the password is in .*\/first-password$/m)
})

const DEAF = `
import { definePlugin, defineTask, Type } from 'archivolt'
const task = defineTask({
  name: 'deaf.wait',
  title: 'Wait',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  resumable: true,
  run({ log }) {
    log.info('hears nothing')
    return new Promise(() => undefined)
  },
})
export default definePlugin({ name: 'deaf', tasks: [task] })
`

test('a job that does not end in time is requeued, and the server stops as usual', async (t) => {
  const [folder, plugins] = [await temporaryFolder(t), await temporaryFolder(t)]
  await mkdir(join(plugins, 'deaf'))
  await writeFile(join(plugins, 'deaf/plugin.ts'), DEAF)
  const server = await startServer(t, folder, { AV_PLUGINS_DIR: plugins })
  const ledger = new Database(join(folder, 'ledger.sqlite'), { readonly: true })
  t.after(() => ledger.close())
  const states = () => ledger.prepare('SELECT state FROM jobs WHERE task = ?').pluck().all('deaf.wait')
  await server.api('POST', '/api/task-name/deaf.wait/')
  // Its row says so earlier: a job that is claimed, but does not run yet, is requeued at once.
  await until(
    'the job runs',
    async () => server.output(),
    (output) => output.includes('hears nothing'),
    10_000,
  )

  assert.equal(await server.end('SIGTERM'), 0, server.output())

  assert.match(server.output(), /job did not end in time and was requeued/)
  assert.deepEqual(states(), ['PENDING'])
})

test('a new secret key revokes tokens; the password still works', async (t) => {
  const folder = await temporaryFolder(t)
  const before = await startServer(t, folder)
  await before.api('GET', '/api/ping/')
  const tokenOf = async (baseUrl: string) =>
    (
      (await (
        await fetch(`${baseUrl}/api/login/`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ username: USERNAME, password: 'a long enough password' }),
        })
      ).json()) as { token: string }
    ).token
  const token = await tokenOf(before.baseUrl)
  await before.end('SIGTERM')

  const rotated = await tryToStart({ AV_DATA_DIR: folder }, 'rotate-key')
  const after = await startServer(t, folder)

  assert.deepEqual(
    [rotated.code, rotated.stdout],
    [0, 'There is a new secret key: all sessions and tokens have ended\n'],
  )
  assert.equal((await after.api('GET', '/api/ping/', undefined, { Authorization: `Token ${token}` })).status, 401)
  assert.notEqual(await tokenOf(after.baseUrl), token)
})
