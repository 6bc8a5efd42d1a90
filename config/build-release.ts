/**
 * Builds the releases for people who do not build from sources: `make release` writes a tarball for each kind of
 * machine to release/.
 */
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../package.json' with { type: 'json' }
import { bundle } from './build.ts'
import { NODE_API } from './cli/binding.ts'
import { fileOf, type Release } from './cli/release.ts'
import {
  binding,
  npmPackage,
  OLDER_NODES,
  OLDER_SQLITE,
  olderBinding,
  run,
  SQLITE,
  type Target,
  versionOf,
} from './native.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The names for `make release FOR=`. */
const TARGETS: Readonly<Record<string, Target>> = {
  x64: { arch: 'x64', libc: 'glibc' },
  arm64: { arch: 'arm64', libc: 'glibc' },
  'x64-musl': { arch: 'x64', libc: 'musl' },
  'arm64-musl': { arch: 'arm64', libc: 'musl' },
}
/** Packages besides SQLite that the server bundle does not contain. */
const RUNTIME = ['esbuild', '@elastic/elasticsearch']
/**
 * Parts of these packages that are left out: files for developers, nested folders of packages, which are copied
 * separately, and a binary.
 */
const NOT_COPIED = /\.(map|d\.[cm]?ts)$|\/node_modules$|\/node_modules\/esbuild\/bin$/
/** The older better-sqlite3 needs these to find its binding. */
const FIND_BINDING = { bindings: '1.5.0', 'file-uri-to-path': '1.0.0' }
/** Files that are the same in a release and in the source tree. */
const COPIED = [
  ...['LICENSE', 'README.md', 'package.json'],
  ...[
    'config/archivolt',
    'config/tools.sh',
    'config/README.md',
    'config/CHANGELOG.md',
    'config/systemd',
    'config/pictures',
  ],
  ...['plugins/platform', 'plugins/notification/requirements.txt'],
]
/** Files in a plugin's folder that are not bundled. */
const LIES_BESIDE = /\.(py|txt)$/
const PYTHONS = ['3.11', '3.12', '3.13', '3.14']
const WHEELS = ['plugins/platform/requirements.txt', 'plugins/notification/requirements.txt']
/** pip's names of the platforms for which a wheel may be built. */
const PLATFORMS: Readonly<Record<Target['libc'], readonly string[]>> = {
  glibc: ['manylinux_2_28', 'manylinux_2_17', 'manylinux2014'],
  musl: ['musllinux_1_2', 'musllinux_1_1'],
}

