/** The command line as people type it: what it does besides serving, and its messages if it cannot. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { type Machine, type Release, refusal } from '../../../config/cli/release.ts'
import { defineCommand } from '../../../plugins/plugin-kit/public.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { START, startServer, USERNAME } from '../../support/server.ts'
import { ROOT } from '../../support/sources.ts'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

interface Said {
  code: number
  stdout: string
  stderr: string
}

function archivolt(env: Record<string, string>, args: string[], typed = '', program = START): Promise<Said> {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_')))
  return new Promise((resolve) => {
    const child = execFile(program, args, { env: { ...clean, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
    child.stdin!.on('error', () => undefined) // it may end without reading: its exit code tells
    child.stdin!.end(typed)
  })
}

test('index-move copies the documents of a data folder to an external index', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  await app.close()
  const env = {
    AV_DATA_DIR: app.dataDir,
    AV_PLUGINS_DIR: join(ROOT, 'test/data/plugins/memory'),
    AV_MEMORY_INDEX: 'true',
  }
  const move = (more: object, target: string) => archivolt({ ...env, ...more }, ['index-move', target])

  assert.match(
    (await move({}, 'elsewhere')).stderr,
    /^Unknown index: elsewhere\. Use archivolt index-move elasticsearch or archivolt index-move memory or archivolt index-move embedded/,
  )
  assert.match((await move({ AV_MEMORY_INDEX: '' }, 'memory')).stderr, /Set AV_MEMORY_INDEX \(and the settings/)
  const moved = await move({}, 'memory')

  assert.match(moved.stdout, /Copying all documents from the embedded index to memory\n/)
  assert.match(
    moved.stdout,
    /All 3 documents are in memory; the counts match \(3 written now\)\. Start the server with AV_MEMORY_INDEX as it is set now; the embedded index was not changed/,
  )
})

test('index-move explains why it moves nothing if the index is lost', async (t) => {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'v1' }))
  await app.close()
  await rm(join(app.dataDir, 'index.sqlite'))
  const env = {
    AV_DATA_DIR: app.dataDir,
    AV_PLUGINS_DIR: join(ROOT, 'test/data/plugins/memory'),
    AV_MEMORY_INDEX: 'true',
  }

  const { code, stderr } = await archivolt(env, ['index-move', 'memory'])

  assert.equal(code, 1)
  assert.match(
    stderr,
    /The index file index\.sqlite was missing: nothing was moved\. Restore a snapshot or a backup first/,
  )
})

test('the help lists every command, and each command shows its usage', async (t) => {
  const { stdout } = await archivolt({}, ['--help'])
  const names = [...stdout.matchAll(/^ {2}([a-z][a-z -]*?)(?: \[?<\w+>\]?)? {2,}\S/gm)].map(([, name]) => name!)

  assert.deepEqual(names.toSorted(), [
    ...[
      'backup',
      'check',
      'compare',
      'index-move',
      'plugin add',
      'plugin list',
      'plugin remove',
      'plugin update',
      'rebuild',
    ],
    ...['restore', 'rotate-key', 'setup', 'start', 'user add', 'user password', 'user totp-off'],
  ])
  for (const document of ['config/README.md', 'config/upkeep.md']) {
    const text = await readFile(join(ROOT, document), 'utf8')
    const told = [
      ...text.matchAll(
        /(?:^ {4}| archivolt\/|`|AV_DATA_DIR=\S+ )archivolt ([a-z-]+(?: (?:add|list|update|remove|password|totp-off))?)/gm,
      ),
    ].map(([, name]) => name!)
    assert.ok(told.length > 3, document)
    assert.deepEqual(
      told.filter((name) => !names.includes(name)),
      [],
      document,
    )
  }
  const link = join(await temporaryFolder(t), 'archivolt')
  await symlink(START, link)
  for (const name of names) {
    const help = await archivolt({}, [...name.split(' '), '--help'], '', link)
    assert.deepEqual([help.code, help.stdout.startsWith(`archivolt ${name}`)], [0, true], help.stderr)
  }
  assert.match((await archivolt({}, ['--version'])).stdout, /^Archivolt \d+\.\d+\.\d+\n$/)
})

test('setup finds its script', async () => {
  const { code, stderr } = await archivolt({ AV_YTDLP: '/bin/true', AV_APPRISE: '/bin/true' }, ['setup'])

  assert.equal(code, 0, stderr)
  assert.match(stderr, /^Everything is installed/m)
})

const REFUSED: Array<[what: string, args: string[], says: RegExp]> = [
  ['a command that there is not', ['bakcup'], /^Unknown command: bakcup\. Run archivolt --help for a list/],
  [
    'the first word of several commands alone',
    ['user'],
    /^Incomplete command: user\. Use archivolt user add <name>, or archivolt user password <name>, or/,
  ],
  [
    'a second word that there is not',
    ['user', 'ad', 'ann'],
    /^Unknown command: user ad\. Use archivolt user add <name>, or/,
  ],
  [
    'a folder that is not there',
    ['rotate-key'],
    /^Archivolt could not finish rotate-key\. The data folder .*nowhere does not exist: set AV_DATA_DIR/,
  ],
  [
    'an option that there is not',
    ['backup', '--al'],
    /^Unknown option '--al'\. Usage: archivolt backup \[--all\] \[--passphrase\]$/m,
  ],
  ['what is missing', ['restore'], /^Missing <file>\. Usage: archivolt restore <file> \[--yes\]/],
  ['what is too much', ['rotate-key', 'now'], /^Unexpected argument: now\. Usage: archivolt rotate-key$/m],
  ['a folder without an archive, and makes none', ['user', 'add', 'ann'], /no archive in .*nowhere: set AV_DATA_DIR/],
]
for (const [what, args, says] of REFUSED) {
  test(`it refuses ${what} with a sentence`, async (t) => {
    const folder = await temporaryFolder(t)
    const { code, stderr } = await archivolt({ AV_DATA_DIR: join(folder, 'nowhere') }, args)

    assert.equal(code, 1)
    assert.match(stderr, says)
    assert.doesNotMatch(stderr, /^\s+at /m)
    assert.deepEqual(await readdir(folder), [])
  })
}

test('an account is added, and a forgotten password is replaced, while no server runs', async (t) => {
  const folder = await temporaryFolder(t)
  const env = { AV_DATA_DIR: folder }
  const first = await startServer(t, folder)
  assert.match(
    (await archivolt(env, ['user', 'add', 'ann'], 'long enough for all\n')).stderr,
    /already using the data folder/,
  )
  await first.end('SIGTERM')

  assert.match(
    (await archivolt(env, ['user', 'add', 'ann'], 'short\n')).stderr,
    /password must have at least 12 characters/,
  )
  assert.match((await archivolt(env, ['user', 'add', 'ann'])).stderr, /standard input is empty/)
  const added = await archivolt(env, ['user', 'add', 'ann', '--admin'], 'long enough for all\n')
  const changed = await archivolt(env, ['user', 'password', USERNAME], 'another long one\n')

  assert.equal(added.stdout, 'Account ann added as an admin\n')
  assert.equal(changed.stdout, `${USERNAME} has a new password\n`)
  assert.match(
    (await archivolt(env, ['user', 'password', 'bob'], 'x')).stderr,
    new RegExp(`No account named “bob”. Accounts: ${USERNAME}, ann`),
  )
  const server = await startServer(t, folder, { AV_PASSWORD: 'another long one' })
  assert.deepEqual(
    (await server.api('GET', '/api/user/')).body.map((one: { username: string; is_staff: boolean }) => [
      one.username,
      one.is_staff,
    ]),
    [
      [USERNAME, true],
      ['ann', true],
    ],
  )
})

test('a backup is created and restored while no server runs; without --yes it is only previewed', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await app.close()
  const env = { AV_DATA_DIR: app.dataDir }

  const made = await archivolt(env, ['backup'])
  const [, file] = /^All documents are in (\/.*\.zip)\n$/.exec(made.stdout)!
  const other = await testApp(t)
  await other.close()
  const there = { AV_DATA_DIR: other.dataDir }
  await rename(file!, join(other.dataDir, file!.split('/').at(-1)!))
  const told = await archivolt(there, ['restore', join(other.dataDir, file!.split('/').at(-1)!)])
  const done = await archivolt(there, ['restore', file!.split('/').at(-1)!, '--yes'])

  assert.match(
    told.stdout,
    /video: 0 now; 1 would be added.*\n[\s\S]*Nothing was changed\. To apply the changes: archivolt restore/,
  )
  assert.match(done.stdout, /zip restored: 2 documents, 0 skipped\n/, done.stderr)
  assert.match((await archivolt(there, ['restore', 'none.zip'])).stderr, /none\.zip/)
})

test('check reports problems with their remedies, also while the server runs', async (t) => {
  const folder = await temporaryFolder(t)
  await startServer(t, folder)

  const { code, stdout, stderr } = await archivolt({ AV_DATA_DIR: folder, AV_FFMPEG: '/nowhere/ffmpeg' }, ['check'])

  assert.equal(code, 1)
  for (const what of ['Settings', 'Data folder', 'Ledger', 'Secret key', 'Embedded index'])
    assert.match(stdout, new RegExp(`^ok {5}${what}: `, 'm'))
  assert.match(stdout, /^WRONG {2}ffmpeg: it is missing or does not start: install ffmpeg/m)
  assert.match(stderr, /\d of \d+ checks failed/)
})

test('without an archive, check creates no folder and rotate-key no key', async (t) => {
  const folder = await temporaryFolder(t)
  const missing = join(folder, 'missing')

  const checked = await archivolt({ AV_DATA_DIR: missing }, ['check'])
  const rotated = await archivolt({ AV_DATA_DIR: folder }, ['rotate-key'])

  assert.match(checked.stdout, /missing does not exist yet: the first start creates it/)
  assert.match(rotated.stderr, /There is no archive in .*: set AV_DATA_DIR to its data folder/)
  assert.deepEqual(await readdir(folder), [])
})

test('check says why the first start cannot create the data folder', async (t) => {
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, '')

  for (const dataDir of [file, join(file, 'data')]) {
    const { stdout } = await archivolt({ AV_DATA_DIR: dataDir }, ['check'])

    assert.match(stdout, /^WRONG {2}Data folder: .*file cannot be written \(a file is in the way\): move it away$/m)
  }
})

test('check builds the pages of plugins and applies their migrations to a copy, and changes nothing', async (t) => {
  const folder = await temporaryFolder(t)
  await (await startServer(t, folder)).end('SIGTERM')
  const plugins = {
    tide: `{ migrations: [{ number: 1, sql: 'CREATE TABLE tide_mark (id INTEGER) STRICT' }] }`,
    ebb: `{ migrations: [{ number: 1, sql: 'CREATE TABLE ebb_mark (' }] }`,
    moon: `{ page: { title: 'Moon', module: new URL('./none.ts', import.meta.url) } }`,
  }
  for (const [name, manifest] of Object.entries(plugins)) {
    await mkdir(join(folder, 'plugins', name), { recursive: true })
    await writeFile(join(folder, 'plugins', name, 'plugin.js'), `export default { name: '${name}', ...${manifest} }`)
  }

  const { stdout } = await archivolt({ AV_DATA_DIR: folder }, ['check'])

  assert.match(stdout, /^ok {5}Plugin tide: its pages can be built, and its tables created/m)
  assert.match(stdout, /^WRONG {2}Plugin ebb: Ledger migration 1 of ebb failed: incomplete input/m)
  assert.match(stdout, /^WRONG {2}Plugin moon: .*its page cannot be built/m)
  const ledger = new Database(join(folder, 'ledger.sqlite'), { readonly: true })
  const made = ledger.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'tide_mark'").get()
  ledger.close()
  assert.equal(made, undefined)
})

test('check reports a damaged ledger', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'ledger.sqlite'), 'no database at all, and longer than a header'.repeat(100))

  const { stdout } = await archivolt({ AV_DATA_DIR: folder }, ['check'])

  assert.match(stdout, /^WRONG {2}Ledger: .*; start the server: it will use the newest copy/m)
})

test('check reports secrets that the key does not open, and rotate-key keeps those that it opens', async (t) => {
  const folder = await temporaryFolder(t)
  const server = await startServer(t, folder)
  const url = 'json://name:word@127.0.0.1/hook'
  const added = await server.api('POST', '/api/schedule/notification/', { task_name: 'download_pending', url })
  assert.equal(added.status, 200)
  await server.end('SIGTERM')
  const env = { AV_DATA_DIR: folder }

  assert.match((await archivolt(env, ['rotate-key'])).stdout, /ended; secrets encrypted with the new key: 1\n/)
  assert.doesNotMatch((await archivolt(env, ['check'])).stdout, /WRONG {2}Secrets/)
  await rename(join(folder, 'secret.key'), join(folder, 'elsewhere'))

  const told =
    /there are secrets that were encrypted with another secret key \(1 in outgoing_urls\.url\): put the former secret\.key/
  assert.match((await archivolt(env, ['check'])).stdout, told)
  assert.match((await archivolt(env, ['rotate-key'])).stdout, new RegExp(told.source, 'i'))
  await rename(join(folder, 'elsewhere'), join(folder, 'secret.key'))
  assert.doesNotMatch((await archivolt(env, ['check'])).stdout, /WRONG {2}Secrets/)
})

test('an outdated, broken or missing Node is reported before anything is loaded', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'bin'))
  for (const name of ['sh', 'dirname', 'readlink']) await symlink(`/usr/bin/${name}`, join(folder, 'bin', name))
  const env = { PATH: join(folder, 'bin') }

  assert.match((await archivolt(env, ['start'])).stderr, /needs Node 20\.11 or newer, but node is not on PATH/)
  await writeFile(join(folder, 'bin/node'), '#!/bin/sh\necho v18.20.4\n')
  await chmod(join(folder, 'bin/node'), 0o755)
  assert.match((await archivolt(env, ['start'])).stderr, /needs Node 20\.11 or newer, but this is v18\.20\.4/)
  await writeFile(join(folder, 'bin/node'), '#!/bin/sh\necho "node: --x is not allowed in NODE_OPTIONS" >&2; exit 9\n')
  assert.match(
    (await archivolt(env, ['start'])).stderr,
    /^Node does not start: node: --x is not allowed in NODE_OPTIONS/,
  )
})

const RELEASE: Release = {
  version: '1.0.0',
  platform: 'linux',
  arch: 'x64',
  libc: 'glibc',
  nodeApi: 10,
  nodes: { 115: 20, 127: 22 },
}
const HERE: Machine = { platform: 'linux', arch: 'x64', libc: 'glibc', node: '22.1.0', nodeApi: 9, modules: '127' }
const MACHINES: Array<[what: string, here: Partial<Machine>, says: RegExp | undefined]> = [
  ['its own machine', {}, undefined],
  [
    'another processor',
    { arch: 'arm64' },
    /for linux x64 glibc, but this machine is linux arm64 glibc: install archivolt-1\.0\.0-linux-arm64\.tar\.gz/,
  ],
  ['musl', { libc: 'musl' }, /this machine is linux x64 musl: install archivolt-1\.0\.0-linux-x64-musl\.tar\.gz/],
  [
    'another system',
    { platform: 'darwin', libc: undefined },
    /this machine is darwin x64: .* or build from the sources/,
  ],
  [
    'a Node without its SQLite',
    { modules: '131', node: '23.1.0' },
    /runs on Node 20, and on Node 22 or newer, but this is Node 23\.1\.0: install Node 24/,
  ],
  ['a Node that came after it', { modules: '160', nodeApi: 11, node: '30.1.0' }, undefined],
]
for (const [what, here, says] of MACHINES) {
  test(`a release on ${what} ${says ? 'says which is needed' : 'starts'}`, () => {
    const said = refusal(RELEASE, { ...HERE, ...here })

    if (says) assert.match(said!, says)
    else assert.equal(said, undefined)
  })
}

test('a test app runs a command as typed: with options, secrets, help and refusals', async (t) => {
  const app = await testApp(t)
  const other = 'another long one'
  const before = app.app

  assert.deepEqual(await app.command('user add ann --admin', { secrets: [other] }), {
    code: 0,
    said: ['Account ann added as an admin'],
  })
  assert.notEqual(app.app, before)
  assert.equal((await app.as('nobody').post('/api/user/login/', { username: 'ann', password: other })).status, 204)
  const refusals: Array<[typed: string | string[], error: string]> = [
    ['user add eve', 'Password: the test has no answer; give it in `secrets`'],
    ['bakcup', 'Unknown command: bakcup. Run archivolt --help for a list'],
    ['user add', 'Missing <name>. Usage: archivolt user add <name> [--admin] [--download]'],
    [['user', 'password', 'an na'], 'No account named “an na”. Accounts: admin, user, ann'],
  ]
  for (const [typed, error] of refusals) assert.deepEqual(await app.command(typed), { code: 1, said: [], error })
  assert.match((await app.command('user add --help')).said[0]!, /^archivolt user add <name>\n/)
  await app.close()
  assert.equal((await app.command('user password ann', { secrets: [other] })).code, 0)
  assert.throws(() => app.app, /closed/)
})

test("a plugin's command that fails prints one sentence, and the server starts afterwards", async (t) => {
  const fails = defineCommand({
    name: 'tide fail',
    summary: 'x',
    run: async () => {
      throw new TypeError('no tide')
    },
  })
  const app = await testApp(t, { outside: [{ name: 'tide', commands: [fails] }] })

  assert.deepEqual(await app.command('tide fail'), { code: 1, said: [], error: 'no tide' })
  assert.equal((await app.as('user').get('/api/ping/')).status, 200)
})
