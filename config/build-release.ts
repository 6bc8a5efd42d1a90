/**
 * Makes what people install who build nothing: `make release` leaves a tarball for each kind of machine in release/.
 */
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileOf, type Release } from '../core/release.ts'
import manifest from '../package.json' with { type: 'json' }
import { bundle } from './build.ts'
import { binding, NODE_MAJORS, npmPackage, run, type Target, versionOf } from './native.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** As `make release FOR=` calls them. */
export const TARGETS: Readonly<Record<string, Target>> = {
  x64: { arch: 'x64', libc: 'glibc' },
  arm64: { arch: 'arm64', libc: 'glibc' },
  'x64-musl': { arch: 'x64', libc: 'musl' },
  'arm64-musl': { arch: 'arm64', libc: 'musl' },
}
/** What the bundled server leaves outside. */
const RUNTIME = ['better-sqlite3', 'esbuild', '@elastic/elasticsearch']
/** Packages that only compile others, and parts of packages that only they need. */
const NOT_NEEDED = new Set(['prebuild-install'])
const NOT_COPIED = ['better-sqlite3/build', 'better-sqlite3/deps', 'better-sqlite3/src', 'esbuild/bin']
/** What lies in a release as in the tree. */
const COPIED = [
  ...['LICENSE', 'README.md', 'package.json'],
  ...['config/archivolt', 'config/tools.sh', 'config/README.md', 'config/CHANGELOG.md', 'config/systemd'],
  ...['plugins/platform', 'plugins/notification/requirements.txt'],
]
/** Of a plugin's folder: what is not bundled. */
const LIES_BESIDE = /\.(py|txt)$/
const PYTHONS = ['3.11', '3.12', '3.13', '3.14']
const WHEELS = ['plugins/platform/requirements.txt', 'plugins/notification/requirements.txt']
/** What pip calls machines that a wheel may be for. */
const PLATFORMS: Readonly<Record<Target['libc'], readonly string[]>> = {
  glibc: ['manylinux_2_28', 'manylinux_2_17', 'manylinux2014'],
  musl: ['musllinux_1_2', 'musllinux_1_1'],
}

/** @returns the path of the tarball */
export async function buildRelease(target: Target, outdir: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-release-'))
  try {
    const release: Release = { version: manifest.version, platform: 'linux', ...target, nodes: {} }
    const name = fileOf(release)
    const top = join(folder, name.replace(/\.tar\.gz$/, ''))
    await mkdir(top)
    await bundle(join(top, 'dist'))
    await copyOwn(top)
    await copyPackages(top)
    for (const major of NODE_MAJORS) release.nodes[await addBinding(top, target, major)] = major
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

/** What the server loads at run time, with all that it loads. */
async function copyPackages(top: string): Promise<void> {
  const seen = new Set<string>()
  const copy = async (name: string, from: string): Promise<void> => {
    const path = placeOf(name, from)
    if (seen.has(path)) return
    seen.add(path)
    await cp(join(ROOT, path), join(top, path), {
      recursive: true,
      dereference: true,
      filter: (one) => !NOT_COPIED.some((part) => one.endsWith(`node_modules/${part}`)) && !/\/node_modules$/.test(one),
    })
    const { dependencies = {} } = JSON.parse(await readFile(join(ROOT, path, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const needed of Object.keys(dependencies)) if (!NOT_NEEDED.has(needed)) await copy(needed, path)
  }
  for (const name of RUNTIME) await copy(name, '')
}

/** Where a package finds another: beside it, or further up. */
function placeOf(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(ROOT, path, 'package.json'))) return path
    if (folder === '' || folder === '.') throw new Error(`${name}, which ${from} needs, is not installed`)
  }
}

/** Where the package looks for one by Node's number. @returns that number */
async function addBinding(top: string, target: Target, major: number): Promise<string> {
  const { file, modules } = await binding(target, major)
  const place = join(top, 'node_modules/better-sqlite3/lib/binding', `node-v${modules}-linux-${target.arch}`)
  await mkdir(place, { recursive: true })
  await cp(file, join(place, 'better_sqlite3.node'))
  return modules
}

/** The bundler for plugins from outside is a program of its own, the same for glibc and musl. */
async function addEsbuild(top: string, { arch }: Target): Promise<void> {
  const name = `@esbuild/linux-${arch}`
  const from = await npmPackage(name, await versionOf(join(ROOT, 'node_modules/esbuild')))
  await cp(from, join(top, 'node_modules', name), { recursive: true })
}

/** yt-dlp, Apprise and what they need, for each Python that they run on. */
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

/** The same bytes for the same files, whoever packs them, and when. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2)
  for (const name of asked.length > 0 ? asked : Object.keys(TARGETS)) {
    const target = TARGETS[name]
    if (!target) throw new Error(`There is no release for ${name}: choose of ${Object.keys(TARGETS).join(', ')}`)
    process.stdout.write(`${await buildRelease(target, join(ROOT, 'release'))}\n`)
  }
}