/** @returns the path of the tarball */
async function buildRelease(target: Target, outdir: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-release-'))
  try {
    const machine = { version: manifest.version, platform: 'linux', ...target }
    const name = nameFor(target)
    const top = join(folder, name.replace(/\.tar\.gz$/, ''))
    await mkdir(top)
    await bundle(join(top, 'dist'))
    await copyOwn(top)
    await copyPackages(top)
    const release: Release = { ...machine, nodeApi: NODE_API, nodes: await addSqlite(top, target) }
    await addEsbuild(top, target)
    await addWheels(join(top, 'wheels'), target)
    await writeFile(join(top, 'release.json'), `${JSON.stringify(release, undefined, 2)}\n`)
    return await packed(top, join(outdir, name))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function copyOwn(top: string): Promise<void> {
  for (const path of COPIED)
    await cp(join(ROOT, path), join(top, path), {
      recursive: true,
      filter: (from) => !/[\\/]plugins[\\/]\w+[\\/]/.test(from) || LIES_BESIDE.test(from),
    })
  await symlink('config/archivolt', join(top, 'archivolt'))
}

/** Copies the packages that the server loads at run time, with their dependencies. */
async function copyPackages(top: string): Promise<void> {
  const seen = new Set<string>()
  const copy = async (name: string, from: string): Promise<void> => {
    const path = placeOf(name, from)
    if (seen.has(path)) return
    seen.add(path)
    await cp(join(ROOT, path), join(top, path), {
      recursive: true,
      dereference: true,
      filter: (one) => !NOT_COPIED.test(one),
    })
    const { dependencies = {} } = JSON.parse(await readFile(join(ROOT, path, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const needed of Object.keys(dependencies)) await copy(needed, path)
  }
  for (const name of RUNTIME) await copy(name, '')
}

/** The folder in which a package finds another: its own `node_modules`, or one further up. */
function placeOf(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(ROOT, path, 'package.json'))) return path
    if (folder === '' || folder === '.') throw new Error(`${name}, which ${from} needs, is not installed`)
  }
}

/**
 * Adds one package with both versions of better-sqlite3, which loads the one that fits Node.
 * @returns  the Nodes for which the older one has a binding: their module versions, with the major version
 */
async function addSqlite(top: string, target: Target): Promise<Record<string, number>> {
  const packages = join(top, 'node_modules')
  const folder = join(packages, 'better-sqlite3')
  const add = async (version: string, name: string): Promise<void> => {
    const from = await npmPackage('better-sqlite3', version)
    for (const part of ['package.json', 'LICENSE', 'lib'])
      await cp(join(from, part), join(folder, name, part), { recursive: true })
  }
  const addBinding = async (file: string, place: string): Promise<void> => {
    await mkdir(join(folder, place), { recursive: true })
    await cp(file, join(folder, place, 'better_sqlite3.node'))
  }
  await add(SQLITE, 'current')
  await addBinding(await binding(target), 'current/build/Release')
  await add(OLDER_SQLITE, 'older')
  const nodes: Record<string, number> = {}
  for (const node of OLDER_NODES) {
    const { file, modules } = await olderBinding(target, node)
    await addBinding(file, `older/lib/binding/node-v${modules}-linux-${target.arch}`)
    nodes[modules] = Number.parseInt(node, 10)
  }
  for (const [name, version] of Object.entries(FIND_BINDING))
    await cp(await npmPackage(name, version), join(packages, name), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "name": "better-sqlite3", "main": "index.js" }\n')
  const choice = `process.versions.napi < ${NODE_API} ? './older' : './current'`
  await writeFile(join(folder, 'index.js'), `module.exports = require(${choice})\n`)
  return nodes
}

/** The bundler for external plugins is a separate program, the same for glibc and musl. */
async function addEsbuild(top: string, { arch }: Target): Promise<void> {
  const name = `@esbuild/linux-${arch}`
  const from = await npmPackage(name, await versionOf(join(ROOT, 'node_modules/esbuild')))
  await cp(from, join(top, 'node_modules', name), { recursive: true })
}

/** Adds wheels of yt-dlp, Apprise and their dependencies, for each Python that they support. */
async function addWheels(folder: string, { arch, libc }: Target): Promise<void> {
  const machine = arch === 'x64' ? 'x86_64' : 'aarch64'
  const platforms = PLATFORMS[libc].flatMap((platform) => ['--platform', `${platform}_${machine}`])
  const files = WHEELS.flatMap((path) => ['-r', path])
  for (const python of PYTHONS)
    await run(join(ROOT, 'tools/bin/pip'), [
      ...['download', '--quiet', '--disable-pip-version-check', '--only-binary=:all:', '--dest', folder],
      ...['--implementation', 'cp', '--python-version', python, ...platforms, ...files],
    ])
}

/** Reproducible: the same files always give the same bytes. */
async function packed(top: string, path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  const { stdout } = await run('git', ['log', '-1', '--format=%ct'])
  await run('tar', [
    ...['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${stdout.trim()}`],
    ...[
      '--mode=u+rw,go+r,go-w,a+X',
      '-I',
      'gzip -n',
      '-cf',
      `${path}.part`,
      '-C',
      dirname(top),
      top.split('/').at(-1)!,
    ],
  ])
  await run('mv', [`${path}.part`, path])
  return path
}

/**
 * The path of a tarball that `make release` has written.
 * @throws a sentence if there is none
 */
export function releaseOf(name: string): string {
  const path = join(ROOT, 'release', nameFor(TARGETS[name]!))
  if (!existsSync(path)) throw new Error(`${path} is missing: run make release FOR=${name}`)
  return path
}

const nameFor = (target: Target): string => fileOf({ version: manifest.version, platform: 'linux', ...target })

/** Builds two at a time, because the C compiler uses one core. */
async function buildReleases(names: string[]): Promise<void> {
  for (let name = names.shift(); name !== undefined; name = names.shift())
    process.stdout.write(`${await buildRelease(TARGETS[name]!, join(ROOT, 'release'))}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2)
  const unknown = asked.find((name) => !(name in TARGETS))
  if (unknown !== undefined)
    throw new Error(`There is no release for ${unknown}: choose from ${Object.keys(TARGETS).join(', ')}`)
  const names = asked.length > 0 ? asked : Object.keys(TARGETS)
  await Promise.all([buildReleases(names), buildReleases(names)])
}
