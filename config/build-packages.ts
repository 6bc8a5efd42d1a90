/** Builds the npm packages for plugin authors: `make package` writes the tarballs to packages/. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { API_PACKAGE, API_VERSION } from '../core/plugin/api.ts'
import manifest from '../package.json' with { type: 'json' }
import { bundle } from './build.ts'
import { declarationFiles, packagesIn } from './declaration-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = join(ROOT, 'config/packages')
/** Packages that the server bundle does not contain: native code, and the bundler for plugins' threads. */
const RUNTIME = ['better-sqlite3', 'esbuild']
/** Documents for authors, including the contract, because types and documents cite its sections. */
const DOCUMENTS = ['tutorial.md', 'guide.md', 'reference.md', 'publish.md', 'openapi/contract.md']
/** Complete example plugins, as listed in plugins/guide.md. */
const RECIPES = [
  'rewind',
  'newest',
  'note',
  'webhook',
  'feed',
  'nfo',
  'twins',
  'moments',
  'harbour',
  'bell',
  'captions',
  'loom',
]
const VERSIONS: Readonly<Record<string, string>> = { ...manifest.devDependencies, ...manifest.dependencies }

/** @returns the paths of the tarballs */
export async function buildPackages(outdir: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-packages-'))
  try {
    await mkdir(outdir, { recursive: true })
    const made = [await pluginPackage(folder), await creatorPackage(folder)]
    return await Promise.all(made.map((path) => packed(path, outdir)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The package with types, and with the whole server for tests. */
async function pluginPackage(folder: string): Promise<string> {
  const target = join(folder, 'plugin')
  await cp(join(SOURCES, 'plugin'), target, { recursive: true })
  for (const name of RECIPES)
    await cp(join(ROOT, 'test/data/plugins', name), join(target, 'recipes', name), { recursive: true })
  for (const path of DOCUMENTS) await cp(join(ROOT, 'plugins', path), join(target, 'docs', basename(path)))
  await bundle(join(target, 'server'), { testing: 'test/support/plugin-testing.ts' })
  const files = await declarationFiles()
  for (const [path, text] of files) await writeInto(join(target, 'types', path), text)
  const needed = [...RUNTIME, ...[...packagesIn(files)].flatMap(withTypes), '@types/node']
  const dependencies = Object.fromEntries([...new Set(needed)].sort().map((name) => [name, versionOf(name)]))
  await describe(target, { dependencies })
  return target
}

/** `npm create archivolt-plugin`: the created plugin requires the versions built here. @returns its folder */
export async function creatorPackage(folder: string): Promise<string> {
  const target = join(folder, 'create-archivolt-plugin')
  await cp(join(SOURCES, 'create-archivolt-plugin'), target, { recursive: true })
  const archivolt = { plugin: API_VERSION, tsx: versionOf('tsx'), typescript: versionOf('typescript') }
  await describe(target, { archivolt })
  return target
}

/** Some packages have their types in another one. */
const withTypes = (name: string): string[] => [name, `@types/${name}`].filter((one) => one in VERSIONS)

function versionOf(name: string): string {
  const version = VERSIONS[name]
  if (version === undefined) throw new Error(`${API_PACKAGE} needs ${name}, which package.json does not name`)
  return version
}

/** Fills in the version of the project and the versions of packages, which are defined elsewhere. */
async function describe(target: string, more: object): Promise<void> {
  const path = join(target, 'package.json')
  const own = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
  const { name, ...rest } = own
  await writeFile(path, `${JSON.stringify({ name, version: API_VERSION, ...rest, ...more }, undefined, 2)}\n`)
  await cp(join(ROOT, 'LICENSE'), join(target, 'LICENSE'))
}

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

async function packed(folder: string, outdir: string): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--pack-destination', outdir], { cwd: folder })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(outdir, filename)
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const path of await buildPackages(join(ROOT, 'packages'))) process.stdout.write(`${path}\n`)
