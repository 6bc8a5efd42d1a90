/**
 * Bundles the server into dist/: main, what plugins import, and each plugin, with one shared copy of core; workers are
 * bundled separately.
 */

import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { bundlePage } from './build-page.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** The code for browsers, which is bundled separately. */
const PAGE = 'plugins/web/page'
/** Native code, or packages that are loaded only on demand. */
const EXTERNAL = ['better-sqlite3', 'esbuild', '@elastic/elasticsearch']
/**
 * Files in a plugin's folder other than code and its README are copied, so that they have the same path relative to the
 * bundle as to the source.
 */
const isCopied = (path: string): boolean => !['.ts', '.tsx'].includes(extname(path)) && basename(path) !== 'README.md'

const COMMON = {
  bundle: true,
  platform: 'node',
  target: 'node20.11',
  alias: { archivolt: './plugins/plugin-kit/public.ts', 'archivolt/index': './plugins/index-kit/public.ts' },
  external: EXTERNAL,
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions

/** The options with which esbuild bundles the server; tests that bundle more add to them. */
interface ServerBuild extends BuildOptions {
  entryPoints: Record<string, string>
  external: string[]
}

/**
 * @param outdir  replaced by renames once the build is complete: until then an interrupted build leaves the old one
 * @param more    further entry points, by the name of their output file
 */
export async function bundle(outdir: string, more: Record<string, string> = {}): Promise<void> {
  const fresh = `${outdir}.new`
  await rm(fresh, { recursive: true, force: true })
  const server = await serverBuild(fresh)
  const hasMore = Object.keys(more).length > 0
  await build({
    ...server,
    entryPoints: { ...server.entryPoints, ...more },
    ...(hasMore && { plugins: [ownLocations] }),
  })
  await bundleWorkers(fresh)
  await escapeBeyondAscii(fresh)
  await copyUnbundled(fresh)
  if (existsSync(join(ROOT, PAGE))) await bundlePage(join(ROOT, PAGE), join(fresh, 'plugins/web/static'))
  await rm(`${outdir}.old`, { recursive: true, force: true })
  if (existsSync(outdir)) await rename(outdir, `${outdir}.old`)
  await rename(fresh, outdir)
  await rm(`${outdir}.old`, { recursive: true, force: true })
}

/**
 * A single character beyond Latin-1 makes V8 store a whole file with two bytes per character. esbuild keeps those in
 * regular expressions, comments and tagged templates; none of the latter reads its raw text.
 */
async function escapeBeyondAscii(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.c?js$/.test(name)) continue
    const path = join(folder, name)
    const code = await readFile(path, 'utf8')
    const escaped = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    if (escaped !== code) await writeFile(path, escaped)
  }
}

/**
 * A part of a plugin that another entry point imports, too, is moved to a shared file next to core. Paths that it
 * derives from its own location still refer to the folder of the plugin's bundle.
 */
const ownLocations: Plugin = {
  name: 'own-locations',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!path.startsWith(join(ROOT, 'plugins/'))) return undefined
      const code = await readFile(path, 'utf8')
      if (!code.includes('import.meta.url')) return undefined
      const location = JSON.stringify(relative(ROOT, path).replace(/\.ts$/, '.js'))
      const head = `import { OWN_FOLDER as ownFolder } from ${JSON.stringify(join(ROOT, 'core/own-files.ts'))};`
      return {
        contents: `${head}${code.replaceAll('import.meta.url', `new URL(${location}, ownFolder).href`)}`,
        loader: 'ts',
      }
    }),
}

export async function serverBuild(outdir: string): Promise<ServerBuild> {
  return {
    absWorkingDir: ROOT,
    // Core stays at the top of dist/ and plugins in their folders, because paths derived from `import.meta.url` depend
    // on it.
    entryPoints: {
      main: 'config/cli/main.ts',
      public: 'plugins/plugin-kit/public.ts',
      'public-index': 'plugins/index-kit/public.ts',
      ...Object.fromEntries((await entriesOf('plugin')).map((path) => [path, `${path}.ts`])),
    },
    outdir,
    splitting: true,
    format: 'esm',
    ...COMMON,
    // CommonJS packages load Node's built-in modules by require.
    banner: {
      js: `import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);`,
    },
  }
}

/** Bundles each worker into one CommonJS file: a thread that loads ES modules takes half as long again to start. */
export async function bundleWorkers(outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries((await entriesOf('worker')).map((path) => [path, `${path}.ts`])),
    outdir,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    ...COMMON,
    define: { 'import.meta.url': 'ownUrl' },
    banner: { js: `const ownUrl = require('node:url').pathToFileURL(__filename).href;` },
  })
}

/** `plugins/sqlite/worker` for each plugin that has such a file. */
const entriesOf = async (entry: string): Promise<string[]> =>
  (await pluginNames()).map((name) => `plugins/${name}/${entry}`).filter((path) => existsSync(join(ROOT, `${path}.ts`)))

/** Files of plugins other than code, without the page. */
export async function copyUnbundled(outdir: string): Promise<void> {
  for (const name of await pluginNames()) {
    await cp(join(ROOT, 'plugins', name), join(outdir, 'plugins', name), {
      recursive: true,
      filter: (path) => isCopied(path) && !path.endsWith('__pycache__') && path !== join(ROOT, PAGE),
    })
  }
}

const pluginNames = async (): Promise<string[]> =>
  (await readdir(join(ROOT, 'plugins'))).filter((name) => existsSync(join(ROOT, 'plugins', name, 'plugin.ts')))

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv[2] ?? join(ROOT, 'dist'))
